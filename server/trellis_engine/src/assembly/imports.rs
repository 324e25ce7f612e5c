//! Imports of an assembled file.

use trellis_python::{Fragment, Import};

/// Returns the imports that a module executes while it is loaded.
pub(crate) fn imports(text: &str) -> Vec<Import> {
    Fragment::parse(text).map(|fragment| fragment.imports).unwrap_or_default()
}
