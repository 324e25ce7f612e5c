//! Expressions that the flow can assign or narrow.

use super::ir::*;
use super::names::Name;

/// An expression that can be narrowed: a name, or an attribute or item of such an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Symbol(SymbolId),
    /// A name that this file does not bind.
    Free(Name),
    Attribute(KeyId, Name),
    Item(KeyId, Index),
}

/// The text between the brackets of an item that can be narrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Index {
    Number(i32),
    Text(Name),
    /// A name that this file binds.
    Symbol(SymbolId),
}

impl Index {
    /// Returns whether two different indexes may name the same item.
    fn may_equal(self, other: Index) -> bool {
        match (self, other) {
            (Index::Number(one), Index::Number(two)) => (one < 0) != (two < 0),
            (Index::Symbol(_), _) | (_, Index::Symbol(_)) => true,
            _ => false,
        }
    }
}

impl Module {
    /// Returns the key of an expression, if it has one.
    pub(crate) fn key(&self, id: ExprId) -> Option<KeyId> {
        let key = match self.expr(id) {
            Expr::Name(_, Some(symbol), _) => Key::Symbol(symbol),
            Expr::Name(name, None, _) => Key::Free(name),
            Expr::Attribute(object, name, _) => Key::Attribute(self.key(object)?, name),
            Expr::Subscript(object, index, _) => Key::Item(self.key(object)?, self.item(index)?),
            _ => return None,
        };
        self.key_of.get(&key).copied()
    }

    /// Returns an index as part of a key, if its value is written or named.
    pub(crate) fn item(&self, index: ExprId) -> Option<Index> {
        match self.expr(index) {
            Expr::String => self.texts.get(&index).copied().map(Index::Text),
            Expr::Name(_, Some(symbol), _) => Some(Index::Symbol(symbol)),
            _ => self.number(index).map(Index::Number),
        }
    }

    /// Returns the value of a written number.
    pub(crate) fn number(&self, id: ExprId) -> Option<i32> {
        match self.expr(id) {
            Expr::Int(number) => number,
            Expr::Unary(inner) => match self.expr(inner) {
                Expr::Int(number) => number.map(|it| -it),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns whether an assignment to one key may change another one, which is longer or an item
    /// of the same object.
    pub(crate) fn is_affected(&self, key: KeyId, assigned: KeyId) -> bool {
        match (self.keys[key.index()], self.keys[assigned.index()]) {
            (Key::Item(object, one), Key::Item(other, two)) if object == other => {
                one.may_equal(two)
            }
            (Key::Item(_, Index::Symbol(index)), Key::Symbol(symbol)) if index == symbol => true,
            (Key::Attribute(object, _) | Key::Item(object, _), _) => {
                object == assigned || self.is_affected(object, assigned)
            }
            _ => false,
        }
    }
}
