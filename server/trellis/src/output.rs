//! The one printer. Results go to standard output, everything said along the way to standard error.

use std::io::{self, BufWriter, StdoutLock, Write};

use serde::Serialize;

use crate::error::Fault;

/// Where a command prints, and in which of the two forms.
pub(crate) struct Output {
    json: bool,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Output { json }
    }

    /// Whether the result is to be one JSON object.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints the result of a command as one JSON object on one line.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Fault> {
        self.stream(|out| {
            serde_json::to_writer(&mut *out, value)?;
            writeln!(out)
        })
    }

    /// Prints the result of a command as text.
    pub(crate) fn text(&mut self, text: impl std::fmt::Display) -> Result<(), Fault> {
        self.stream(|out| writeln!(out, "{text}"))
    }

    /// Prints a long result piece by piece.
    pub(crate) fn stream(
        &mut self,
        write: impl FnOnce(&mut BufWriter<StdoutLock<'static>>) -> io::Result<()>,
    ) -> Result<(), Fault> {
        let mut out = BufWriter::new(io::stdout().lock());
        match write(&mut out).and_then(|()| out.flush()) {
            // The reader went away (`| head`): it has what it wanted.
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(e) => Err(Fault::internal(format!("cannot print the result: {e}"))),
            Ok(()) => Ok(()),
        }
    }

    /// Says something beside the result.
    pub(crate) fn note(&self, text: impl std::fmt::Display) {
        Output::say(text);
    }

    /// The same, from where no printer is at hand.
    pub(crate) fn say(text: impl std::fmt::Display) {
        // Standard error may be closed; there is nowhere left to say so.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}
