//! Colors of results and notes: on a terminal, unless `NO_COLOR` or `--color never` forbids them.

use std::io;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;

/// When output is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    Always,
    Never,
}

/// Meaning of a color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Bad,
    Doubtful,
}

impl Tone {
    /// Returns the tone of a test's, node's or task's state.
    pub(crate) fn of_state(state: &str) -> Option<Tone> {
        match state.trim() {
            "passed" | "merged" | "ok" | "repaired" => Some(Tone::Good),
            "failed" | "error" | "crashed" | "tampered" | "timedOut" | "missing" | "OPEN" => {
                Some(Tone::Bad)
            }
            "skipped" | "blocked" | "xfailed" | "flaky" => Some(Tone::Doubtful),
            _ => None,
        }
    }

    fn style(self) -> Style {
        match self {
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Bad => AnsiColor::Red.on_default(),
            Tone::Doubtful => AnsiColor::Yellow.on_default(),
        }
    }
}

/// The only escape sequences that Trellis itself writes to a terminal.
pub(super) const SEQUENCES: [&str; 6] =
    ["\u{1b}[1m", "\u{1b}[0m", "\u{1b}[22m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];

/// Sets the color mode of the whole process.
pub(crate) fn choose(when: When) {
    match when {
        When::Auto => ColorChoice::Auto,
        When::Always => ColorChoice::AlwaysAnsi,
        When::Never => ColorChoice::Never,
    }
    .write_global();
}

/// Returns whether standard output is colored.
pub(crate) fn is_on() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// Colors a text for standard output.
pub(crate) fn paint(tone: Tone, text: &str) -> String {
    painted(is_on(), tone, text)
}

/// Colors the state at the start of a line, if the state has a color.
pub(crate) fn state(text: &str) -> String {
    Tone::of_state(text).map_or_else(|| text.to_owned(), |tone| paint(tone, text))
}

/// Colors the added and removed lines of a diff.
pub(crate) fn diff(line: &str) -> String {
    if line.starts_with("+++ ") || line.starts_with("--- ") {
        return line.to_owned();
    }
    match line.as_bytes().first() {
        Some(b'+') => paint(Tone::Good, line),
        Some(b'-') => paint(Tone::Bad, line),
        _ => line.to_owned(),
    }
}

/// Colors the first word of a note for standard error.
pub(super) fn note(text: &str) -> String {
    let is_on = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    for (word, tone) in
        [("error:", Tone::Bad), ("warning:", Tone::Doubtful), ("problem:", Tone::Bad)]
    {
        if let Some(rest) = text.strip_prefix(word) {
            return painted(is_on, tone, word) + rest;
        }
    }
    text.to_owned()
}

fn painted(is_on: bool, tone: Tone, text: &str) -> String {
    let style = tone.style();
    if is_on { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tone_uses_sequences_that_pass_the_printer() {
        for tone in [Tone::Good, Tone::Bad, Tone::Doubtful] {
            let text = painted(true, tone, "text");
            assert_eq!(trellis_os::terminal::escape_except(&text, &SEQUENCES), text);
            assert_eq!(painted(false, tone, "text"), "text");
        }
    }
}
