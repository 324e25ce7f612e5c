//! The item's draft, and the conversion of replies into the plan's shape.

mod files;

use std::collections::{BTreeMap, BTreeSet};

use trellis_python::{Fragment, Import, ItemKind as Kind};

use crate::import_resolution;
use crate::item::{Item, ItemKind};
use crate::reply::{self, Edit, Reply};
use crate::vocabulary::Upstream;

pub(crate) use files::files;

/// Current tests and implementation of an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    pub tests: Option<Fragment>,
    pub implementation: Option<Fragment>,
    /// New texts of items that passed before, by id.
    pub amended: BTreeMap<String, Fragment>,
}

/// Returns a stub for the red run: the item's name, with a body that raises `NotImplementedError`.
/// Without the name a failing import would make every test red, whatever it asserts.
pub fn stub(item: &Item) -> Fragment {
    let name = &item.name;
    let (class, function) = match item.kind {
        ItemKind::Class => (format!("class {name}{}:\n    ", builtin_bases(item)), "__init__"),
        ItemKind::Function | ItemKind::Method => (String::new(), name.as_str()),
    };
    let indent = if class.is_empty() { "    " } else { "        " };
    let is_async = item.signature.as_ref().is_some_and(|it| it.header().starts_with("async "));
    let keyword = if is_async { "async def" } else { "def" };
    let source = format!(
        "{class}{keyword} {function}(*args, **kwargs):\n{indent}raise NotImplementedError\n"
    );
    // The plan's names are identifiers, so this parses. An empty fragment would be no stub, but
    // would do no harm.
    Fragment::parse(&source).unwrap_or_default()
}

/// Returns the planned bases of a class in parentheses if all of them are built in, as those of
/// exceptions: tests have to be able to expect these.
fn builtin_bases(item: &Item) -> String {
    let header = item.signature.as_ref().map(|it| it.header()).unwrap_or_default();
    let bases = header.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    let is_builtin = |it: &str| trellis_python::standard_library::is_builtin(it.trim());
    match bases.filter(|it| it.split(',').all(is_builtin)) {
        Some(bases) => format!("({bases})"),
        None => String::new(),
    }
}

/// Reasons why a reply is unusable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    /// No code in the reply: the request is repeated and counts as no attempt.
    #[error("the reply holds no Python code")]
    NoCode,
    /// A reply that is cut off or cannot be divided: as for [`DraftError::NoCode`].
    #[error("{0}")]
    Unusable(String),
    /// Wrong code: counts as a failed attempt.
    #[error("{0}")]
    Wrong(String),
}

pub(crate) fn wrong(why: impl ToString) -> DraftError {
    DraftError::Wrong(why.to_string())
}

/// A reply in the plan's shape, with notes on the changes made for that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NormalizedReply {
    pub fragment: Fragment,
    /// Number of test cases, parametrized ones counted one by one; 0 for implementations.
    pub cases: usize,
    /// New texts of other items, by id.
    pub amended: BTreeMap<String, Fragment>,
    pub notes: Vec<String>,
}

/// Parses an implementation from a reply.
pub(crate) fn implementation(item: &Item, text: &str) -> Result<NormalizedReply, DraftError> {
    let reply = reply::divide(text).map_err(DraftError::Unusable)?;
    let code = reply.code().ok_or(DraftError::NoCode)?;
    let fragment = Fragment::parse(code).map_err(|e| wrong(format!("syntax error: {e}")))?;
    shape(item, fragment, true)
}

/// Returns the implementation after a fix: definitions replaced by name, or edits applied (S9).
/// Changes to `upstream` items go to `amended`; a change of any other item is refused.
pub(crate) fn fix(
    item: &Item,
    draft: &Draft,
    upstream: &[Upstream],
    text: &str,
) -> Result<NormalizedReply, DraftError> {
    let before = draft.implementation.clone().unwrap_or_default();
    match reply::read(text).map_err(DraftError::Unusable)? {
        Reply::Nothing => Err(DraftError::NoCode),
        Reply::Edits(edits) => edited(item, before, upstream, &edits),
        Reply::Code(code) => {
            let code: Vec<&str> = code.iter().map(|it| it.text.as_str()).collect();
            let reply = Fragment::parse(&code.join("\n\n"))
                .map_err(|e| wrong(format!("syntax error: {e}")))?;
            defined(item, before, upstream, reply)
        }
    }
}

/// Applies each edit to the item's own text if it fits there, else to the text of the suspect in
/// the file that the edit names.
fn edited(
    item: &Item,
    before: Fragment,
    upstream: &[Upstream],
    edits: &[Edit],
) -> Result<NormalizedReply, DraftError> {
    let mut source = before.to_source();
    let mut others: BTreeMap<usize, String> = BTreeMap::new();
    for edit in edits {
        let own = is_file(&item.path, edit).then(|| fitted(edit, &source));
        if let Some(Ok(done)) = own {
            source = done;
            continue;
        }
        let candidates = (0..upstream.len()).filter(|at| is_file(&upstream[*at].item.path, edit));
        let mut texts = candidates.map(|at| {
            (
                at,
                others.get(&at).cloned().unwrap_or_else(|| upstream[at].implementation.to_source()),
            )
        });
        let fits = texts.find_map(|(at, text)| Some((at, fitted(edit, &text).ok()?)));
        match (fits, own) {
            (Some((at, text)), _) => drop(others.insert(at, text)),
            (None, Some(Err(e))) => {
                return Err(wrong(format!("the edit of {} was refused: {e}", item.path)));
            }
            (None, _) => return Err(refused(item, upstream, edit)),
        }
    }
    let parse = |source: &str| {
        Fragment::parse(source)
            .map_err(|e| wrong(format!("after the edit the file has a syntax error: {e}")))
    };
    let mut amended = BTreeMap::new();
    for (at, text) in others {
        let other = &upstream[at].item;
        amended.insert(other.id.clone(), shape(other, parse(&text)?, true)?.fragment);
    }
    Ok(NormalizedReply { amended, ..shape(item, parse(&source)?, true)? })
}

/// Applies an edit to a text. The edit may quote the text as written or as formatted in the files.
fn fitted(edit: &Edit, text: &str) -> Result<String, String> {
    edit.apply(text).or_else(|why| {
        let formatted = trellis_python::formatted(text).filter(|it| it != text);
        formatted.and_then(|it| edit.apply(&it).ok()).ok_or(why)
    })
}

/// Assigns each definition to the item of that name. A reply may hold a class only as the frame of
/// one of its methods, so other classes change by edits alone.
fn defined(
    item: &Item,
    before: Fragment,
    upstream: &[Upstream],
    mut reply: Fragment,
) -> Result<NormalizedReply, DraftError> {
    let mut amended = BTreeMap::new();
    let functions = |it: &&Upstream| it.item.kind != ItemKind::Class && it.item.id != item.id;
    for other in upstream.iter().filter(functions) {
        let Some(taken) = take(&other.item, item, &mut reply)? else { continue };
        let taken = shape(&other.item, taken, false)?;
        let fragment = replaced(other.implementation.clone(), taken.fragment);
        let fragment = shape(&other.item, fragment, true)?.fragment;
        if fragment != other.implementation {
            amended.insert(other.item.id.clone(), fragment);
        }
    }
    // The whole reply was for other items.
    if reply.items.is_empty() && !amended.is_empty() && !before.items.is_empty() {
        return Ok(NormalizedReply { amended, ..shape(item, before, true)? });
    }
    let reply = shape(item, reply, before.items.is_empty())?;
    if before.items.is_empty() {
        return Ok(NormalizedReply { amended, ..reply });
    }
    let fragment = replaced(before, reply.fragment);
    Ok(NormalizedReply { notes: reply.notes, amended, ..shape(item, fragment, true)? })
}

/// Takes the definition of `other` out of a reply, with the reply's imports; `None` if the reply
/// does not define `other`.
fn take(other: &Item, item: &Item, reply: &mut Fragment) -> Result<Option<Fragment>, DraftError> {
    let imports = reply.imports.clone();
    if let Some(class) = &other.class {
        let holds = |it: &trellis_python::Item| it.kind == Kind::Class && it.binds(class);
        let Some(at) = reply.items.iter().position(holds) else { return Ok(None) };
        let is_it = |name: &str| name == other.name;
        let (rest, methods) =
            trellis_python::remove_methods(&reply.items[at].text, &is_it).map_err(wrong)?;
        // The reply holds the class only as the frame of the method.
        match item.class.as_deref() == Some(class) || item.name == *class {
            true => reply.items[at].text = rest,
            false => drop(reply.items.remove(at)),
        }
        return Ok((!methods.is_empty()).then_some(Fragment {
            docstring: None,
            imports,
            items: methods,
        }));
    }
    let own = |it: &trellis_python::Item| it.binds(&other.name) && it.is_definition();
    let (taken, left): (Vec<_>, Vec<_>) =
        std::mem::take(&mut reply.items).into_iter().partition(own);
    reply.items = left;
    Ok((!taken.is_empty()).then_some(Fragment { docstring: None, imports, items: taken }))
}

fn is_file(path: &str, edit: &Edit) -> bool {
    let inner = path.strip_suffix(&edit.path);
    edit.path.is_empty() || inner.is_some_and(|it| it.is_empty() || it.ends_with('/'))
}

/// Returns the error for an edit that fits no text. While code is fixed, tests are read-only (T8),
/// and so are other nodes' files.
fn refused(item: &Item, upstream: &[Upstream], edit: &Edit) -> DraftError {
    if upstream.iter().any(|it| is_file(&it.item.path, edit)) {
        return refusal(item, &edit.path, "the search text is in none of the suspects");
    }
    foreign(item, &edit.path)
}

/// Returns the error for a change in a file that is read-only.
fn foreign(item: &Item, path: &str) -> DraftError {
    let is_test = path == item.test_path || path.starts_with("tests/");
    refusal(
        item,
        path,
        match is_test {
            true => "tests are read-only while the implementation is fixed",
            false => "it belongs to other nodes",
        },
    )
}

fn refusal(item: &Item, path: &str, why: &str) -> DraftError {
    wrong(format!("the edit of {path} was refused: {why}; change {}", item.path))
}

/// Replaces definitions by those of the same name in the reply. New definitions come first, like
/// helpers.
fn replaced(mut before: Fragment, reply: Fragment) -> Fragment {
    before.imports.retain(|old| !reply.imports.iter().any(|new| displaces(new, old)));
    before.add_imports(reply.imports);
    let mut helpers = Vec::new();
    let mut done: BTreeSet<String> = BTreeSet::new();
    for item in &reply.items {
        let Some(name) = item.names.first().filter(|name| !done.contains(*name)) else { continue };
        done.insert(name.clone());
        let same: Vec<trellis_python::Item> =
            reply.items.iter().filter(|it| it.binds(name)).cloned().collect();
        let known = before.items.iter().any(|it| it.binds(name));
        if !known {
            helpers.extend(same);
        } else if !before.replace_definition(name, same.clone()) {
            let at = before.items.iter().position(|it| it.binds(name)).unwrap_or(0);
            before.items.splice(at..=at, same);
        }
    }
    before.items.splice(0..0, helpers);
    before
}

/// Returns whether `new` binds a name that `old` binds to something else.
fn displaces(new: &Import, old: &Import) -> bool {
    let whole = |it: &Import| it.name.is_none() && it.alias.is_none();
    new != old && new.bound().is_some() && new.bound() == old.bound() && !(whole(new) && whole(old))
}

/// Refuses imports of pytest's internals: code that reaches into pytest controls its results. This
/// is an obstacle, not a protection, because tests and code share a process.
pub(crate) fn refuse_internals(fragment: &Fragment) -> Result<(), DraftError> {
    let imports = trellis_python::all_imports(&fragment.to_source()).unwrap_or_default();
    match imports.iter().find(|import| import.top_level() == "_pytest") {
        Some(import) => Err(wrong(format!("`{import}`: pytest's internals may not be used"))),
        None => Ok(()),
    }
}

/// Brings a fragment into the plan's shape: the item's definition under its name and signature,
/// methods out of their class, absolute imports, and imports of planned dependencies added.
fn shape(item: &Item, mut fragment: Fragment, whole: bool) -> Result<NormalizedReply, DraftError> {
    refuse_internals(&fragment)?;
    let mut notes = Vec::new();
    match item.kind {
        ItemKind::Method => unwrap_method(item, &mut fragment)?,
        ItemKind::Class => strip_planned_methods(item, &mut fragment, &mut notes)?,
        ItemKind::Function => {}
    }
    if whole || fragment.definition(&item.name).is_some() {
        name_definition(item, &mut fragment, &mut notes)?;
        enforce_signature(item, &mut fragment, &mut notes)?;
    }
    local_imports(item, &mut fragment, &mut notes);
    planned_imports(item, &mut fragment)?;
    Ok(NormalizedReply { fragment, cases: 0, amended: BTreeMap::new(), notes })
}

/// Takes a method out of its class: from `class Model: def fit(self): …`, the method `Model.fit`
/// and its private helpers remain. Planned methods of the class are dropped.
fn unwrap_method(item: &Item, fragment: &mut Fragment) -> Result<(), DraftError> {
    let Some(class) = &item.class else { return Ok(()) };
    let holds = |it: &trellis_python::Item| it.kind == Kind::Class && it.binds(class);
    let Some(at) = fragment.items.iter().position(holds) else { return Ok(()) };
    let other_item =
        |name: &str| item.planned_methods.iter().any(|it| it == name) && name != item.name;
    let (_, methods) =
        trellis_python::remove_methods(&fragment.items[at].text, &|name| !other_item(name))
            .map_err(wrong)?;
    fragment.items.splice(at..=at, methods);
    Ok(())
}

/// Removes methods that have a node of their own: that node writes them, tests first.
fn strip_planned_methods(
    item: &Item,
    fragment: &mut Fragment,
    notes: &mut Vec<String>,
) -> Result<(), DraftError> {
    let planned = |name: &str| item.planned_methods.iter().any(|it| it == name);
    for it in fragment.items.iter_mut().filter(|it| it.kind == Kind::Class && it.binds(&item.name))
    {
        let (rest, out) = trellis_python::remove_methods(&it.text, &planned).map_err(wrong)?;
        if !out.is_empty() {
            it.text = rest;
            let names: Vec<&str> =
                out.iter().filter_map(|it| it.names.first()).map(String::as_str).collect();
            notes.push(format!("left to their own nodes: {}", names.join(", ")));
        }
    }
    Ok(())
}

/// Renames a single definition with a wrong name to the planned one.
fn name_definition(
    item: &Item,
    fragment: &mut Fragment,
    notes: &mut Vec<String>,
) -> Result<(), DraftError> {
    if fragment.definition(&item.name).is_some() {
        return Ok(());
    }
    let definitions: Vec<usize> =
        (0..fragment.items.len()).filter(|at| fragment.items[*at].is_definition()).collect();
    let [only] = definitions.as_slice() else {
        return Err(wrong(format!("the reply does not define `{}`", item.qualified_name())));
    };
    let it = &mut fragment.items[*only];
    let old = it.names.first().cloned().unwrap_or_default();
    it.text = trellis_python::rename(&it.text, &old, &item.name).map_err(wrong)?;
    it.names = vec![item.name.clone()];
    notes.push(format!("`{old}` renamed to `{}` as planned", item.name));
    Ok(())
}

fn enforce_signature(
    item: &Item,
    fragment: &mut Fragment,
    notes: &mut Vec<String>,
) -> Result<(), DraftError> {
    let Some(signature) = item.signature.as_ref().filter(|it| it.name() == item.name) else {
        return Ok(());
    };
    let is_it = |it: &&mut trellis_python::Item| it.kind == Kind::Function && it.binds(&item.name);
    let mut changed = false;
    // Overloads and property setters share the name; only a single definition can be checked
    // against the signature.
    if fragment.items.iter().filter(|it| it.kind == Kind::Function && it.binds(&item.name)).count()
        != 1
    {
        return Ok(());
    }
    for it in fragment.items.iter_mut().filter(is_it) {
        if let Some(text) = trellis_python::enforce(&it.text, signature).map_err(wrong)? {
            it.text = text;
            changed = true;
        }
        if item.is_static()
            && let Some(text) = trellis_python::as_static(&it.text).map_err(wrong)?
        {
            it.text = text;
            notes.push(format!("`{}` made a static method as planned", item.qualified_name()));
        }
    }
    if changed {
        notes.push(format!("signature set to the planned `{}`", signature.header()));
        let free = trellis_python::unresolved(&format!("{}: pass\n", signature.header()))
            .map_err(wrong)?;
        let missing = trellis_python::unresolved(&fragment.to_source()).map_err(wrong)?;
        let imports: Vec<Import> = (free.intersection(&missing))
            .filter_map(|name| import_resolution::origin(item, fragment, name))
            .collect();
        fragment.add_imports(imports);
    }
    Ok(())
}

/// Makes relative imports absolute, drops imports of the module itself, and corrects the module of
/// a dependency that was imported from a module without it.
fn local_imports(item: &Item, fragment: &mut Fragment, notes: &mut Vec<String>) {
    let package = match item.path.ends_with("__init__.py") {
        true => item.module.as_str(),
        false => item.module.rsplit_once('.').map_or("", |(package, _)| package),
    };
    let imports = std::mem::take(&mut fragment.imports);
    for import in imports {
        let import = import.absolute(package).unwrap_or(import);
        if import.name.is_some() && import.module == item.module {
            continue;
        }
        let elsewhere = item.dependencies.iter().find(|dependency| {
            import.name.as_deref() == Some(&dependency.import_name)
                && import.module != dependency.module
                && !trellis_python::standard_library::is_stdlib(import.top_level())
                && !import_resolution::is_available(item, import.top_level())
                && !item.dependencies.iter().any(|other| other.module == import.module)
        });
        match elsewhere {
            Some(dependency) => {
                notes.push(format!("`{}` is in `{}`", dependency.import_name, dependency.module));
                if dependency.module != item.module {
                    let right = Import::from(&dependency.module, &dependency.import_name);
                    fragment.add_imports([Import { alias: import.alias, ..right }]);
                }
            }
            None => fragment.add_imports([import]),
        }
    }
}

/// Adds imports of dependencies in other files that the code uses; they follow from the graph (A2).
fn planned_imports(item: &Item, fragment: &mut Fragment) -> Result<(), DraftError> {
    let free = trellis_python::unresolved(&fragment.to_source()).map_err(wrong)?;
    let needed = item.dependencies.iter().filter(|dependency| {
        dependency.module != item.module && free.contains(&dependency.import_name)
    });
    let imports: Vec<Import> = needed.map(|it| Import::from(&it.module, &it.import_name)).collect();
    fragment.add_imports(imports);
    Ok(())
}
