//! Assembly of source and test files from the contributions of nodes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use trellis_python::{FilePart, Fragment, ImportGroups, SyntaxError, merge};

use crate::assembly::layout::Layout;
use crate::assembly::packages::init_files;
use crate::draft::Draft;
use crate::item::{Item, ItemKind};

/// One node's contribution: accepted text, or a draft being tried.
#[derive(Clone, Copy)]
pub struct Contribution<'a> {
    pub item: &'a Item,
    pub draft: &'a Draft,
}

/// Files of a view of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Texts by path relative to the repository.
    pub files: BTreeMap<String, String>,
    /// Pytest ids of the tests (functions and classes), by item id.
    pub tests: HashMap<String, Vec<String>>,
}

/// Assembles contributions, given in the plan's order, into source files, test files and packages.
///
/// `kept` holds files that a person edited: each text comes first in its file, followed by the
/// contributions given here. All other files are formatted as by black.
pub fn sources(
    layout: &Layout,
    shares: &[Contribution<'_>],
    kept: &BTreeMap<String, String>,
) -> Result<Sources, SyntaxError> {
    let mut out = Sources::default();
    let mut by_path: BTreeMap<&str, Vec<Contribution<'_>>> = BTreeMap::new();
    let mut by_test: BTreeMap<&str, Vec<Contribution<'_>>> = BTreeMap::new();
    for share in shares {
        if share.draft.implementation.is_some() {
            by_path.entry(&share.item.path).or_default().push(*share);
        }
        if share.draft.tests.is_some() {
            by_test.entry(&share.item.test_path).or_default().push(*share);
        }
    }
    for (path, shares) in by_path {
        let text = module_text(layout, &shares, kept.get(path))?;
        out.files.insert(path.to_owned(), text);
    }
    for (path, shares) in by_test {
        let (text, tests) = test_text(layout, path, &shares, kept.get(path))?;
        out.files.insert(path.to_owned(), text);
        out.tests.extend(tests);
    }
    let is_new = |path: &String| !kept.contains_key(path);
    for (_, text) in out.files.iter_mut().filter(|(path, _)| is_new(path)) {
        *text = trellis_python::formatted(text).unwrap_or_else(|| text.clone());
    }
    for (path, text) in kept {
        out.files.entry(path.clone()).or_insert_with(|| text.clone());
    }
    for (path, text) in init_files(layout, &out.files) {
        out.files.entry(path).or_insert(text);
    }
    Ok(out)
}

fn groups<'a>(is_local: &'a dyn Fn(&str) -> bool) -> ImportGroups<'a> {
    ImportGroups { local: is_local }
}

fn module_text(
    layout: &Layout,
    shares: &[Contribution<'_>],
    kept: Option<&String>,
) -> Result<String, SyntaxError> {
    let reserved: HashSet<&str> = (shares.iter())
        .filter(|share| share.item.kind != ItemKind::Method)
        .map(|share| share.item.name.as_str())
        .collect();
    let parts: Vec<Fragment> =
        shares.iter().map(|it| it.draft.implementation.clone().unwrap_or_default()).collect();
    merged(layout, shares, kept, &parts, &reserved, false).map(|(text, _)| text)
}

/// The file's text, and the renamed names of each contribution.
type MergedFile = (String, Vec<HashMap<String, String>>);

fn merged(
    layout: &Layout,
    shares: &[Contribution<'_>],
    kept: Option<&String>,
    fragments: &[Fragment],
    reserved: &HashSet<&str>,
    keep_unused: bool,
) -> Result<MergedFile, SyntaxError> {
    let suffixes: Vec<String> = shares.iter().map(|share| share.item.suffix()).collect();
    let implementation = !keep_unused;
    let parts: Vec<FilePart<'_>> = (shares.iter().zip(fragments.iter().zip(&suffixes)))
        .map(|(share, (fragment, suffix))| FilePart {
            fragment,
            defines: implementation.then_some(share.item.name.as_str()),
            class: share.item.class.as_deref().filter(|_| implementation),
            suffix,
        })
        .collect();
    let is_local = |name: &str| layout.is_local(name);
    let opening = kept.map(String::as_str);
    let file = merge(opening, &parts, reserved, &groups(&is_local), keep_unused)?;
    Ok((file.text, file.renamed))
}

type TestIds = Vec<(String, Vec<String>)>;

fn test_text(
    layout: &Layout,
    path: &str,
    shares: &[Contribution<'_>],
    kept: Option<&String>,
) -> Result<(String, TestIds), SyntaxError> {
    let parts = grouped(shares)?;
    let (text, renamed) = merged(layout, shares, kept, &parts, &HashSet::new(), true)?;
    let mut ids = TestIds::new();
    for ((share, part), renamed) in shares.iter().zip(&parts).zip(renamed) {
        let tests = trellis_python::tests(&part.to_source())?.into_iter().map(|it| it.name);
        let names = tests.map(|name| renamed.get(&name).cloned().unwrap_or(name));
        ids.push((share.item.id.clone(), names.map(|name| format!("{path}::{name}")).collect()));
    }
    Ok((text, ids))
}

/// Groups the tests of a shared file into one class per item. Fixtures stay at module level, unless
/// another item uses the name of one for something else.
fn grouped(shares: &[Contribution<'_>]) -> Result<Vec<Fragment>, SyntaxError> {
    let tests: Vec<Fragment> =
        shares.iter().map(|it| it.draft.tests.clone().unwrap_or_default()).collect();
    let mut out = Vec::new();
    for (place, (share, own)) in shares.iter().zip(&tests).enumerate() {
        let others = tests.iter().enumerate().filter(|it| it.0 != place).map(|it| it.1);
        let class = share.item.test_class();
        let grouped = match share.item.shares_tests {
            true => trellis_python::in_test_class(own, &class, clash(own, others))?,
            false => None,
        };
        out.push(grouped.unwrap_or_else(|| own.clone()));
    }
    Ok(out)
}

/// Returns whether other tests define something else under the name of a fixture.
fn clash<'f>(own: &Fragment, mut others: impl Iterator<Item = &'f Fragment>) -> bool {
    let fixtures: Vec<&trellis_python::Item> =
        own.items.iter().filter(|item| trellis_python::is_fixture(item)).collect();
    let is_taken = |there: &trellis_python::Item| {
        fixtures.iter().any(|it| it.text != there.text && it.names.iter().any(|n| there.binds(n)))
    };
    !fixtures.is_empty() && others.any(|other| other.items.iter().any(is_taken))
}

/// Renders `pytest.ini`, so that plain `pytest` finds the tests and the sources without an
/// installation.
pub fn pytest_ini(layout: &Layout) -> String {
    let sources: Vec<&str> =
        layout.top_packages().into_iter().chain(layout.loose_modules()).collect();
    let measured: String = sources.iter().map(|it| format!("    {it}\n")).collect();
    format!(
        "[pytest]\ntestpaths = tests\npythonpath = {}\n\n# `coverage run --rcfile=pytest.ini -m pytest && coverage report --rcfile=pytest.ini`\n[coverage:run]\nbranch = true\nsource =\n{measured}\n[coverage:report]\nshow_missing = true\nskip_empty = true\n",
        layout.roots().join(" ")
    )
}

/// Returns the third-party packages (top-level import names) that source files import.
pub fn third_party(layout: &Layout, files: &BTreeMap<String, String>) -> BTreeSet<String> {
    let sources =
        files.iter().filter(|(path, _)| path.ends_with(".py") && !path.starts_with("tests/"));
    let imports =
        sources.flat_map(|(_, text)| trellis_python::all_imports(text).unwrap_or_default());
    imports
        .filter(|import| import.level == 0)
        .map(|import| import.top_level().to_owned())
        .filter(|name| !layout.is_local(name) && !trellis_python::standard_library::is_stdlib(name))
        .collect()
}
