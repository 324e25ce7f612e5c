//! Finds names that are defined nowhere, and those in scope that could be meant.

use std::collections::{BTreeMap, BTreeSet};

use crate::semantics::ir::{Expr, Module, Role, ScopeId, ScopeKind};
use crate::semantics::lower;
use crate::standard_library;

/// Maximum number of names tried in place of an undefined one.
const MOST: usize = 8;
/// Minimum likeness of a module's name to an undefined one.
const LIKE: f64 = 0.5;

/// Returns the names that could be meant by each undefined name, by its offset, the likeliest
/// first. After a star import any name may be defined.
pub(super) fn undefined(source: &str) -> BTreeMap<usize, Vec<String>> {
    let module = lower(source);
    if !module.stars.is_empty() {
        return BTreeMap::new();
    }
    let is_undefined = |role: Role| match role {
        Role::Name(expr) => match module.expr(expr) {
            Expr::Name(name, None, _) => !standard_library::is_builtin(name.text()),
            _ => false,
        },
        _ => false,
    };
    let undefined = module.occurrences.iter().filter(|it| is_undefined(it.role));
    undefined.map(|it| (it.at as usize, meant(&module, it.scope, it.name.text()))).collect()
}

/// Returns the names in scope that could be meant by a name.
fn meant(module: &Module, scope: ScopeId, name: &str) -> Vec<String> {
    let mut found: Vec<(f64, String)> = visible(module, scope)
        .into_iter()
        .map(|(is_near, other)| (likeness(name, other), is_near, other))
        .filter(|(like, is_near, _)| *is_near || *like >= LIKE)
        .map(|(like, _, other)| (like, other.to_owned()))
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    found.truncate(MOST);
    let own = attribute(module, scope, name).into_iter();
    own.chain(found.into_iter().map(|(_, it)| it)).collect()
}

/// Returns the names that code in a scope sees; the flag is false for those of the module.
fn visible(module: &Module, scope: ScopeId) -> BTreeSet<(bool, &'static str)> {
    let mut found = BTreeSet::new();
    for around in module.outwards(scope) {
        let kind = module.scopes[around.index()].kind;
        if matches!(kind, ScopeKind::Class(_)) && around != scope {
            continue;
        }
        let names = module.names.iter().filter(|((it, _), _)| *it == around);
        let plain = names.filter(|(_, it)| !module.symbol(**it).on_instance);
        found.extend(plain.map(|((_, name), _)| (kind != ScopeKind::Module, name.text())));
    }
    found.retain(|(_, name)| !matches!(*name, "self" | "cls"));
    found
}

/// Returns `self.name` if the class of the method binds the name.
fn attribute(module: &Module, scope: ScopeId, name: &str) -> Option<String> {
    let ScopeKind::Function(function) = module.scopes[module.execution(scope).index()].kind else {
        return None;
    };
    let function = module.function(function);
    let class = module.class(function.class?).scope;
    let receiver = function.parameters.first()?.name.text();
    let mut own = module.names.keys().filter(|(it, _)| *it == class);
    own.any(|(_, it)| it.text() == name).then(|| format!("{receiver}.{name}"))
}

/// Returns the share of the longer name that is a common beginning or end, from 0 to 1.
fn likeness(one: &str, other: &str) -> f64 {
    let (a, b): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let end = a[start..].iter().rev().zip(b[start..].iter().rev());
    let end = end.take_while(|(a, b)| a == b).count();
    (start + end) as f64 / a.len().max(b.len()).max(1) as f64
}
