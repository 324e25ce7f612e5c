//! Patterns of names and paths, with the meaning of Python's `fnmatch`.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

/// Patterns in pytest's settings.
#[derive(Debug, Default)]
pub(super) struct Patterns(Vec<Pattern>);

#[derive(Debug)]
struct Pattern {
    text: String,
    /// `None` if the pattern cannot be read, and matches nothing but itself.
    matcher: Option<GlobMatcher>,
}

impl Patterns {
    pub(super) fn of<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Patterns {
        let pattern =
            |it: T| Pattern { matcher: matcher(it.as_ref()), text: it.as_ref().to_owned() };
        Patterns(texts.into_iter().map(pattern).collect())
    }

    /// Returns whether a name has one of the patterns as its beginning, or matches one.
    pub(super) fn begin(&self, name: &str) -> bool {
        let is_glob = |it: &str| it.contains(['*', '?', '[']);
        let fits = |it: &Pattern| name.starts_with(&it.text) || is_glob(&it.text) && it.fits(name);
        self.0.iter().any(fits)
    }

    /// Returns whether one of the patterns matches the name of a path or, with a `/` in it, the end
    /// of the path.
    pub(super) fn match_path(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        let full = path.to_str().unwrap_or_default();
        self.0.iter().any(|it| match it.text.contains('/') {
            true if it.text.starts_with('/') => it.fits(full),
            true => matcher(&format!("*/{}", it.text)).is_some_and(|it| it.is_match(full)),
            false => it.fits(name),
        })
    }

    /// Returns whether one of the patterns matches a whole path.
    pub(super) fn match_whole(&self, path: &Path) -> bool {
        path.to_str().is_some_and(|path| self.0.iter().any(|it| it.fits(path)))
    }
}

impl Pattern {
    fn fits(&self, text: &str) -> bool {
        self.text == text || self.matcher.as_ref().is_some_and(|it| it.is_match(text))
    }
}

fn matcher(pattern: &str) -> Option<GlobMatcher> {
    // `fnmatch` knows no braces, and its stars match slashes.
    let plain = pattern.replace('{', "[{]").replace('}', "[}]").replace("**", "*");
    let built = GlobBuilder::new(&plain).literal_separator(false).backslash_escape(false).build();
    built.ok().map(|it| it.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_the_same_as_in_pytest() {
        let begins = |pattern: &str, name: &str| Patterns::of([pattern]).begin(name);
        assert!(begins("test", "test_a") && begins("test", "testing") && !begins("test", "a_test"));
        assert!(begins("*_test", "a_test") && begins("it_?", "it_x") && !begins("it_?", "its"));
        let path = |pattern: &str, path: &str| Patterns::of([pattern]).match_path(Path::new(path));
        assert!(path("test_*.py", "/p/a/test_x.py") && !path("test_*.py", "/p/test_a/x.py"));
        assert!(path("a/*.py", "/p/a/x.py") && !path("a/*.py", "/p/b/x.py"));
        assert!(path("{arch}", "/p/{arch}") && !path("{arch}", "/p/arch"));
        assert!(path("t[!_]*.py", "/p/tx.py") && !path("t[!_]*.py", "/p/t_.py"));
    }
}
