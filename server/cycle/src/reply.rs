//! What a model's answer says, whatever it is wrapped in (see `recording.md`).

use code::SearchReplace;
use serde::Deserialize;

/// The parts of a reply that can be acted on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Edits(Vec<SearchReplace>),
    Code(String),
    Nothing,
}

/// Edits win over code: an edit's block may itself stand in a fence.
pub(crate) fn read(text: &str) -> Reply {
    let edits = edits(text);
    if !edits.is_empty() {
        return Reply::Edits(edits);
    }
    code(text).map_or(Reply::Nothing, Reply::Code)
}

/// Search/replace blocks, or the JSON of changes.
pub(crate) fn edits(text: &str) -> Vec<SearchReplace> {
    let blocks = search_replace_blocks(text);
    if blocks.is_empty() { code_changes(text).unwrap_or_default() } else { blocks }
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
    let python = |language: &str| {
        let word = language.split(|c: char| c.is_whitespace() || ",{:".contains(c)).next();
        let word = word.map(str::to_lowercase);
        matches!(word.as_deref(), Some("python" | "py" | "python3"))
    };
    if let Some(fence) = fences.iter().find(|it| python(&it.language)) {
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
    let mut out = Vec::new();
    let mut open: Option<Fence> = None;
    let mut above = "";
    for line in text.lines() {
        match open.take() {
            None => {
                open = Fence::opened_by(line, above);
                above = if line.trim().is_empty() { above } else { line };
            }
            Some(fence) if fence.closed_by(line) => {
                out.push(fence);
                above = "";
            }
            Some(mut fence) => {
                push_line(
                    &mut fence.body,
                    line.strip_prefix(fence.indent.as_str()).unwrap_or(line),
                );
                open = Some(fence);
            }
        }
    }
    out.extend(open);
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

#[derive(Clone, Copy, PartialEq)]
enum In {
    Text,
    Search,
    Replace,
}

/// `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`, the file's path on the line above.
fn search_replace_blocks(text: &str) -> Vec<SearchReplace> {
    let mut edits = Vec::new();
    let mut state = In::Text;
    let (mut path, mut search, mut replace) = (String::new(), String::new(), String::new());
    for line in text.lines() {
        let mark = line.trim();
        match state {
            In::Text if mark.starts_with("<<<<<<<") => {
                (search, replace) = (String::new(), String::new());
                state = In::Search;
            }
            In::Text => path = path_of(mark).unwrap_or(path),
            In::Search if mark.starts_with("=======") => state = In::Replace,
            In::Search => push_line(&mut search, line),
            In::Replace if mark.starts_with(">>>>>>>") => {
                let (search, replace) = (std::mem::take(&mut search), std::mem::take(&mut replace));
                edits.push(SearchReplace { path: path.clone(), search, replace, occurrence: None });
                state = In::Text;
            }
            In::Replace => push_line(&mut replace, line),
        }
    }
    edits
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
fn code_changes(text: &str) -> Option<Vec<SearchReplace>> {
    let json = fences(text).into_iter().find(|it| it.language.eq_ignore_ascii_case("json"));
    let text = json.map_or_else(|| text.trim().to_owned(), |it| it.body.trim().to_owned());
    let changes: Vec<CodeChange> = match text.chars().next()? {
        '[' => serde_json::from_str(&text).ok()?,
        '{' => (serde_json::from_str::<CodeChanges>(&text).map(|all| all.changes))
            .or_else(|_| serde_json::from_str(&text).map(|one| vec![one]))
            .ok()?,
        _ => return None,
    };
    let edit = |change: CodeChange| SearchReplace {
        path: change.file_path.trim_start_matches("./").to_owned(),
        search: change.search_text,
        replace: change.replace_text,
        occurrence: change.occurrence,
    };
    (!changes.is_empty()).then(|| changes.into_iter().map(edit).collect())
}
