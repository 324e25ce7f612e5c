//! Line ends of a patch: a person's files may have others than git stores, by the attributes and
//! settings of the repository.

use trellis_git::error::CommandError;
use trellis_git::git::Git;

/// Returns a patch of a person's files as a patch of what git stores.
pub(super) fn stored(git: &Git, patch: &str) -> Result<String, CommandError> {
    if !patch.contains("\r\n") {
        return Ok(patch.to_owned());
    }
    let of_file = |it: String| match is_converted(git, path(&it))? {
        true => Ok(it.replace("\r\n", "\n")),
        false => Ok(it),
    };
    files(patch).into_iter().map(of_file).collect()
}

/// Returns whether git stores CR LF of a file as LF. What it has stored so far decides; a new file
/// is tried.
fn is_converted(git: &Git, path: &str) -> Result<bool, CommandError> {
    let stored = git.run(&["ls-files", "--stage", "-z", "--", &format!(":(literal){path}")])?;
    match stored.split(' ').nth(1) {
        Some(blob) => Ok(!git.run(&["cat-file", "blob", blob])?.contains("\r\n")),
        None => {
            let id = |options: &[&str], text| {
                git.run_with(&[&["hash-object", "--stdin"], options].concat(), text)
            };
            Ok(id(&["--path", path], "a\r\n")? == id(&["--no-filters"], "a\n")?)
        }
    }
}

/// Returns the path of the file that a part of a patch changes.
fn path(part: &str) -> &str {
    part.lines().next().and_then(|it| it.strip_prefix("--- a/")).unwrap_or_default()
}

/// Splits a unified diff into its files. The counts of a hunk tell its lines from headers.
fn files(patch: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut left = (0, 0);
    for line in patch.split_inclusive('\n') {
        let is_header = left == (0, 0) && line.starts_with("--- ");
        match line.as_bytes().first() {
            _ if is_header => out.push(String::new()),
            Some(b'@') if left == (0, 0) => left = counts(line),
            Some(b'-') => left.0 = usize::saturating_sub(left.0, 1),
            Some(b'+') => left.1 = usize::saturating_sub(left.1, 1),
            Some(b'\\') => {}
            _ => left = (left.0.saturating_sub(1), left.1.saturating_sub(1)),
        }
        if let Some(last) = out.last_mut() {
            last.push_str(line);
        }
    }
    out
}

/// Returns the numbers of old and new lines in a hunk, by its header.
fn counts(header: &str) -> (usize, usize) {
    let count = |range: &str| range.split_once(',').map_or(Some(1), |it| it.1.parse().ok());
    let mut ranges = header.split(' ').skip(1);
    let mut next = || ranges.next().and_then(count).unwrap_or_default();
    (next(), next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_lines_that_look_like_headers_begin_no_file() {
        let one = trellis_python::unified_diff("a.sql", "-- a/x\r\n-- y\r\n", "++ b/x\r\n-- y\r\n");
        let two = trellis_python::unified_diff("b.sql", "1\n2", "1\n3\n");
        assert!(one.contains("\n--- a/x\r\n+++ b/x\r\n"), "{one}");
        assert_eq!(files(&(one.clone() + &two)), [one, two]);
    }
}
