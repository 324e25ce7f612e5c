//! Counts the bindings and reads of names and attributes by the definition that owns them.

use std::collections::{BTreeMap, BTreeSet};

use crate::semantics::ir::{BindingKind, Expr, Module, Occurrence, Role, ScopeId, ScopeKind};

/// The definition whose scope a name belongs to: the same before and after an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    Module,
    /// The n-th class.
    Class(usize),
    /// The n-th `def`.
    Function(usize),
}

impl Owner {
    /// Returns the owner of the names of a scope; `None` for lambdas and comprehensions.
    fn of(module: &Module, scope: ScopeId) -> Option<Owner> {
        match module.scopes[scope.index()].kind {
            ScopeKind::Module => Some(Owner::Module),
            ScopeKind::Class(class) => Some(Owner::Class(class.index())),
            ScopeKind::Function(function) => {
                module.function(function).name?;
                let earlier = module.functions[..function.index()].iter();
                Some(Owner::Function(earlier.filter(|it| it.name.is_some()).count()))
            }
            ScopeKind::Comprehension | ScopeKind::TypeParameters => None,
        }
    }

    pub(super) fn is_class(self) -> bool {
        matches!(self, Owner::Class(_))
    }

    pub(super) fn is_function(self) -> bool {
        matches!(self, Owner::Function(_))
    }
}

/// Bindings and reads of one name.
#[derive(Default)]
struct Usage {
    /// Number of bindings, without those by `+=` and the like, which need an earlier one.
    bindings: usize,
    /// Offsets of the places that use the value.
    uses: Vec<usize>,
    /// Offsets of augmented assignments.
    updates: Vec<usize>,
}

/// Bindings and reads of the names of a file.
pub(super) struct Usages {
    names: BTreeMap<(Owner, &'static str), Usage>,
    /// Offsets of the reads of attributes of any object.
    attributes: BTreeMap<&'static str, Vec<usize>>,
}

impl Usages {
    pub(super) fn of(module: &Module) -> Usages {
        let mut found = Usages { names: BTreeMap::new(), attributes: BTreeMap::new() };
        let updates = updates(module);
        let mut stores = BTreeSet::new();
        for it in module.bindings.iter().filter(|it| !updates.contains(&it.at)) {
            stores.insert(it.at);
            let symbol = module.symbol(it.symbol);
            if let Some(owner) = Owner::of(module, symbol.scope) {
                found.names.entry((owner, symbol.name.text())).or_default().bindings += 1;
            }
        }
        for it in module.occurrences.iter().filter(|it| !stores.contains(&it.at)) {
            found.read(module, it, updates.contains(&it.at));
        }
        found
    }

    fn read(&mut self, module: &Module, it: &Occurrence, is_update: bool) {
        let at = it.at as usize;
        match it.role {
            Role::Attribute(_) | Role::Quoted(_) => {
                self.attributes.entry(it.name.text()).or_default().push(at);
            }
            Role::Name(expr) => {
                let Expr::Name(_, Some(symbol), _) = module.expr(expr) else { return };
                let symbol = module.symbol(symbol);
                let Some(owner) = Owner::of(module, symbol.scope) else { return };
                let usage = self.names.entry((owner, symbol.name.text())).or_default();
                if is_update { &mut usage.updates } else { &mut usage.uses }.push(at);
            }
            _ => {}
        }
    }

    /// Returns the names that are bound, in order.
    pub(super) fn bound(&self) -> impl Iterator<Item = (Owner, &'static str)> + '_ {
        self.names.iter().filter(|(_, it)| it.bindings > 0).map(|(name, _)| *name)
    }

    pub(super) fn is_bound(&self, owner: Owner, name: &str) -> bool {
        self.bindings(owner, name) > 0
    }

    /// Returns the number of places that bind a name.
    pub(super) fn bindings(&self, owner: Owner, name: &str) -> usize {
        self.names.get(&(owner, name)).map_or(0, |it| it.bindings)
    }

    /// Returns the number of places that use the value of a name.
    pub(super) fn uses(&self, owner: Owner, name: &str) -> usize {
        self.names.get(&(owner, name)).map_or(0, |it| it.uses.len())
    }

    /// Returns the offsets that need a binding of the name; for a class, those that read an
    /// attribute of this name.
    pub(super) fn reads(&self, owner: Owner, name: &'static str) -> impl Iterator<Item = usize> {
        let usage = self.names.get(&(owner, name)).into_iter();
        let attributes = self.attributes.get(name).filter(|_| owner.is_class());
        usage
            .flat_map(|it| it.uses.iter().chain(&it.updates))
            .chain(attributes.into_iter().flatten())
            .copied()
    }
}

/// Returns the offsets of names that are assigned in place.
fn updates(module: &Module) -> BTreeSet<u32> {
    let named = module.occurrences.iter().filter(|it| matches!(it.role, Role::Name(_)));
    let named: BTreeSet<u32> = named.map(|it| it.at).collect();
    let other = module.bindings.iter().filter(|it| it.kind == BindingKind::Other);
    other.map(|it| it.at).filter(|at| named.contains(at)).collect()
}
