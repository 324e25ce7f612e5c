//! Fenced blocks of a reply, and their paths.

/// Returns the fenced blocks; an unclosed one ends with the text. A fence in a list is indented,
/// together with its block.
pub(super) fn fences(text: &str) -> Vec<Fence> {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    let mut above = "";
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let Some(mut fence) = Fence::opened_by(line, above) else {
            above = if line.trim().is_empty() { above } else { line };
            continue;
        };
        let length = fence.length(&lines[at..]);
        for line in &lines[at..at + length] {
            push_line(&mut fence.body, line.strip_prefix(fence.indent.as_str()).unwrap_or(line));
        }
        at += length + 1;
        above = "";
        out.push(fence);
    }
    out
}

/// A fenced block.
pub(super) struct Fence {
    indent: String,
    /// Three or more backticks or tildes.
    marks: String,
    /// The rest of the line after the marks.
    pub(super) language: String,
    /// The last line above the fence that is not blank.
    above: String,
    pub(super) body: String,
}

impl Fence {
    /// Returns the path after the language, or on the line above.
    pub(super) fn path(&self) -> Option<String> {
        let behind = self.language.split([' ', ':']).nth(1).and_then(path_of);
        behind.or_else(|| path_of(&self.above))
    }

    /// Returns the number of lines in the block. A fence within a Python string, or in a text that
    /// shows fences itself, does not end the block.
    fn length(&self, rest: &[&str]) -> usize {
        let ends = rest.iter().enumerate().filter(|(_, line)| self.closed_by(line)).map(|it| it.0);
        let ends: Vec<usize> = ends.collect();
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

    fn is_python(&self) -> bool {
        self.says_python()
            || self.path().is_some_and(|it| it.ends_with(".py") || it.ends_with(".pyi"))
    }

    pub(super) fn says_python(&self) -> bool {
        let word = self.language.split(|c: char| c.is_whitespace() || ",{:".contains(c)).next();
        let word = word.map(str::to_lowercase);
        matches!(word.as_deref(), Some("python" | "py" | "python3"))
    }

    /// Returns whether a line opens an inner fence: the same marks with a language.
    fn is_opened_within(&self, line: &str) -> bool {
        let inner = Fence::opened_by(line, "");
        inner.is_some_and(|it| it.marks == self.marks && !it.language.is_empty())
    }

    /// Returns whether a line closes the block. A fence indented deeper than the opening one
    /// belongs to the code, mostly to a docstring.
    fn closed_by(&self, line: &str) -> bool {
        let indent = line.len() - line.trim_start().len();
        line.trim() == self.marks && indent <= self.indent.len()
    }

    fn opened_by(line: &str, above: &str) -> Option<Fence> {
        let rest = line.trim_start();
        let mark = rest.chars().next().filter(|c| "`~".contains(*c))?;
        let marks: String = rest.chars().take_while(|c| *c == mark).collect();
        let language = rest[marks.len()..].trim().to_owned();
        let indent = line[..line.len() - rest.len()].to_owned();
        // "```python```" in a sentence opens no block.
        let opens = marks.len() >= 3 && !language.contains(mark);
        let above = above.to_owned();
        opens.then(|| Fence { indent, marks, language, above, body: String::new() })
    }
}

pub(super) fn push_line(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

/// Extensions of files that a model may write.
const ENDINGS: [&str; 23] = [
    "py", "pyi", "js", "jsx", "mjs", "cjs", "ts", "tsx", "json", "go", "mod", "html", "css", "md",
    "txt", "toml", "yaml", "yml", "cfg", "ini", "sql", "xml", "csv",
];

/// Returns the path in a line that holds nothing else but marks around the path.
pub(super) fn path_of(line: &str) -> Option<String> {
    let bare = line.trim_matches(|c: char| "`*#:".contains(c) || c.is_whitespace());
    let ending = bare.rsplit_once('.').map(|(_, it)| it)?;
    let looks =
        ENDINGS.contains(&ending) && !bare.contains(|c: char| c.is_whitespace() || c == '`');
    looks.then(|| bare.trim_start_matches("./").to_owned())
}
