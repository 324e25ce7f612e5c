//! What an assembled file imports.

use code::{Fragment, Import};

/// What a module imports while it is loaded.
pub(crate) fn imports(text: &str) -> Vec<Import> {
    Fragment::parse(text).map(|fragment| fragment.imports).unwrap_or_default()
}
