//! Code lenses right after each keystroke in a file of 5,000 lines, compared with parsing that file
//! again: in Python, and for the tests of a TypeScript file, whose tree follows the edits. A server
//! without lenses is asked for the outline instead.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use lsp::{Client, Failure, uri_of};
use serde_json::{Value, json};

use super::{ENCODINGS, Measured, PATIENCE, Times};
use crate::symbols::server::Server;

const LINES: usize = 5_000;
const KEYSTROKES: usize = 200;
/// Pause between two keystrokes, so that the preceding one's work has ended: work after a change
/// waits 300 ms.
const PAUSE: Duration = Duration::from_millis(20);
/// A line inside a function in the middle of the file, from 0.
const AT: usize = LINES / 2 + 3;

/// Returns functions and methods of ten lines each.
fn text() -> String {
    let mut text = String::from("import math\n");
    for number in 0..LINES / 10 {
        let _ = write!(
            text,
            "\n\ndef function_{number}(first: int, second: int = {number}) -> float:\n    \
             \"\"\"Add {number} to the roots of two numbers.\"\"\"\n    \
             total = math.sqrt(first) + math.sqrt(second)\n    for step in range({number}):\n        \
             if step % 2 == 0:\n            total += step * {number}\n    return total + {number}\n\n"
        );
    }
    text
}

pub(super) fn run(server: &Server) -> Measured {
    python(server)?;
    typescript(server)
}

fn python(server: &Server) -> Measured {
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    let (file, text) = (root.join("large.py"), text());
    fs::write(&file, &text)?;
    let mut client = Client::start(server.command(), &root)?;
    let capabilities = client.initialize(&ENCODINGS, &Value::Null, PATIENCE)?;
    let asked = match capabilities["codeLensProvider"].is_object() {
        true => "textDocument/codeLens",
        false => "textDocument/documentSymbol",
    };
    client.open(&file)?;
    let params = json!({ "textDocument": { "uri": uri_of(&file) } });
    let first = client.timed(asked, params.clone(), PATIENCE)?;
    let count = first.value.as_array().map_or(0, Vec::len);
    let (typed, again) = typed(&mut client, &file, asked)?;
    let anew = syntax(&mut client, &text)?;
    let carried = syntax(&mut client, &commented(&text))?;
    println!("{asked} in a file of {} lines ({count} answers):", text.lines().count());
    println!("  right after a keystroke: {}", typed.shown());
    println!("  asked once more:         {}", again.shown());
    println!("  syntax of the whole text, sent along: {}", anew.shown());
    println!("  the same of as many comments:         {}", carried.shown());
    let parsing = anew.median() - carried.median();
    println!(
        "  so parsing anew takes {parsing:.2} ms, and a keystroke {:.2} of it",
        typed.median() / parsing
    );
    client.shutdown()?;
    Ok(())
}

/// Returns groups of ten lines with two tests each.
fn tests() -> String {
    let mut text = String::from("import { expect, test } from 'vitest';\n");
    for number in 0..LINES / 10 {
        let test = |name: &str| {
            format!(
                "  it('{name}', async () => {{\n    const sum = await total([{number}, 2], {{ step: 1 }});\n    expect(sum).toBe({number} + 2);\n  }});\n"
            )
        };
        let _ = write!(
            text,
            "describe('group {number}', () => {{\n{}{}}});\n",
            test("adds"),
            test("is whole")
        );
    }
    text
}

fn typescript(server: &Server) -> Measured {
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    fs::write(root.join("package.json"), r#"{ "devDependencies": { "vitest": "3" } }"#)?;
    let (file, text) = (root.join("large.test.ts"), tests());
    fs::write(&file, &text)?;
    let mut client = Client::start(server.command(), &root)?;
    client.initialize(&ENCODINGS, &Value::Null, PATIENCE)?;
    client.open(&file)?;
    let asked = "textDocument/codeLens";
    let question = json!({ "textDocument": { "uri": uri_of(&file) } });
    let count =
        client.timed(asked, question.clone(), PATIENCE)?.value.as_array().map_or(0, Vec::len);
    let (typed, again) = typed(&mut client, &file, asked)?;
    let mut anew = Times::default();
    for _ in 0..KEYSTROKES / 4 {
        let since = Instant::now();
        client.change(&file, &text);
        anew.add(client.timed(asked, question.clone(), PATIENCE)?.at.duration_since(since));
        client.listen(PAUSE)?;
    }
    println!(
        "{asked} of the tests of a TypeScript file of {} lines ({count} answers):",
        text.lines().count()
    );
    println!("  right after a keystroke: {}", typed.shown());
    println!("  asked once more:         {}", again.shown());
    println!("  after the whole text:    {}", anew.shown());
    // The rest of both is the same: finding the tests, and sending their lenses.
    let (edit, parse) = (typed.median() - again.median(), anew.median() - again.median());
    println!("  so a keystroke costs {edit:.2} ms, and {:.2} of a full parse", edit / parse);
    client.shutdown()?;
    Ok(())
}

/// Returns the times from keystroke to answer, and those of the same query without a change.
fn typed(client: &mut Client, file: &Path, asked: &str) -> Result<(Times, Times), Failure> {
    let (mut typed, mut again) = (Times::default(), Times::default());
    let question = json!({ "textDocument": { "uri": uri_of(file) } });
    for number in 0..KEYSTROKES {
        let at = json!({ "line": AT, "character": 4 });
        let change = json!({ "range": { "start": at, "end": at }, "text": "x" });
        let document = json!({ "uri": uri_of(file), "version": number + 2 });
        let params = json!({ "textDocument": document, "contentChanges": [change] });
        let since = Instant::now();
        client.notify("textDocument/didChange", params);
        typed.add(client.timed(asked, question.clone(), PATIENCE)?.at.duration_since(since));
        again.add(client.timed(asked, question.clone(), PATIENCE)?.took);
        client.listen(PAUSE)?;
    }
    Ok((typed, again))
}

fn syntax(client: &mut Client, text: &str) -> Result<Times, Failure> {
    let mut times = Times::default();
    for _ in 0..KEYSTROKES / 2 {
        let params = json!({ "code": text });
        times.add(client.timed("trellis/validateSyntax", params, PATIENCE)?.took);
    }
    Ok(times)
}

/// Returns a text of as many bytes and lines, with nothing to parse.
fn commented(text: &str) -> String {
    let line = |line: &str| match line.len() {
        0 => String::from("\n"),
        length => format!("#{}\n", "x".repeat(length - 1)),
    };
    text.lines().map(line).collect()
}
