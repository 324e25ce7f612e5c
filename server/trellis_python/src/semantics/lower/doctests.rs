//! Lowers the examples in docstrings (`>>> code`), which run with the names of the module.

use ruff_python_ast::{Expr as Ast, ExprStringLiteral, PySourceType};
use ruff_python_parser::parse_unchecked_source;
use ruff_text_size::TextRange;

use super::bound::Bound;
use super::{Lower, MODULE, lower};
use crate::semantics::ir::*;
use crate::syntax::refuse_depth;
use crate::test_discovery::last_name;

/// Lowers the examples of a document: lines behind `>>>`, and fenced blocks of Python code. They
/// are read as one module, since later ones use the names of earlier ones.
pub(crate) fn lower_document(text: &str) -> Module {
    Examples::of_document(text).lower()
}

impl Lower<'_> {
    /// Lowers the examples of a docstring.
    pub(super) fn doctests(&mut self, it: &ExprStringLiteral) {
        let Some(range) = self.plain_content(it).filter(|it| self.text(*it).contains(">>>")) else {
            return;
        };
        let examples = Examples::of(self.text(range), range.start().to_u32());
        if refuse_depth(&examples.code).is_ok() {
            self.examples(range, &examples);
        }
    }

    /// Lowers the examples in `__test__ = {"name": ">>> code"}`, which `doctest` runs as well.
    pub(super) fn listed_examples(&mut self, targets: &[Ast], value: &Ast) {
        let Ast::Dict(tests) = value else { return };
        if !targets.iter().any(|it| last_name(it) == Some("__test__")) {
            return;
        }
        let texts = tests.items.iter().filter_map(|it| it.value.as_string_literal_expr());
        for it in texts.filter(|it| it.value.to_str().contains(">>>")) {
            match self.plain_content(it) {
                Some(_) => self.doctests(it),
                None => self.words(it.range, Quoted::Code),
            }
        }
    }

    fn examples(&mut self, range: TextRange, examples: &Examples) {
        let parsed = parse_unchecked_source(&examples.code, PySourceType::Python);
        let before = Rows::of(&self.module);
        let mut inner = Lower::new(&examples.code);
        inner.module = std::mem::take(&mut self.module);
        inner.scope = MODULE;
        let scope = inner.open(ScopeKind::Comprehension);
        let function = inner.add_function(scope, range);
        let outside = inner.enter(scope, Some(function));
        inner.declare(&Bound::of(&parsed.syntax().body));
        inner.body(&parsed.syntax().body);
        inner.leave(outside);
        self.module = inner.module;
        before.move_new(&mut self.module, examples);
    }
}

/// Pieces of code in a text of another kind, with the place of each line in the source.
#[derive(Default)]
pub(super) struct Examples {
    code: String,
    /// Offsets of lines in the code and in the source, ascending.
    lines: Vec<(u32, u32)>,
}

impl Examples {
    fn of(docstring: &str, start: u32) -> Examples {
        let mut examples = Examples::default();
        let mut prompt = Prompt::default();
        for (line, at) in lines(docstring, start) {
            if let Some(code) = prompt.code(line) {
                examples.add(line, code, at);
            }
        }
        examples
    }

    /// Lowers the code as a module, with the places of the source.
    pub(super) fn lower(&self) -> Module {
        let mut module = lower(&self.code);
        module.broken.clear(); // other text than code makes errors
        Rows::default().move_new(&mut module, self);
        module
    }

    /// Adds a text that stands at an offset of the source.
    pub(super) fn add_run(&mut self, text: &str, at: usize) {
        self.lines.push((self.code.len() as u32, at as u32));
        self.code.push_str(text);
    }

    pub(super) fn end_line(&mut self) {
        self.code.push('\n');
    }

    /// Adds a line of a source, from a byte of the line on.
    fn add(&mut self, line: &str, from: usize, at: u32) {
        self.lines.push((self.code.len() as u32, at + from as u32));
        self.code.push_str(line[from..].trim_end_matches(['\r', '\n']));
        self.code.push('\n');
    }

    fn of_document(text: &str) -> Examples {
        let mut examples = Examples::default();
        let (mut prompt, mut fence) = (Prompt::default(), None);
        for (line, at) in lines(text, 0) {
            let margin = margin(line);
            let mark = &line[margin..];
            if let Some(code) = prompt.code(line) {
                examples.add(line, code, at);
                fence = fence.map(|_| None);
            } else if mark.starts_with("```") || mark.starts_with("~~~") {
                let language = mark[3..].split_whitespace().next().unwrap_or_default();
                let is_python = matches!(language, "python" | "py" | "python3");
                fence = if fence.is_some() { None } else { Some(is_python.then_some(margin)) };
            } else if let Some(Some(indent)) = fence {
                examples.add(line, margin.min(indent), at);
            }
        }
        examples
    }

    /// Returns the offset in the source of an offset in the code.
    fn place(&self, offset: u32) -> u32 {
        let line = self.lines.partition_point(|(code, _)| *code <= offset).saturating_sub(1);
        self.lines.get(line).map_or(0, |(code, source)| source + offset - code)
    }
}

/// State of a reader of lines behind the prompts of an interactive session: `>>>`, then `...`.
#[derive(Default)]
struct Prompt {
    is_open: bool,
}

impl Prompt {
    /// Returns the offset of the code in a line; `None` if it has no prompt.
    fn code(&mut self, line: &str) -> Option<usize> {
        let margin = margin(line);
        let has = |prompt: &str| line[margin..].starts_with(prompt);
        self.is_open = has(">>>") || self.is_open && has("...");
        self.is_open.then(|| margin + 3 + usize::from(line[margin + 3..].starts_with(' ')))
    }
}

/// Returns the lines of a text with their ends, and the offset of each.
fn lines(text: &str, start: u32) -> impl Iterator<Item = (&str, u32)> {
    text.split_inclusive('\n').scan(start, |next, line| {
        let at = *next;
        *next += line.len() as u32;
        Some((line, at))
    })
}

/// Returns the number of blanks before a line.
fn margin(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Numbers of rows that have places in the source.
#[derive(Default)]
struct Rows {
    occurrences: usize,
    bindings: usize,
    functions: usize,
    classes: usize,
}

impl Rows {
    fn of(module: &Module) -> Rows {
        Rows {
            occurrences: module.occurrences.len(),
            bindings: module.bindings.len(),
            // The function that stands for the examples has its place already.
            functions: module.functions.len() + 1,
            classes: module.classes.len(),
        }
    }

    /// Gives the rows that were added since the places in the source.
    fn move_new(&self, module: &mut Module, examples: &Examples) {
        let moved = |(start, end): (u32, u32)| (examples.place(start), examples.place(end));
        for it in &mut module.occurrences[self.occurrences..] {
            it.at = examples.place(it.at);
        }
        for it in &mut module.bindings[self.bindings..] {
            it.at = examples.place(it.at);
        }
        for it in &mut module.functions[self.functions..] {
            it.range = moved(it.range);
        }
        for it in &mut module.classes[self.classes..] {
            it.range = moved(it.range);
        }
    }
}
