//! Insertion of new tests into a file that may hold other text: text written by people stays byte
//! for byte, tests generated earlier for the same function are replaced.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use trellis_python::{
    FilePart, Fragment, Functions, ImportGroups, Item, NamePath, SymbolSelector, SyntaxError,
};

/// Tests generated earlier for the function.
#[derive(Clone, Copy)]
pub struct PreviousTests<'a> {
    /// Hashes of the definitions' texts, by name.
    pub items: &'a BTreeMap<String, String>,
    /// The hash function.
    pub hash: &'a dyn Fn(&str) -> String,
    /// True if definitions edited by a person are replaced as well.
    pub replace_edited: bool,
}

/// The file with the new tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedTestFile {
    pub text: String,
    /// Names of the function's tests: `test_a`, `TestCart::test_b`.
    pub test_names: Vec<String>,
    /// Definitions generated for the function, with the hashes of their texts when generated.
    pub items: BTreeMap<String, String>,
    /// Earlier definitions that a person has edited, and that stay unchanged.
    pub kept: Vec<String>,
}

/// Inserts `new` into `existing`. `suffix` makes names unique; `is_local` identifies the project's
/// own packages.
pub fn insert_tests(
    existing: &str,
    new: &Fragment,
    earlier: PreviousTests<'_>,
    suffix: &str,
    is_local: &dyn Fn(&str) -> bool,
) -> Result<MergedTestFile, SyntaxError> {
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
    // Edited definitions keep the hash of their generated text, so that the edit is recognized
    // again.
    let known =
        kept.iter().filter_map(|name| Some((name.clone(), earlier.items.get(name)?.clone())));
    let items: BTreeMap<String, String> = items.chain(known).collect();
    let shown = names.iter().chain(&kept).map(String::as_str).collect();
    let test_names = test_names(&text, &shown)?;
    // Restores the file's own line breaks.
    let text = if has_crlf { text.replace('\n', "\r\n") } else { text };
    Ok(MergedTestFile { text, test_names, items, kept })
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
    let part = FilePart { fragment: new, defines: None, class: None, suffix };
    let opening = Some(rest).filter(|it| !it.trim().is_empty());
    let groups = ImportGroups { local: is_local };
    let mut merged = trellis_python::merge(opening, &[part], &HashSet::new(), &groups, true)?;
    Ok((merged.text, merged.renamed.pop().unwrap_or_default()))
}

/// Returns the text without tests generated earlier, and the names of definitions that a person has
/// edited since.
fn without_earlier(
    text: &str,
    earlier: PreviousTests<'_>,
) -> Result<(String, Vec<String>), SyntaxError> {
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
            // A name that is defined several times has been edited.
            None if !base.items.iter().any(|it| it.binds(name)) => {}
            _ => kept.push(name.clone()),
        }
    }
    let tests: BTreeSet<String> =
        trellis_python::tests(text)?.into_iter().map(|it| it.name).collect();
    keep_helpers(&base, &tests, &mut gone)?;
    let mut text = text.to_owned();
    for name in gone {
        let path = NamePath::parse(&format!("/{name}")).ok();
        // A definition that cannot be removed alone stays; the new one gets another name.
        if let Some(edits) = path
            .and_then(|it| trellis_python::delete_symbol(&text, SymbolSelector::Named(&it)).ok())
        {
            text = edits.apply(&text);
        }
    }
    Ok((text, kept))
}

/// Keeps helpers that other definitions use.
fn keep_helpers(
    base: &Fragment,
    tests: &BTreeSet<String>,
    gone: &mut BTreeSet<&String>,
) -> Result<(), SyntaxError> {
    loop {
        let mut used = HashSet::new();
        for item in base.items.iter().filter(|it| !it.names.iter().any(|name| gone.contains(name)))
        {
            used.extend(trellis_python::identifiers(&item.text)?);
        }
        let before = gone.len();
        gone.retain(|name| tests.contains(*name) || !used.contains(*name));
        if gone.len() == before {
            return Ok(());
        }
    }
}

/// Returns the tests among the given definitions of a file, and inside of them.
fn test_names(text: &str, names: &BTreeSet<&str>) -> Result<Vec<String>, SyntaxError> {
    let tests: BTreeSet<String> =
        trellis_python::tests(text)?.into_iter().map(|it| it.name).collect();
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
