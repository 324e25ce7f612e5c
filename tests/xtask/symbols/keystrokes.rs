//! Measures keystrokes in a long file.

use std::fs;
use std::path::Path;
use std::time::Instant;

use lsp::{Failure, uri_of};
use serde_json::{Value, json};

use super::figures::{Measure, milliseconds};
use super::session::{REQUEST, Session};

/// Functions in the file, and lines of each: 5,000 lines.
const FUNCTIONS: usize = 1000;
const LINES: usize = 5;
/// Number of keystrokes.
const STROKES: usize = 40;

fn text() -> String {
    let of = |it: usize| {
        format!(
            "def strokes_{it}(first, second):\n    total = first + second\n    if total > {it}:\n        return strokes_{it}(total, second)\n\n"
        )
    };
    (0..FUNCTIONS).map(of).collect()
}

impl Session {
    /// Measures the time from a keystroke in a long file to the symbols of the new text.
    pub(crate) fn keystrokes(&mut self) -> Result<(), Failure> {
        let file = self.client.root().join("trellis_bench_long_file.py");
        let failed = |error| Failure::File { file: file.clone(), error };
        fs::write(&file, text()).map_err(failed)?;
        let outcome = self.client.open(&file).and_then(|_| self.type_into(&file));
        self.client.close(&file);
        fs::remove_file(&file).map_err(failed)?;
        outcome
    }

    fn type_into(&mut self, file: &Path) -> Result<(), Failure> {
        let number = FUNCTIONS / 2;
        let mut name = format!("strokes_{number}");
        let mut times = Vec::new();
        for _ in 0..STROKES {
            let end = (number * LINES, "def ".len() + name.len());
            name.push('x');
            let since = Instant::now();
            self.client.insert(file, end, "x");
            let params = json!({"textDocument": {"uri": uri_of(file)}});
            let answer = self.client.timed("textDocument/documentSymbol", params, REQUEST)?;
            times.push(milliseconds(answer.at.duration_since(since)));
            let is_new = |it: &Value| it["name"] == name;
            if !answer.value.as_array().is_some_and(|it| it.iter().any(is_new)) {
                self.note(format!("{name} is not among the symbols after it was typed"));
                return Ok(());
            }
        }
        let measures = [(Measure::KeystrokeMedian, 50), (Measure::KeystrokeTail, 95)];
        self.keep(&mut times, &measures);
        Ok(())
    }
}
