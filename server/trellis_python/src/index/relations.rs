//! Finds callers, overrides, and unused functions.

use rustc_hash::FxHashSet;

use super::test_settings::TestPatterns;
use super::{DocumentKind, FileId, Index, Located, Place, Reference, ReferenceKind};
use crate::outline::{Symbol, SymbolKind};
use crate::semantics::{Eval, Name, Occurrence, Quoted, Role, Target, affixes, ask, ask_each};

/// A function, class or module that uses a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// File of the uses.
    pub file: FileId,
    /// The innermost function or class around the uses; `None` for the module itself.
    pub symbol: Option<Located>,
    /// Uses in source order, each with the reason why it is only possible, if it is.
    pub uses: Vec<(Place, Option<&'static str>)>,
}

/// A function or class without a certain reference outside itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unused {
    /// The definition.
    pub symbol: Located,
    /// True if an attribute of this name is accessed on an object of unknown type, or if a string
    /// may be the name.
    pub possibly_used: bool,
}

impl Index {
    /// Returns the innermost function or class around an offset, its decorators and header
    /// included.
    pub fn enclosing(&self, file: FileId, offset: usize) -> Option<Located> {
        let outline = self.outline(file);
        let around = |it: &Symbol| is_definition(it) && it.range.contains(&offset);
        // A child follows its parent, so the last match is the innermost.
        let symbol = outline.symbols.iter().rposition(around)?;
        Some(Located { file, symbol })
    }

    /// Returns the functions, classes and modules that use the symbol at an offset, by file and
    /// position. Imports and exports do not count as uses. `None` if there is no name.
    pub fn callers(&self, file: FileId, offset: usize) -> Option<Vec<Caller>> {
        let mut callers: Vec<Caller> = Vec::new();
        for it in self.uses_of(file, offset)? {
            let around = self.enclosing(it.place.file, it.place.range.start);
            let known = callers
                .iter_mut()
                .find(|caller| (caller.file, caller.symbol) == (it.place.file, around));
            let use_ = (it.place.clone(), it.uncertainty);
            match known {
                Some(caller) => caller.uses.push(use_),
                None => {
                    callers.push(Caller { file: it.place.file, symbol: around, uses: vec![use_] })
                }
            }
        }
        Some(callers)
    }

    /// Returns the uses of a symbol, including those under another name given by an import.
    fn uses_of(&self, file: FileId, offset: usize) -> Option<Vec<Reference>> {
        let mut uses = Vec::new();
        let mut open = vec![(file, offset)];
        let mut seen: FxHashSet<(FileId, usize)> = open.iter().copied().collect();
        let mut first = true;
        while let Some((file, offset)) = open.pop() {
            let Some(references) = self.references(file, offset) else {
                if first {
                    return None;
                }
                continue;
            };
            first = false;
            let runs = |it: &Reference| {
                self.document(it.place.file).is_none_or(|it| it == DocumentKind::Settings)
            };
            for it in references.found.into_iter().filter(runs) {
                match it.kind {
                    ReferenceKind::Use | ReferenceKind::Keyword => uses.push(it),
                    ReferenceKind::Import => {
                        let alias =
                            self.module(it.place.file).alias_behind(it.place.range.start as u32);
                        let place = alias.map(|at| (it.place.file, at as usize));
                        open.extend(place.filter(|it| seen.insert(*it)));
                    }
                    _ => {}
                }
            }
        }
        uses.sort_by(|a, b| {
            let order =
                |it: &Reference| (self.path(it.place.file).to_owned(), it.place.range.start);
            order(a).cmp(&order(b))
        });
        uses.dedup_by(|a, b| a.place == b.place);
        Some(uses)
    }

    /// Returns whether the symbol at an offset overrides a symbol of a base class, or may do so
    /// because a base is unknown. Calls of the base's method then run it, though no code names it.
    pub fn overrides(&self, file: FileId, offset: usize) -> bool {
        let Some(symbol) = self.module(file).symbol_bound_at(offset as u32) else { return false };
        ask(self, |eval| eval.may_override(file, symbol))
    }

    /// Returns functions, methods and classes that nothing uses outside their own text, by path and
    /// position. Left out are names that Python or pytest looks up (`__init__`, `test_…`),
    /// overrides and implementations, and definitions that a decorator may have passed on.
    pub fn unused(&self) -> Vec<Unused> {
        let mut files: Vec<FileId> = self.files().collect();
        files.sort_by_key(|it| self.path(*it));
        let uses = self.uses(&files);
        let uses: FxHashSet<Use> = uses.into_iter().collect();
        let tests = TestPatterns::of(self);
        ask_each(self, &files, |eval, file| {
            let outline = self.outline(file);
            let module = eval.module(file);
            let mut found = Vec::new();
            for (number, it) in outline.symbols.iter().enumerate() {
                let Some(symbol) = module.symbol_bound_at(it.name_range.start as u32) else {
                    continue;
                };
                let own = Target::Symbol(file, symbol);
                if !is_candidate(it)
                    || eval.may_override(file, symbol)
                    || eval.convention(own).is_some()
                    || eval.is_test_case(file, symbol)
                    || tests.fit(&it.name)
                    || eval.member_of_protocol(file, symbol).is_some()
                {
                    continue;
                }
                let targets = eval.with_counterparts(vec![own]);
                let is_used = targets.iter().any(|it| uses.contains(&Use::Certain(*it)));
                if !is_used && !self.is_in_settings(eval, Name::of(&it.name), &targets) {
                    let located = Located { file, symbol: number };
                    let mut parts = affixes(&it.name).into_iter();
                    let possibly_used = uses.contains(&Use::Possible(Name::of(&it.name)))
                        || parts.any(|it| uses.contains(&Use::Part(it)))
                        || eval.kept_by_base(file, symbol).is_some()
                        || self.is_in_template(Name::of(&it.name));
                    found.push(Unused { symbol: located, possibly_used });
                }
            }
            found
        })
    }

    /// Returns whether a template, a notebook or a command line has a name where code stands.
    fn is_in_template(&self, name: Name) -> bool {
        let mut documents = self.documents().filter(|it| {
            self.document(*it) != Some(DocumentKind::Prose) && self.words(*it).may_hold(name.text())
        });
        let is_mention = |it: &Occurrence| matches!(it.role, Role::Quoted(Quoted::Mention(_)));
        documents.any(|it| self.mentions(it, &[name]).iter().any(is_mention))
    }

    /// Returns whether a file of settings names one of some targets, as an entry point does.
    fn is_in_settings(&self, eval: &Eval<'_>, name: Name, targets: &[Target]) -> bool {
        let settings = self.documents().filter(|it| {
            self.document(*it) == Some(DocumentKind::Settings)
                && self.words(*it).may_hold(name.text())
        });
        let names = |file: FileId| {
            let mentions = self.mentions(file, &[name]);
            mentions.iter().any(|it| {
                let found = eval.meaning(file, it).targets;
                found.iter().any(|it| targets.contains(it))
            })
        };
        settings.into_iter().any(names)
    }

    /// Returns everything that is read: the targets of certain uses, and the names of doubtful
    /// ones.
    fn uses(&self, files: &[FileId]) -> Vec<Use> {
        ask_each(self, files, |eval, file| {
            let module = eval.module(file);
            let reads = module.occurrences.iter().filter(|it| {
                matches!(
                    it.role,
                    Role::Name(_) | Role::Attribute(_) | Role::Quoted(_) | Role::Export
                )
            });
            let mut uses: FxHashSet<Use> = FxHashSet::default();
            for it in reads {
                eval.refresh();
                if matches!(it.role, Role::Quoted(Quoted::Decorator(_))) {
                    continue; // parameters are not listed
                }
                let meaning = eval.meaning(file, it);
                let name = it.name;
                if meaning.uncertainty.is_some() {
                    let is_part =
                        matches!(it.role, Role::Quoted(Quoted::Prefix(_) | Quoted::Suffix(_)));
                    uses.insert(if is_part { Use::Part(name) } else { Use::Possible(name) });
                }
                let outside = |target: &Target| !eval.is_inside(*target, file, it.at);
                let all = meaning.targets.into_iter().flat_map(|it| eval.aliased(it));
                let targets = all.filter(outside);
                uses.extend(targets.map(Use::Certain));
            }
            uses.into_iter().collect()
        })
    }
}

/// A use of a symbol.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Use {
    Certain(Target),
    /// A use of a symbol of this name, if any.
    Possible(Name),
    /// A use of symbols whose names begin or end like this.
    Part(Name),
}

fn is_definition(it: &Symbol) -> bool {
    !matches!(it.kind, SymbolKind::Variable | SymbolKind::Attribute)
}

fn is_candidate(it: &Symbol) -> bool {
    let special = it.name.starts_with("__") && it.name.ends_with("__");
    let test = it.name.starts_with("test") || it.name.starts_with("Test");
    is_definition(it) && !special && !test && it.decorators.is_empty()
}
