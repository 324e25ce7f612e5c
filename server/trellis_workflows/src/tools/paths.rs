//! Checks paths given by a model: inside the project, or refused.

/// Maximum bytes of a path: the limit of common systems, less room for the project's folder.
const LONGEST: usize = 1024;

/// Normalizes a file's path: relative to the project's root, one `/` between parts, no `.`.
///
/// # Errors
///
/// The reason why the path could lead outside, or names no file, and a remedy.
pub(super) fn file(path: &str) -> Result<String, String> {
    let plain = plain(path)?;
    if plain.is_empty() || path.ends_with('/') {
        return Err(refused(path, "names a folder, not a file"));
    }
    Ok(plain)
}

/// Normalizes the path of a folder or a file; empty for the root.
pub(super) fn folder(path: &str) -> Result<String, String> {
    plain(path)
}

fn plain(path: &str) -> Result<String, String> {
    let why = if path.trim().is_empty() {
        Some("is empty")
    } else if path.len() > LONGEST {
        Some("is longer than 1024 bytes")
    } else if path.starts_with('~') {
        Some("starts with `~`, which no shell expands here")
    } else {
        trellis_plan::unsafe_path(path)
            .or_else(|| path.contains(char::is_control).then_some("has a control character"))
    };
    if let Some(why) = why {
        return Err(refused(path, why));
    }
    let parts: Vec<&str> = path.split('/').filter(|it| !matches!(*it, "" | ".")).collect();
    Ok(parts.join("/"))
}

fn refused(path: &str, why: &str) -> String {
    let shown = path[..path.floor_char_boundary(100)].escape_debug();
    format!("the path `{shown}` {why}; give one relative to the project's root, like `src/shop.py`")
}
