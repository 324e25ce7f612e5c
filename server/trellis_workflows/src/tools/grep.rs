//! Searches the text of all files, line by line.
//!
//! Patterns are untrusted: the automaton is small and never backtracks, the deadline is checked
//! between lines, and only the start of a long line is searched.

use std::time::Instant;

use regex_automata::meta::{self, Regex};
use regex_automata::util::syntax;

use super::arguments::tool;
use super::files::{below, folder};
use super::table::{Answer, Outcome, Run, ToolContext};
use super::truncate::{Truncated, clipped, counted, lines};

tool! {
    "grep",
    "Looks for a text, line by line, in all files; shows file, line number and line.",
    Grep {
        pattern: String = "what to look for, within one line",
        folder: Option<String> = "folder, or file, to look in; the whole project if left out",
        ignore_case: Option<bool> = "whether upper and lower case are alike; false if left out",
        regex: Option<bool> = "whether the pattern is a regular expression (no look-around, no back-references); false if left out",
    }
}

/// Maximum bytes of a pattern.
const LONGEST_PATTERN: usize = 1000;
/// Maximum bytes of a pattern's automaton: a few thousand states.
const LARGEST_AUTOMATON: usize = 512 << 10;
/// Bytes searched per line.
const SEARCHED: usize = 10_000;
/// Bytes shown per line.
const SHOWN: usize = 200;

impl Run for Grep {
    fn run(self, scene: &ToolContext) -> Outcome {
        let regex = self.automaton()?;
        let folder = folder(scene, self.folder.as_deref())?;
        let mut hits = Hits { page: Truncated::new(scene.room), lines: 0, files: 0, unsearched: 0 };
        let inside = |path: &str| below(&folder, path).is_some();
        for (path, text) in scene.copy.files().iter().filter(|(path, _)| inside(path)) {
            hits.search(path, text, &regex, scene.deadline)?;
        }
        Ok(match hits.lines {
            0 => Answer::nothing(hits.shown()),
            _ => Answer::of(hits.shown()),
        })
    }
}

impl Grep {
    fn automaton(&self) -> Result<Regex, String> {
        if self.pattern.is_empty() || self.pattern.len() > LONGEST_PATTERN {
            return Err(format!("the pattern has to have 1 to {LONGEST_PATTERN} bytes"));
        }
        if self.pattern.contains('\n') {
            let hint = "look for one of the lines, then read the file around it";
            return Err(format!(
                "the pattern has several lines, and files are searched line by line; {hint}"
            ));
        }
        let is_regex = self.regex.unwrap_or(false);
        let pattern = if is_regex { self.pattern.clone() } else { literal(&self.pattern) };
        let config = meta::Config::new().nfa_size_limit(Some(LARGEST_AUTOMATON));
        let ignore_case = self.ignore_case.unwrap_or(false);
        let syntax = syntax::Config::new().case_insensitive(ignore_case).nest_limit(50);
        let built = Regex::builder().configure(config).syntax(syntax).build(&pattern);
        built.map_err(|why| match why.syntax_error() {
            Some(why) => format!("the pattern is no regular expression: {why}"),
            None => format!("the pattern is too large ({why}); repeat less in it"),
        })
    }
}

/// Escapes a text as a regular expression that matches only the text.
fn literal(text: &str) -> String {
    let special = |c: char| r"\.+*?()|[]{}^$#&-~".contains(c);
    text.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

struct Hits {
    page: Truncated,
    lines: usize,
    files: usize,
    /// Number of lines of which only the start was searched.
    unsearched: usize,
}

impl Hits {
    fn search(
        &mut self,
        path: &str,
        text: &str,
        regex: &Regex,
        deadline: Instant,
    ) -> Result<(), String> {
        let before = self.lines;
        for (number, line) in lines(text) {
            if Instant::now() >= deadline {
                let hint = "give a folder, or a simpler pattern";
                return Err(format!("the search took too long and got as far as {path}; {hint}"));
            }
            let searched = &line[..line.floor_char_boundary(SEARCHED)];
            self.unsearched += usize::from(searched.len() < line.len());
            if let Some(found) = regex.find(searched) {
                self.lines += 1;
                self.page.line(&format!("{path}:{number}: {}", window(line, found.start())));
            }
        }
        self.files += usize::from(self.lines > before);
        Ok(())
    }

    fn shown(self) -> String {
        let Hits { page, lines, files, unsearched } = self;
        let all = format!("{} in {}", counted(lines, "line"), counted(files, "file"));
        let less = |left| {
            format!("… {left} more; {all} fit. Give a folder or a narrower pattern to see them")
        };
        let mut text = if lines == 0 { "no line fits".to_owned() } else { page.end(less) };
        if unsearched > 0 {
            let lines = counted(unsearched, "line");
            text.push_str(&format!("\n({lines} searched only in the first {SEARCHED} bytes)"));
        }
        text
    }
}

/// Returns the part of a line around a match.
fn window(line: &str, at: usize) -> String {
    let line_start = line.len() - line.trim_start().len();
    if at < line_start + SHOWN / 2 {
        return clipped(line[line_start..].trim_end(), SHOWN);
    }
    let from = line.floor_char_boundary(at - SHOWN / 4);
    format!("…{}", clipped(line[from..].trim_end(), SHOWN))
}
