//! Locates the function, the module name of its file, and the file for its tests.

use std::path::{Component, Path, PathBuf};

use trellis_engine::assembly::Layout;
use trellis_python::{Function, Functions, NamePath};

use super::WriteTestsRequest;
use super::files::relative;
use super::registry::Registry;
use crate::fault::Fault;
use trellis_project::edits;
use trellis_project::project;

/// Maximum number of similar names to suggest.
const NEAR: usize = 5;

/// A function in its file and its project.
pub(super) struct Target {
    /// Canonical root of the project.
    pub(super) root: PathBuf,
    /// Path of the source file, below the root.
    pub(super) path: String,
    /// The file's text.
    pub(super) source: String,
    /// Module name of the file.
    pub(super) module: String,
    /// Folders below the root from which modules are imported, besides the root.
    pub(super) source_folders: Vec<PathBuf>,
    pub(super) function: Function,
    /// Qualified name with classes, and with a number if the request had one.
    pub(super) qualified: String,
}

impl Target {
    pub(super) fn find(order: &WriteTestsRequest) -> Result<Target, Fault> {
        let file = located(order)?;
        let root = match &order.root {
            Some(root) => root
                .canonicalize()
                .map_err(|e| Fault::input(trellis_os::wording::cannot_read(root.display(), &e)))?,
            None => project::root_of(&file)?,
        };
        let outside = || {
            let (file, root) = (file.display(), root.display());
            Fault::input(format!("{file} is not below the project's root {root}"))
                .hint("choose the root that contains the file")
        };
        let path = relative(&root, &file).ok_or_else(outside)?;
        let source = edits::read(&file)?;
        let all = Functions::of(&source);
        let function = named(&all.functions, &order.name, &path)?;
        if let Some(error) = all.errors.first() {
            return Err(Fault::input(format!("{path} has a syntax error: {error}"))
                .hint("fix it first: tests cannot import this code"));
        }
        let source_folders = project::source_folders(&root);
        let module = module(&path, &source_folders)?;
        let number = order.name.rfind('[').map_or("", |at| &order.name[at..]);
        let qualified = format!("{}{number}", function.qualified_name);
        Ok(Target { root, path, source, module, source_folders, function, qualified })
    }

    /// Returns the function's name in the registry and for the model.
    pub(super) fn id(&self) -> String {
        format!("{}::{}", self.path, self.qualified)
    }
}

/// Returns the function's file, relative to the given root or else to the current folder.
fn located(order: &WriteTestsRequest) -> Result<PathBuf, Fault> {
    let below = order.root.as_ref().map(|root| root.join(&order.file));
    let place = below.filter(|it| it.exists()).unwrap_or_else(|| order.file.clone());
    let file = place.canonicalize().map_err(|e| {
        Fault::input(trellis_os::wording::cannot_read(order.file.display(), &e))
            .hint("give a function as FILE::FUNCTION, such as shop/cart.py::Cart.total")
    })?;
    match file.extension().is_some_and(|it| it == "py") {
        true => Ok(file),
        false => Err(Fault::input(format!("{} is not a Python file", order.file.display()))
            .hint("Trellis writes tests for functions in .py files")),
    }
}

/// Returns the function that a name matches. Of several in one scope it is the last, which is the
/// one that importing gives.
fn named(all: &[Function], name: &str, path: &str) -> Result<Function, Fault> {
    let pattern = NamePath::parse(&name.replace("::", "/")).map_err(Fault::input)?;
    let found: Vec<&Function> = all.iter().filter(|it| is_meant(it, &pattern)).collect();
    let Some(last) = found.iter().rev().find(|it| !it.is_overload()).or(found.last()) else {
        return Err(unknown(all, name, path));
    };
    let other = found.iter().find(|it| it.qualified_name != last.qualified_name);
    if let Some(other) = other {
        let names = format!("{} and {}", other.qualified_name, last.qualified_name);
        return Err(Fault::input(format!("{name} matches several functions in {path}: {names}"))
            .hint("give its class as well"));
    }
    if last.is_nested {
        let message = format!("{} is inside another function", last.qualified_name);
        return Err(Fault::input(message).hint(
            "code outside cannot call it: write tests for the function around it, or move it \
             out",
        ));
    }
    Ok((*last).clone())
}

/// Returns whether a name path matches a function. A final `[n]` counts among functions of the same
/// name in one scope.
fn is_meant(function: &Function, pattern: &NamePath) -> bool {
    let shown = pattern.to_string();
    let (absolute, shown) = match shown.strip_prefix('/') {
        Some(rest) => (true, rest),
        None => (false, shown.as_str()),
    };
    let (names, number) = match shown.strip_suffix(']').and_then(|it| it.rsplit_once('[')) {
        Some((names, number)) => (names, number.parse().ok()),
        None => (shown, None),
    };
    let names = names.replace('/', ".");
    let own = &function.qualified_name;
    let ends = own.strip_suffix(&names).is_some_and(|it| it.is_empty() || it.ends_with('.'));
    (if absolute { *own == names } else { ends })
        && number.is_none_or(|it: usize| function.nth == it)
}

fn unknown(all: &[Function], name: &str, path: &str) -> Fault {
    let last = name.rsplit(['.', '/', ':']).next().unwrap_or(name);
    let names = all.iter().filter(|it| !it.is_nested);
    let mut near: Vec<(usize, &str)> =
        names.map(|it| (distance(&it.name, last), it.qualified_name.as_str())).collect();
    near.sort();
    near.dedup();
    let near: Vec<&str> = near.into_iter().take(NEAR).map(|(_, name)| name).collect();
    let fault = Fault::input(format!("there is no function {name} in {path}"));
    fault.hint(
        trellis_plan::did_you_mean(&near).unwrap_or_else(|| "the file has no functions".to_owned()),
    )
}

/// Returns the Levenshtein distance, ignoring case.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, letter) in a.to_lowercase().chars().enumerate() {
        let mut left = at + 1;
        let mut diagonal = std::mem::replace(&mut row[0], left);
        for (index, other) in b.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[index + 1];
            left = changed.min(left + 1).min(diagonal + 1);
            row[index + 1] = left;
        }
    }
    row[b.len()]
}

/// Returns the module name of a file.
pub(super) fn module(path: &str, source_folders: &[PathBuf]) -> Result<String, Fault> {
    let inside = |folder: &PathBuf| Path::new(path).strip_prefix(folder).ok();
    let inner = source_folders.iter().find_map(inside).unwrap_or(Path::new(path));
    let inner = inner.to_string_lossy();
    let bare = inner.strip_suffix(".py").unwrap_or(&inner);
    let bare = bare.strip_suffix("/__init__").unwrap_or(bare);
    let is_name = |it: &str| {
        it.chars().all(|c| c == '_' || c.is_alphanumeric())
            && !it.starts_with(|c: char| c.is_numeric())
    };
    match bare.split('/').find(|it| !is_name(it)) {
        Some(part) => {
            Err(Fault::input(format!("{path} cannot be imported: `{part}` is not a Python name"))
                .hint("rename it, with `_` in place of other characters"))
        }
        None => Ok(bare.replace('/', ".")),
    }
}

/// Returns the folder for tests, which has to be below the root.
pub(super) fn tests_dir(asked: Option<&str>) -> Result<String, Fault> {
    let dir = asked.unwrap_or("trellis_tests").trim_end_matches('/');
    let is_inside = |it: Component<'_>| matches!(it, Component::Normal(_));
    if !dir.is_empty() && Path::new(dir).components().all(is_inside) {
        return Ok(dir.to_owned());
    }
    Err(Fault::input(format!("the folder for tests {dir:?} is not below the project's root"))
        .hint("give a relative path, such as trellis_tests"))
}

/// Returns the path of the test file for a source file: the one that its other functions use, else
/// a file of its own name, prefixed with as many packages as make it unique.
pub(super) fn test_path(
    path: &str,
    sources: &[String],
    tests_dir: &str,
    registry: &Registry,
) -> String {
    let mappings = registry.mappings();
    let below = format!("{tests_dir}/");
    let of_file = |key: &str| key.rsplit_once("::").is_some_and(|(file, _)| file == path);
    let known = mappings.iter().find(|(key, it)| of_file(key) && it.test_file.starts_with(&below));
    if let Some((_, known)) = known {
        return known.test_file.clone();
    }
    let all = sources.iter().map(String::as_str).chain([path]);
    let layout = Layout::of(all);
    let name = layout.test_path(path).trim_start_matches("tests/").to_owned();
    format!("{below}{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "def f(): ...\nclass A:\n    def f(self): ...\n    def g(self): ...\n    class B:\n        def h(self): ...\ndef outer():\n    def inner(): ...\nif 1:\n    def twice(): ...\nelse:\n    def twice(): ...\n";

    #[test]
    fn a_name_means_one_function_or_says_why_not() {
        let all = Functions::of(TEXT).functions;
        for (name, expected) in [
            ("g", Ok(("A.g", 0))),
            ("A.f", Ok(("A.f", 0))),
            ("A/f", Ok(("A.f", 0))),
            ("A::f", Ok(("A.f", 0))),
            ("/f", Ok(("f", 0))),
            ("B.h", Ok(("A.B.h", 0))),
            ("twice", Ok(("twice", 1))),
            ("twice[0]", Ok(("twice", 0))),
            ("f", Err("f matches several functions in a.py: f and A.f")),
            ("inner", Err("outer.inner is inside another function")),
            ("twice[2]", Err("there is no function twice[2] in a.py")),
            ("A.ff", Err("there is no function A.ff in a.py\n  hint: did you mean `A.f`, `f`")),
            ("a b", Err("is not a name path")),
        ] {
            let found = named(&all, name, "a.py");
            match (found, expected) {
                (Ok(it), Ok(expected)) => {
                    assert_eq!((it.qualified_name.as_str(), it.nth), expected, "{name}");
                }
                (Err(fault), Err(words)) => {
                    assert!(fault.to_string().contains(words), "{name}: {fault}");
                }
                (found, _) => panic!("{name}: {found:?}"),
            }
        }
    }

    #[test]
    fn files_are_imported_and_tested_under_names_of_their_own() {
        let src = [PathBuf::from("src")];
        for (path, folders, expected) in [
            ("shop/cart.py", &[][..], Some("shop.cart")),
            ("src/shop/cart.py", &src[..], Some("shop.cart")),
            ("src/shop/cart.py", &[][..], Some("src.shop.cart")),
            ("shop/__init__.py", &[][..], Some("shop")),
            ("my-shop/cart.py", &[][..], None),
            ("2shop.py", &[][..], None),
        ] {
            assert_eq!(module(path, folders).ok().as_deref(), expected, "{path}");
        }
        let registry = Registry::default();
        let sources = ["a/util.py", "b/util.py", "b/other.py"].map(str::to_owned);
        for (path, expected) in [
            ("a/util.py", "gen/test_a_util.py"),
            ("b/util.py", "gen/test_b_util.py"),
            ("b/other.py", "gen/test_other.py"),
            ("new.py", "gen/test_new.py"),
        ] {
            assert_eq!(test_path(path, &sources, "gen", &registry), expected);
        }
        for (dir, inside) in [("a/b/", true), ("../a", false), ("/a", false), ("", false)] {
            assert_eq!(tests_dir(Some(dir)).is_ok(), inside, "{dir}");
        }
    }
}
