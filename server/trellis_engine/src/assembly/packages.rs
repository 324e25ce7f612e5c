//! Generation of `__init__.py` for every package, with the public definitions of its modules (A1).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use trellis_python::Fragment;

use crate::assembly::imports::imports;
use crate::assembly::layout::{Layout, module_path};

/// Returns the `__init__.py` files of all packages that hold one of `files`.
///
/// A package re-exports the public functions and classes of its modules and of those in the
/// packages below it, unless packages import each other in a circle: then an eager import could
/// meet a half-loaded module, and `__all__` only lists the modules. A name that two modules define,
/// or that is also the name of a module or package directly inside, is not re-exported.
pub(crate) fn init_files(
    layout: &Layout,
    files: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let loads = PackageGraph::of(layout, files);
    let mut out = BTreeMap::new();
    for package in layout.packages().keys() {
        let inside = format!("{package}/");
        if !files.keys().any(|path| path.starts_with(&inside)) {
            continue;
        }
        let is_open = |folder: &str| folder == package || loads.can_load_below(package);
        let below = layout.packages().iter().filter(|(folder, _)| is_in(folder, package));
        let modules = below.filter(|it| is_open(it.0)).flat_map(|(_, modules)| modules);
        let text = match loads.is_circular(package) {
            true => String::new(),
            false => exports(package, modules.filter_map(|path| Some((path, files.get(path)?)))),
        };
        let text = if text.is_empty() { contents(layout, package, files) } else { text };
        out.insert(format!("{package}/__init__.py"), text);
    }
    out
}

/// Returns whether a package is `outer` or below it.
fn is_in(package: &str, outer: &str) -> bool {
    package.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn exports<'a>(package: &str, modules: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    let mut names: Vec<(String, String)> = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut inside: BTreeSet<String> = BTreeSet::new();
    for (path, text) in modules {
        let module = module_path(path);
        let child = path.strip_prefix(package).and_then(|it| it.split('/').nth(1));
        inside.extend(child.map(|it| it.trim_end_matches(".py").to_owned()));
        for name in public_definitions(text) {
            *seen.entry(name.clone()).or_default() += 1;
            names.push((module.clone(), name));
        }
    }
    names.retain(|(_, name)| seen.get(name) == Some(&1) && !inside.contains(name));
    if names.is_empty() {
        return String::new();
    }
    let imports: Vec<trellis_python::Import> =
        names.iter().map(|(module, name)| trellis_python::Import::from(module, name)).collect();
    let groups = trellis_python::ImportGroups { local: &|_| true };
    let all: BTreeSet<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
    format!("{}\n{}", trellis_python::render_imports(&imports, &groups), all_list(all))
}

fn public_definitions(text: &str) -> Vec<String> {
    let items = Fragment::parse(text).map(|fragment| fragment.items).unwrap_or_default();
    let names: BTreeSet<String> = (items.into_iter())
        .filter(trellis_python::Item::is_definition)
        .flat_map(|item| item.names)
        .filter(|name| !name.starts_with('_'))
        .collect();
    names.into_iter().collect()
}

/// Renders `__all__` with the names of the modules and packages directly inside.
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

/// Packages that load each other: a package loads those that its modules import from, and its
/// parents.
struct PackageGraph<'l> {
    own: BTreeMap<&'l str, BTreeSet<&'l str>>,
    /// The same graph if packages load all packages below them.
    below: BTreeMap<&'l str, BTreeSet<&'l str>>,
}

impl<'l> PackageGraph<'l> {
    fn of(layout: &'l Layout, files: &BTreeMap<String, String>) -> PackageGraph<'l> {
        let own = loaded(layout, files);
        let mut below = own.clone();
        for (package, targets) in &mut below {
            if !reaches_itself(&own, package) {
                let inner = own.iter().filter(|(it, _)| is_in(it, package));
                let more = inner.flat_map(|(_, targets)| targets);
                targets.extend(more.filter(|it| !is_in(it, package)));
            }
        }
        PackageGraph { own, below }
    }

    /// Returns whether the package is on a circle of imports between packages.
    fn is_circular(&self, package: &str) -> bool {
        reaches_itself(&self.own, package)
    }

    /// Returns whether the package is on no circle even if it loads all packages below it.
    fn can_load_below(&self, package: &str) -> bool {
        !reaches_itself(&self.below, package)
    }
}

fn loaded<'l>(
    layout: &'l Layout,
    files: &BTreeMap<String, String>,
) -> BTreeMap<&'l str, BTreeSet<&'l str>> {
    let folder_of: HashMap<String, &str> =
        layout.packages().keys().map(|folder| (module_path(folder), folder.as_str())).collect();
    let package_of = |module: &str| -> Option<&'l str> {
        let mut module = module;
        loop {
            if let Some(folder) = folder_of.get(module) {
                return Some(folder);
            }
            module = module.rsplit_once('.')?.0;
        }
    };
    let mut out: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (package, modules) in layout.packages() {
        let targets = out.entry(package).or_default();
        targets.extend(package.rsplit_once('/').map(|(parent, _)| parent));
        for text in modules.iter().filter_map(|path| files.get(path)) {
            targets.extend(imports(text).iter().filter_map(|import| package_of(&import.module)));
        }
        targets.remove(package.as_str());
    }
    out
}

fn reaches_itself(needs: &BTreeMap<&str, BTreeSet<&str>>, start: &str) -> bool {
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
}
