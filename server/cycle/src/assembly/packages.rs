//! `__init__.py` for every package: what its modules define, under one roof (A1).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use code::Fragment;

use crate::assembly::imports::imports;
use crate::assembly::layout::{Layout, module_path};

/// The `__init__.py` files of all packages that hold one of `files`.
///
/// A package re-exports the public functions and classes of its modules, unless packages import each
/// other in a circle: then an eager import could meet a half-loaded module, and `__all__` only lists
/// the modules. A name that two modules define, or that is a module's own, is not re-exported.
pub(crate) fn init_files(
    layout: &Layout,
    files: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let circular = circular_packages(layout, files);
    let mut out = BTreeMap::new();
    for (package, modules) in layout.packages() {
        let inside = format!("{package}/");
        if !files.keys().any(|path| path.starts_with(&inside)) {
            continue;
        }
        let text = match circular.contains(package) {
            true => String::new(),
            false => exports(modules.iter().filter_map(|path| Some((path, files.get(path)?)))),
        };
        let text = if text.is_empty() { contents(layout, package, files) } else { text };
        out.insert(format!("{package}/__init__.py"), text);
    }
    out
}

fn exports<'a>(modules: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    let mut names: Vec<(String, String)> = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for (path, text) in modules {
        let module = module_path(path);
        let own = module.rsplit('.').next().unwrap_or_default().to_owned();
        *seen.entry(own).or_default() += 2;
        for name in public_definitions(text) {
            *seen.entry(name.clone()).or_default() += 1;
            names.push((module.clone(), name));
        }
    }
    names.retain(|(_, name)| seen.get(name) == Some(&1));
    if names.is_empty() {
        return String::new();
    }
    let imports: Vec<code::Import> =
        names.iter().map(|(module, name)| code::Import::from(module, name)).collect();
    let groups = code::ImportGroups { local: &|_| true };
    let all: BTreeSet<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
    format!("{}\n{}", code::render_imports(&imports, &groups), all_list(all))
}

fn public_definitions(text: &str) -> Vec<String> {
    let items = Fragment::parse(text).map(|fragment| fragment.items).unwrap_or_default();
    let names: BTreeSet<String> = (items.into_iter())
        .filter(code::Item::is_definition)
        .flat_map(|item| item.names)
        .filter(|name| !name.starts_with('_'))
        .collect();
    names.into_iter().collect()
}

/// Names of the modules and packages right inside.
fn contents(layout: &Layout, package: &str, files: &BTreeMap<String, String>) -> String {
    let inside = format!("{package}/");
    let sources =
        files.keys().filter(|path| layout.packages().values().any(|all| all.contains(*path)));
    let names: BTreeSet<&str> = sources
        .filter_map(|path| path.strip_prefix(&inside))
        .filter_map(|rest| rest.split('/').next())
        .map(|name| name.strip_suffix(".py").unwrap_or(name))
        .collect();
    all_list(names)
}

fn all_list(names: BTreeSet<&str>) -> String {
    let lines: Vec<String> = names.iter().map(|name| format!("    \"{name}\",\n")).collect();
    format!("__all__ = [\n{}]\n", lines.concat())
}

/// Packages on a circle of imports between packages; loading a package loads its parents first.
fn circular_packages(layout: &Layout, files: &BTreeMap<String, String>) -> BTreeSet<String> {
    let folder_of: HashMap<String, &str> =
        layout.packages().keys().map(|folder| (module_path(folder), folder.as_str())).collect();
    let package_of = |module: &str| -> Option<&str> {
        let mut module = module;
        loop {
            if let Some(folder) = folder_of.get(module) {
                return Some(folder);
            }
            module = module.rsplit_once('.')?.0;
        }
    };
    let mut needs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (package, modules) in layout.packages() {
        let targets = needs.entry(package).or_default();
        targets.extend(package.rsplit_once('/').map(|(parent, _)| parent));
        for text in modules.iter().filter_map(|path| files.get(path)) {
            targets.extend(imports(text).iter().filter_map(|import| package_of(&import.module)));
        }
        targets.remove(package.as_str());
    }
    let reaches_itself = |start: &str| {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut left: Vec<&str> = needs.get(start).into_iter().flatten().copied().collect();
        while let Some(package) = left.pop() {
            if package == start {
                return true;
            }
            if seen.insert(package) {
                left.extend(needs.get(package).into_iter().flatten());
            }
        }
        false
    };
    layout.packages().keys().filter(|package| reaches_itself(package)).cloned().collect()
}
