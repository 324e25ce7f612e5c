//! Splits a module into blocks of code with hashes: the bodies of its functions, and the rest.

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};
use xxhash_rust::xxh3::Xxh3;

use crate::lines::{Lines, Unit};
use crate::syntax::{SyntaxError, blocks, parse};

/// The blocks of a module. Comments, blank lines and the width of indentation have no influence on
/// the hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBlocks {
    /// Hash of the code outside of function bodies, which runs when the module is loaded.
    pub module: u64,
    /// Functions and methods, without those inside of others, in source order.
    pub functions: Vec<CodeBlock>,
}

/// The body of a function, with the functions inside of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBlock {
    /// Name with the classes around it, such as `Cart.total`. Later functions of the same name have
    /// a number: `Cart.total#2`.
    pub name: String,
    /// First line of the body, from 1.
    pub first: u32,
    /// Last line of the body.
    pub last: u32,
    pub hash: u64,
    /// A decorator keeps results for later calls, such as `functools.cache`.
    pub is_cached: bool,
}

impl CodeBlocks {
    pub fn of(source: &str) -> Result<CodeBlocks, SyntaxError> {
        let module = parse(source)?;
        let mut found = Vec::new();
        collect("", module.suite(), &mut found);
        let (mut rest, mut bodies) = (Xxh3::new(), vec![Xxh3::new(); found.len()]);
        let mut at = 0;
        for token in module.tokens() {
            let start = token.range().start();
            while found.get(at).is_some_and(|it| body(it.1).end() <= start) {
                at += 1;
            }
            let inside = found.get(at).is_some_and(|it| body(it.1).start() <= start);
            let hasher = if inside { &mut bodies[at] } else { &mut rest };
            add(hasher, token.kind(), &source[token.range()]);
        }
        let lines = Lines::of(source);
        let functions = found.iter().zip(bodies).map(|((name, def), hash)| {
            let line = |offset: usize| lines.position(offset, Unit::Char).0 as u32 + 1;
            CodeBlock {
                name: name.clone(),
                first: line(body(def).start().to_usize()),
                last: line(body(def).end().to_usize()),
                hash: hash.digest(),
                is_cached: is_cached(source, def),
            }
        });
        Ok(CodeBlocks { module: rest.digest(), functions: functions.collect() })
    }

    /// Returns the function with a line in its body.
    pub fn function_at(&self, line: u32) -> Option<&CodeBlock> {
        let after = self.functions.partition_point(|it| it.first <= line);
        self.functions[..after].last().filter(|it| line <= it.last)
    }
}

/// Collects the functions of a body in source order, with their names.
fn collect<'a>(prefix: &str, body: &'a [Stmt], found: &mut Vec<(String, &'a StmtFunctionDef)>) {
    for stmt in body {
        match stmt {
            Stmt::FunctionDef(def) => {
                let name = format!("{prefix}{}", def.name);
                let same = |it: &&(String, _)| it.0.split('#').next() == Some(&*name);
                let number = found.iter().filter(same).count() + 1;
                let name = if number == 1 { name } else { format!("{name}#{number}") };
                found.push((name, def));
            }
            Stmt::ClassDef(def) => collect(&format!("{prefix}{}.", def.name), &def.body, found),
            other => blocks(other).into_iter().for_each(|it| collect(prefix, it, found)),
        }
    }
}

fn body(def: &StmtFunctionDef) -> TextRange {
    let ends = def.body.first().zip(def.body.last());
    ends.map_or(def.range(), |(first, last)| first.range().cover(last.range()))
}

fn add(hasher: &mut Xxh3, kind: TokenKind, text: &str) {
    let is_layout = matches!(kind, TokenKind::Indent | TokenKind::Dedent | TokenKind::Newline);
    match kind {
        TokenKind::Comment | TokenKind::NonLogicalNewline => {}
        _ if is_layout => hasher.update(&[0, kind as u8]),
        _ => {
            hasher.update(text.as_bytes());
            hasher.update(&[0]);
        }
    }
}

fn is_cached(source: &str, def: &StmtFunctionDef) -> bool {
    let decorators = def.decorator_list.iter().map(|it| &source[it.range()]);
    decorators.map(str::to_ascii_lowercase).any(|it| it.contains("cache"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
import functools
LIMIT = 5

@functools.cache
def doubled(n):
    return 2 * n

class Cart:
    def total(self, tax=0):
        def inner():
            return 1
        return inner()

    @property
    def name(self): return 'a'

    @name.setter
    def name(self, it):
        pass

if LIMIT:
    def late():
        pass
";

    fn blocks() -> CodeBlocks {
        CodeBlocks::of(SOURCE).expect("valid")
    }

    /// Returns the names of the blocks that an edit changes; `""` for the rest of the module.
    fn changed(from: &str, to: &str) -> Vec<String> {
        let edited = SOURCE.replacen(from, to, 1);
        assert_ne!(edited, SOURCE);
        let (old, new) = (blocks(), CodeBlocks::of(&edited).expect("valid"));
        let pairs = old.functions.into_iter().zip(new.functions);
        let functions = pairs.filter(|(a, b)| a.hash != b.hash).map(|(a, _)| a.name);
        let module = (old.module != new.module).then(String::new);
        module.into_iter().chain(functions).collect()
    }

    #[test]
    fn functions_have_names_and_lines() {
        let all = blocks();
        let shown: Vec<_> =
            all.functions.iter().map(|it| (&*it.name, it.first, it.last, it.is_cached)).collect();
        assert_eq!(
            shown,
            [
                ("doubled", 6, 6, true),
                ("Cart.total", 10, 12, false),
                ("Cart.name", 15, 15, false),
                ("Cart.name#2", 19, 19, false),
                ("late", 23, 23, false),
            ]
        );
        let at = |line| all.function_at(line).map(|it| &*it.name);
        assert_eq!(
            [at(6), at(9), at(11), at(13)],
            [Some("doubled"), None, Some("Cart.total"), None]
        );
    }

    #[test]
    fn an_edit_changes_the_block_that_it_is_in() {
        for (from, to, wanted) in [
            ("2 * n", "3 * n", &["doubled"][..]),
            ("return 1", "return 2", &["Cart.total"]),
            ("tax=0", "tax=1", &[""]),
            ("LIMIT = 5", "LIMIT = 6", &[""]),
            ("@property", "@cached_property", &[""]),
            ("return 'a'", "return 'b'", &["Cart.name"]),
            ("LIMIT = 5", "LIMIT = 5  # five\n\n", &[]),
            ("    return 2 * n", "    # twice\n    return 2  *  n", &[]),
            ("        pass\n\nif", "        pass\n\n    def more(self): pass\n\nif", &[""]),
        ] {
            assert_eq!(changed(from, to), wanted, "{from} -> {to}");
        }
        assert!(CodeBlocks::of("def f(:\n").is_err());
    }
}
