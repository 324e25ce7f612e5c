//! Views of code in parts: a file, the signatures in it, or one implementation.
//!
//! Both people and models use the views: [`code_view`] queries an index and prints nothing. Parse
//! results stay in the index for later views.

mod entries;

use std::ops::Range;

use trellis_python::{FileId, Index, NamePath, Outline, Symbol};

pub use entries::Entry;

/// A file, or definitions in it.
#[derive(Debug, PartialEq, Eq)]
pub struct View {
    /// Source as in the file, in complete lines.
    pub source: String,
    /// Definitions: classes, functions, and methods after their class; without definitions inside
    /// functions.
    pub symbols: Vec<Entry>,
    /// Syntax errors, as sentences.
    pub errors: Vec<String>,
}

/// Reason why there is no view.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    #[error("there is no definition of {symbol}")]
    Missing {
        symbol: String,
        /// Name paths of the existing definitions.
        there: Vec<String>,
    },
    #[error("{symbol} has several definitions: {}", .among.join(", "))]
    Ambiguous { symbol: String, among: Vec<String> },
    #[error("the file cannot be read")]
    Unreadable,
}

/// Returns the view of a file, or of the definition in it that a name path selects. Definitions of
/// one name in one scope (a property and its setter, overloads) are shown together, unless the path
/// has a number.
pub fn code_view(
    index: &Index,
    file: FileId,
    symbol: Option<&NamePath>,
) -> Result<View, ViewError> {
    let text = index.text(file).ok_or(ViewError::Unreadable)?;
    let outline = index.outline(file);
    let lines = index.lines(file, &text);
    let errors = outline.errors.iter().map(ToString::to_string).collect();
    let Some(symbol) = symbol else {
        let symbols = entries::entries(&text, &outline, &lines, None);
        return Ok(View { source: text.to_string(), symbols, errors });
    };
    let meant = meant(&outline, symbol)?;
    let source = |it: &usize| whole_lines(&text, &outline.symbols[*it].range);
    let symbols = meant.iter().flat_map(|it| entries::entries(&text, &outline, &lines, Some(*it)));
    Ok(View {
        symbols: symbols.collect(),
        source: meant.iter().map(source).collect::<Vec<_>>().join("\n"),
        errors,
    })
}

/// Returns the symbols that a name path selects, all of one name in one scope.
fn meant(outline: &Outline, symbol: &NamePath) -> Result<Vec<usize>, ViewError> {
    let all = 0..outline.symbols.len();
    let mut found: Vec<usize> =
        all.clone().filter(|it| symbol.matches(&outline.path(*it), false)).collect();
    // A definition inside a function is selected only if no other matches.
    if found.iter().any(|it| !is_inner(outline, *it)) {
        found.retain(|it| !is_inner(outline, *it));
    }
    let scope = |it: &usize| entries::name_path(outline, *it);
    let mut among: Vec<String> = found.iter().map(scope).collect();
    among.dedup();
    match among.len() {
        0 => {
            let shown = all.filter(|it| entries::is_shown(outline, *it));
            let there = shown.map(|it| entries::name_path(outline, it)).collect();
            Err(ViewError::Missing { symbol: symbol.to_string(), there })
        }
        1 => Ok(found),
        _ => Err(ViewError::Ambiguous { symbol: symbol.to_string(), among }),
    }
}

/// Returns whether a symbol is inside a function.
fn is_inner(outline: &Outline, index: usize) -> bool {
    let path = outline.path(index);
    let around: &[&Symbol] = path.split_last().map_or(&[], |(_, around)| around);
    around.iter().any(|it| it.kind != trellis_python::SymbolKind::Class)
}

/// Returns a range, extended to complete lines.
fn whole_lines(text: &str, range: &Range<usize>) -> String {
    let start = text[..range.start].rfind('\n').map_or(0, |it| it + 1);
    let blank = text[start..range.start].trim().is_empty();
    let start = if blank { start } else { range.start };
    let end = text[range.end..].find('\n').map_or(text.len(), |it| range.end + it + 1);
    text[start..end].to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trellis_python::{TextSource, Words};

    use super::*;

    struct NoSuchFile;

    impl TextSource for NoSuchFile {
        fn read(&self, _: &str) -> Option<Arc<str>> {
            None
        }
    }

    const PROJECT: &str = "import os\n\nRATE = 2\n\nclass Cart:\n    '''\n    Holds items.\n\n    More.\n    '''\n    size = 0\n    @property\n    def total(self) -> int:\n        return 1\n    @total.setter\n    def total(self, it):\n        pass\n\nasync def total(a,\n          b=1):\n    r\"\"\"Adds.\"\"\"\n    def inner(): ...\n    return a\n";

    fn look(symbol: Option<&str>) -> Result<View, ViewError> {
        let mut index = Index::new(Arc::new(NoSuchFile));
        let file = index.put("shop.py", Words::of(PROJECT), Some(PROJECT.into()));
        let symbol = symbol.map(|it| NamePath::parse(it).expect("a name path"));
        code_view(&index, file, symbol.as_ref())
    }

    fn shown(view: &View) -> Vec<String> {
        let line = |it: &Entry| {
            let preview = it.preview.as_deref().unwrap_or("-");
            format!("{}-{} {} {} | {preview}", it.line, it.end_line, it.kind, it.signature)
        };
        view.symbols.iter().map(line).collect()
    }

    #[test]
    fn a_file_is_seen_in_signatures_with_one_line_each() {
        let view = look(None).expect("a view");
        assert_eq!(view.source, PROJECT);
        let expected = [
            "5-17 class class Cart | Holds items.",
            "12-14 property def total(self) -> int | -",
            "15-17 property def total(self, it) | -",
            "19-23 function async def total(a, b=1) | Adds.",
        ];
        assert_eq!(shown(&view), expected);
        let names: Vec<&str> = view.symbols.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["Cart", "Cart/total", "Cart/total", "total"]);
        assert_eq!(view.symbols.iter().map(|it| it.depth).collect::<Vec<_>>(), [0, 1, 1, 0]);
    }

    #[test]
    fn one_definition_is_seen_with_what_is_in_it() {
        for (symbol, start, end, symbols) in [
            ("Cart", "class Cart:", "        pass\n", 3),
            ("Cart/total", "    @property\n", "        pass\n", 2),
            ("Cart/total[1]", "    @total.setter\n", "        pass\n", 1),
            ("/total", "async def total(a,", "    return a\n", 1),
            ("inner", "    def inner(): ...\n", "def inner(): ...\n", 1),
            ("RATE", "RATE = 2\n", "RATE = 2\n", 0),
        ] {
            let view = look(Some(symbol)).expect("a view");
            assert!(view.source.starts_with(start), "{symbol}: {}", view.source);
            assert!(view.source.ends_with(end), "{symbol}: {}", view.source);
            assert_eq!(view.symbols.len(), symbols, "{symbol}");
        }
    }

    #[test]
    fn what_is_not_there_or_not_one_says_what_there_is() {
        let there = ["Cart", "Cart/total", "Cart/total", "total"].map(str::to_owned).to_vec();
        let missing = ViewError::Missing { symbol: "price".to_owned(), there };
        assert_eq!(look(Some("price")), Err(missing));
        let among = ["Cart/total", "total"].map(str::to_owned).to_vec();
        assert_eq!(
            look(Some("total")),
            Err(ViewError::Ambiguous { symbol: "total".to_owned(), among })
        );
    }
}
