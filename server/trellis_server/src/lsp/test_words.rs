//! Reads the words of a folder's test files when lenses need them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use trellis_workflows::write_tests::registry;

use super::debounce::{SessionChange, SessionChanges};
use crate::rpc::Context;
use crate::session::{QueryError, Remembered, Snapshot, TestWords};

/// Returns the known words of a folder, which may be from before a change; reads them if there are
/// none.
pub(super) async fn known(context: &Context, folder: &Path) -> Remembered {
    if let Some(known) = context.test_words.get(folder) {
        return known;
    }
    read(context, folder.to_owned()).await;
    let none = || Remembered { words: Arc::default(), is_outdated: false };
    context.test_words.get(folder).unwrap_or_else(none)
}

/// Reads the words again after a change; lenses are computed anew if they are other ones.
pub(super) async fn refresh(context: Arc<Context>, folder: PathBuf, stirs: SessionChanges) {
    if read(&context, folder).await {
        stirs.notify(SessionChange::Other);
    }
}

/// Reads the words of a folder's test files; returns whether they are other ones than before.
async fn read(context: &Context, folder: PathBuf) -> bool {
    loop {
        let real = folder.clone();
        let read = move |view: &Snapshot| {
            let generated = registry::test_files(&real);
            view.at_folder(&real).map(|it| TestWords::of(it, &generated)).unwrap_or_default()
        };
        match context.asker.ask(read).await {
            // Edits meanwhile do not matter, since they are not saved.
            Err(QueryError::ContentModified) => {}
            Err(_) => return false,
            Ok(words) => return context.test_words.set(folder, Arc::new(words)),
        }
    }
}
