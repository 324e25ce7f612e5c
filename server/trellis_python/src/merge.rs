//! Merges the contributions of several nodes into one file: imports merged, no name defined twice,
//! methods inside their classes, and the same text for the same parts in the same order.

use std::collections::{HashMap, HashSet};

use crate::append_to_user_file::add_to;
use crate::class_body::{insert_method, remove_methods};
use crate::fragment::{Fragment, Item, ItemKind, render_items};
use crate::imports::{Import, ImportGroups, render_imports};
use crate::rename::rename;
use crate::scope::identifiers;
use crate::syntax::SyntaxError;

/// One node's contribution to a file.
pub struct FilePart<'a> {
    pub fragment: &'a Fragment,
    /// The name that the part exists to define; it is never renamed. For a method, the name inside
    /// the class.
    pub defines: Option<&'a str>,
    /// The class that receives the part's `defines` as a method.
    pub class: Option<&'a str>,
    /// Suffix for names of this part that clash with names of an earlier part.
    pub suffix: &'a str,
}

/// Result of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    pub text: String,
    /// For each part, its renamed names: from old to new.
    pub renamed: Vec<HashMap<String, String>>,
}

/// Merges parts, in order, into a module.
///
/// An item equal to an earlier one is kept once. A helper is renamed to `name_suffix` inside its
/// part if an earlier part uses its name for something else, or if the plan `reserves` the name for
/// another node. A helper that copies an existing definition with a reserved name is dropped.
/// `keep_unused` keeps imports without references (in test files they may be fixtures). `opening`
/// is a person's text at the start of the file; it is changed only where parts add methods to its
/// classes.
pub fn merge(
    opening: Option<&str>,
    parts: &[FilePart<'_>],
    reserved: &HashSet<&str>,
    groups: &ImportGroups<'_>,
    keep_unused: bool,
) -> Result<Merged, SyntaxError> {
    let base = opening.map(Fragment::parse).transpose()?.unwrap_or_default();
    let (imports, items) = (base.imports.clone(), base.items.clone());
    let mut file = File { imports, items, reserved };
    let mut renamed = Vec::new();
    for part in parts {
        renamed.push(file.add(part)?);
    }
    let text = match opening {
        Some(text) => {
            let imports: Vec<Import> = file
                .needed_imports(keep_unused)?
                .into_iter()
                .filter(|it| !base.imports.contains(it))
                .collect();
            add_to(text, &base, &file.items, &imports, groups)?
        }
        None => {
            let docstring = parts.iter().find_map(|part| part.fragment.docstring.as_deref());
            file.render(docstring, groups, keep_unused)?
        }
    };
    Ok(Merged { text, renamed })
}

struct File<'a> {
    imports: Vec<Import>,
    items: Vec<Item>,
    reserved: &'a HashSet<&'a str>,
}

impl File<'_> {
    fn add(&mut self, part: &FilePart<'_>) -> Result<HashMap<String, String>, SyntaxError> {
        let own = if part.class.is_some() { None } else { part.defines };
        let mut fragment = part.fragment.clone();
        let (mut methods, items) = (fragment.items.into_iter()).partition::<Vec<Item>, _>(|item| {
            part.class.is_some() && is_method(item, part.defines)
        });
        fragment.items = items;
        self.drop_reserved(&mut fragment, own);
        let conflicts = self.drop_copies(&mut fragment, own, part.suffix)?;
        for (from, to) in &conflicts {
            fragment = renamed_fragment(&fragment, from, to)?;
            for method in methods.iter_mut().filter(|method| !method.binds(from)) {
                method.text = rename(&method.text, from, to)?;
            }
        }
        for import in fragment.imports {
            let there = self.imports.iter().any(|it| *it == import || same_type(it, &import));
            if !there {
                self.imports.push(import);
            }
        }
        fragment.items.into_iter().for_each(|item| self.add_item(item, part.class));
        if let Some(class) = part.class {
            self.remove_own_method(class, part.defines)?;
            for method in methods {
                self.add_method(class, part.defines, &method)?;
            }
        }
        Ok(conflicts.into_iter().collect())
    }

    /// Drops definitions that the file already has under a name that the plan reserves for another
    /// node (T3).
    fn drop_reserved(&self, fragment: &mut Fragment, own: Option<&str>) {
        let planned = |name: &String| {
            Some(name.as_str()) != own
                && self.reserved.contains(name.as_str())
                && self.defines(name)
        };
        fragment.items.retain(|item| !(item.is_definition() && item.names.iter().any(planned)));
    }

    /// Drops items that the file already has, word for word, and returns the renames that the rest
    /// needs. An equal item is not a copy if it uses a name that has another meaning in this part.
    fn drop_copies(
        &self,
        fragment: &mut Fragment,
        own: Option<&str>,
        suffix: &str,
    ) -> Result<Vec<(String, String)>, SyntaxError> {
        let (mut copies, mut rest): (Vec<Item>, Vec<Item>) =
            fragment.items.iter().cloned().partition(|item| self.items.contains(item));
        loop {
            let conflicts = self.conflicts(fragment, &rest, own, suffix);
            let mut other = Vec::new();
            for item in &copies {
                let words = identifiers(&item.text)?;
                if conflicts.iter().any(|(from, _)| words.contains(from)) {
                    other.push(item.clone());
                }
            }
            if other.is_empty() {
                fragment.items.retain(|item| rest.contains(item));
                return Ok(conflicts);
            }
            copies.retain(|item| !other.contains(item));
            rest.extend(other);
        }
    }

    fn defines(&self, name: &str) -> bool {
        self.items.iter().any(|item| item.binds(name))
    }

    /// Returns the renames needed by the imports of a part and by those of its `items` that stay.
    fn conflicts(
        &self,
        fragment: &Fragment,
        items: &[Item],
        own: Option<&str>,
        suffix: &str,
    ) -> Vec<(String, String)> {
        let imported = |name: &str| self.imports.iter().find(|import| import.bound() == Some(name));
        let mut out: Vec<(String, String)> = Vec::new();
        let mut rename = |name: &str, taken: bool| {
            if taken && Some(name) != own && !out.iter().any(|(from, _)| from == name) {
                out.push((name.to_owned(), self.free_name(name, suffix, fragment)));
            }
        };
        for name in items.iter().flat_map(|item| &item.names) {
            let dunder = name.starts_with("__") && name.ends_with("__");
            let reserved = self.reserved.contains(name.as_str());
            rename(name, !dunder && (self.defines(name) || imported(name).is_some() || reserved));
        }
        for import in &fragment.imports {
            let Some(name) = import.bound().filter(|_| !self.imports.contains(import)) else {
                continue;
            };
            // `import a.b` and `import a.c` both bind `a` to the same package.
            let whole = |it: &Import| it.name.is_none() && it.alias.is_none();
            let same = |there: &Import| (whole(there) && whole(import)) || same_type(there, import);
            let other = imported(name).is_some_and(|there| !same(there));
            rename(name, other || self.defines(name));
        }
        out
    }

    fn free_name(&self, name: &str, suffix: &str, fragment: &Fragment) -> String {
        let taken = |candidate: &str| {
            self.defines(candidate)
                || self.imports.iter().any(|import| import.bound() == Some(candidate))
                || fragment.items.iter().any(|item| item.binds(candidate))
        };
        let first = format!("{name}_{suffix}");
        let numbered = (2..).map(|n| format!("{first}_{n}"));
        std::iter::once(first.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(first)
    }

    /// Removes the class's earlier method of the same name: a class defines a method only once.
    fn remove_own_method(&mut self, class: &str, own: Option<&str>) -> Result<(), SyntaxError> {
        let holds = |item: &&mut Item| item.kind == ItemKind::Class && item.binds(class);
        if let Some(item) = self.items.iter_mut().rfind(holds) {
            item.text = remove_methods(&item.text, &|name| Some(name) == own)?.0;
        }
        Ok(())
    }

    /// Adds a method to its class. The part's own method is always added (a property comes with its
    /// setter), a helper method only if the class has none of that name.
    fn add_method(
        &mut self,
        class: &str,
        own: Option<&str>,
        method: &Item,
    ) -> Result<(), SyntaxError> {
        let holds = |item: &&mut Item| item.kind == ItemKind::Class && item.binds(class);
        match self.items.iter_mut().rfind(holds) {
            Some(item) => {
                let is_own = own.is_some_and(|own| method.binds(own));
                let same = |name: &str| method.binds(name);
                if is_own || remove_methods(&item.text, &same)?.1.is_empty() {
                    item.text = insert_method(&item.text, &method.text)?;
                }
            }
            None => {
                let text = insert_method(&format!("class {class}:\n    pass"), &method.text)?;
                let names = vec![class.to_owned()];
                self.items.push(Item { kind: ItemKind::Class, names, text });
            }
        }
        Ok(())
    }

    /// Adds an item. Items that a method needs at module level go above its class, because
    /// decorators and defaults may use them.
    fn add_item(&mut self, item: Item, before_class: Option<&str>) {
        let class = before_class.and_then(|class| {
            self.items.iter().position(|there| there.kind == ItemKind::Class && there.binds(class))
        });
        self.items.insert(class.unwrap_or(self.items.len()), item);
    }

    /// Returns the imports that the file refers to.
    fn needed_imports(&self, keep_unused: bool) -> Result<Vec<Import>, SyntaxError> {
        let mut body = String::new();
        render_items(&mut body, &self.items);
        let used = identifiers(&body)?;
        let needed = |import: &&Import| {
            keep_unused
                || import.module == "__future__"
                || import.bound().is_none_or(|name| used.contains(name))
        };
        Ok(self.imports.iter().filter(needed).cloned().collect())
    }

    fn render(
        self,
        docstring: Option<&str>,
        groups: &ImportGroups<'_>,
        keep_unused: bool,
    ) -> Result<String, SyntaxError> {
        let mut body = String::new();
        render_items(&mut body, &self.items);
        let header = render_imports(&self.needed_imports(keep_unused)?, groups);
        let mut out = docstring.map(|text| format!("{text}\n")).unwrap_or_default();
        if !header.is_empty() {
            out.push_str(if out.is_empty() { "" } else { "\n" });
            out.push_str(&header);
        }
        let plain_first = self.items.first().is_some_and(|item| !item.is_definition());
        if !out.is_empty() && !body.is_empty() {
            out.push_str(if plain_first { "\n" } else { "\n\n" });
        }
        out.push_str(&body);
        Ok(out)
    }
}

/// Returns whether two imports mean the same type: `typing.Sequence` is the older name of
/// `collections.abc.Sequence`.
fn same_type(a: &Import, b: &Import) -> bool {
    let origin = |it: &Import| matches!(it.module.as_str(), "typing" | "collections.abc");
    a.name.is_some() && (&a.name, &a.alias) == (&b.name, &b.alias) && origin(a) && origin(b)
}

/// Returns whether an item is the named method, or a function that takes `self` or `cls` and so can
/// only be a method.
fn is_method(item: &Item, name: Option<&str>) -> bool {
    let takes_self = || {
        let parameters = item.text.split_once("def ").and_then(|(_, rest)| rest.split_once('('));
        parameters.is_some_and(|(_, rest)| {
            let rest = rest.trim_start();
            ["self", "cls"].iter().any(|first| {
                rest.strip_prefix(first).is_some_and(|after| !after.starts_with(is_word))
            })
        })
    };
    item.kind == ItemKind::Function && (name.is_some_and(|name| item.binds(name)) || takes_self())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn renamed_fragment(fragment: &Fragment, from: &str, to: &str) -> Result<Fragment, SyntaxError> {
    let mut out = fragment.clone();
    for import in &mut out.imports {
        if import.bound() == Some(from) {
            import.alias = Some(to.to_owned());
        }
    }
    // Item by item, so that comments and spacing stay with their item. A fixture is recognized by
    // its decorator, which only its own item contains.
    let fixture = out.items.iter().any(|item| item.binds(from) && item.text.contains("fixture"));
    for item in &mut out.items {
        item.text = if fixture {
            crate::rename::rename_local(&item.text, from, to)?
        } else {
            rename(&item.text, from, to)?
        };
        item.names.iter_mut().filter(|name| *name == from).for_each(|name| *name = to.to_owned());
    }
    Ok(out)
}
