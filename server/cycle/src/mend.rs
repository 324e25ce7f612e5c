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
        let (fragment, imports) = if failure.path == item.test_path {
            (&draft.tests, &mut mend.tests)
        } else if failure.path == item.path {
            (&draft.implementation, &mut mend.implementation)
        } else {
            continue; // another node's file: not this node's to change
        };
        let Some(fragment) = fragment else { continue };
        if let Some(import) = origin(item, fragment, name)
            && !fragment.imports.contains(&import)
            && !imports.contains(&import)
        {
            imports.push(import);
        }
    }
    mend
}

/// Where a name comes from: the item itself (for tests), a dependency, or what everybody knows.
pub(crate) fn origin(item: &Item, fragment: &Fragment, name: &str) -> Option<Import> {
    let defined = fragment.items.iter().any(|it| it.binds(name));
    if defined {
        return None;
    }
    let planned = item.dependencies.iter().find(|dependency| dependency.import_name == name);
    if let Some(dependency) = planned {
        return (dependency.module != item.module)
            .then(|| Import::from(&dependency.module, &dependency.import_name));
    }
    let available = |package: &str| {
        package == "pytest"
            || item.libraries.iter().any(|library| {
                let name = library_name(library);
                name.eq_ignore_ascii_case(package)
                    || name.eq_ignore_ascii_case(known::distribution(package))
            })
    };
    known::import_for(name, &fragment.to_source(), available)
}

/// `numpy` of `numpy>=1.24,<2`.
pub fn library_name(requirement: &str) -> &str {
    let end = requirement.find(|c: char| !(c.is_alphanumeric() || "._-".contains(c)));
    requirement[..end.unwrap_or(requirement.len())].trim()
}
