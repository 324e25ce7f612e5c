//! Tests brought into the plan's shape.

use std::collections::BTreeMap;

use code::{Fragment, Import};

use crate::draft::{DraftError, Normalised, refuse_internals, wrong};
use crate::item::Item;
use crate::reply;

/// The tests a reply holds. The import of the item is put right when the model guessed its module.
pub(crate) fn tests(item: &Item, text: &str) -> Result<Normalised, DraftError> {
    let code = reply::code(text).ok_or(DraftError::NoCode)?;
    let mut fragment = Fragment::parse(&code).map_err(|e| wrong(format!("syntax error: {e}")))?;
    refuse_internals(&fragment)?;
    let mut notes = Vec::new();
    let name = item.import_name();
    let right = Import::from(&item.module, name);
    // Beside the right import another of the name is meant as it is: something to compare with.
    let is_right = |it: &Import| Import { alias: None, ..it.clone() } == right;
    let settled = fragment.imports.iter().any(is_right);
    for import in &mut fragment.imports {
        if !settled && import.name.as_deref() == Some(name) && !is_right(import) {
            notes.push(format!(
                "import of `{name}` moved from `{}` to `{}`",
                import.module, item.module
            ));
            *import = Import { alias: import.alias.clone(), ..right.clone() };
        }
    }
    let source = fragment.to_source();
    let free = code::unresolved(&source).map_err(wrong)?;
    if free.contains(name) {
        fragment.add_imports([right.clone()]);
        notes.push(format!("import of `{name}` added"));
    }
    // Where there is a red run, it shows what the tests reach.
    if !item.red_gate && !names(item, &fragment) {
        return Err(wrong(never_used(item)));
    }
    let cases = code::tests(&fragment.to_source()).map_err(wrong)?.iter().map(|it| it.cases).sum();
    Ok(Normalised { fragment, cases, amended: BTreeMap::new(), notes })
}

/// Why tests are sent back that have nothing to do with the item.
pub(crate) fn never_used(item: &Item) -> String {
    format!("the tests never use `{}`", item.qualified_name())
}

/// Whether the tests name the item in their code. Special methods are called by other means; there
/// the class has to do.
pub(crate) fn names(item: &Item, fragment: &Fragment) -> bool {
    let special = item.name.starts_with("__") && item.name.ends_with("__");
    let name = if special { item.import_name() } else { &item.name };
    let mut names = vec![name];
    if name == item.import_name() {
        let own = fragment.imports.iter().filter(|it| it.name.as_deref() == Some(name));
        names.extend(own.filter_map(Import::bound));
    }
    let used = |it: &code::Item| {
        code::words(&it.text).is_ok_and(|words| names.iter().any(|name| words.contains(*name)))
    };
    fragment.items.iter().any(used)
}
