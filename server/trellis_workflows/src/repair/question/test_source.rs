//! The source of the failing test, with the fixtures and helpers that it uses.

use std::collections::BTreeSet;

use trellis_engine::EditableFiles as _;
use trellis_engine::repair::Excerpt;
use trellis_python::{FileFacts, FunctionFact, Needed, needed_by, needed_fixtures};

use super::QuestionContext;

/// Maximum number of lines of a helper or fixture that is shown whole.
const HELPER: usize = 60;
/// Maximum number of functions that the test executes, and number of lines from which on they are
/// left out.
const EXECUTED: usize = 12;
const SHORT: u32 = 25;
/// Number of lines of a test from which on it is shown in parts.
const LONG: usize = 200;
/// Lines shown at the beginning of a long test, and around each marked line.
const HEAD: u32 = 20;
const AROUND: u32 = 60;

/// Returns the first test's source, then the fixtures in `conftest.py` files around it.
pub(super) fn excerpts(context: &QuestionContext<'_>) -> Vec<Excerpt> {
    let (path, names) = place(context);
    let Some(text) = context.files.text(&path) else { return Vec::new() };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut needed = needed_by(&text, &names, HELPER);
    needed.lines.extend(executed(context, &path, &text));
    let marked = marked(context, &path);
    if needed.lines.is_empty() {
        needed.lines = (1..=LONG as u32).collect();
    }
    shorten(&mut needed, &marked);
    let test = Excerpt::of(&path, &text, &needed.lines).marking(marked);
    std::iter::once(test).chain(fixtures(context, &path, needed.words)).collect()
}

/// Returns the file of the first test and its name after those of its classes. A test that a class
/// inherits stands where its traceback begins.
fn place(context: &QuestionContext<'_>) -> (String, Vec<String>) {
    let id = context.group.first_test();
    let mut parts = id.split('[').next().unwrap_or_default().split("::");
    let path = parts.next().unwrap_or_default().to_owned();
    let names: Vec<String> = parts.map(str::to_owned).collect();
    let text = context.files.text(&path).unwrap_or_default();
    let plain: Vec<&str> = names.iter().map(String::as_str).collect();
    let is_there = !needed_by(&text, &plain, 0).lines.is_empty();
    match inherited(context).filter(|_| !is_there && !names.is_empty()) {
        Some(place) => place,
        None => (path, names),
    }
}

fn inherited(context: &QuestionContext<'_>) -> Option<(String, Vec<String>)> {
    let first = context.lead()?.frames.first()?;
    let facts = FileFacts::of(&context.files.text(&first.path)?).ok()?;
    let function = &facts.functions[facts.function_at(first.line)?];
    Some((first.path.clone(), function.name.split('.').map(str::to_owned).collect()))
}

/// Returns the lines of short functions of the test's file that the test executes: what a framework
/// calls is not named in the test.
fn executed(context: &QuestionContext<'_>, path: &str, text: &str) -> BTreeSet<u32> {
    let evidence = &context.files.found.evidence;
    let test = evidence.tests.iter().find(|it| it.id == context.group.first_test());
    let file = evidence.files.iter().position(|it| it.path == path);
    let Some((test, file)) = test.zip(file) else { return BTreeSet::new() };
    let Some(lines) = test.lines.get(&file) else { return BTreeSet::new() };
    let functions = &evidence.files[file].facts.functions;
    let ran = |it: &&FunctionFact| lines.range(it.body()).next().is_some();
    let short = functions.iter().filter(ran).filter(|it| it.last - it.first < SHORT);
    let short: Vec<&FunctionFact> = short.collect();
    if short.len() > EXECUTED {
        return BTreeSet::new();
    }
    let lines =
        |it: &FunctionFact| needed_by(text, &it.name.split('.').collect::<Vec<_>>(), 0).lines;
    short.into_iter().flat_map(lines).collect()
}

/// Returns the lines of a file on the way to the failure.
fn marked(context: &QuestionContext<'_>, path: &str) -> BTreeSet<u32> {
    let frames = context.lead().map(|it| it.frames.as_slice()).unwrap_or_default();
    frames.iter().filter(|it| it.path == path).map(|it| it.line).collect()
}

/// Leaves out lines of a long test that are neither its beginning nor near a marked line.
fn shorten(needed: &mut Needed, marked: &BTreeSet<u32>) {
    if needed.lines.len() <= LONG {
        return;
    }
    let mut before = 0;
    let mut heads: BTreeSet<u32> = BTreeSet::new();
    for line in &needed.lines {
        // Each run of lines has a beginning of its own.
        let is_next = heads.is_empty() || *line != before + 1;
        heads.extend(is_next.then_some(*line));
        before = *line;
    }
    let is_near = |line: u32, all: &BTreeSet<u32>, before: u32, after: u32| {
        all.range(line.saturating_sub(after)..=line + before).next().is_some()
    };
    needed.lines.retain(|it| is_near(*it, &heads, 0, HEAD) || is_near(*it, marked, AROUND, AROUND));
}

/// Returns the fixtures of these names in `conftest.py` files, the nearest file first.
fn fixtures(
    context: &QuestionContext<'_>,
    path: &str,
    mut words: BTreeSet<String>,
) -> Vec<Excerpt> {
    let mut out = Vec::new();
    let mut folder = path;
    while let Some((parent, _)) =
        folder.rsplit_once('/').or((!folder.is_empty()).then_some(("", "")))
    {
        folder = parent;
        let conftest = if parent.is_empty() {
            "conftest.py".to_owned()
        } else {
            format!("{parent}/conftest.py")
        };
        let Some(text) = context.files.text(&conftest).filter(|_| conftest != path) else {
            continue;
        };
        let needed = needed_fixtures(&text, &words, HELPER);
        if !needed.lines.is_empty() {
            let marked = marked(context, &conftest);
            out.push(Excerpt::of(&conftest, &text, &needed.lines).marking(marked));
            words.extend(needed.words);
        }
    }
    out
}
