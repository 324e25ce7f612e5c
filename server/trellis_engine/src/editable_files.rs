//! The interface to the files that an answer may change.

/// The files that a model may see and change.
pub trait EditableFiles {
    /// Returns the text of a file, by its path from the root.
    fn text(&self, path: &str) -> Option<String>;

    /// Returns the reason why a file may not be changed, if there is one.
    fn read_only(&self, path: &str) -> Option<&'static str>;

    /// Returns whether the model has seen all of a file. By default true, because the model can
    /// read files itself.
    fn is_shown(&self, path: &str) -> bool {
        let _ = path;
        true
    }
}
