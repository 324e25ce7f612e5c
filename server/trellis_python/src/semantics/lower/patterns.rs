//! Lowers `match`.

use ruff_python_ast::{self as ast, Pattern, Singleton};
use ruff_text_size::Ranged;

use super::Lower;
use crate::semantics::ir::*;

impl Lower<'_> {
    pub(super) fn match_block(&mut self, it: &ast::StmtMatch) {
        let subject = self.expr(&it.subject);
        let mut ends = Vec::new();
        for case in &it.cases {
            let before = self.flow;
            let test = self.pattern_test(&case.pattern, subject);
            if let Some(test) = test {
                self.flow = self.tested(test, true, before);
            }
            let whole = self.narrowed(subject, test);
            self.pattern(&case.pattern, whole);
            if let Some(guard) = &case.guard {
                let guard = self.expr(guard);
                self.flow = self.tested(guard, true, self.flow);
            }
            self.body(&case.body);
            ends.push(self.flow);
            self.flow = match test {
                Some(test) if case.guard.is_none() && is_type_only(&case.pattern) => {
                    self.tested(test, false, before)
                }
                _ if case.guard.is_none() && case.pattern.is_irrefutable() => super::UNREACHABLE,
                _ => before,
            };
        }
        ends.push(self.flow);
        self.flow = self.join(ends);
    }

    fn narrowed(&mut self, subject: ExprId, test: Option<ExprId>) -> ExprId {
        test.map_or(subject, |test| {
            self.tells(test);
            self.push(Expr::Narrowed(subject, test))
        })
    }

    /// Returns the test of the subject's type that a pattern implies.
    fn pattern_test(&mut self, pattern: &Pattern, subject: ExprId) -> Option<ExprId> {
        let test = match pattern {
            Pattern::MatchClass(it) => {
                let class = self.quietly(|lower| lower.expr(&it.cls));
                Expr::IsInstance(subject, class)
            }
            Pattern::MatchSingleton(it) if it.value == Singleton::None => {
                let none = self.push(Expr::None);
                Expr::Compare(Comparison::Is, subject, none)
            }
            Pattern::MatchAs(it) => return self.pattern_test(it.pattern.as_deref()?, subject),
            Pattern::MatchOr(it) => {
                let parts: Option<Vec<ExprId>> =
                    it.patterns.iter().map(|it| self.pattern_test(it, subject)).collect();
                Expr::Or(self.push_list(&parts?))
            }
            _ => return None,
        };
        Some(self.push(test))
    }

    /// Lowers an expression without recording its identifiers, because it is lowered again
    /// elsewhere.
    fn quietly<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let known = self.module.occurrences.len();
        let result = read(self);
        self.module.occurrences.truncate(known);
        result
    }

    fn pattern(&mut self, pattern: &Pattern, subject: ExprId) {
        match pattern {
            Pattern::MatchValue(it) => {
                let _ = self.expr(&it.value);
            }
            Pattern::MatchSingleton(_) => {}
            Pattern::MatchSequence(it) => self.sequence(&it.patterns, subject),
            Pattern::MatchMapping(it) => {
                it.keys.iter().for_each(|it| {
                    let _ = self.expr(it);
                });
                for (key, pattern) in it.keys.iter().zip(&it.patterns) {
                    let key = self.quietly(|lower| lower.key_expr(key));
                    let value = self.push(Expr::Subscript(subject, key, self.flow));
                    self.part_pattern(pattern, value);
                }
                self.capture(it.rest.as_ref(), subject);
            }
            Pattern::MatchClass(it) => self.class_pattern(it),
            Pattern::MatchStar(it) => self.capture(it.name.as_ref(), subject),
            Pattern::MatchAs(it) => {
                if let Some(inner) = &it.pattern {
                    self.pattern(inner, subject);
                }
                self.capture(it.name.as_ref(), subject);
            }
            Pattern::MatchOr(it) => it.patterns.iter().for_each(|it| {
                let test = self.pattern_test(it, subject);
                let whole = self.narrowed(subject, test);
                self.pattern(it, whole);
            }),
        }
    }

    fn sequence(&mut self, patterns: &[Pattern], subject: ExprId) {
        for (index, pattern) in patterns.iter().enumerate() {
            let part = if pattern.is_match_star() {
                Expr::Rest(subject)
            } else {
                Expr::Part(subject, index as i32)
            };
            let part = self.push(part);
            let test = self.pattern_test(pattern, part);
            let whole = self.narrowed(part, test);
            self.pattern(pattern, whole);
        }
    }

    fn class_pattern(&mut self, it: &ast::PatternMatchClass) {
        let class = self.expr(&it.cls);
        let instance = self.push(Expr::InstanceOf(class));
        for (index, pattern) in it.arguments.patterns.iter().enumerate() {
            let part = self.push(Expr::Positional(instance, index as u32));
            self.part_pattern(pattern, part);
        }
        for keyword in &it.arguments.keywords {
            let name = self.name(keyword.attr.range);
            let part = self.push(Expr::Attribute(instance, name, self.flow));
            self.occurs(keyword.attr.range(), Role::Attribute(part));
            self.part_pattern(&keyword.pattern, part);
        }
    }

    fn part_pattern(&mut self, pattern: &Pattern, part: ExprId) {
        let test = self.pattern_test(pattern, part);
        let whole = self.narrowed(part, test);
        self.pattern(pattern, whole);
    }

    fn capture(&mut self, name: Option<&ast::Identifier>, value: ExprId) {
        if let Some(name) = name {
            self.bind(name, BindingKind::Value(value));
        }
    }
}

/// Returns whether a pattern can fail only because of its subject's type.
fn is_type_only(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::MatchClass(it) => {
            it.arguments.patterns.is_empty() && it.arguments.keywords.is_empty()
        }
        Pattern::MatchSingleton(_) => true,
        Pattern::MatchAs(it) => it.pattern.as_deref().is_some_and(is_type_only),
        Pattern::MatchOr(it) => it.patterns.iter().all(is_type_only),
        _ => false,
    }
}
