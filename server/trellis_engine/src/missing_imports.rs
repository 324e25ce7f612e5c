//! Missing imports derived from a failure and added without asking the model (T6).

use trellis_python::{Fragment, Import};

use crate::draft::Draft;
use crate::import_resolution::{origin, test_origin};
use crate::item::Item;
use crate::observation::TestRun;

/// Imports to add to the implementation and to the tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ImportFix {
    pub(crate) implementation: Vec<Import>,
    pub(crate) tests: Vec<Import>,
}

impl ImportFix {
    pub(crate) fn is_empty(&self) -> bool {
        self.implementation.is_empty() && self.tests.is_empty()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.implementation.iter().chain(&self.tests).map(ToString::to_string).collect()
    }
}

/// Returns imports for the NameErrors of a run, as far as the files do not have them yet.
pub(crate) fn find(item: &Item, draft: &Draft, run: &TestRun) -> ImportFix {
    let mut import_fix = ImportFix::default();
    for failure in run.failures() {
        let Some(name) = &failure.missing_name else { continue };
        let in_tests = failure.path == item.test_path;
        let (fragment, imports) = if in_tests {
            (&draft.tests, &mut import_fix.tests)
        } else if failure.path == item.path {
            (&draft.implementation, &mut import_fix.implementation)
        } else {
            continue; // another node's file: not this node's to change
        };
        // A local variable without a value raises a NameError as well; an import would not help.
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
    import_fix
}

fn is_unbound(fragment: &Fragment, name: &str) -> bool {
    trellis_python::unresolved(&fragment.to_source()).is_ok_and(|names| names.contains(name))
}
