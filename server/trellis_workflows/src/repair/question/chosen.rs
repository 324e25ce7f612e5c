//! The functions whose code a question shows: those that a diagnosis names, the likeliest suspects,
//! and what the test itself calls.

use std::collections::BTreeSet;

use trellis_engine::localize::{FileEvidence, RankedFunction, TracedCall};
use trellis_python::FunctionFact;

use super::QuestionContext;

/// Number of suspects in the first question, and of further ones in each later question.
const SUSPECTS: usize = 6;
const MORE_SUSPECTS: usize = 3;
/// Number of questions that show more than the one before.
const ROUNDS: usize = 3;
/// Number of suspects next to functions that a diagnosis names.
const BESIDE_NAMED: usize = 2;
/// Maximum numbers of functions that a diagnosis names, and of those of one name.
const NAMED: usize = 5;
const OF_ONE_NAME: usize = 2;
/// Maximum number of functions that the test calls, beside the suspects.
const CALLED: usize = 3;

/// Note on a suspect that a small edit mends, where no proof was possible or the fix was refused.
const MENDED: &str = "a small edit of this line makes the failing tests pass";
const NAMED_BY_DIAGNOSIS: &str = "the diagnosis names it";
const CALLED_BY_TEST: &str = "the test calls it";

/// A function to show.
#[derive(Clone)]
pub(super) struct Chosen {
    pub(super) function: RankedFunction,
    /// The reason to show it, if it is not just that the evidence points to it.
    pub(super) why: &'static str,
}

type Place = (usize, String);

impl QuestionContext<'_> {
    /// Returns the functions to show, the likeliest first.
    pub(super) fn chosen(&self) -> Vec<Chosen> {
        let named: Vec<Chosen> = self.named().into_iter().map(|it| self.noted(it)).collect();
        let most = match named.is_empty() {
            true => SUSPECTS + MORE_SUSPECTS * self.round.min(ROUNDS),
            false => BESIDE_NAMED + MORE_SUSPECTS * self.round.min(ROUNDS),
        };
        let ranked = self.ranked().take(most).map(|it| {
            let why = if it.repair.is_some() { MENDED } else { "" };
            Chosen { function: it.clone(), why }
        });
        let called = self.called().into_iter();
        let called = called.map(|it| Chosen { function: self.found(it), why: CALLED_BY_TEST });
        let mut seen: BTreeSet<Place> = BTreeSet::new();
        let is_new = |it: &Chosen| seen.insert((it.function.file, it.function.symbol.clone()));
        named.into_iter().chain(ranked).chain(called).filter(is_new).collect()
    }

    fn noted(&self, place: Place) -> Chosen {
        let function = self.found(place);
        let why = if function.repair.is_some() { MENDED } else { NAMED_BY_DIAGNOSIS };
        Chosen { function, why }
    }

    fn ranked(&self) -> impl Iterator<Item = &RankedFunction> {
        let is_code = |it: &&RankedFunction| !self.files()[it.file].is_test;
        self.group.ranking.suspects.iter().filter(is_code)
    }

    fn files(&self) -> &[FileEvidence] {
        &self.files.found.evidence.files
    }

    /// Returns a function with its rank, or without any evidence.
    fn found(&self, (file, symbol): Place) -> RankedFunction {
        let known = self.ranked().find(|it| (it.file, &it.symbol) == (file, &symbol));
        known.cloned().unwrap_or_else(|| {
            let functions = &self.files()[file].facts.functions;
            let line = functions.iter().find(|it| it.name == symbol).map_or(1, |it| it.header);
            RankedFunction { file, line, symbol, ..RankedFunction::default() }
        })
    }

    /// Returns the functions that the diagnosis and its suggestions name.
    fn named(&self) -> Vec<Place> {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/');
        let words = self.named_by.iter().flat_map(|it| it.split(|c| !is_part(c)));
        let words: Vec<&str> = words.map(|it| it.trim_matches('.')).collect();
        let is_named = |it: &FileEvidence| {
            words.iter().any(|word| word.ends_with(".py") && ends_with(&it.path, word, '/'))
        };
        let code: Vec<(usize, &FileEvidence)> =
            self.files().iter().enumerate().filter(|(_, it)| !it.is_test).collect();
        let (near, far): (Vec<_>, Vec<_>) = code.into_iter().partition(|(_, it)| is_named(it));
        let mut found: Vec<Place> = Vec::new();
        for word in words.into_iter().filter(|it| is_telling(it) || self.is_quoted(it)) {
            let places = [&near, &far].map(|files| functions(files, word));
            let [near, far] = places;
            let places = if near.is_empty() { far } else { near };
            if places.len() <= OF_ONE_NAME {
                found.extend(
                    places.into_iter().filter(|it| !found.contains(it)).collect::<Vec<_>>(),
                );
            }
        }
        found.truncate(NAMED);
        found
    }

    /// Returns whether the diagnosis writes a word as code: in backquotes, or with a call's bracket.
    fn is_quoted(&self, word: &str) -> bool {
        let forms = [format!("`{word}`"), format!("`{word}("), format!("{word}()")];
        let is_word = word.len() > 1 && !word.ends_with(".py");
        is_word && self.named_by.iter().any(|it| forms.iter().any(|form| it.contains(form)))
    }

    /// Returns the functions of the code that the first test calls itself, in their order.
    fn called(&self) -> Vec<Place> {
        let id = self.group.first_test();
        let test = self.files.found.evidence.tests.iter().find(|it| it.id == id);
        let Some(trace) = test.and_then(|it| it.trace.as_ref()) else { return Vec::new() };
        let name = id.split('[').next().and_then(|it| it.rsplit("::").next()).unwrap_or_default();
        let is_test = |it: &&FunctionFact| ends_with(&it.name, name, '.');
        let code = trace.calls.iter().filter(|it| !self.files()[it.file].is_test);
        let direct = code.filter_map(|it| {
            let test = self.function(trace.calls.get(it.caller?)?).filter(is_test)?;
            let function = self.function(it)?;
            calls(test, &function.name).then(|| (it.file, function.name.clone()))
        });
        direct.take(CALLED).collect()
    }

    fn function(&self, call: &TracedCall) -> Option<&FunctionFact> {
        Some(&self.files()[call.file].facts.functions[call.function?])
    }
}

/// Returns whether a function's text calls a function of that name, or the class of a constructor.
fn calls(caller: &FunctionFact, name: &str) -> bool {
    let name = name.strip_suffix(".__init__").unwrap_or(name);
    caller.calls.contains(name.rsplit('.').next().unwrap_or(name))
}

/// Returns whether a word can only be meant as a name.
fn is_telling(word: &str) -> bool {
    word.len() > 3
        && !word.contains('/')
        && !word.ends_with(".py")
        && (word.contains(['_', '.']) || word.chars().skip(1).any(char::is_uppercase))
}

/// Returns the functions of a name, which may begin with the names of its classes and modules; of
/// a class, the constructor.
fn functions(files: &[(usize, &FileEvidence)], name: &str) -> Vec<Place> {
    let is_it = |known: &str| {
        let class = known.strip_suffix(".__init__");
        ends_with(known, name, '.')
            || class.is_some_and(|it| ends_with(it, name, '.'))
            || ends_with(name, known, '.')
    };
    let all = files.iter().flat_map(|(file, of)| of.facts.functions.iter().map(|it| (*file, it)));
    all.filter(|(_, it)| is_it(&it.name)).map(|(file, it)| (file, it.name.clone())).collect()
}

/// Returns whether a text is another one, or ends with it after a separator.
fn ends_with(text: &str, end: &str, separator: char) -> bool {
    text.strip_suffix(end).is_some_and(|it| it.is_empty() || it.ends_with(separator))
}
