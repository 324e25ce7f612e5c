//! Random edits of random files: no edit breaks a file, and every edit can be inverted.

use proptest::prelude::*;
use trellis_python::{
    Outline, Refused, SearchReplace, Symbol, SymbolSelector, TextEdits, check, check_no_new_errors,
    delete_symbol, insert_after_symbol, insert_before_symbol, insert_into_class,
    replace_symbol_body, search_replace,
};

const FILES: [&str; 4] = [
    include_str!("../../../trellis_sandbox/src/worker/unittest_run.py"),
    include_str!("../../../trellis_sandbox/src/worker/reporter.py"),
    include_str!("../../../trellis_sandbox/src/worker/worker.py"),
    "import os\nX, Y = 1, 2; Z = 3\n\n# c\n@d\nclass A: x = 1; y = 2\n\n\nclass B(A):\n\t'''Doc.'''\n\n\tdef m(self): ...\n\t# end\n\n\tasync def n(\n\t\tself,\n\t) -> int:\n\t\treturn '''\nraw\n'''\nif X:\n    def f(): return 1\nelse:\n    f = None\nlast: int",
];

const TEXTS: [&str; 11] = [
    "pass",
    "return 1\n",
    "'''Doc.\n\n  More.\n'''\nif 1:\n  return '''\nraw'''\n",
    "    x = 1\n    y = 2",
    "def g(a,\n      b):\n    return a\n",
    "# c\n@d\ndef f(): return 1",
    "class A(B):\n\tdef m(self):\n\t\tpass\n",
    "x = 1",
    "[\n1,\n]",
    "import os\nimport re",
    "return (",
];

/// Text that gets into files by accident.
const DIRT: [&str; 16] = [
    "(",
    "]",
    "{",
    "\"",
    "'''",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "    ",
    "def foo(",
    "class X",
    "#",
    "\\\n",
    "<<<<<<< HEAD\n",
    "\u{c}ä",
];

fn dirty() -> impl Strategy<Value = String> {
    let spots = prop::collection::vec((any::<prop::sample::Index>(), 0..DIRT.len() + 1), 0..4);
    let breaks = prop::sample::select(vec!["\n", "\r\n"]);
    (prop::sample::select(FILES.to_vec()), spots, breaks).prop_map(|(file, spots, line_break)| {
        let mut text = file.replace('\n', line_break);
        for (index, dirt) in spots {
            let mut at = index.index(text.len() + 1);
            at = (0..=at).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0);
            match DIRT.get(dirt) {
                Some(dirt) => text.insert_str(at, dirt),
                None => text.truncate(at),
            }
        }
        text
    })
}

/// Generates random sequences of Python words and symbols.
fn soup() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        prop::sample::select(DIRT.to_vec()).prop_map(str::to_owned),
        prop::sample::select(vec![
            "def f():", "class A:", "x = 1", ";", "@d\n", "if x:\n", "pass", " ", "else:\n", "):\n"
        ])
        .prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

#[derive(Clone, Debug)]
struct Step {
    tool: usize,
    symbol: prop::sample::Index,
    text: &'static str,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0..6_usize, any::<prop::sample::Index>(), prop::sample::select(TEXTS.to_vec()));
    let step = step.prop_map(|(tool, symbol, text)| Step { tool, symbol, text });
    prop::collection::vec(step, 1..5)
}

fn edits(source: &str, tool: usize, text: &str, symbol: &Symbol) -> Result<TextEdits, Refused> {
    let which = SymbolSelector::from(symbol);
    match tool {
        0 => replace_symbol_body(source, which, text),
        1 => insert_before_symbol(source, which, text),
        2 => insert_after_symbol(source, which, text),
        3 => insert_into_class(source, which, text),
        4 => delete_symbol(source, which),
        _ => {
            let line = source[symbol.range.clone()].lines().next().unwrap_or("").to_owned();
            let edit = SearchReplace {
                path: String::new(),
                search: line,
                replace: text.to_owned(),
                occurrence: Some(0),
            };
            let edits = search_replace(source, &edit).map_err(|_| Refused::Empty)?;
            check_no_new_errors(source, &edits.edits).map(|()| edits.edits)
        }
    }
}

/// Returns the text of each symbol that a step does not change: symbols not around, inside or next
/// to the target.
fn others(outline: &Outline, source: &str, target: &Symbol) -> Vec<(String, String)> {
    let apart =
        |it: &&Symbol| it.range.end <= target.range.start || target.range.end <= it.range.start;
    let text = |it: &Symbol| (it.name.clone(), source[it.range.clone()].to_owned());
    outline.symbols.iter().filter(apart).map(text).collect()
}

fn run(source: String, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut versions = vec![(source, TextEdits::default())];
    for step in steps {
        let now = versions.last().expect("a version").0.clone();
        let outline = Outline::of(&now);
        if outline.symbols.is_empty() {
            break;
        }
        let symbol = step.symbol.get(&outline.symbols);
        let Ok(edits) = edits(&now, step.tool, step.text, symbol) else { continue };
        let next = edits.apply(&now);
        let after = Outline::of(&next);
        prop_assert!(after.errors.len() <= outline.errors.len(), "{:?}\n{}", after.errors, next);
        prop_assert!(check(&now).is_err() || check(&next).is_ok());
        if step.tool < 5 && outline.errors.is_empty() {
            for other in others(&outline, &now, symbol) {
                let there = after
                    .symbols
                    .iter()
                    .any(|it| it.name == other.0 && next[it.range.clone()] == other.1);
                prop_assert!(there, "{step:?} on {} lost {other:?}\n{next}", symbol.name);
            }
        }
        prop_assert_eq!(&TextEdits::between(&now, &next).apply(&now), &next);
        versions.push((next.clone(), edits.inverse(&now)));
    }
    let mut text = versions.last().expect("a version").0.clone();
    for pair in versions.windows(2).rev() {
        text = pair[1].1.apply(&text);
        prop_assert_eq!(&text, &pair[0].0);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn real_files_with_accidents(source in dirty(), steps in steps()) {
        run(source, &steps)?;
    }

    #[test]
    fn words_without_sense(source in soup(), steps in steps()) {
        run(source, &steps)?;
    }

    #[test]
    fn any_text(source in any::<String>(), search in any::<String>(), replace in any::<String>()) {
        let edit = SearchReplace { path: String::new(), search, replace, occurrence: None };
        if let Ok(it) = search_replace(&source, &edit) {
            let edits = it.edits;
            prop_assert_eq!(edits.inverse(&source).apply(&edits.apply(&source)), source);
        }
    }
}

#[test]
fn a_long_search_in_a_megabyte_is_found_at_once() {
    let line = |i: usize| {
        format!("    value_{i} = compute(value_{}, {}) + {}\n", i / 3, i * 7 % 13, i % 5)
    };
    let text: String = (0..24_000).map(line).collect();
    assert!(text.len() > 1_000_000);
    let search: String = (9_000..9_200).map(|i| line(i).replace("compute", "computed")).collect();
    let last = line(9_199).replace("compute", "computed");
    let replace = search.replace(&last, &format!("{last}    x = 1\n"));
    let edit = SearchReplace { path: String::new(), search, replace, occurrence: None };
    let replaced = search_replace(&text, &edit).expect("similar lines");
    assert!(replaced.likeness > 0.8 && replaced.likeness < 1.0, "{}", replaced.likeness);
    let wanted = text.replace(&line(9_199), &format!("{}    x = 1\n", line(9_199)));
    assert!(replaced.edits.apply(&text) == wanted);
}

/// A `return` outside a function and a line that does not parse are two kinds of error: removing
/// one does not allow the other on its line.
#[test]
fn a_statement_out_of_place_is_not_traded_for_an_error_of_the_parser() {
    let source = "import os\nX, \nY = 1, 2; Z = 3\n\n# c\n@d\nclass A: x = 1; y = 2\n\n\nclass B(A):\n\t'''Doc.'''\n\n\tdef m(self): ...\n\t# end\n\n\tasync def n(\n(\t\tself,\n\t) -> int:\n\t\treturn '''\nraw\n'''\nif X:\n    pass\nelse:\n    f( = None\nlast: int";
    let outline = Outline::of(source);
    for symbol in &outline.symbols {
        for (tool, text) in (0..6).flat_map(|tool| TEXTS.map(|text| (tool, text))) {
            let Ok(edits) = edits(source, tool, text, symbol) else { continue };
            let after = Outline::of(&edits.apply(source)).errors;
            let what = format!("{tool} on {} with {text:?}", symbol.name);
            assert!(after.len() <= outline.errors.len(), "{what}: {after:?}");
        }
    }
}
