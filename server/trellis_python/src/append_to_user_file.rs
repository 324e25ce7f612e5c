//! Adds generated code to a file that a person wrote. The person's text stays byte for byte.

use ruff_python_ast::Stmt;

use crate::fragment::{Fragment, Item, is_main_guard, is_string, render_items};
use crate::imports::{Import, ImportGroups, render_imports};
use crate::syntax::{self, SyntaxError, full_range, line_end, line_start};

/// Adds to `text` everything in `items` and `imports` that `base`, the parsed `text`, lacks:
/// methods go into their classes, imports below the last import, new items to the end or above the
/// main guard.
pub(crate) fn add_to(
    text: &str,
    base: &Fragment,
    items: &[Item],
    imports: &[Import],
    groups: &ImportGroups<'_>,
) -> Result<String, SyntaxError> {
    let mut text = text.to_owned();
    let mut new: Vec<&Item> = Vec::new();
    let mut old = base.items.iter().peekable();
    for item in items {
        match old.next_if(|it| it.kind == item.kind && it.names == item.names) {
            Some(before) if before.text != item.text => {
                text = text.replacen(&before.text, &item.text, 1);
            }
            Some(_) => {}
            None => new.push(item),
        }
    }
    if !new.is_empty() {
        text = append(&text, &new)?;
    }
    if !imports.is_empty() {
        text = insert_imports(&text, &render_imports(imports, groups))?;
    }
    Ok(text)
}

fn append(text: &str, new: &[&Item]) -> Result<String, SyntaxError> {
    let parsed = syntax::parse(text)?;
    let guard = parsed.suite().last().filter(|stmt| is_main_guard(stmt));
    let at = guard.map_or(text.len(), |stmt| line_start(text, full_range(stmt).start().to_usize()));
    let mut added = String::new();
    render_items(&mut added, new.iter().copied());
    let (above, below) = (text[..at].trim_end(), &text[at..]);
    let above = if above.is_empty() { String::new() } else { format!("{above}\n\n\n") };
    let below = if below.is_empty() { String::new() } else { format!("\n\n{below}") };
    Ok(format!("{above}{added}{below}"))
}

/// Inserts the lines below the last top-level import, else below the docstring, else at the top.
fn insert_imports(text: &str, lines: &str) -> Result<String, SyntaxError> {
    let parsed = syntax::parse(text)?;
    let is_import = |stmt: &&Stmt| matches!(stmt, Stmt::Import(_) | Stmt::ImportFrom(_));
    let end_of = |stmt: &Stmt| line_end(text, full_range(stmt).end().to_usize());
    let docstring = parsed.suite().first().filter(|stmt| is_string(stmt));
    if let Some(last) = parsed.suite().iter().rfind(is_import) {
        let at = end_of(last);
        let gap = if text[..at].ends_with('\n') { "" } else { "\n" };
        return Ok(format!("{}{gap}{lines}{}", &text[..at], &text[at..]));
    }
    match docstring.map(end_of) {
        Some(at) => Ok(format!("{}\n\n{lines}{}", text[..at].trim_end(), &text[at..])),
        None => Ok(format!("{lines}\n\n{text}")),
    }
}
