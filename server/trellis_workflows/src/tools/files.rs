//! Tools that read, write, edit, delete and list files.

use std::num::NonZeroUsize;
use std::sync::Arc;

use globset::GlobBuilder;
use trellis_python::{SearchReplace, TextEdits};

use super::arguments::tool;
use super::overlay::shown;
use super::paths;
use super::table::{Answer, Outcome, Run, ToolContext};
use super::truncate::{Truncated, clipped, count, counted, lines, numbered};

tool! {
    "read_file",
    "Shows the lines of a file with their numbers, which are no part of the text. A long file comes in pages.",
    ReadFile {
        path: String = "path from the project's root",
        from_line: Option<NonZeroUsize> = "first line to show, from 1",
        lines: Option<NonZeroUsize> = "how many lines to show; as many as fit if left out",
    }
}

tool! {
    "write_file",
    "Writes a file: a new one, or all of one that is there. To change a part, use edit_file. A Python file has to parse.",
    WriteFile {
        path: String = "path from the project's root",
        text: String = "all of the file's text",
    }
}

tool! {
    "edit_file",
    "Replaces a piece of a file. The piece has to be found: exactly, else with other white space, else nearly so (some words differ). A Python file has to parse afterwards.",
    EditFile {
        path: String = "path from the project's root",
        search: String = "the lines that are there, without line numbers; as many as make them unique",
        replace: String = "what is to be there instead; may be empty",
        occurrence: Option<usize> = "which match is meant, from 1, if there are several; 0 for all",
    }
}

tool! {
    "delete_file",
    "Deletes a file.",
    DeleteFile {
        path: String = "path from the project's root",
    }
}

tool! {
    "list_files",
    "Lists files with the number of their lines.",
    ListFiles {
        folder: Option<String> = "folder to list, with all that is below; the whole project if left out",
        pattern: Option<String> = "glob such as `*.py` (file names) or `src/**/test_*.py` (paths below the folder)",
    }
}

impl Run for ReadFile {
    fn run(self, scene: &ToolContext) -> Outcome {
        let (path, text) = scene.copy.file(&self.path)?;
        let all = count(&text);
        let from = self.from_line.map_or(1, NonZeroUsize::get);
        if all == 0 {
            return Ok(Answer::of(format!("{path} is empty")));
        }
        if from > all {
            return Err(format!(
                "{path} has {all} lines, and from_line is {from}; give one of them"
            ));
        }
        let wanted = self.lines.map_or(usize::MAX, NonZeroUsize::get);
        let mut page = Truncated::new(scene.room);
        page.line(&shown(&scene.copy, &path, &text));
        let taken = lines(&text)
            .skip(from - 1)
            .take(wanted)
            .take_while(|(number, line)| page.line(&numbered(*number, line)))
            .count();
        let next = from + taken;
        let more = format!("… lines {next} to {all} are left; go on with from_line {next}");
        let page = page.end(|_| String::new());
        let shown = page.trim_end();
        let text = if next > all { shown.to_owned() } else { format!("{shown}\n{more}") };
        Ok(Answer::of(text))
    }
}

impl Run for WriteFile {
    fn run(self, scene: &ToolContext) -> Outcome {
        let changed = scene.copy.written(&self.path, &self.text)?;
        let before = scene.copy.files().get(&changed.path);
        let (path, now) = (&changed.path, counted(count(&self.text), "line"));
        let text = match before {
            Some(it) if **it == *self.text => {
                return Ok(Answer::of(format!("{path} holds that text already")));
            }
            Some(it) => format!("{path} was replaced: {now}, {} before", count(it)),
            None => format!("{path} was created: {now}"),
        };
        Ok(Answer { changes: vec![changed], ..Answer::of(text) })
    }
}

impl Run for EditFile {
    fn run(self, scene: &ToolContext) -> Outcome {
        let (path, source) = scene.copy.file(&self.path)?;
        let EditFile { search, replace, occurrence, .. } = self;
        let wanted = SearchReplace { path: path.clone(), search, replace, occurrence };
        let replaced = trellis_python::search_replace(&source, &wanted)
            .map_err(|why| format!("{path} was not changed: {why}"))?;
        let mut answer = edited(scene, &path, &source, &replaced.edits)?;
        if let Some(report) = replaced.report() {
            answer.text = format!("{report}.\n{}", answer.text);
        }
        Ok(answer)
    }
}

/// Edits a file and shows the resulting lines.
pub(super) fn edited(
    scene: &ToolContext,
    path: &str,
    source: &Arc<str>,
    edits: &TextEdits,
) -> Outcome {
    let changed = scene.copy.edited(path, edits)?;
    let after = changed.after.clone().unwrap_or_default();
    if after == *source {
        return Err(format!("{path} was not changed: it says so already"));
    }
    let mut page = Truncated::new(scene.room);
    page.line(&format!("{path} was changed; there is now:"));
    for line in around(&after, edits) {
        page.line(&line);
    }
    let text = page.end(|left| format!("… {}; read_file shows them", counted(left, "more line")));
    Ok(Answer { changes: vec![changed], ..Answer::of(text) })
}

/// Number of lines shown around an edit.
const AROUND: usize = 2;

/// Returns the lines that edits produced in a text, with a few lines around them.
fn around(after: &str, edits: &TextEdits) -> Vec<String> {
    let breaks = trellis_python::Lines::of(after);
    let line = |at: usize| breaks.position(at.min(after.len()), trellis_python::Unit::Utf8).0 + 1;
    let mut generated = 0_isize;
    let places: Vec<(usize, usize)> = (edits.as_slice().iter())
        .map(|edit| {
            let start = edit.range.start.saturating_add_signed(generated);
            generated += edit.text.len() as isize - edit.range.len() as isize;
            let end = start + edit.text.trim_end_matches(['\n', '\r']).len();
            (line(start).saturating_sub(AROUND), line(end) + AROUND)
        })
        .collect();
    let mut places = places.into_iter().peekable();
    let (mut shown, mut last) = (Vec::new(), 0);
    for (number, text) in lines(after) {
        while places.next_if(|(_, end)| *end < number).is_some() {}
        if places.peek().is_some_and(|(start, _)| *start <= number) {
            if number > last + 1 {
                shown.push("  …".to_owned());
            }
            shown.push(numbered(number, text));
            last = number;
        }
    }
    shown
}

impl Run for DeleteFile {
    fn run(self, scene: &ToolContext) -> Outcome {
        let changed = scene.copy.deleted(&self.path)?;
        let text = format!("{} was deleted", changed.path);
        Ok(Answer { changes: vec![changed], ..Answer::of(text) })
    }
}

impl Run for ListFiles {
    fn run(self, scene: &ToolContext) -> Outcome {
        let folder = folder(scene, self.folder.as_deref())?;
        let fits = self.pattern.as_deref().map(glob).transpose()?;
        let below = |path: &str| below(&folder, path).map(str::to_owned);
        let fits =
            |path: &str| below(path).is_some_and(|it| fits.as_ref().is_none_or(|fits| fits(&it)));
        let mut page = Truncated::new(scene.room);
        let mut found = 0;
        for (path, text) in scene.copy.files().iter().filter(|(path, _)| fits(path)) {
            page.line(&shown(&scene.copy, path, text));
            found += 1;
        }
        if found == 0 {
            return Ok(Answer::of("no file fits".to_owned()));
        }
        let narrower = |left| {
            format!("… {left} more of {found} files; give a folder or a pattern to see them")
        };
        Ok(Answer::of(page.end(narrower)))
    }
}

/// Returns the folder, or the file, that a tool searches.
pub(super) fn folder(scene: &ToolContext, given: Option<&str>) -> Result<String, String> {
    let Some(given) = given else { return Ok(String::new()) };
    let folder = paths::folder(given)?;
    if scene.copy.files().contains_key(&folder) || scene.copy.is_folder(&folder) {
        return Ok(folder);
    }
    let tops: std::collections::BTreeSet<&str> =
        scene.copy.files().keys().filter_map(|it| it.split_once('/')).map(|(it, _)| it).collect();
    let tops: Vec<&str> = tops.into_iter().take(10).collect();
    let folder = clipped(&folder, 200);
    Err(format!("there is no folder {folder}; at the top there are: {}", tops.join(", ")))
}

/// Returns a path if it equals the folder or lies below it, relative to the folder if below.
pub(super) fn below<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    if folder.is_empty() || folder == path {
        return Some(path);
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// Maximum bytes of a glob.
const LONGEST_GLOB: usize = 200;

/// Returns a matcher for a glob: on file names if the glob has no `/`, else on paths.
fn glob(pattern: &str) -> Result<impl Fn(&str) -> bool, String> {
    let by_name = !pattern.contains('/');
    let short = pattern.len() <= LONGEST_GLOB;
    let shown = clipped(pattern, LONGEST_GLOB);
    let glob = GlobBuilder::new(&shown).literal_separator(true).build();
    let glob = match glob {
        Ok(glob) if short => glob.compile_matcher(),
        Ok(_) => return Err("the pattern is longer than 200 bytes; give a shorter one".to_owned()),
        Err(why) => {
            let why = why.kind();
            return Err(format!("`{shown}` is no glob: {why}; give one like `*.py` or `src/**`"));
        }
    };
    Ok(move |path: &str| match path.rsplit_once('/') {
        Some((_, name)) if by_name => glob.is_match(name),
        _ => glob.is_match(path),
    })
}
