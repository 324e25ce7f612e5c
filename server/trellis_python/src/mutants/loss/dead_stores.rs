//! Finds assignments without effect: the target is assigned again before it is read.

use std::collections::BTreeMap;

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use crate::syntax;

/// Returns the number of dead stores by target: a name, or a path such as `self.size`. Only a run
/// of simple statements is looked at, with the parameters before the first one of a function.
pub(super) fn dead_stores(source: &str, body: &[Stmt]) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    let mut open: Vec<(&[Stmt], Vec<&str>)> = vec![(body, Vec::new())];
    while let Some((block, parameters)) = open.pop() {
        let mut run = Run { source, unread: parameters, found: &mut found };
        block.iter().for_each(|it| run.statement(it));
        for stmt in block {
            let inner = syntax::blocks(stmt).into_iter();
            open.extend(inner.map(|it| (it, parameters_of(stmt))));
        }
    }
    found
}

fn parameters_of(stmt: &Stmt) -> Vec<&str> {
    let Stmt::FunctionDef(def) = stmt else { return Vec::new() };
    def.parameters.iter().map(|it| it.name().as_str()).collect()
}

/// A run of simple statements.
struct Run<'s, 'f> {
    source: &'s str,
    /// Targets that have not been read since they were assigned.
    unread: Vec<&'s str>,
    found: &'f mut BTreeMap<String, usize>,
}

impl<'s> Run<'s, '_> {
    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign(it) => {
                self.visit_expr(&it.value);
                it.targets.iter().for_each(|it| self.target(it));
            }
            Stmt::AnnAssign(it) => {
                if let Some(value) = &it.value {
                    self.visit_expr(value);
                    self.target(&it.target);
                }
            }
            Stmt::AugAssign(it) => {
                self.visit_expr(&it.value);
                self.read(self.text(&*it.target));
                self.target(&it.target);
            }
            Stmt::Expr(it) => self.visit_expr(&it.value),
            Stmt::Pass(_) => {}
            _ => self.unread.clear(),
        }
    }

    fn target(&mut self, target: &Expr) {
        match target {
            Expr::Tuple(it) => it.elts.iter().for_each(|it| self.target(it)),
            Expr::List(it) => it.elts.iter().for_each(|it| self.target(it)),
            Expr::Starred(it) => self.target(&it.value),
            Expr::Name(_) => self.assigned(self.text(target)),
            Expr::Attribute(it) => {
                self.receiver(&it.value);
                self.assigned(self.text(target));
            }
            other => self.visit_expr(other),
        }
    }

    fn assigned(&mut self, target: &'s str) {
        if self.unread.contains(&target) {
            *self.found.entry(target.to_owned()).or_default() += 1;
        } else {
            self.unread.push(target);
        }
    }

    fn text(&self, it: &impl Ranged) -> &'s str {
        &self.source[it.range().to_std_range()]
    }

    /// Records a read of one target.
    fn read(&mut self, target: &str) {
        self.unread.retain(|it| *it != target);
    }

    /// Records a read of an object, which may read any attribute of it.
    fn read_object(&mut self, object: &str) {
        let is_part = |it: &str| it.strip_prefix(object).is_some_and(|it| it.starts_with('.'));
        self.unread.retain(|it| *it != object && !is_part(it));
    }

    /// Records a read of an object of which only one attribute is used.
    fn receiver(&mut self, object: &Expr) {
        match object {
            Expr::Name(_) => self.read(self.text(object)),
            Expr::Attribute(it) => {
                self.receiver(&it.value);
                self.read(self.text(object));
            }
            other => self.visit_expr(other),
        }
    }
}

impl<'a> Visitor<'a> for Run<'_, '_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(_) => self.read_object(self.text(expr)),
            Expr::Attribute(it) => {
                self.receiver(&it.value);
                self.read_object(self.text(expr));
            }
            Expr::Call(it) => {
                match &*it.func {
                    Expr::Attribute(method) => self.visit_expr(&method.value),
                    other => self.visit_expr(other),
                }
                self.visit_arguments(&it.arguments);
            }
            _ => walk_expr(self, expr),
        }
    }
}
