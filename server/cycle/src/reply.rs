//! What a model's answer says, whatever it is wrapped in (see `recording.md`).

use std::collections::HashMap;

use code::{SearchReplace, search_replace};
use serde::Deserialize;

/// The parts of a reply that can be acted on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Edits(Vec<Edit>),
    Code(String),
    Nothing,
}

/// One search/replace block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    /// Relative to the repository; empty when the model gave none.
    pub(crate) path: String,
    /// One for each line that may divide the search from the replacement: the texts may hold such lines themselves, as
    /// underlined headings do.
    readings: Vec<SearchReplace>,
}

impl Edit {
    /// A text with the edit. Of several readings that can be made there, the one is meant whose search is most like what the
    /// text holds, and most like its own replacement.
    ///
    /// # Errors
    ///
    /// Why it cannot be made, in words for the model.
    pub(crate) fn applied_to(&self, text: &str) -> Result<String, String> {
        let made = self.readings.iter().map(|it| (it, search_replace(text, it)));
        let (mut best, mut refused) = (None, None);
        for (reading, made) in made {
            let own = in_common(&reading.search, &reading.replace);
            match made {
                Ok(it) => {
                    let score = it.likeness + own;
                    if best.as_ref().is_none_or(|(most, _)| score > *most) {
                        best = Some((score, it));
                    }
                }
                Err(why) if refused.as_ref().is_none_or(|(most, _)| own > *most) => {
                    refused = Some((own, why));
                }
                Err(_) => {}
            }
        }
        let among = match self.readings.len() {
            0 | 1 => String::new(),
            count => format!("of {count} lines that may divide the block none makes sense: "),
        };
        match (best, refused) {
            (Some((_, made)), _) => Ok(made.edits.apply(text)),
            (None, Some((_, why))) => Err(format!("{among}{why}")),
            (None, None) => Err("the block is empty".to_owned()),
        }
    }

    /// The text of a file that the block makes: it searches for nothing.
    pub(crate) fn whole(&self) -> Option<&str> {
        let first = self.readings.first()?;
        first.search.trim().is_empty().then_some(first.replace.as_str())
    }
}

/// Words that two texts have in common, twice, over those of both.
fn in_common(one: &str, other: &str) -> f32 {
    let mut counts: HashMap<&str, i32> = HashMap::new();
    one.split_whitespace().for_each(|it| *counts.entry(it).or_default() += 1);
    let all = one.split_whitespace().count() + other.split_whitespace().count();
    let shared = other.split_whitespace().filter(|it| {
        let left = counts.get_mut(it);
        left.is_some_and(|left| {
            *left -= 1;
            *left >= 0
        })
    });
    2.0 * shared.count() as f32 / all.max(1) as f32
}

/// Edits win over code: an edit's block may itself stand in a fence.
///
/// # Errors
///
/// A block that has no end, in words for the model: half of what was meant is not made.
pub(crate) fn read(text: &str) -> Result<Reply, String> {
    let edits = edits(text)?;
    if !edits.is_empty() {
        return Ok(Reply::Edits(edits));
    }
    Ok(code(text).map_or(Reply::Nothing, Reply::Code))
}

/// Search/replace blocks, or the JSON of changes.
///
/// # Errors
///
/// As for [`read`].
pub(crate) fn edits(text: &str) -> Result<Vec<Edit>, String> {
    let blocks = search_replace_blocks(text)?;
    Ok(if blocks.is_empty() { code_changes(text).unwrap_or_default() } else { blocks })
}

/// Fences that stand under a path, as path and text; not those around search/replace blocks. The path is the line above,
/// or behind the language.
pub(crate) fn whole_files(text: &str) -> Vec<(String, String)> {
    let fences = fences(text).into_iter().filter(|it| !it.body.contains("<<<<<<< "));
    fences.filter_map(|it| Some((it.path()?, it.body))).collect()
}

/// The text of one file: that under its path, else that of the only fence there is.
pub(crate) fn file(text: &str, path: &str) -> Option<String> {
    let fences = fences(text);
    let named = fences.iter().position(|it| it.path().as_deref() == Some(path));
    let only = || (fences.len() == 1 && fences[0].path().is_none()).then_some(0);
    let place = named.or_else(only)?;
    fences.into_iter().nth(place).map(|it| it.body)
}

/// The first fenced `python` block; else the first fence that parses as Python; else the whole text
/// if it is Python that defines something.
pub(crate) fn code(text: &str) -> Option<String> {
    let fences = fences(text);
    if let Some(fence) = fences.iter().find(|it| it.says_python()) {
        return Some(fence.body.clone());
    }
    let bare = fences.into_iter().find(|it| it.language.is_empty() && is_code(&it.body));
    bare.map(|it| it.body).or_else(|| is_code(text).then(|| text.to_owned()))
}

fn is_code(text: &str) -> bool {
    code::Fragment::parse(text).is_ok_and(|it| it.items.iter().any(code::Item::is_definition))
}

/// Fenced blocks; an unclosed one runs to the end. A fence inside a list is indented, and its block with it.
fn fences(text: &str) -> Vec<Fence> {
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

struct Fence {
    indent: String,
    /// Three or more backticks or tildes.
    marks: String,
    /// All that stands behind the marks.
    language: String,
    /// The line above it that is not blank.
    above: String,
    body: String,
}

impl Fence {
    /// Behind the language, or on the line above.
    fn path(&self) -> Option<String> {
        let behind = self.language.split([' ', ':']).nth(1).and_then(path_of);
        behind.or_else(|| path_of(&self.above))
    }

    /// How many of the lines behind its first one belong to it. A fence within a string of Python, or in a text that shows
    /// fences itself, does not end it.
    fn length(&self, rest: &[&str]) -> usize {
        let ends = rest.iter().enumerate().filter(|(_, line)| self.closed_by(line)).map(|it| it.0);
        let ends: Vec<usize> = ends.collect();
        let meant = match self.is_python() {
            true => {
                let inside = |end: &usize| code::ends_within_string(&rest[..*end].join("\n"));
                ends.iter().copied().find(|end| !inside(end))
            }
            false => {
                let opened = |end: usize| {
                    let within = rest[..end].iter();
                    within.filter(|line| self.is_opened_within(line)).count()
                };
                // The first that closes more than was opened before it.
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

    fn says_python(&self) -> bool {
        let word = self.language.split(|c: char| c.is_whitespace() || ",{:".contains(c)).next();
        let word = word.map(str::to_lowercase);
        matches!(word.as_deref(), Some("python" | "py" | "python3"))
    }

    /// The same marks with a language behind them.
    fn is_opened_within(&self, line: &str) -> bool {
        let inner = Fence::opened_by(line, "");
        inner.is_some_and(|it| it.marks == self.marks && !it.language.is_empty())
    }

    /// A fence deeper than the one that opened the block belongs to the code: to a docstring, mostly.
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
        // "```python```" in a sentence opens nothing.
        let opens = marks.len() >= 3 && !language.contains(mark);
        let above = above.to_owned();
        opens.then(|| Fence { indent, marks, language, above, body: String::new() })
    }
}

/// `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`, the file's path on the line above. A block may be indented as a whole; a
/// line divides it only where it stands at the block's own indentation and is nothing but seven signs.
fn search_replace_blocks(text: &str) -> Result<Vec<Edit>, String> {
    let mut edits = Vec::new();
    let mut path = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(indent) = line.find("<<<<<<<").filter(|at| line[..*at].trim().is_empty()) else {
            path = path_of(line.trim()).unwrap_or(path);
            continue;
        };
        let indent = &line[..indent];
        let own = |line: &'_ str| line.strip_prefix(indent).unwrap_or(line).to_owned();
        let mut body: Vec<String> = Vec::new();
        let end = lines.by_ref().map(own).find_map(|line| {
            let ends = line.starts_with(">>>>>>>");
            if !ends {
                body.push(line);
            }
            ends.then_some(())
        });
        let of = if path.is_empty() { String::new() } else { format!(" of {path}") };
        if end.is_none() {
            return Err(format!(
                "a search/replace block{of} has no end: `>>>>>>> REPLACE` is missing"
            ));
        }
        let readings = readings(&path, &body);
        if readings.is_empty() {
            return Err(format!(
                "a search/replace block{of} is not divided: a line `=======` by itself is missing"
            ));
        }
        edits.push(Edit { path: path.clone(), readings });
    }
    Ok(edits)
}

fn readings(path: &str, body: &[String]) -> Vec<SearchReplace> {
    let dividers = body.iter().enumerate().filter(|(_, line)| line.trim_end() == "=======");
    let joined = |lines: &[String]| {
        let mut out = String::new();
        lines.iter().for_each(|line| push_line(&mut out, line));
        out
    };
    let reading = |(at, _)| SearchReplace {
        path: path.to_owned(),
        search: joined(&body[..at]),
        replace: joined(&body[at + 1..]),
        occurrence: None,
    };
    dividers.map(reading).collect()
}

fn push_line(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

/// Endings of files that hold what people write.
const ENDINGS: [&str; 23] = [
    "py", "pyi", "js", "jsx", "mjs", "cjs", "ts", "tsx", "json", "go", "mod", "html", "css", "md",
    "txt", "toml", "yaml", "yml", "cfg", "ini", "sql", "xml", "csv",
];

fn path_of(line: &str) -> Option<String> {
    let bare = line.trim_matches(|c: char| "`*#:".contains(c) || c.is_whitespace());
    let ending = bare.rsplit_once('.').map(|(_, it)| it)?;
    let looks =
        ENDINGS.contains(&ending) && !bare.contains(|c: char| c.is_whitespace() || c == '`');
    looks.then(|| bare.trim_start_matches("./").to_owned())
}

#[derive(Deserialize)]
struct CodeChange {
    file_path: String,
    search_text: String,
    replace_text: String,
    occurrence: Option<usize>,
}

#[derive(Deserialize)]
struct CodeChanges {
    changes: Vec<CodeChange>,
}

/// The JSON of 002's `CodeChange`: one, a list, or `{"changes": […]}`.
fn code_changes(text: &str) -> Option<Vec<Edit>> {
    let json = fences(text).into_iter().find(|it| it.language.eq_ignore_ascii_case("json"));
    let text = json.map_or_else(|| text.trim().to_owned(), |it| it.body.trim().to_owned());
    let changes: Vec<CodeChange> = match text.chars().next()? {
        '[' => serde_json::from_str(&text).ok()?,
        '{' => (serde_json::from_str::<CodeChanges>(&text).map(|all| all.changes))
            .or_else(|_| serde_json::from_str(&text).map(|one| vec![one]))
            .ok()?,
        _ => return None,
    };
    let edit = |change: CodeChange| {
        let path = change.file_path.trim_start_matches("./").to_owned();
        let reading = SearchReplace {
            path: path.clone(),
            search: change.search_text,
            replace: change.replace_text,
            occurrence: change.occurrence,
        };
        Edit { path, readings: vec![reading] }
    };
    (!changes.is_empty()).then(|| changes.into_iter().map(edit).collect())
}
