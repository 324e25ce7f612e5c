//! Lowers names beside syntax errors: the parser passed over them, or guessed what they are.

use ruff_python_ast::token::{TokenKind, Tokens};
use ruff_python_parser::ParseError;
use ruff_text_size::Ranged;

use super::Lower;
use crate::semantics::ir::*;
use crate::syntax::{line_end, line_start};

impl Lower<'_> {
    /// Records every name of a text; a role that the syntax tree tells comes before.
    pub(super) fn unparsed_names(&mut self, tokens: &Tokens) {
        for token in tokens.iter().filter(|it| it.kind() == TokenKind::Name) {
            self.occurs(token.range(), Role::Quoted(Quoted::Unparsed));
        }
    }

    /// Records the lines with syntax errors.
    pub(super) fn lines_with_errors(&mut self, errors: &[ParseError]) {
        let line = |error: &ParseError| {
            let at = error.location.start().to_usize().min(self.source.len());
            let range = line_start(self.source, at)..line_end(self.source, at);
            range.start as u32..range.end as u32
        };
        self.module.broken = errors.iter().map(line).collect();
        self.module.broken.dedup();
    }
}
