//! Texts that are all there, as an index.

use std::sync::Arc;

use trellis_python::{Index, TextSource, Words};

/// Every text is put in when the index is made.
struct Nothing;

impl TextSource for Nothing {
    fn read(&self, _: &str) -> Option<Arc<str>> {
        None
    }
}

/// An index of Python files that were never on a disk, or are no longer as they are there.
pub(crate) fn of_texts<'t>(files: impl Iterator<Item = (&'t str, &'t Arc<str>)>) -> Index {
    let mut index = Index::new(Arc::new(Nothing));
    for (path, text) in files {
        index.put(path, Words::of(text), Some(text.clone()));
    }
    index
}
