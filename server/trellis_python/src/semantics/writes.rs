//! Lists what the code of a file assigns to attributes, puts into containers and passes to
//! functions, by name.

use rustc_hash::FxHashMap;

use super::ir::*;
use super::names::Name;
use crate::index::{FileId, Index};

/// The writes of one file.
#[derive(Default)]
pub(crate) struct Writes {
    attributes: FxHashMap<Name, Vec<(ExprId, ExprId)>>,
    contents: FxHashMap<Name, Vec<Content>>,
    calls: FxHashMap<Name, Vec<u32>>,
}

/// A value that is put into a container.
#[derive(Clone, Copy)]
pub(crate) struct Content {
    pub(crate) container: ExprId,
    pub(crate) key: Option<ExprId>,
    pub(crate) value: ExprId,
    /// True if the elements of the value are put into the container, not the value itself.
    pub(crate) is_spread: bool,
}

impl Writes {
    fn of(module: &Module) -> Writes {
        let mut writes = Writes::default();
        for (target, value) in &module.stores {
            writes.store(module, *target, *value);
        }
        for (row, call) in module.calls.iter().enumerate() {
            let Some(name) = last_name(module, call.function) else { continue };
            writes.calls.entry(name).or_default().push(row as u32);
            if let Some(content) = content(module, call, name) {
                writes.put(module, content);
            }
        }
        writes
    }

    fn store(&mut self, module: &Module, target: ExprId, value: ExprId) {
        match module.expr(target) {
            Expr::Attribute(object, name, _) => {
                self.attributes.entry(name).or_default().push((object, value));
            }
            Expr::Subscript(container, index, _) => {
                let is_spread = module.expr(index) == Expr::Slice;
                let key = (!is_spread).then_some(index);
                self.put(module, Content { container, key, value, is_spread });
            }
            _ => {}
        }
    }

    fn put(&mut self, module: &Module, content: Content) {
        if let Some(name) = last_name(module, content.container) {
            self.contents.entry(name).or_default().push(content);
        }
    }

    /// Returns the objects and values of all assignments `object.name = value`.
    pub(crate) fn attribute(&self, name: Name) -> &[(ExprId, ExprId)] {
        self.attributes.get(&name).map_or(&[], Vec::as_slice)
    }

    /// Returns what is put into containers with a name.
    pub(crate) fn contents(&self, name: Name) -> &[Content] {
        self.contents.get(&name).map_or(&[], Vec::as_slice)
    }

    /// Returns the rows of the calls of functions with a name.
    pub(crate) fn calls(&self, name: Name) -> &[u32] {
        self.calls.get(&name).map_or(&[], Vec::as_slice)
    }
}

/// Returns the name of a variable, or of an attribute.
pub(crate) fn last_name(module: &Module, expr: ExprId) -> Option<Name> {
    match module.expr(expr) {
        Expr::Name(name, ..) | Expr::Attribute(_, name, _) => Some(name),
        _ => None,
    }
}

/// Returns what a call puts into a container: `items.append(value)`, `heappush(items, value)`.
fn content(module: &Module, call: &Call, name: Name) -> Option<Content> {
    let arguments = module.arguments_of(call);
    let given = |index: usize| {
        let it = arguments.get(index)?;
        (it.kind == ArgumentKind::Positional).then_some(it.value)
    };
    let of = |container, key, value, is_spread| Content { container, key, value, is_spread };
    match (name.text(), module.expr(call.function)) {
        ("heappush" | "heappushpop" | "heapreplace", _) => {
            Some(of(given(0)?, None, given(1)?, false))
        }
        ("append" | "add" | "appendleft" | "put" | "put_nowait", Expr::Attribute(object, ..)) => {
            Some(of(object, None, given(0)?, false))
        }
        ("insert", Expr::Attribute(object, ..)) => Some(of(object, None, given(1)?, false)),
        ("setdefault", Expr::Attribute(object, ..)) => {
            Some(of(object, Some(given(0)?), given(1)?, false))
        }
        ("extend" | "extendleft" | "update", Expr::Attribute(object, ..)) => {
            Some(of(object, None, given(0)?, true))
        }
        _ => None,
    }
}

impl Index {
    /// Returns the writes of a file of the workspace.
    pub(crate) fn writes(&self, file: FileId) -> Option<&Writes> {
        let it = self.get(file)?;
        Some(it.writes.get_or_init(|| Writes::of(self.module(file)).into()))
    }
}
