//! An index of texts that are all in memory.

use std::sync::Arc;

use trellis_python::{Index, TextSource, Words};

/// A source without texts: every text is put in when the index is made.
struct Nothing;

impl TextSource for Nothing {
    fn read(&self, _: &str) -> Option<Arc<str>> {
        None
    }
}

/// Returns an index of Python files whose texts are not, or no longer, on the disk.
pub fn of_texts<'t>(files: impl Iterator<Item = (&'t str, &'t Arc<str>)>) -> Index {
    let mut index = Index::new(Arc::new(Nothing));
    for (path, text) in files {
        index.put(path, Words::of(text), Some(text.clone()));
    }
    index
}
