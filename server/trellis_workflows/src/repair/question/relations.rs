//! Surroundings of the suspects: definitions of other files that they use, and their callers.

use std::collections::BTreeSet;

use trellis_engine::localize::RankedFunction;
use trellis_engine::repair::Excerpt;
use trellis_python::{Caller, FileId, Index, Located, Symbol, SymbolKind, Unit};

use super::chosen::Chosen;
use super::{QuestionContext, Shown};

/// Number of suspects whose surroundings are looked up.
const SUSPECTS: usize = 3;
/// Maximum number of definitions that are shown, and of lines of one that is shown whole.
const USED: usize = 10;
const WHOLE: usize = 15;
/// Maximum number of lines that use a suspect, in code and in tests; more after a failed fix.
const CALLS: usize = 5;
const TEST_CALLS: usize = 2;
const MORE_CALLS: usize = 15;
/// Maximum number of callers that are shown whole after a failed fix, and of their lines.
const CALLERS: usize = 3;
const LONGEST_CALLER: usize = 80;

/// Lookup of the surroundings of suspects.
pub(super) struct Relations<'a> {
    pub(super) context: &'a QuestionContext<'a>,
    pub(super) suspects: &'a [Chosen],
    pub(super) shown: &'a Shown,
}

impl Relations<'_> {
    /// Returns definitions that the suspects use and that the question does not show, as place and
    /// text.
    pub(super) fn used(&self) -> Vec<(String, String)> {
        let index = self.context.index;
        let mut seen: Vec<Located> = Vec::new();
        for it in self.first() {
            let Some((file, text, range)) = self.text_of(it) else { continue };
            for at in names(&text, range) {
                let places = index.definition(file, at).into_iter();
                let symbols = places.filter_map(|it| symbol_at(index, it.file, it.range.start));
                let symbols: Vec<Located> =
                    symbols.filter(|it| self.is_news(*it) && !seen.contains(it)).collect();
                seen.extend(symbols);
            }
        }
        seen.into_iter().take(USED).filter_map(|it| self.brief(it)).collect()
    }

    /// Returns the lines that use each suspect, and after a failed fix some of the functions around
    /// them.
    pub(super) fn callers(&self) -> (Vec<(String, Vec<String>)>, Vec<Excerpt>) {
        let (mut lines, mut around) = (Vec::new(), Vec::new());
        for it in self.first() {
            let callers = self.callers_of(it);
            let of_suspect = self.lines(&callers);
            if !of_suspect.is_empty() {
                lines.push((it.symbol.clone(), of_suspect));
            }
            around.extend(callers.iter().filter_map(|it| it.symbol));
        }
        let sources: Vec<Excerpt> = match self.context.round {
            0 => Vec::new(),
            _ => around.into_iter().filter_map(|it| self.whole(it)).take(CALLERS).collect(),
        };
        (lines, sources)
    }

    fn first(&self) -> impl Iterator<Item = &RankedFunction> {
        self.suspects.iter().take(SUSPECTS).map(|it| &it.function)
    }

    /// Returns a suspect's file, its text, and the byte range of the function in it.
    fn text_of(&self, it: &RankedFunction) -> Option<(FileId, String, std::ops::Range<usize>)> {
        let index = self.context.index;
        let file = self.file(it)?;
        let text = index.text(file)?.to_string();
        let symbol = function(index, file, &it.symbol)?;
        let range = index.outline(file).symbols[symbol.symbol].range.clone();
        Some((file, text, range))
    }

    fn file(&self, it: &RankedFunction) -> Option<FileId> {
        self.context.index.file(&self.context.files.found.evidence.files[it.file].path)
    }

    /// Returns the uses of a suspect outside of its own text, those in tests last.
    fn callers_of(&self, it: &RankedFunction) -> Vec<Caller> {
        let index = self.context.index;
        let symbol = self.file(it).and_then(|file| function(index, file, &it.symbol));
        let Some(symbol) = symbol else { return Vec::new() };
        let at = index.outline(symbol.file).symbols[symbol.symbol].name_range.start;
        let mut callers = index.callers(symbol.file, at).unwrap_or_default();
        callers.retain(|it| it.symbol != Some(symbol));
        callers.sort_by_key(|it| self.context.files.is_test(index.path(it.file)));
        callers
    }

    fn lines(&self, callers: &[Caller]) -> Vec<String> {
        let index = self.context.index;
        let is_test = |it: &&Caller| self.context.files.is_test(index.path(it.file));
        let (tests, code): (Vec<&Caller>, Vec<&Caller>) = callers.iter().partition(is_test);
        let most = if self.context.round == 0 { CALLS } else { MORE_CALLS };
        let code = code.into_iter().flat_map(|it| lines_of(index, it)).take(most);
        let tests = tests.into_iter().flat_map(|it| lines_of(index, it)).take(TEST_CALLS);
        code.chain(tests).collect()
    }

    /// Returns whether a definition is one that the question does not show yet.
    fn is_news(&self, it: Located) -> bool {
        let index = self.context.index;
        let outline = index.outline(it.file);
        let line = outline.symbols[it.symbol].place.line + 1;
        let path = index.path(it.file);
        !self.shown.has(path, line) && !self.context.files.is_test(path)
    }

    /// Renders a definition: short ones whole, of longer ones header and first paragraph.
    fn brief(&self, it: Located) -> Option<(String, String)> {
        let index = self.context.index;
        let text = index.text(it.file)?;
        let outline = index.outline(it.file);
        let symbol = &outline.symbols[it.symbol];
        let lines = index.lines(it.file, &text);
        let line = |at: usize| lines.position(at, Unit::Utf8).0;
        let (first, last) = (line(symbol.range.start), line(symbol.range.end.max(1) - 1));
        let whole = text.lines().skip(first).take(last + 1 - first);
        let shown = match (&symbol.header, symbol.kind) {
            _ if last - first < WHOLE => whole.collect::<Vec<_>>().join("\n"),
            (Some(_), SymbolKind::Class) if symbol.parent.is_none() => {
                let text = trellis_python::interface(&text, &symbol.name)?;
                text.lines().take(2 * WHOLE).collect::<Vec<_>>().join("\n")
            }
            (Some(header), _) => promise(&text, symbol, header),
            (None, _) => whole.take(WHOLE).collect::<Vec<_>>().join("\n"),
        };
        Some((format!("`{}`, line {}:", index.path(it.file), first + 1), shown))
    }

    /// Returns a caller that the question does not show yet, if it is code and not too long.
    fn whole(&self, it: Located) -> Option<Excerpt> {
        let index = self.context.index;
        let (path, text) = (index.path(it.file), index.text(it.file)?);
        let outline = index.outline(it.file);
        let symbol = &outline.symbols[it.symbol];
        let lines = index.lines(it.file, &text);
        let line = |at: usize| lines.position(at, Unit::Utf8).0 as u32 + 1;
        let (first, last) = (line(symbol.range.start), line(symbol.range.end.max(1) - 1));
        let is_wanted = self.is_news(it) && symbol.kind != SymbolKind::Class;
        let is_short = last - first < LONGEST_CALLER as u32;
        (is_wanted && is_short).then(|| Excerpt::of(path, &text, &(first..=last).collect()))
    }
}

/// Renders the header of a function and the first paragraph of its docstring.
fn promise(text: &str, symbol: &Symbol, header: &std::ops::Range<usize>) -> String {
    let said = symbol.docstring.clone().map(|it| &text[it]).unwrap_or_default();
    let said: Vec<&str> = said.lines().map(str::trim).take_while(|it| !it.is_empty()).collect();
    match said.is_empty() {
        true => format!("{}: ...", &text[header.clone()]),
        false => format!("{}:\n    {}", &text[header.clone()], said.join("\n    ")),
    }
}

/// Returns the lines in which a caller uses a function, as `path:line: text`.
fn lines_of(index: &Index, caller: &Caller) -> Vec<String> {
    let Some(text) = index.text(caller.file) else { return Vec::new() };
    let lines = index.lines(caller.file, &text);
    let numbers: BTreeSet<usize> =
        caller.uses.iter().map(|(it, _)| lines.position(it.range.start, Unit::Utf8).0).collect();
    let line = |number: usize| {
        let shown = text.lines().nth(number).unwrap_or_default().trim();
        format!("{}:{}: {shown}", index.path(caller.file), number + 1)
    };
    numbers.into_iter().map(line).collect()
}

/// Returns the function of a qualified name.
fn function(index: &Index, file: FileId, name: &str) -> Option<Located> {
    let outline = index.outline(file);
    let is_named = |it: &usize| {
        let names = outline.path(*it).into_iter().map(|it| it.name.as_str());
        !name.is_empty() && names.eq(name.split('.'))
    };
    let symbol = (0..outline.symbols.len()).rfind(is_named)?;
    Some(Located { file, symbol })
}

fn symbol_at(index: &Index, file: FileId, at: usize) -> Option<Located> {
    let outline = index.outline(file);
    let symbol = outline.symbols.iter().position(|it| it.name_range.start == at)?;
    Some(Located { file, symbol })
}

/// Returns the offset of the first occurrence of each word in a range of a text. Words after a dot
/// count apart from others.
fn names(text: &str, range: std::ops::Range<usize>) -> Vec<usize> {
    let mut seen: BTreeSet<(bool, &str)> = BTreeSet::new();
    let mut out = Vec::new();
    let mut at = range.start;
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    for word in text[range].split_inclusive(|c| !is_part(c)) {
        let name = word.trim_end_matches(|c| !is_part(c));
        let is_name = name.starts_with(|c: char| !c.is_numeric());
        if is_name && seen.insert((text[..at].ends_with('.'), name)) {
            out.push(at);
        }
        at += word.len();
    }
    out
}
