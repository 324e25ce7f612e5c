//! New tests in a file that may hold others and what people wrote: theirs stays byte for byte, what was generated for
//! the same function before gives way.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use code::{Fragment, Functions, ImportGroups, Item, NamePath, Part, SyntaxError, Which};

/// What was generated for the function before.
#[derive(Clone, Copy)]
pub struct Earlier<'a> {
    /// Definitions by name, each with the hash of its text.
    pub items: &'a BTreeMap<String, String>,
    /// What hashed them.
    pub hash: &'a dyn Fn(&str) -> String,
    /// Those that a person has changed give way too.
    pub replace_edited: bool,
}

/// The file with the new tests in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    pub text: String,
    /// The function's tests: `test_a`, `TestCart::test_b`.
    pub test_names: Vec<String>,
    /// Definitions generated for the function, with the hashes of their texts as they were then.
    pub items: BTreeMap<String, String>,
    /// Earlier ones that a person has changed, and that stay as they are.
    pub kept: Vec<String>,
}

/// Puts `new` into `existing`. `suffix` distinguishes names that are taken; `is_local` knows the project's own packages.
pub fn place(
    existing: &str,
    new: &Fragment,
    earlier: Earlier<'_>,
    suffix: &str,
    is_local: &dyn Fn(&str) -> bool,
) -> Result<Placed, SyntaxError> {
    let has_crlf = existing.contains("\r\n");
    let plain = existing.replace("\r\n", "\n");
    let (rest, kept) = without_earlier(&plain, earlier)?;
    let mut new = new.clone();
    new.items.retain(|item| !item.names.iter().any(|name| kept.contains(name)));
    let before = Fragment::parse(&rest)?.items;
    let (text, renamed) = merged(&rest, &new, suffix, is_local)?;
    let final_name = |name: &String| renamed.get(name).cloned().unwrap_or_else(|| name.clone());
    let names = new.items.iter().flat_map(|item| &item.names).map(final_name);
    let names: BTreeSet<String> = names.collect();
    let after = Fragment::parse(&text)?;
    let is_ours =
        |item: &&Item| item.names.iter().any(|name| names.contains(name)) && !before.contains(item);
    let ours = after.items.iter().filter(is_ours);
    let items = ours
        .flat_map(|item| item.names.iter().map(|name| (name.clone(), (earlier.hash)(&item.text))));
    // What was edited stays known by the text it was generated with: so it is still seen to be edited.
    let known =
        kept.iter().filter_map(|name| Some((name.clone(), earlier.items.get(name)?.clone())));
    let items: BTreeMap<String, String> = items.chain(known).collect();
    let shown = names.iter().chain(&kept).map(String::as_str).collect();
    let test_names = test_names(&text, &shown)?;
    // The file's own line breaks.
    let text = if has_crlf { text.replace('\n', "\r\n") } else { text };
    Ok(Placed { text, test_names, items, kept })
}

fn merged(
    rest: &str,
    new: &Fragment,
    suffix: &str,
    is_local: &dyn Fn(&str) -> bool,
) -> Result<(String, HashMap<String, String>), SyntaxError> {
    let has_tests = !new.items.is_empty();
    if !has_tests {
        return Ok((rest.to_owned(), HashMap::new()));
    }
    let part = Part { fragment: new, defines: None, class: None, suffix };
    let opening = Some(rest).filter(|it| !it.trim().is_empty());
    let groups = ImportGroups { local: is_local };
    let mut merged = code::merge(opening, &[part], &HashSet::new(), &groups, true)?;
    Ok((merged.text, merged.renamed.pop().unwrap_or_default()))
}

/// The text without what was generated before, and the names of what a person has changed since.
fn without_earlier(text: &str, earlier: Earlier<'_>) -> Result<(String, Vec<String>), SyntaxError> {
    let base = Fragment::parse(text)?;
    let alone = |name: &String| {
        let mut all = base.items.iter().filter(|it| it.binds(name));
        all.next().filter(|it| all.next().is_none() && it.names.len() == 1)
    };
    let (mut gone, mut kept): (BTreeSet<&String>, Vec<String>) = Default::default();
    for (name, hash) in earlier.items {
        match alone(name) {
            Some(it) if earlier.replace_edited || (earlier.hash)(&it.text) == *hash => {
                gone.insert(name);
            }
            // Defined several times over: not as it was generated.
            None if !base.items.iter().any(|it| it.binds(name)) => {}
            _ => kept.push(name.clone()),
        }
    }
    let tests: BTreeSet<String> = code::tests(text)?.into_iter().map(|it| it.name).collect();
    keep_helpers(&base, &tests, &mut gone)?;
    let mut text = text.to_owned();
    for name in gone {
        let path = NamePath::parse(&format!("/{name}")).ok();
        // What cannot be taken out alone stays; the new one gets another name.
        if let Some(edits) = path.and_then(|it| code::delete_symbol(&text, Which::Named(&it)).ok())
        {
            text = edits.apply(&text);
        }
    }
    Ok((text, kept))
}

/// Helpers that others have come to use stay.
fn keep_helpers(
    base: &Fragment,
    tests: &BTreeSet<String>,
    gone: &mut BTreeSet<&String>,
) -> Result<(), SyntaxError> {
    loop {
        let mut used = HashSet::new();
        for item in base.items.iter().filter(|it| !it.names.iter().any(|name| gone.contains(name)))
        {
            used.extend(code::identifiers(&item.text)?);
        }
        let before = gone.len();
        gone.retain(|name| tests.contains(*name) || !used.contains(*name));
        if gone.len() == before {
            return Ok(());
        }
    }
}

/// The tests among these definitions of a file, and in them.
fn test_names(text: &str, names: &BTreeSet<&str>) -> Result<Vec<String>, SyntaxError> {
    let tests: BTreeSet<String> = code::tests(text)?.into_iter().map(|it| it.name).collect();
    let mut out: Vec<String> = Vec::new();
    for function in Functions::of(text).functions.iter().filter(|it| !it.is_nested) {
        let (definition, shown) = match &function.class {
            Some(class) => (class.as_str(), format!("{class}::{}", function.name)),
            None => (function.name.as_str(), function.name.clone()),
        };
        let is_test = tests.contains(definition) && function.name.starts_with("test");
        if is_test && names.contains(definition) && !out.contains(&shown) {
            out.push(shown);
        }
    }
    Ok(out)
}
