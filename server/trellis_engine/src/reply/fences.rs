//! Fenced blocks of a reply, and their paths.

use super::paths::{path, path_of};

/// A fenced block.
pub(super) struct Fence {
    indent: String,
    /// Three or more backticks or tildes.
    marks: String,
    /// The rest of the line after the marks.
    pub(super) language: String,
    /// The last line above the fence that is not blank.
    pub(super) above: String,
    pub(super) body: String,
    /// False if the reply was cut off within the block.
    pub(super) is_closed: bool,
}

/// Languages of commands, which are no files.
const COMMANDS: [&str; 8] =
    ["bash", "sh", "shell", "console", "zsh", "shell-session", "terminal", "powershell"];

/// Languages of changes, which are no files.
const CHANGES: [&str; 2] = ["diff", "patch"];

impl Fence {
    /// Returns the path beside the language, or on the line above.
    pub(super) fn path(&self) -> Option<String> {
        let words = self.language.split(|c: char| c.is_whitespace() || ",:{}".contains(c));
        let value = |it: &str| it.rsplit('=').next().unwrap_or_default().to_owned();
        let values = words.map(|it| value(it).trim_matches(['"', '\'']).to_owned());
        // Without a mark of a path, `makefile` is a language.
        let mut paths = values.filter(|it| it.contains(['.', '/'])).filter_map(|it| path(&it));
        paths.next().or_else(|| path_of(&self.above))
    }

    /// Returns the path and text of the file that the block holds. A comment in its first line may
    /// name the path, and is no part of the text then. `None` for commands and changes.
    pub(super) fn file(&self) -> Option<(String, &str)> {
        let (first, rest) = self.body.split_once('\n').unwrap_or_default();
        let is_comment = ["#", "//", "<!--"].iter().any(|it| first.trim_start().starts_with(it));
        let commented = || Some((path_of(first).filter(|_| is_comment)?, rest));
        let (path, text) = self.path().map(|it| (it, self.body.as_str())).or_else(commented)?;
        let ending = path.rsplit('.').next().unwrap_or_default();
        let is_script = ["sh", "bash", "ps1"].contains(&ending);
        let is_command = self.is_of_commands() && !is_script;
        (!is_command && !self.is_change_of(&path)).then_some((path, text))
    }

    /// Returns whether the block is a change of a file, and not its text.
    pub(super) fn is_change_of(&self, path: &str) -> bool {
        let ending = path.rsplit('.').next().unwrap_or_default();
        CHANGES.contains(&self.word().as_str()) && !CHANGES.contains(&ending)
    }

    pub(super) fn is_of_commands(&self) -> bool {
        COMMANDS.contains(&self.word().as_str())
    }

    /// Takes the lines of the block; returns their number, with the last mark.
    pub(super) fn take(&mut self, rest: &[&str]) -> usize {
        let length = self.length(rest);
        for line in &rest[..length] {
            push_line(&mut self.body, line.strip_prefix(self.indent.as_str()).unwrap_or(line));
        }
        self.is_closed = length < rest.len();
        length + 1
    }

    /// Returns the number of lines in the block. A fence within a Python string, or in a text that
    /// shows fences itself, does not end the block.
    pub(super) fn length(&self, rest: &[&str]) -> usize {
        let ends = rest.iter().enumerate().filter(|(_, line)| self.closed_by(line)).map(|it| it.0);
        let ends: Vec<usize> = ends.collect();
        if self.is_markdown() {
            return self.end_of_markdown(rest).unwrap_or(rest.len());
        }
        let meant = match self.is_python() {
            true => {
                let inside =
                    |end: &usize| trellis_python::ends_within_string(&rest[..*end].join("\n"));
                ends.iter().copied().find(|end| !inside(end))
            }
            false => {
                let opened = |end: usize| {
                    let within = rest[..end].iter();
                    within.filter(|line| self.is_opened_within(line)).count()
                };
                // The first end that closes more fences than were opened before it.
                ends.iter()
                    .enumerate()
                    .find(|(before, end)| opened(**end) <= *before)
                    .map(|it| *it.1)
            }
        };
        meant.or(ends.first().copied()).unwrap_or(rest.len())
    }

    /// Returns the end of a Markdown text, whose own fences may have no language: after the end
    /// comes either no other fence, or one with a path.
    fn end_of_markdown(&self, rest: &[&str]) -> Option<usize> {
        let mut is_within = false;
        for (at, line) in rest.iter().enumerate() {
            match (self.closed_by(line), self.is_opened_within(line)) {
                (true, _) if is_within => is_within = false,
                (true, _) if self.may_end(&rest[at + 1..]) => return Some(at),
                (true, _) | (_, true) => is_within = true,
                _ => {}
            }
        }
        None
    }

    /// Returns whether a text ends before these lines.
    fn may_end(&self, rest: &[&str]) -> bool {
        let mut above = "";
        for line in rest {
            let next = Fence::opened_by(line, above);
            if let Some(next) = next.filter(|it| it.marks.starts_with(&self.marks)) {
                return next.path().is_some() || next.says_python();
            }
            above = if line.trim().is_empty() { above } else { line };
        }
        true
    }

    fn is_markdown(&self) -> bool {
        ["markdown", "md"].contains(&self.word().as_str())
            || self.path().is_some_and(|it| it.ends_with(".md"))
    }

    fn is_python(&self) -> bool {
        self.says_python()
            || self.path().is_some_and(|it| it.ends_with(".py") || it.ends_with(".pyi"))
    }

    pub(super) fn says_python(&self) -> bool {
        matches!(self.word().as_str(), "python" | "py" | "python3")
    }

    /// Returns the language alone, in lowercase.
    pub(super) fn word(&self) -> String {
        let word = self.language.split(|c: char| c.is_whitespace() || ",{:".contains(c)).next();
        word.unwrap_or_default().to_lowercase()
    }

    /// Returns whether a line opens an inner fence: the same marks with a language.
    fn is_opened_within(&self, line: &str) -> bool {
        let inner = Fence::opened_by(line, "");
        inner.is_some_and(|it| it.marks == self.marks && !it.language.is_empty())
    }

    /// Returns whether a line closes the block. A fence indented deeper than the opening one
    /// belongs to the code, mostly to a docstring.
    pub(super) fn closed_by(&self, line: &str) -> bool {
        let indent = line.len() - line.trim_start().len();
        line.trim() == self.marks && indent <= self.indent.len()
    }

    pub(super) fn opened_by(line: &str, above: &str) -> Option<Fence> {
        let rest = line.trim_start();
        let mark = rest.chars().next().filter(|c| "`~".contains(*c))?;
        let marks: String = rest.chars().take_while(|c| *c == mark).collect();
        let language = rest[marks.len()..].trim().to_owned();
        let indent = line[..line.len() - rest.len()].to_owned();
        // "```python```" in a sentence opens no block.
        let opens = marks.len() >= 3 && !language.contains(mark);
        let above = above.to_owned();
        opens.then(|| Fence {
            indent,
            marks,
            language,
            above,
            body: String::new(),
            is_closed: false,
        })
    }
}

pub(super) fn push_line(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}
