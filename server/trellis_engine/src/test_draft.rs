//! Conversion of tests from replies into the plan's shape.

use std::collections::BTreeMap;

use trellis_python::{Fragment, Import};

use crate::draft::{DraftError, NormalizedReply, refuse_internals, wrong};
use crate::item::Item;
use crate::reply;

/// Parses tests from a reply. Corrects the import of the item if the model guessed a wrong module.
pub(crate) fn tests(item: &Item, text: &str) -> Result<NormalizedReply, DraftError> {
    let reply = reply::divide(text).map_err(DraftError::Unusable)?;
    let code = reply.whole_code().map_err(DraftError::Unusable)?.ok_or(DraftError::NoCode)?;
    let mut fragment = Fragment::parse(code).map_err(|e| wrong(format!("syntax error: {e}")))?;
    refuse_internals(&fragment)?;
    let mut notes = Vec::new();
    let name = item.import_name();
    let right = Import::from(&item.module, name);
    // Next to the correct import, another import of the same name is intended, for example for
    // comparison.
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
    let free = trellis_python::unresolved(&source).map_err(wrong)?;
    if free.contains(name) {
        fragment.add_imports([right.clone()]);
        notes.push(format!("import of `{name}` added"));
    }
    // If a red run follows, that run shows whether the tests reach the item.
    if !item.red_gate && !names(item, &fragment) {
        return Err(wrong(never_used(item)));
    }
    let cases = trellis_python::tests(&fragment.to_source())
        .map_err(wrong)?
        .iter()
        .map(|it| it.cases)
        .sum();
    Ok(NormalizedReply { fragment, cases, amended: BTreeMap::new(), notes })
}

/// Returns the reason for sending back tests that do not use the item.
pub(crate) fn never_used(item: &Item) -> String {
    format!("the tests never use `{}`", item.qualified_name())
}

/// Returns whether the tests name the item in their code. Special methods are called implicitly;
/// for them the class has to be named.
pub(crate) fn names(item: &Item, fragment: &Fragment) -> bool {
    let special = item.name.starts_with("__") && item.name.ends_with("__");
    let name = if special { item.import_name() } else { &item.name };
    let mut names = vec![name];
    if name == item.import_name() {
        let own = fragment.imports.iter().filter(|it| it.name.as_deref() == Some(name));
        names.extend(own.filter_map(Import::bound));
    }
    let used = |it: &trellis_python::Item| {
        trellis_python::words(&it.text)
            .is_ok_and(|words| names.iter().any(|name| words.contains(*name)))
    };
    fragment.items.iter().any(used)
}
