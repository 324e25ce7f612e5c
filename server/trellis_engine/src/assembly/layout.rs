//! Layout of the repository: module paths, packages, test files.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The layout that follows from the source paths of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    in_src: bool,
    outside_src: bool,
    test_paths: HashMap<String, String>,
    top_level: BTreeSet<String>,
    /// Modules by package folder (relative to the repository).
    packages: BTreeMap<String, BTreeSet<String>>,
}

impl Layout {
    /// Computes the layout from all source paths of a plan; duplicates are allowed.
    pub fn of<'a>(paths: impl IntoIterator<Item = &'a str>) -> Layout {
        let paths: BTreeSet<&str> = paths.into_iter().collect();
        let mut layout = Layout {
            in_src: paths.iter().any(|path| path.starts_with("src/")),
            outside_src: paths.iter().any(|path| !path.starts_with("src/")),
            ..Layout::default()
        };
        layout.name_tests(&paths);
        for path in paths {
            let module = module_path(path);
            layout.top_level.extend(module.split('.').next().map(str::to_owned));
            layout.add_packages(path);
        }
        layout
    }

    /// Names test files `test_<module>.py`; if modules of several packages share a name,
    /// `test_<package>_<module>.py`, with as many packages as necessary (T11).
    fn name_tests(&mut self, paths: &BTreeSet<&str>) {
        let named = |path: &str, depth: usize| -> String {
            let module = module_path(path);
            let parts: Vec<&str> = module.split('.').collect();
            let from = parts.len().saturating_sub(depth);
            format!("tests/test_{}.py", parts[from..].join("_"))
        };
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for path in paths {
            let deepest = path.matches('/').count() + 1;
            let unique = |depth: usize| {
                let name = named(path, depth);
                let other = |it: &&str| it != path && named(it, depth) == name;
                (!taken.contains(&name) && !paths.iter().any(other)).then_some(name)
            };
            // `a/b.py` and `a_b.py` may still get the same name.
            let numbered =
                |n: usize| format!("{}_{n}.py", named(path, deepest).trim_end_matches(".py"));
            let name = (1..=deepest).find_map(unique).or_else(|| {
                std::iter::once(named(path, deepest))
                    .chain((2..).map(numbered))
                    .find(|name| !taken.contains(name))
            });
            let name = name.unwrap_or_else(|| named(path, deepest));
            taken.insert(name.clone());
            self.test_paths.insert((*path).to_owned(), name);
        }
    }

    fn add_packages(&mut self, path: &str) {
        let root = if path.starts_with("src/") { "src" } else { "" };
        let mut inner = path;
        while let Some((folder, _)) = inner.rsplit_once('/') {
            if folder == root {
                break;
            }
            let modules = self.packages.entry(folder.to_owned()).or_default();
            if inner == path && !path.ends_with("/__init__.py") {
                modules.insert(path.to_owned());
            }
            inner = folder;
        }
    }

    /// Returns the path of every package's `__init__.py`.
    pub fn init_paths(&self) -> impl Iterator<Item = String> {
        self.packages.keys().map(|folder| format!("{folder}/__init__.py"))
    }

    /// Returns the dotted module path of a source file.
    pub fn module(&self, path: &str) -> String {
        module_path(path)
    }

    /// Returns the test file of a source file.
    pub fn test_path(&self, path: &str) -> &str {
        self.test_paths.get(path).map_or("tests/test_module.py", String::as_str)
    }

    /// Returns whether a top-level import name belongs to this repository.
    pub fn is_local(&self, top_level: &str) -> bool {
        self.top_level.contains(top_level)
    }

    pub(crate) fn packages(&self) -> &BTreeMap<String, BTreeSet<String>> {
        &self.packages
    }

    /// Returns the folders searched by `pytest` and packaging: `src`, `.`, or both.
    pub fn roots(&self) -> Vec<&'static str> {
        let mut roots = Vec::new();
        if self.in_src {
            roots.push("src");
        }
        if self.outside_src || !self.in_src {
            roots.push(".");
        }
        roots
    }

    /// Returns the modules outside of any package.
    pub(crate) fn loose_modules(&self) -> Vec<&str> {
        let loose = |name: &&String| {
            !self.packages.contains_key(&format!("src/{name}"))
                && !self.packages.contains_key(*name)
        };
        self.top_level.iter().filter(loose).map(String::as_str).collect()
    }

    /// Returns the top-level packages next to `src`; none without a `src` folder.
    pub(crate) fn packages_beside_src(&self) -> Vec<&str> {
        let packages = self.packages.keys().map(String::as_str);
        packages.filter(|folder| self.in_src && !folder.contains('/')).collect()
    }

    /// Returns the top-level packages.
    pub(crate) fn top_packages(&self) -> Vec<&str> {
        let loose = self.loose_modules();
        self.top_level.iter().map(String::as_str).filter(|name| !loose.contains(name)).collect()
    }
}

/// Returns the dotted module path: `src/a/b.py` is `a.b`, `src/a/__init__.py` is `a`.
pub(crate) fn module_path(path: &str) -> String {
    let path = path.strip_prefix("src/").unwrap_or(path);
    let path = path.strip_suffix(".py").unwrap_or(path);
    path.strip_suffix("/__init__").unwrap_or(path).replace('/', ".")
}
