//! Selection of the project's files for a prompt, and of the part shown of each.

use std::collections::{BTreeMap, BTreeSet};

use trellis_python::{Outline, digest};

/// Maximum length of a file shown whole, in lines.
const WHOLE_LINES: usize = 300;
/// Maximum size of a small project's code, in bytes; all of it is shown.
const SMALL: usize = 12_000;
/// Maximum size of all shown files, in bytes.
const ROOM: usize = 24_000;
/// Maximum number of shown files of a larger project.
const FILES: usize = 12;
/// Number of lines shown of a long test module, as an example of the project's tests.
const SAMPLE_LINES: usize = 120;
/// Minimum length of a word that can be a name.
const LEAST_NAME: usize = 3;

/// A file as shown in a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownFile {
    pub path: String,
    /// The shown text.
    pub text: String,
    pub part: ShownPart,
}

/// Parts of a file that can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownPart {
    Whole,
    /// Signatures, with those definitions in full that the specification names.
    Signatures,
    /// The first lines of a test module.
    Sample,
}

impl ShownFile {
    /// Creates a file that is shown whole.
    pub fn whole(path: &str, text: String) -> ShownFile {
        ShownFile { path: path.to_owned(), text, part: ShownPart::Whole }
    }
}

/// Selects files for the specification `words`: those whose path, module or definitions it names,
/// best first; all code of a small project; and the test module that tests most of them, as an
/// example of the project's tests.
///
/// `files` holds path and text, without files that the prompt shows anyway. `is_test` identifies
/// tests by their path.
pub fn shown(
    words: &str,
    files: &[(String, String)],
    is_test: impl Fn(&str) -> bool,
) -> Vec<ShownFile> {
    let named = MentionedNames::of(words);
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
    let mut out: Vec<ShownFile> = Vec::new();
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

/// Names in the specification.
struct MentionedNames<'a> {
    words: &'a str,
    /// Whole words that can be names.
    names: BTreeSet<&'a str>,
    /// Names that are marked as code, or look like code.
    stated: BTreeSet<&'a str>,
}

impl<'a> MentionedNames<'a> {
    fn of(words: &'a str) -> MentionedNames<'a> {
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
        MentionedNames { words, names: all.collect(), stated: stated.collect() }
    }

    /// Returns the relevance of a file to the specification; 0 for none.
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

    /// Returns the relevance of a file's definitions.
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

    /// Returns a file within `room` bytes: whole, else its signatures; `None` if neither fits.
    fn part(&self, path: &str, text: &str, room: usize) -> Option<ShownFile> {
        if text.lines().count() <= WHOLE_LINES && text.len() <= room {
            return Some(ShownFile::whole(path, text.to_owned()));
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
        is_useful.then(|| ShownFile { path: path.to_owned(), text, part: ShownPart::Signatures })
    }
}

fn is_class(text: &str, name: &str) -> bool {
    text.contains(&format!("class {name}"))
}

/// Returns the test module that mentions the most of the shown files; of equal ones the shortest.
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

fn sampled(path: &str, text: &str) -> ShownFile {
    if text.lines().count() <= WHOLE_LINES {
        return ShownFile::whole(path, text.to_owned());
    }
    let head: String = text.lines().take(SAMPLE_LINES).map(|it| format!("{it}\n")).collect();
    ShownFile { path: path.to_owned(), text: head, part: ShownPart::Sample }
}

/// Returns whether a path has an extension of Python, JavaScript, TypeScript or Go.
fn is_code(path: &str) -> bool {
    const ENDS: [&str; 9] = [".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".go"];
    ENDS.iter().any(|it| path.ends_with(it))
}
