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

/// Returns the path of a file that exists, without the prefix `a/` or `b/` of a diff; else the path
/// as given.
pub(crate) fn known_path(path: &str, sources: &dyn EditableFiles) -> String {
    let bare = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"));
    let bare = bare.filter(|it| sources.text(path).is_none() && sources.text(it).is_some());
    bare.unwrap_or(path).to_owned()
}
