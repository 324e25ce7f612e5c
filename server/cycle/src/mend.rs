//! Missing imports seen in a failure, added without asking the model (T6).

use code::{Fragment, Import, known};

use crate::draft::Draft;
use crate::item::Item;
use crate::observation::TestRun;

/// Imports to add, to the implementation and to the tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mend {
    pub(crate) implementation: Vec<Import>,
    pub(crate) tests: Vec<Import>,
}

impl Mend {
    pub(crate) fn is_empty(&self) -> bool {
        self.implementation.is_empty() && self.tests.is_empty()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.implementation.iter().chain(&self.tests).map(ToString::to_string).collect()
    }
}

/// What the run's NameErrors ask for and the files do not have yet.
pub(crate) fn find(item: &Item, draft: &Draft, run: &TestRun) -> Mend {
    let mut mend = Mend::default();
    for failure in run.failures() {
        let Some(name) = &failure.missing_name else { continue };
        let in_tests = failure.path == item.test_path;
        let (fragment, imports) = if in_tests {
            (&draft.tests, &mut mend.tests)
        } else if failure.path == item.path {
            (&draft.implementation, &mut mend.implementation)
        } else {
            continue; // another node's file: not this node's to change
        };
        // A local variable without a value is a NameError, too, and no import would help it.
        let Some(fragment) = fragment.as_ref().filter(|it| is_unbound(it, name)) else { continue };
        let import = match in_tests {
            true => test_origin(item, fragment, name),
            false => origin(item, fragment, name),
        };
        if let Some(import) = import
            && !fragment.imports.contains(&import)
            && !imports.contains(&import)
        {
            imports.push(import);
        }
    }
    mend
}

fn is_unbound(fragment: &Fragment, name: &str) -> bool {
    code::unresolved(&fragment.to_source()).is_ok_and(|names| names.contains(name))
}

/// Where a name in the item's tests comes from: a dependency, or what everybody knows.
fn test_origin(item: &Item, fragment: &Fragment, name: &str) -> Option<Import> {
    let planned = item.dependencies.iter().find(|it| it.import_name == name);
    let import = planned.map(|it| Import::from(&it.module, name));
    import.or_else(|| well_known(item, fragment, name))
}

/// Where a name in the item's own module comes from; what stands there needs no import.
pub(crate) fn origin(item: &Item, fragment: &Fragment, name: &str) -> Option<Import> {
    match item.dependencies.iter().find(|it| it.import_name == name) {
        Some(it) => (it.module != item.module).then(|| Import::from(&it.module, name)),
        None => well_known(item, fragment, name),
    }
}

fn well_known(item: &Item, fragment: &Fragment, name: &str) -> Option<Import> {
    let available = |package: &str| package == "pytest" || is_available(item, package);
    known::import_for(name, &fragment.to_source(), available)
}

/// Whether the plan allows the item a third-party package (by its import name).
pub(crate) fn is_available(item: &Item, package: &str) -> bool {
    item.libraries.iter().any(|library| {
        let name = library_name(library);
        name.eq_ignore_ascii_case(package)
            || name.eq_ignore_ascii_case(known::distribution(package))
    })
}

/// `numpy` of `numpy>=1.24,<2`.
pub fn library_name(requirement: &str) -> &str {
    let end = requirement.find(|c: char| !(c.is_alphanumeric() || "._-".contains(c)));
    requirement[..end.unwrap_or(requirement.len())].trim()
}
