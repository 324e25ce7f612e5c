//! The outline after an edit is that of the whole text, whatever was typed, pasted or deleted.

use proptest::prelude::*;
use trellis_python::Outline;

const FILES: [&str; 3] = [
    include_str!("../../../trellis_sandbox/src/worker/reporter.py"),
    "\u{feff}import os\nX, Y = 1, 2; Z = 3\n\n# ä\n@d(\n    1,\n)\nclass A: x = 1; y = 2\n\n\nclass B(A):\n\t'''Doc ü.'''\n\n\tdef m(self): ...\n\tdef m(self): ...\n\n\tasync def n(\n\t\tself,\n\t) -> int:\n\t\tdef inner(): return '''\nraw\ndef no(): pass\n'''\nif X:\n    def f(): return 1\nelse:\n    f = None\né = [\n1,\n]; ü = 1\n\\\ndef g(): ...\ntry:\n    import a\nexcept E:\n    a = X\nX: int = 3\nmatch X:\n    case 1: Y = 2\nlast: int",
    "def a(): ...\ndef a(): ...\nx = 1\nx = 2\nclass a:\n    x = 1\n    def a(self):\n        class a: ...\n@a\ndef b(): # \\\n    pass\nx = '\\\n'\ny = 3 \\\n  + 1\nz = (1)\n\u{c}\ndef c(): ...\n",
];

/// Text that people type and paste, or that gets into files by accident.
const TEXTS: [&str; 40] = [
    "",
    "x",
    "_",
    "ä",
    "\u{1f600}",
    " ",
    "    ",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "\u{c}",
    "(",
    ")",
    "[",
    "}",
    "'",
    "\"",
    "'''",
    "\"\"\"",
    "#",
    "\\",
    "\\\n",
    ":",
    ";",
    "=",
    "@",
    "@d\n",
    ".",
    "f'{",
    "def ",
    "class X",
    "else:\n",
    "except E:\n",
    "if x:\n",
    "def f(): ...\n",
    "a = 1\n",
    "\nclass C:\n    x = 1\n    def f(self): ...\n",
    "    pass\n",
    "async ",
];

/// An edit: where it starts, how many bytes it deletes, what it inserts, and whether it is at a
/// line's start.
#[derive(Clone, Debug)]
struct Edit {
    at: prop::sample::Index,
    deleted: usize,
    inserted: &'static str,
    at_line: bool,
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let deleted = prop_oneof![3 => Just(0), 2 => 1..4_usize, 1 => 4..200_usize];
    let inserted = prop::sample::select(TEXTS.to_vec());
    let edit = (any::<prop::sample::Index>(), deleted, inserted, any::<bool>());
    let edit =
        edit.prop_map(|(at, deleted, inserted, at_line)| Edit { at, deleted, inserted, at_line });
    prop::collection::vec(edit, 1..8)
}

fn apply(text: &str, edit: &Edit) -> String {
    let mut start = text.floor_char_boundary(edit.at.index(text.len() + 1));
    if edit.at_line {
        start = text[..start].rfind(['\n', '\r']).map_or(0, |it| it + 1);
    }
    let end = text.floor_char_boundary((start + edit.deleted).min(text.len())).max(start);
    [&text[..start], edit.inserted, &text[end..]].concat()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// `every` is the number of edits between two outlines, as when typing is faster.
    #[test]
    fn the_outline_after_an_edit_is_that_of_the_text(
        file in prop::sample::select(FILES.to_vec()),
        line_end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        edits in edits(),
        every in 1..3_usize,
    ) {
        let mut text = file.replace('\n', line_end);
        let (mut before, mut outline) = (text.clone(), Outline::of(&text));
        for edits in edits.chunks(every) {
            text = edits.iter().fold(text, |text, edit| apply(&text, edit));
            let (found, whole) = (Outline::after_edit(&before, &outline, &text), Outline::of(&text));
            prop_assert_eq!(&found, &whole, "{:?}\nafter\n{:?}", text, before);
            // Broken text is left: an edit of valid text is what is looked at.
            if whole.errors.is_empty() {
                (before, outline) = (text.clone(), whole);
            } else {
                text = before.clone();
            }
        }
    }
}
