//! What names mean: Python's scoping, modules, and as much of types as attributes need.

mod bundle;
mod eval;
mod ir;
mod lower;
mod names;
mod program;
mod rename;
mod resolve;
mod search;
mod twins;
mod types;

pub(crate) use eval::Memory;
pub(crate) use ir::{Module, Occurrence, Role};
pub(crate) use program::Layout;
pub(crate) use rename::{prepare, rename};

pub(crate) use resolve::Target;
pub(crate) use search::{Match, Wanted, ask, ask_each};

#[cfg(test)]
mod debug {
    use super::*;
    use crate::index::*;
    use std::sync::Arc;
    struct No;
    impl Texts for No {
        fn read(&self, _: &str) -> Option<Arc<str>> {
            None
        }
    }
    #[test]
    fn debug() {
        let text = std::env::var("PY").unwrap();
        let mut index = Index::new(Arc::new(No));
        let file = index.put("a.py", Words::of(&text), Some(text.clone().into()));
        ask(&index, |eval| {
            let m = index.module(file);
            for o in &m.occurrences {
                let e = match o.role {
                    Role::Name(e) | Role::Attribute(e) => e,
                    _ => continue,
                };
                eprintln!("{} {:?}", o.name.text(), eval.expr(file, e));
            }
        });
    }
}
