//! A page of documentation, parsed into its fenced blocks.

use std::collections::BTreeSet;

use super::session::{Wrong, fits};

/// Marker for the folder in which the following commands run.
const EXAMPLE: &str = "<!-- example: ";

pub(super) struct Page {
    lines: Vec<String>,
    pub(super) blocks: Vec<Block>,
    /// Folders of examples, each with its first line.
    examples: Vec<(usize, String)>,
}

/// A fenced block. Lines count from 1.
pub(super) struct Block {
    pub(super) language: String,
    /// The line below the opening fence.
    pub(super) line: usize,
    pub(super) lines: Vec<String>,
}

/// A command of a `console` block with the output in the page.
pub(super) struct Step {
    pub(super) command: String,
    /// The first line of the output.
    pub(super) line: usize,
    pub(super) shown: Vec<String>,
}

impl Block {
    pub(super) fn text(&self) -> String {
        self.lines.iter().map(|it| format!("{it}\n")).collect()
    }

    /// Returns whether the block shows commands, executed or not.
    pub(super) fn is_shell(&self) -> bool {
        matches!(self.language.as_str(), "console" | "sh")
    }

    fn steps(&self) -> Vec<Step> {
        let mut out: Vec<Step> = Vec::new();
        for (number, line) in self.lines.iter().enumerate() {
            match (line.strip_prefix("$ "), out.last_mut()) {
                (Some(command), _) => out.push(Step {
                    command: command.to_owned(),
                    line: self.line + number + 1,
                    shown: Vec::new(),
                }),
                (None, Some(step)) if step.shown.is_empty() && step.command.ends_with('\\') => {
                    step.command = format!("{}\n{line}", step.command);
                    step.line += 1;
                }
                (None, Some(step)) => step.shown.push(line.clone()),
                (None, None) => panic!("line {}: output without a command", self.line + number),
            }
        }
        out
    }
}

impl Page {
    pub(super) fn of(text: &str) -> Page {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let (mut blocks, mut examples) = (Vec::new(), Vec::new());
        let mut open: Option<Block> = None;
        for (number, line) in lines.iter().enumerate() {
            match (open.take(), line.trim_start().strip_prefix("```")) {
                (Some(block), Some("")) => blocks.push(block),
                (Some(mut block), _) => {
                    block.lines.push(line.clone());
                    open = Some(block);
                }
                (None, Some(language)) => {
                    let (language, line) = (language.to_owned(), number + 2);
                    open = Some(Block { language, line, lines: Vec::new() });
                }
                (None, None) => {
                    let folder = line.strip_prefix(EXAMPLE).and_then(|it| it.strip_suffix(" -->"));
                    examples.extend(folder.map(|it| (number + 1, it.to_owned())));
                }
            }
        }
        assert!(open.is_none(), "a block is not closed");
        Page { lines, blocks, examples }
    }

    pub(super) fn has_commands(&self) -> bool {
        self.blocks.iter().any(|it| it.language == "console")
    }

    /// Returns the commands executed in one folder, in sequence; an example's marker begins a new
    /// session.
    pub(super) fn sessions(&self) -> Vec<(Option<&str>, Vec<Step>)> {
        let mut out: Vec<(Option<&str>, Vec<Step>)> = Vec::new();
        let mut begun = None;
        for block in self.blocks.iter().filter(|it| it.language == "console") {
            let example = self.examples.iter().rfind(|(line, _)| *line < block.line);
            let start = example.map_or(0, |it| it.0);
            if begun != Some(start) {
                out.push((example.map(|it| it.1.as_str()), Vec::new()));
                begun = Some(start);
            }
            if let Some((_, steps)) = out.last_mut() {
                steps.extend(block.steps());
            }
        }
        out
    }

    /// Returns the page with the current output of its commands.
    pub(super) fn with(&self, wrong: &[Wrong]) -> String {
        let mut lines = self.lines.clone();
        for it in wrong.iter().rev() {
            let at = it.line - 1;
            lines.splice(at..at + it.shown.len(), renewed(&it.shown, &it.printed));
        }
        lines.iter().map(|it| format!("{it}\n")).collect()
    }
}

/// Updates the output shown in a page: omitted parts stay omitted, reworded lines are replaced.
fn renewed(shown: &[String], printed: &[String]) -> Vec<String> {
    let (mut out, mut at) = (Vec::new(), 0);
    for line in shown {
        let left = &printed[at..];
        let same = left.iter().position(|it| fits(line, it));
        let close = || {
            let likeness = |it: &String| (likeness(line, it) * 100.0) as u32;
            let best = left
                .iter()
                .enumerate()
                .max_by_key(|(number, it)| (likeness(it), usize::MAX - number));
            best.filter(|(_, it)| likeness(it) >= 40).map(|(number, _)| number)
        };
        if line == "…" {
            out.push(line.clone());
        } else if let Some(number) = same {
            out.push(line.clone());
            at += number + 1;
        } else if let Some(number) = close() {
            out.push(stable(&left[number]));
            at += number + 1;
        }
    }
    if shown.last().is_none_or(|it| it != "…") {
        out.extend(printed[at..].iter().map(|it| stable(it)));
    }
    let is_right = super::session::agrees(&out, printed);
    if is_right { out } else { printed.iter().map(|it| stable(it)).collect() }
}

/// Returns the share of words that two lines have in common.
fn likeness(one: &str, other: &str) -> f64 {
    let words =
        |text: &str| text.split_whitespace().map(str::to_owned).collect::<BTreeSet<String>>();
    let (one, other) = (words(one), words(other));
    let all = one.union(&other).count();
    if all == 0 { 1.0 } else { one.intersection(&other).count() as f64 / all as f64 }
}

/// Masks parts of a line that differ between runs: durations, times and temporary folders.
fn stable(line: &str) -> String {
    let line = &without_time(&without_folder(line));
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for at in 1..words.len() {
        let unit = words[at].trim_end_matches([')', ',', ';', ':', '.']);
        let number = words[at - 1].trim_start_matches('(');
        let is_number =
            !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit() || it == b'.');
        if matches!(unit, "ms" | "s") && is_number {
            words[at - 1] = words[at - 1].replace(number, "…");
        }
    }
    words.join(" ")
}

fn without_folder(line: &str) -> String {
    let temporary = std::env::temp_dir().join(".tmp").display().to_string();
    let mut parts = line.split(&temporary);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.split_once("/work").map_or("", |(_, rest)| rest);
        out = format!("{out}…{rest}");
    }
    out
}

/// Masks the time at the start of a log line.
fn without_time(line: &str) -> String {
    match line.split_once("Z  ") {
        Some((time, rest)) if time.len() == 19 && time.as_bytes()[10] == b'T' => {
            format!("…  {rest}")
        }
        _ => line.to_owned(),
    }
}
