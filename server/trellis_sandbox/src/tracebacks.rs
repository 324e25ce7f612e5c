//! Stack traces: tells frames inside the tree from others, and parses the dumps of `faulthandler`.

use std::path::{Path, PathBuf};

use crate::{events::RawFrame, report::Frame};

/// The folders that tell files of the tree from installed ones.
#[derive(Debug)]
pub(crate) struct ProjectPaths {
    root: PathBuf,
    environment: Option<PathBuf>,
}

impl ProjectPaths {
    /// Makes the classifier. `root` is the canonical root of the tree; `environment` is the folder
    /// of the virtual environment, which may lie below the root.
    pub(crate) fn new(root: &Path, environment: Option<&Path>) -> ProjectPaths {
        ProjectPaths { root: root.to_owned(), environment: environment.map(Path::to_owned) }
    }

    /// Returns `path` relative to the root if the file belongs to the tree.
    pub(crate) fn relative(&self, path: &str) -> Option<String> {
        if path.starts_with('<') {
            return None; // `<string>`, `<frozen importlib._bootstrap>`
        }
        let absolute = self.root.join(path);
        let inner = absolute.strip_prefix(&self.root).ok()?;
        let installed = inner.components().any(|part| part.as_os_str() == "site-packages");
        let below = self.environment.as_ref().is_some_and(|it| absolute.starts_with(it));
        (!installed && !below).then(|| inner.to_string_lossy().into_owned())
    }

    fn frame(&self, (path, line, function): RawFrame) -> Frame {
        match self.relative(&path) {
            Some(path) => Frame { path, line, function, inside: true },
            None => Frame { path, line, function, inside: false },
        }
    }

    /// Returns the stack from the first frame inside the tree on; without one, all frames but the
    /// test runner's; if that leaves none, all frames.
    pub(crate) fn stack(&self, raw: Vec<RawFrame>) -> Vec<Frame> {
        let mut frames: Vec<Frame> = raw.into_iter().map(|frame| self.frame(frame)).collect();
        if let Some(first) = frames.iter().position(|frame| frame.inside) {
            return frames.split_off(first);
        }
        if frames.iter().any(|frame| !is_runner(frame)) {
            frames.retain(|frame| !is_runner(frame));
        }
        frames
    }
}

/// Returns the deepest frame inside the tree, the place where a failure is shown.
pub(crate) fn failing_place(frames: &[Frame]) -> Option<&Frame> {
    frames.iter().rev().find(|frame| frame.inside)
}

fn is_runner(frame: &Frame) -> bool {
    const PARTS: [&str; 5] =
        ["/_pytest/", "/pluggy/", "/pytest/__main__.py", "/runpy.py", "<frozen runpy>"];
    PARTS.iter().any(|part| frame.path.contains(part))
}

/// Part of the second-to-last line of every stack; the last line is the start of the worker.
const OUTERMOST: &str = "\"<trellis>/loader.py\", line ";

/// Returns whether a dump is complete.
pub(crate) fn dump_is_complete(dump: &[u8]) -> bool {
    let Some(lines) = dump.strip_suffix(b"\n") else { return false };
    let mut last = lines.rsplit(|byte| *byte == b'\n');
    let (end, before) = (last.next().unwrap_or_default(), last.next().unwrap_or_default());
    let is_outermost = before.windows(OUTERMOST.len()).any(|it| it == OUTERMOST.as_bytes());
    end.ends_with(b"  ...") || is_outermost && end.ends_with(b"in <module>")
}

/// Parses the first stack in `text` under a heading `(most recent call first):` and returns its
/// frames, outermost first. With several threads, the stack marked as current is parsed.
pub(crate) fn parse_dump(text: &str) -> Vec<RawFrame> {
    let headings = ["Current thread", "Stack (most recent call first)"];
    let start = headings.iter().find_map(|heading| text.find(heading)).unwrap_or(text.len());
    let mut frames: Vec<RawFrame> = text[start..].lines().skip(1).map_while(parse_line).collect();
    frames.reverse();
    frames
}

/// Parses a line such as `  File "/a/b.py", line 3 in f`.
fn parse_line(line: &str) -> Option<RawFrame> {
    let rest = line.strip_prefix("  File \"")?;
    let (path, rest) = rest.rsplit_once("\", line ")?;
    let (number, function) = rest.split_once(" in ")?;
    Some((unescaped(path), number.parse().ok()?, unescaped(function)))
}

/// Decodes the escapes of `faulthandler`, which writes non-ASCII characters as `\xhh`, `\uhhhh` or
/// `\Uhhhhhhhh`.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let digits = match rest.as_bytes().get(at + 1) {
            Some(b'x') => 2,
            Some(b'u') => 4,
            Some(b'U') => 8,
            _ => 0,
        };
        let end = at + 2 + digits;
        let code = (digits > 0).then(|| rest.get(at + 2..end)).flatten();
        match code.and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32) {
            Some(letter) => {
                out.push(letter);
                rest = &rest[end..];
            }
            None => {
                out.push('\\');
                rest = &rest[at + 1..];
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_is_read_outermost_first() {
        let text = "Stack (most recent call first):\n  File \"/t/src/\\xe9.py\", line 7 in spin\n  \
                    File \"/t/test_a.py\", line 3 in test_a\n  File \"<frozen runpy>\", line 88 in _run_code\n";
        let frames =
            ProjectPaths::new(Path::new("/t"), Some(Path::new("/t/.venv"))).stack(parse_dump(text));
        let shown: Vec<_> =
            frames.iter().map(|f| (f.path.as_str(), f.line, f.function.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("<frozen runpy>", 88, "_run_code"),
                ("test_a.py", 3, "test_a"),
                ("src/é.py", 7, "spin")
            ][1..]
        );
    }

    #[test]
    fn of_several_threads_the_current_one_counts() {
        let text = "Fatal Python error: Segmentation fault\n\nThread 0x1 (most recent call first):\n  \
                    File \"/t/a.py\", line 1 in other\n\nCurrent thread 0x2 (most recent call first):\n  \
                    File \"/t/b.py\", line 2 in main\n\nExtension modules: x\n";
        assert_eq!(parse_dump(text), [("/t/b.py".to_owned(), 2, "main".to_owned())]);
    }

    #[test]
    fn installed_files_are_outside() {
        let places = ProjectPaths::new(Path::new("/t"), Some(Path::new("/t/.venv")));
        for (path, inside) in [
            ("/t/a.py", Some("a.py")),
            ("b/c.py", Some("b/c.py")),
            ("/t/.venv/lib/x.py", None),
            ("/t/lib/site-packages/x.py", None),
            ("/tt/a.py", None),
            ("<string>", None),
        ] {
            assert_eq!(places.relative(path).as_deref(), inside, "{path}");
        }
    }
}
