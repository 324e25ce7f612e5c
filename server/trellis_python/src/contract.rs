//! Compares what two versions of a definition promise to the code that uses them.

use std::collections::BTreeSet;

use ruff_python_ast::{Decorator, Expr, ParameterWithDefault, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};

use crate::signature::compact;
use crate::syntax::{self, SyntaxError};

/// Returns whether code that uses the definitions of `old` can use those of `new` in the same way:
/// every public function, method, class and field is still there, takes the same arguments, and
/// has the same types, decorators and bases. Further parameters and fields need a default. Bodies
/// and docstrings do not count.
pub fn contract_holds(old: &str, new: &str) -> Result<bool, SyntaxError> {
    let parsed = (syntax::parse(old)?, syntax::parse(new)?);
    let comparison = Contracts { old, new };
    Ok(comparison.body(parsed.0.suite(), parsed.1.suite()))
}

/// The texts of two versions.
struct Contracts<'a> {
    old: &'a str,
    new: &'a str,
}

impl Contracts<'_> {
    fn body(&self, old: &[Stmt], new: &[Stmt]) -> bool {
        self.fields(old, new)
            && bindings(old).is_subset(&bindings(new))
            && old.iter().all(|stmt| match stmt {
                Stmt::FunctionDef(def) if is_public(&def.name) => {
                    let functions = new.iter().rev().filter_map(Stmt::as_function_def_stmt);
                    let same_name =
                        functions.into_iter().find(|it| it.name.as_str() == def.name.as_str());
                    same_name.is_some_and(|it| self.function(def, it))
                }
                Stmt::ClassDef(def) if is_public(&def.name) => {
                    let classes = new.iter().rev().filter_map(Stmt::as_class_def_stmt);
                    let same_name =
                        classes.into_iter().find(|it| it.name.as_str() == def.name.as_str());
                    same_name.is_some_and(|it| self.class(def, it))
                }
                _ => true,
            })
    }

    fn class(&self, old: &StmtClassDef, new: &StmtClassDef) -> bool {
        let bases = |it: &StmtClassDef| it.arguments.as_ref().map(|it| it.range());
        self.same(bases(old), bases(new))
            && self.decorators(&old.decorator_list, &new.decorator_list)
            && self.body(&old.body, &new.body)
    }

    fn function(&self, old: &StmtFunctionDef, new: &StmtFunctionDef) -> bool {
        old.is_async == new.is_async
            && self.decorators(&old.decorator_list, &new.decorator_list)
            && self.expressions(old.returns.as_deref(), new.returns.as_deref())
            && self.parameters(old, new)
    }

    fn parameters(&self, old: &StmtFunctionDef, new: &StmtFunctionDef) -> bool {
        let (old, new) = (&old.parameters, &new.parameters);
        let positional: [Vec<_>; 2] =
            [old, new].map(|it| it.posonlyargs.iter().chain(&it.args).collect());
        let [before, after] = &positional;
        let further = after.iter().skip(before.len());
        let is_kept = |it: &ParameterWithDefault| {
            let same =
                new.kwonlyargs.iter().find(|other| other.name().as_str() == it.name().as_str());
            same.is_some_and(|other| self.parameter(it, other))
        };
        let is_known = |it: &ParameterWithDefault| {
            old.kwonlyargs.iter().any(|other| other.name().as_str() == it.name().as_str())
        };
        before.len() <= after.len()
            && new.posonlyargs.len() <= old.posonlyargs.len()
            && before.iter().zip(after).all(|(old, new)| self.parameter(old, new))
            && further.clone().all(|it| it.default.is_some())
            && (further.len() == 0 || old.vararg.is_none())
            && old.kwonlyargs.iter().all(is_kept)
            && new.kwonlyargs.iter().all(|it| is_known(it) || it.default.is_some())
            && (old.vararg.is_none() || new.vararg.is_some())
            && (old.kwarg.is_none() || new.kwarg.is_some())
    }

    fn parameter(&self, old: &ParameterWithDefault, new: &ParameterWithDefault) -> bool {
        old.name().as_str() == new.name().as_str()
            && self.expressions(old.annotation(), new.annotation())
            && self.expressions(old.default.as_deref(), new.default.as_deref())
    }

    /// Compares annotated fields, whose order is that of a dataclass's arguments.
    fn fields(&self, old: &[Stmt], new: &[Stmt]) -> bool {
        let fields =
            |it: &[Stmt]| it.iter().filter_map(|it| it.as_ann_assign_stmt().cloned()).collect();
        let [old, new]: [Vec<_>; 2] = [old, new].map(fields);
        old.len() <= new.len()
            && old.iter().zip(&new).all(|(old, new)| {
                self.same(Some(old.target.range()), Some(new.target.range()))
                    && self.same(Some(old.annotation.range()), Some(new.annotation.range()))
                    && self.expressions(old.value.as_deref(), new.value.as_deref())
            })
            && new.iter().skip(old.len()).all(|it| it.value.is_some())
    }

    fn decorators(&self, old: &[Decorator], new: &[Decorator]) -> bool {
        old.len() == new.len()
            && old.iter().zip(new).all(|(a, b)| self.same(Some(a.range()), Some(b.range())))
    }

    fn expressions(&self, old: Option<&Expr>, new: Option<&Expr>) -> bool {
        self.same(old.map(Ranged::range), new.map(Ranged::range))
    }

    fn same(&self, old: Option<TextRange>, new: Option<TextRange>) -> bool {
        old.map(|it| compact(self.old, it)) == new.map(|it| compact(self.new, it))
    }
}

/// Returns the public names that assignments bind, such as constants and members of an enumeration.
fn bindings(body: &[Stmt]) -> BTreeSet<&str> {
    let targets = body.iter().flat_map(|stmt| match stmt {
        Stmt::Assign(it) => it.targets.iter().collect(),
        Stmt::AnnAssign(it) => vec![&*it.target],
        _ => Vec::new(),
    });
    let names = targets.flat_map(|it| match it {
        Expr::Tuple(it) => it.elts.iter().collect(),
        Expr::List(it) => it.elts.iter().collect(),
        it => vec![it],
    });
    let names = names.filter_map(|it| it.as_name_expr().map(|it| it.id.as_str()));
    names.filter(|it| is_public(it)).collect()
}

/// Returns whether code elsewhere may use a name: special methods count.
fn is_public(name: &str) -> bool {
    !name.starts_with('_') || name.starts_with("__") && name.ends_with("__")
}
