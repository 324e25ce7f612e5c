//! Origin of an undefined name: a dependency in the plan, or a well-known package.

use trellis_python::{Fragment, Import, distributions, import_for};

use crate::item::Item;

/// Returns the import for a name in the item's tests: from a dependency, or a well-known package.
pub(crate) fn test_origin(item: &Item, fragment: &Fragment, name: &str) -> Option<Import> {
    let planned = item.dependencies.iter().find(|it| it.import_name == name);
    let import = planned.map(|it| Import::from(&it.module, name));
    import.or_else(|| well_known(item, fragment, name))
}

/// Returns the import for a name in the item's own module; a name of the same module needs none.
pub(crate) fn origin(item: &Item, fragment: &Fragment, name: &str) -> Option<Import> {
    match item.dependencies.iter().find(|it| it.import_name == name) {
        Some(it) => (it.module != item.module).then(|| Import::from(&it.module, name)),
        None => well_known(item, fragment, name),
    }
}

fn well_known(item: &Item, fragment: &Fragment, name: &str) -> Option<Import> {
    let available = |package: &str| package == "pytest" || is_available(item, package);
    import_for(name, &fragment.to_source(), available)
}

/// Returns whether the plan allows the item a third-party package, given by its import name.
pub(crate) fn is_available(item: &Item, package: &str) -> bool {
    item.libraries.iter().any(|library| {
        let name = library_name(library);
        name.eq_ignore_ascii_case(package)
            || name.eq_ignore_ascii_case(distributions::distribution(package))
    })
}

/// Returns the name of a requirement: `numpy` of `numpy>=1.24,<2`.
pub fn library_name(requirement: &str) -> &str {
    let end = requirement.find(|c: char| !(c.is_alphanumeric() || "._-".contains(c)));
    requirement[..end.unwrap_or(requirement.len())].trim()
}
