//! Checks the imports of a planned file: the package's own files, its libraries, and Python.

use trellis_python::distributions::{distribution, normalized};
use trellis_python::standard_library::{is_stdlib, is_typing};
use trellis_python::{Import, Outline, all_imports};

use super::interface_checks::Surroundings;
use super::{Interface, module_of};

/// Returns imports that would fail, as sentences for the model.
pub(super) fn import_problems(file: &Interface, around: &Surroundings<'_>) -> Vec<String> {
    let folder = file.path.rsplit_once('/').map_or(String::new(), |it| format!("/{}", it.0));
    let package = format!("{}{folder}", around.package).replace('/', ".");
    let imports = all_imports(&file.text).unwrap_or_default();
    let problem = |it: &Import| {
        let why = match it.absolute(&package) {
            None => Some("it leads out of the package".to_owned()),
            Some(absolute) => why_not(&absolute, around),
        };
        why.map(|why| format!("`{it}`: {why}"))
    };
    imports.iter().filter_map(problem).collect()
}

fn why_not(import: &Import, around: &Surroundings<'_>) -> Option<String> {
    let top = import.top_level();
    if top == around.package {
        return missing_in_package(import, around);
    }
    if is_stdlib(top) {
        let name = import.name.as_deref().filter(|it| import.module == "typing" && *it != "*");
        let unknown = name.filter(|it| !is_typing(it));
        return unknown.map(|it| format!("`typing` has no `{it}`"));
    }
    let is_listed = |library: &String| {
        [top, distribution(top)].iter().any(|it| normalized(it) == normalized(library))
    };
    let is_known = around.libraries.iter().any(is_listed);
    (!is_known).then(|| {
        format!("`{top}` is neither in Python's standard library nor in the layout's libraries")
    })
}

/// Returns the reason why the package's files do not have an import.
fn missing_in_package(import: &Import, around: &Surroundings<'_>) -> Option<String> {
    let full = |file: &&&Interface| format!("{}.{}", around.package, module_of(&file.path));
    let file_of = |module: &str| around.others.iter().find(|it| full(it) == module);
    let name = import.name.as_deref();
    if let Some(name) = name.filter(|it| file_of(&format!("{}.{it}", import.module)).is_none()) {
        return match file_of(&import.module) {
            None => Some("the layout does not let this file use that module".to_owned()),
            Some(_) if name == "*" => Some("import each name by itself".to_owned()),
            Some(file) if !binds(file, name) => Some(format!("{} has no `{name}`", file.path)),
            Some(_) => None,
        };
    }
    let is_missing = name.is_none() && file_of(&import.module).is_none();
    is_missing.then(|| "the layout does not let this file use that module".to_owned())
}

/// Returns whether a planned file defines a name: a function, a class or a constant.
fn binds(file: &Interface, name: &str) -> bool {
    let symbols = Outline::of(&file.text).symbols;
    symbols.iter().any(|it| it.parent.is_none() && it.name == name)
}
