//! Paths as a model gives them: inside the project, or refused.

/// The longest path systems take, less room for the folder the project is in; in bytes.
const LONGEST: usize = 1024;

/// A file's path as files are keyed: relative to the project's root, one `/` between parts, no `.`.
///
/// # Errors
///
/// Why it could lead elsewhere, or names no file, and what to give.
pub(super) fn file(path: &str) -> Result<String, String> {
    let plain = plain(path)?;
    if plain.is_empty() || path.ends_with('/') {
        return Err(refused(path, "names a folder, not a file"));
    }
    Ok(plain)
}

/// The same for a folder, or for a file; empty for the root.
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
