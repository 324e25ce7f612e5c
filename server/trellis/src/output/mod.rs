//! Printer of commands. Results go to standard output, notes and progress to standard error.

use std::io::{self, BufWriter, IsTerminal as _, StdoutLock, Write};

use serde::Serialize;
use serde_json::json;
use trellis_os::terminal::{escape, escape_except};
use trellis_os::wording::without_numbers;

use trellis_workflows::fault::Fault;
use trellis_workflows::reporter::{Progress, Reporter};

pub(crate) mod color;
pub(crate) mod log;
pub(crate) mod waiting;

/// Printer of a command, in one of two formats.
pub(crate) struct Output {
    json: bool,
    /// True once a result was printed; a command prints at most one.
    has_printed: bool,
    /// Reporter of notes and progress to standard error.
    reporter: Reporter,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Output { json, has_printed: false, reporter: Reporter::to_printer(print) }
    }

    /// Returns the reporter of notes and progress.
    pub(crate) fn reporter(&self) -> &Reporter {
        &self.reporter
    }

    /// Returns whether the result is printed as one JSON object.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints the result of a command as one JSON object on one line.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Fault> {
        self.has_printed = true;
        self.stream(|out| {
            serde_json::to_writer(&mut *out, value)?;
            writeln!(out)
        })
    }

    /// Prints a fault as the JSON object that is required if no result was printed.
    pub(crate) fn failed(&mut self, fault: &Fault) {
        if !self.json || self.has_printed {
            return;
        }
        let error =
            json!({ "message": fault.message, "hint": fault.hint, "exitCode": fault.exit as u8 });
        // A closed pipe or a full disk is ignored: the exit code reports the fault as well.
        let _ = self.json(&json!({ "error": error }));
    }

    /// Prints the result of a command as text.
    pub(crate) fn text(&mut self, text: impl std::fmt::Display) -> Result<(), Fault> {
        self.stream(|out| writeln!(out, "{text}"))
    }

    /// Prints a long result in pieces.
    pub(crate) fn stream(
        &mut self,
        write: impl FnOnce(&mut BufWriter<Screen>) -> io::Result<()>,
    ) -> Result<(), Fault> {
        let print = || {
            let mut out = BufWriter::new(Screen::new(io::stdout().lock()));
            write(&mut out).and_then(|()| out.flush())
        };
        match waiting::around(print) {
            // The reader closed the pipe (`| head`), which is no error.
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(e) => Err(Fault::internal(format!("cannot print the result: {e}"))),
            Ok(()) => Ok(()),
        }
    }

    /// Prints a note besides the result.
    pub(crate) fn note(&self, text: impl std::fmt::Display) {
        self.reporter.note(text);
    }

    /// Prints a note without a printer at hand.
    pub(crate) fn say(text: impl std::fmt::Display) {
        // Standard error may be closed, which cannot be reported anywhere.
        let text = color::note(&escape(&without_numbers(&text.to_string())));
        let _ = waiting::around(|| writeln!(io::stderr().lock(), "{text}"));
    }
}

/// Prints a note to standard error; shows any other report in the progress line.
fn print(progress: Progress<'_>) {
    if let Progress::Note(text) = &progress {
        Output::say(text);
    }
    waiting::update(&progress);
}

/// Standard output. On a terminal, control characters are escaped; a file or a pipe gets every
/// byte.
pub(crate) struct Screen {
    out: StdoutLock<'static>,
    is_terminal: bool,
    /// Bytes after the last complete line.
    rest: Vec<u8>,
}

impl Screen {
    fn new(out: StdoutLock<'static>) -> Screen {
        let is_terminal = out.is_terminal();
        Screen { out, is_terminal, rest: Vec::new() }
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.out.write(bytes);
        }
        self.rest.extend_from_slice(bytes);
        // Writes up to the last complete line, so that no sequence is cut in two.
        let whole = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = self.rest.drain(..whole).collect();
        let shown = escape_except(&String::from_utf8_lossy(&lines), &color::SEQUENCES);
        self.out.write_all(shown.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.rest);
        let shown = escape_except(&String::from_utf8_lossy(&rest), &color::SEQUENCES);
        self.out.write_all(shown.as_bytes())?;
        self.out.flush()
    }
}
