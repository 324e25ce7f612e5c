//! The code of the suspects: short files whole, of longer ones the functions with what they use.

use std::collections::BTreeSet;

use trellis_engine::EditableFiles as _;
use trellis_engine::localize::RankedFunction;
use trellis_engine::repair::Excerpt;
use trellis_python::{FunctionFact, needed_by};

use super::QuestionContext;
use super::chosen::Chosen;

/// Maximum number of lines of a file that is shown whole.
const WHOLE_FILE: usize = 150;
/// Maximum number of lines of a function that is shown whole: of a likely one, and of others.
const WHOLE: u32 = 200;
const WHOLE_UNLIKELY: u32 = 60;
/// Lines shown at the beginning of a longer function, and around each marked line.
const HEAD: u32 = 12;
const AROUND: u32 = 40;
/// Maximum number of marked lines of a suspect, and their minimum share of its highest score.
const MARKED: usize = 3;
const NEAR: f64 = 0.9;
/// Number of suspects whose short files are shown whole in any case.
const LIKELY: usize = 1;
/// Number of lines up to which other methods are shown whole, if the failing test executes them.
const SHORT: u32 = 12;
/// Number of methods up to which a class is shown with all their headers.
const MEMBERS: usize = 60;
/// Number of lines from which on an excerpt takes no further function of its file.
const FULL: usize = 250;

/// Returns the suspects' code, the likeliest first. Short files are whole if they are likely or on
/// the way to the failure.
pub(super) fn excerpts(suspects: &[Chosen], context: &QuestionContext<'_>) -> Vec<Excerpt> {
    let files = context.files;
    let frames = context.lead().map(|it| it.frames.as_slice()).unwrap_or_default();
    let mut out: Vec<Excerpt> = Vec::new();
    for (place, it) in suspects.iter().enumerate() {
        let why = it.why;
        let it = &it.function;
        let path = &files.found.evidence.files[it.file].path;
        let Some(text) = files.text(path) else { continue };
        let is_open = |known: &&mut Excerpt| {
            known.path == *path && (known.is_whole || known.lines.len() < FULL)
        };
        let is_near = place < LIKELY || !why.is_empty() || frames.iter().any(|it| it.path == *path);
        let wanted = lines(it, context, &text, is_near);
        let raised = frames.iter().filter(|frame| frame.path == *path).map(|frame| frame.line);
        let marked: Vec<u32> = marked(it).into_iter().chain(raised).collect();
        match out.iter_mut().find(is_open) {
            Some(known) => {
                let lines = known.lines.keys().copied().chain(wanted).collect();
                let marked = known.marked.iter().copied().chain(marked).collect::<Vec<_>>();
                *known = Excerpt::of(path, &text, &lines).marking(marked);
            }
            None => out.push(Excerpt::of(path, &text, &wanted).marking(marked)),
        }
    }
    out
}

/// Returns the most suspicious lines of a function.
fn marked(it: &RankedFunction) -> Vec<u32> {
    let highest = it.lines.first().map_or(0.0, |it| it.score);
    let near = it.lines.iter().filter(|it| it.score >= NEAR * highest).take(MARKED);
    near.map(|it| it.line).chain([it.line]).collect()
}

/// Returns the lines to show for a suspect.
fn lines(
    it: &RankedFunction,
    context: &QuestionContext<'_>,
    text: &str,
    is_near: bool,
) -> BTreeSet<u32> {
    let count = text.lines().count();
    if is_near && count <= WHOLE_FILE {
        return (1..=count as u32).collect();
    }
    let facts = &context.files.found.evidence.files[it.file].facts;
    let function = facts.functions.iter().find(|function| function.name == it.symbol);
    let marked = marked(it);
    let is_marked = |line: &u32| marked.iter().any(|it| it.abs_diff(*line) <= AROUND);
    let Some(function) = function else {
        return (1..=count as u32).filter(is_marked).collect();
    };
    let names: Vec<&str> = it.symbol.split('.').collect();
    let own = function.first..=function.last;
    let most = if is_near { WHOLE } else { WHOLE_UNLIKELY };
    let is_short = (own.end() - own.start()) < most;
    let is_shown = |line: &u32| {
        !own.contains(line) || is_short || *line < own.start() + HEAD || is_marked(line)
    };
    let needed = needed_by(text, &names, 0).lines;
    let members = members(it, context);
    needed.into_iter().chain(members).chain(own.clone()).filter(is_shown).collect()
}

/// Returns lines of the other methods of a method's class: of short ones that the failing test
/// executes, all, else the header.
fn members(it: &RankedFunction, context: &QuestionContext<'_>) -> BTreeSet<u32> {
    let Some((class, _)) = it.symbol.rsplit_once('.') else { return BTreeSet::new() };
    let evidence = &context.files.found.evidence;
    let test = evidence.tests.iter().find(|it| it.id == context.group.first_test());
    let executed = test.and_then(|test| test.lines.get(&it.file));
    let of_class = |name: &str| name.rsplit_once('.').is_some_and(|(it, _)| it == class);
    let methods = evidence.files[it.file].facts.functions.iter().filter(|it| of_class(&it.name));
    let methods: Vec<&FunctionFact> = methods.collect();
    let ran = |it: &FunctionFact| executed.is_some_and(|all| all.range(it.body()).next().is_some());
    let lines = methods.iter().flat_map(|it| match it.last - it.first < SHORT && ran(it) {
        true => it.first..=it.last,
        false => it.header..=it.header,
    });
    if methods.len() <= MEMBERS { lines.collect() } else { BTreeSet::new() }
}
