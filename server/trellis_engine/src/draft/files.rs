//! Files edited by a model, converted to the same form as a reply with edits: each change goes to
//! the item that owns it.
//!
//! A file holds the code of several nodes. The owner of a statement follows from the names in the
//! nodes' fragments, and from the names that merging gave them in a clash. Any other change is
//! refused.

use std::collections::{BTreeMap, BTreeSet};

use trellis_python::{Fragment, Import, ItemKind as Kind, remove_methods};

use crate::draft::{Draft, DraftError, NormalizedReply, foreign, shape, wrong};
use crate::item::{Item, ItemKind};
use crate::vocabulary::Upstream;

/// Returns the implementation after changes to files. `after` holds the new texts by path, `before`
/// the same files as the model received them; a file missing there is new.
pub(crate) fn files(
    item: &Item,
    draft: &Draft,
    upstream: &[Upstream],
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> Result<NormalizedReply, DraftError> {
    let own = draft.implementation.clone().unwrap_or_default();
    let mut owners = vec![EditableItem { item, fragment: own, changed: false }];
    for it in upstream {
        if owners.iter().all(|owner| owner.item.id != it.item.id) {
            let fragment = it.implementation.clone();
            owners.push(EditableItem { item: &it.item, fragment, changed: false });
        }
    }
    let mut notes = Vec::new();
    for (path, new) in after {
        let old = before.get(path).map_or("", String::as_str);
        if old != new {
            changed_file(&mut owners, path, old, new, &mut notes)?;
        }
    }
    if owners.iter().all(|owner| !owner.changed) {
        return Err(wrong("the answer changes nothing"));
    }
    let mut amended = BTreeMap::new();
    for owner in owners.drain(1..).filter(|owner| owner.changed) {
        let id = owner.item.id.clone();
        let fragment = owner.shaped()?.fragment;
        let stood = upstream.iter().find(|it| it.item.id == id);
        if stood.is_none_or(|it| it.implementation != fragment) {
            amended.insert(id, fragment);
        }
    }
    let mut shaped = owners.remove(0).shaped()?;
    shaped.notes.extend(notes);
    Ok(NormalizedReply { amended, ..shaped })
}

/// An item whose text may change. The first of a list is the one in work.
struct EditableItem<'a> {
    item: &'a Item,
    fragment: Fragment,
    changed: bool,
}

/// Key of a statement of a module, or of a method with its class. A statement that binds no name
/// has its text as name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    class: Option<String>,
    name: String,
}

impl Key {
    fn top(name: &str) -> Key {
        Key { class: None, name: name.to_owned() }
    }

    fn method(class: &str, name: &str) -> Key {
        Key { class: Some(class.to_owned()), name: name.to_owned() }
    }
}

fn name_of(it: &trellis_python::Item) -> &str {
    it.names.first().unwrap_or(&it.text)
}

/// A parsed file: the methods of each class, and the class without them.
struct Module {
    fragment: Fragment,
    texts: BTreeMap<Key, String>,
}

impl Module {
    fn parse(text: &str) -> Result<Module, DraftError> {
        let fragment = Fragment::parse(text)
            .map_err(|e| wrong(format!("after the edit the file has a syntax error: {e}")))?;
        let mut texts: BTreeMap<Key, String> = BTreeMap::new();
        // Overloads share a name.
        let mut add = |key: Key, text: &str| {
            let all = texts.entry(key).or_default();
            *all = format!("{all}{text}\n");
        };
        for it in &fragment.items {
            if it.kind != Kind::Class {
                add(Key::top(name_of(it)), &it.text);
                continue;
            }
            let (shell, methods) = remove_methods(&it.text, &|_| true).map_err(wrong)?;
            // Blank lines between methods belong to no method.
            let lines: Vec<&str> = shell.lines().filter(|line| !line.trim().is_empty()).collect();
            add(Key::top(name_of(it)), &lines.join("\n"));
            for method in &methods {
                add(Key::method(name_of(it), name_of(method)), &method.text);
            }
        }
        Ok(Module { fragment, texts })
    }
}

/// Assigns the changes in one file to their owners.
fn changed_file(
    owners: &mut [EditableItem<'_>],
    path: &str,
    old: &str,
    new: &str,
    notes: &mut Vec<String>,
) -> Result<(), DraftError> {
    let item = owners[0].item;
    let here: Vec<usize> = (0..owners.len()).filter(|at| owners[*at].item.path == path).collect();
    let Some(&first) = here.first() else { return Err(foreign(item, path)) };
    let (old, new) = (Module::parse(old)?, Module::parse(new)?);
    let mut whose: BTreeMap<&Key, usize> = BTreeMap::new();
    for key in old.texts.keys().chain(new.texts.keys()) {
        whose.extend(claimant(owners, &here, key, &old).map(|at| (key, at)));
    }
    let mut touched: BTreeSet<usize> = BTreeSet::new();
    let differs = |key: &&Key| old.texts.get(*key) != new.texts.get(*key);
    let keys: BTreeSet<&Key> = old.texts.keys().chain(new.texts.keys()).filter(differs).collect();
    // Classes are sorted before their methods.
    for key in keys {
        let owner = match whose.get(key) {
            Some(at) => *at,
            None if old.texts.contains_key(key) => return Err(others(item, path, key)),
            None => match home(owners, &here, key, &whose, &touched) {
                InsertionPoint::At(at) => at,
                InsertionPoint::Planned => {
                    notes.push(format!("left to its own node: {}", key.name));
                    continue;
                }
                InsertionPoint::Nowhere => return Err(others(item, path, key)),
            },
        };
        whose.insert(key, owner);
        touched.insert(owner);
    }
    let imports = |it: &Module| it.fragment.imports.iter().cloned().collect::<BTreeSet<Import>>();
    if touched.is_empty() && imports(&old) != imports(&new) {
        touched.insert(first);
    }
    for at in touched {
        let mine = |key: &Key| whose.get(key) == Some(&at);
        owners[at].fragment = rebuilt(&owners[at].fragment, &mine, &old, &new)?;
        owners[at].changed = true;
    }
    Ok(())
}

fn others(item: &Item, path: &str, key: &Key) -> DraftError {
    let class = key.class.iter().map(|class| format!("{class}.")).collect::<String>();
    let name = key.name.lines().next().unwrap_or_default();
    wrong(format!(
        "the edit of `{class}{name}` in {path} was refused: it belongs to other nodes; change `{}`",
        item.qualified_name()
    ))
}

/// Returns the owner of a name: the item planned under that name, else the item whose fragment
/// holds it.
fn claimant(
    owners: &[EditableItem<'_>],
    here: &[usize],
    key: &Key,
    file: &Module,
) -> Option<usize> {
    let is_planned = |it: &Item| it.class == key.class && it.name == key.name;
    let planned = here.iter().find(|at| is_planned(owners[**at].item));
    planned.or_else(|| here.iter().find(|at| owners[**at].has(key, file))).copied()
}

impl EditableItem<'_> {
    /// Returns the item's text in the plan's shape. A definition in a file keeps its name, so no
    /// other definition is renamed to the planned name.
    fn shaped(self) -> Result<NormalizedReply, DraftError> {
        if self.fragment.definition(&self.item.name).is_none() {
            return Err(wrong(format!("the files do not define `{}`", self.item.qualified_name())));
        }
        shape(self.item, self.fragment, true)
    }

    /// Returns the class whose methods this item may own.
    fn class(&self) -> Option<&str> {
        match self.item.kind {
            ItemKind::Class => Some(&self.item.name),
            ItemKind::Function | ItemKind::Method => self.item.class.as_deref(),
        }
    }

    fn has(&self, key: &Key, file: &Module) -> bool {
        let Some(class) = &key.class else { return self.has_top(&key.name, file) };
        if self.class() != Some(class) {
            return self.has_top(class, file);
        }
        if self.item.planned_methods.contains(&key.name) {
            return false;
        }
        match self.fragment.items.iter().find(|it| it.kind == Kind::Class && it.binds(class)) {
            Some(it) => {
                let own = |name: &str| name == key.name;
                remove_methods(&it.text, &own).is_ok_and(|(_, methods)| !methods.is_empty())
            }
            None => self.fragment.items.iter().any(|it| it.binds(&key.name)),
        }
    }

    /// Returns whether a name of the module belongs to the fragment, also if merging renamed it.
    fn has_top(&self, name: &str, file: &Module) -> bool {
        let item = self.item;
        let elsewhere = |own: &str| {
            item.dependencies.iter().any(|it| it.module == item.module && it.import_name == own)
        };
        self.fragment.items.iter().map(name_of).filter(|own| !elsewhere(own)).any(|own| {
            let given = |it: &Key| it.class.is_none() && self.is_given(&it.name, own);
            self.is_given(name, own) || (name == own && !file.texts.keys().any(given))
        })
    }

    /// Returns whether merging may have renamed `own` to `name`: `_check` to `_check_mean` or
    /// `_check_mean_2`.
    fn is_given(&self, name: &str, own: &str) -> bool {
        let rest = name.strip_prefix(own).and_then(|it| it.strip_prefix('_'));
        let rest = rest.and_then(|it| it.strip_prefix(self.item.suffix().as_str()));
        rest.is_some_and(|it| {
            let number = it.strip_prefix('_').unwrap_or_default();
            it.is_empty() || (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
        })
    }
}

/// Owner of a new statement.
enum InsertionPoint {
    At(usize),
    /// A node of its own will write it.
    Planned,
    Nowhere,
}

fn home(
    owners: &[EditableItem<'_>],
    here: &[usize],
    key: &Key,
    whose: &BTreeMap<&Key, usize>,
    touched: &BTreeSet<usize>,
) -> InsertionPoint {
    let Some(class) = &key.class else {
        // A new helper belongs to the item in work if this is its file, else to an item changed in
        // this file.
        let changed = here.iter().find(|at| touched.contains(at));
        return InsertionPoint::At(
            *here.iter().find(|at| **at == 0).or(changed).unwrap_or(&here[0]),
        );
    };
    let of_class = |at: &usize| owners[*at].class() == Some(class);
    if here
        .iter()
        .filter(|at| of_class(at))
        .any(|at| owners[*at].item.planned_methods.contains(&key.name))
    {
        return InsertionPoint::Planned;
    }
    let found = here.iter().copied().find(of_class);
    found
        .or_else(|| whose.get(&Key::top(class)).copied())
        .map_or(InsertionPoint::Nowhere, InsertionPoint::At)
}

/// Rebuilds a fragment from the file's text, with the names used in the file.
fn rebuilt(
    fragment: &Fragment,
    mine: &dyn Fn(&Key) -> bool,
    old: &Module,
    new: &Module,
) -> Result<Fragment, DraftError> {
    let mut out = Fragment { docstring: fragment.docstring.clone(), ..Fragment::default() };
    for it in &new.fragment.items {
        let name = name_of(it);
        let is_mine = mine(&Key::top(name));
        if it.kind == Kind::Class {
            let picked = |method: &str| mine(&Key::method(name, method)) != is_mine;
            let (rest, methods) = remove_methods(&it.text, &picked).map_err(wrong)?;
            match is_mine {
                true => out.items.push(trellis_python::Item { text: rest, ..it.clone() }),
                false => out.items.extend(methods),
            }
        } else if is_mine {
            out.items.push(it.clone());
        }
    }
    // Imports of other items in the same file do not matter: a fragment needs the imports that its
    // text uses.
    let used = trellis_python::identifiers(&out.to_source()).map_err(wrong)?;
    let is_used = |it: &&Import| it.bound().is_some_and(|name| used.contains(name));
    let had = |it: &&Import| fragment.imports.contains(it) || !old.fragment.imports.contains(it);
    let kept = new.fragment.imports.iter().filter(|it| is_used(it) || had(it)).cloned();
    let unseen = fragment.imports.iter().filter(|it| !old.fragment.imports.contains(it)).cloned();
    out.add_imports(unseen.chain(kept).collect::<Vec<_>>());
    Ok(out)
}
