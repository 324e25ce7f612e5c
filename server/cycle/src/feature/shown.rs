//! Which files of a project a question shows, and how much of them.

use std::collections::{BTreeMap, BTreeSet};

use code::{Outline, digest};

/// Longest file that is shown whole, in lines.
const WHOLE_LINES: usize = 300;
/// Bytes of code up to which a project is small: all of it is shown.
const SMALL: usize = 12_000;
/// Bytes of files that a question has room for.
const ROOM: usize = 24_000;
/// Most files that are shown of a larger project.
const FILES: usize = 12;
/// Lines of a long test module that show how tests are written.
const SAMPLE_LINES: usize = 120;
/// Shorter words name nothing.
const LEAST_NAME: usize = 3;

/// A file as it stands in a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub path: String,
    /// What is shown of it.
    pub text: String,
    pub part: Part,
}

/// How much of a file is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Whole,
    /// Signatures, with the definitions in full that the words name.
    Signatures,
    /// The first lines of a test module.
    Sample,
}

impl Shown {
    /// All of it.
    pub fn whole(path: &str, text: String) -> Shown {
        Shown { path: path.to_owned(), text, part: Part::Whole }
    }
}

/// The files that the words are about: those whose path, module or definitions they name, best first; all code of a small
/// project; and of its tests the module that tests most of them, for how tests are written there.
///
/// `files` are path and text, without those that the question has already. `is_test` tells tests by their path.
pub fn shown(
    words: &str,
    files: &[(String, String)],
    is_test: impl Fn(&str) -> bool,
) -> Vec<Shown> {
    let named = Named::of(words);
    let (tests, code): (Vec<_>, Vec<_>) = files.iter().partition(|it| is_test(&it.0));
    let mut found: Vec<(usize, &(String, String))> =
        code.iter().map(|it| (named.weight(&it.0, &it.1), *it)).collect();
    let sources = || code.iter().filter(|it| is_code(&it.0));
    let is_small = sources().map(|it| it.1.len()).sum::<usize>() <= SMALL;
    found.retain(|(weight, it)| {
        *weight > 0 || (is_small && is_code(&it.0) && !it.1.trim().is_empty())
    });
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.0.cmp(&b.1.0)));
    let mut room = ROOM;
    let mut out: Vec<Shown> = Vec::new();
    for (_, (path, text)) in found.into_iter().take(if is_small { usize::MAX } else { FILES }) {
        let it = named.part(path, text, room);
        room -= it.as_ref().map_or(0, |it| it.text.len());
        out.extend(it);
    }
    let paths: BTreeSet<String> = out.iter().map(|it| it.path.clone()).collect();
    let stated = tests.iter().filter(|it| named.weight(&it.0, "") > 0);
    let sample = best_test(&tests, &paths).into_iter().chain(stated.map(|it| it.0.as_str()));
    let mut seen = BTreeSet::new();
    for path in sample.filter(|it| seen.insert(it.to_owned())).collect::<Vec<_>>() {
        let Some((path, text)) = tests.iter().find(|it| it.0 == path) else { continue };
        let it = sampled(path, text);
        if it.text.len() <= room {
            room -= it.text.len();
            out.push(it);
        }
    }
    out
}

/// What the words name.
struct Named<'a> {
    words: &'a str,
    /// Words that can be names, each whole.
    names: BTreeSet<&'a str>,
    /// Those of them that stand as code, or look like it.
    stated: BTreeSet<&'a str>,
}

impl<'a> Named<'a> {
    fn of(words: &'a str) -> Named<'a> {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let all = words.split(|c| !is_part(c)).filter(|it| it.len() >= LEAST_NAME);
        let looks_like_code = |it: &&str| {
            it.contains('_')
                || it.chars().skip(1).any(char::is_uppercase) && it.chars().any(char::is_lowercase)
        };
        let quoted = words.split('`').skip(1).step_by(2).filter(|it| !it.contains('\n'));
        let quoted = quoted.flat_map(|it| it.split(|c| !is_part(c)));
        let stated =
            quoted.filter(|it| it.len() >= LEAST_NAME).chain(all.clone().filter(looks_like_code));
        Named { words, names: all.collect(), stated: stated.collect() }
    }

    /// How much the words are about a file: 0 for not at all.
    fn weight(&self, path: &str, text: &str) -> usize {
        let stem = path.rsplit_once('.').map_or(path, |it| it.0);
        let dotted = stem.trim_start_matches("src/").replace('/', ".");
        let name = path.rsplit('/').next().unwrap_or(path);
        let says = |it: &str, weight| {
            if it.len() > LEAST_NAME && self.words.contains(it) { weight } else { 0 }
        };
        let paths = says(path, 16) + says(name, 4);
        let module = if dotted.contains('.') { says(&dotted, 8) } else { 0 };
        let word = name.rsplit_once('.').map_or(name, |it| it.0);
        let module_word = if self.stated.contains(word) {
            2
        } else {
            usize::from(is_code(path) && self.names.contains(word))
        };
        paths + module + module_word + self.definitions(path, text)
    }

    /// The same for what a file defines.
    fn definitions(&self, path: &str, text: &str) -> usize {
        if !path.ends_with(".py") {
            return 0;
        }
        let outline = Outline::of(text);
        let weights = outline.symbols.iter().map(|it| match it.parent {
            None if self.stated.contains(it.name.as_str()) => 6,
            // `Cart` in a sentence.
            None if it.name.starts_with(char::is_uppercase)
                && self.names.contains(it.name.as_str()) =>
            {
                6
            }
            Some(_) if it.header.is_some() && self.stated.contains(it.name.as_str()) => 1,
            _ => 0,
        });
        weights.sum()
    }

    /// A file within `room`: whole, else its signatures; none where they have no room either.
    fn part(&self, path: &str, text: &str, room: usize) -> Option<Shown> {
        if text.lines().count() <= WHOLE_LINES && text.len() <= room {
            return Some(Shown::whole(path, text.to_owned()));
        }
        if !path.ends_with(".py") {
            return None;
        }
        let of = |in_full: &dyn Fn(&str) -> bool| {
            digest(text, |it| it.header.is_some() && in_full(&it.name))
        };
        let full = of(&|name| self.stated.contains(name) && !is_class(text, name));
        let text = if full.len() <= room { full } else { of(&|_| false) };
        let is_useful = !text.is_empty() && text.len() <= room;
        is_useful.then(|| Shown { path: path.to_owned(), text, part: Part::Signatures })
    }
}

fn is_class(text: &str, name: &str) -> bool {
    text.contains(&format!("class {name}"))
}

/// The test module that mentions the most of the files shown; of equals the shortest.
fn best_test<'a>(tests: &[&'a (String, String)], shown: &BTreeSet<String>) -> Option<&'a str> {
    let stems: Vec<&str> = (shown.iter())
        .map(|path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            name.rsplit_once('.').map_or(name, |it| it.0)
        })
        .filter(|it| *it != "__init__")
        .collect();
    let score = |it: &(String, String)| stems.iter().filter(|stem| it.1.contains(**stem)).count();
    let modules = tests
        .iter()
        .filter(|it| is_code(&it.0) && it.1.contains("test") && !it.0.ends_with("conftest.py"));
    let mut ranked: BTreeMap<(usize, usize, &str), &str> = BTreeMap::new();
    for it in modules {
        ranked.insert((usize::MAX - score(it), it.1.len(), &it.0), &it.0);
    }
    ranked.into_values().next()
}

fn sampled(path: &str, text: &str) -> Shown {
    if text.lines().count() <= WHOLE_LINES {
        return Shown::whole(path, text.to_owned());
    }
    let head: String = text.lines().take(SAMPLE_LINES).map(|it| format!("{it}\n")).collect();
    Shown { path: path.to_owned(), text: head, part: Part::Sample }
}

/// By the ends of their names: Python, JavaScript, TypeScript, Go.
fn is_code(path: &str) -> bool {
    const ENDS: [&str; 9] = [".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".go"];
    ENDS.iter().any(|it| path.ends_with(it))
}
