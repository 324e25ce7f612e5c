//! Replies of models that change files.

use std::collections::BTreeMap;

use trellis_engine::{EditableFiles, Suspect, issue, repair};

use crate::memory;

/// Files that replies may change, by path.
const FILES: [(&str, &str); 3] = [
    ("shop/cart.py", CART),
    ("shop/notes.txt", "one\ntwo\n=======\nthree\n"),
    (
        "tests/test_cart.py",
        "from shop.cart import total\n\n\ndef test_total():\n    assert total([1]) == 1\n",
    ),
];

const CART: &str = "\"\"\"A cart.\"\"\"\n\n\ndef total(prices):\n    \"\"\"Add prices.\"\"\"\n    result = 0\n    for price in prices:\n        result += price\n    return result\n\n\nclass Cart:\n    def __init__(self):\n        self.items = []\n\n    def add(self, item):\n        self.items.append(item)\n";

struct Files(BTreeMap<String, String>);

impl EditableFiles for Files {
    fn text(&self, path: &str) -> Option<String> {
        self.0.get(path).cloned()
    }

    fn read_only(&self, path: &str) -> Option<&'static str> {
        let is_outside = path.starts_with('/') || path.split('/').any(|it| it == "..");
        match (path.starts_with("tests/"), is_outside) {
            (true, _) => Some("it holds tests"),
            (_, true) => Some("it is outside"),
            _ => None,
        }
    }
}

/// A reply changes only files that it may change, every changed Python file can be parsed, a refusal
/// has a reason, and the same reply gives the same result.
pub(super) fn run(input: &[u8]) {
    let reply = String::from_utf8_lossy(input);
    let files = Files(FILES.map(|(path, text)| (path.to_owned(), text.to_owned())).into());
    let suspects = suspects();
    let answers = || {
        let changed = issue::changes(&reply, &files);
        let repaired = repair::repaired(&reply, &suspects, &files);
        (changed.map_err(|it| it.problem), repaired.map_err(|it| it.problem))
    };
    let (changed, repaired) = memory::bounded(input, 16 << 20, 4000, answers);
    assert_eq!((&changed, &repaired), (&answers().0, &answers().1), "the same reply, twice");
    for answer in [changed, repaired] {
        match answer {
            Ok(texts) => {
                texts.iter().for_each(|(path, text)| is_allowed(&files, &reply, path, text))
            }
            Err(reason) => assert!(!reason.trim().is_empty(), "a refusal without a reason"),
        }
    }
    let _ = repair::explanation(&reply);
    let _ = repair::parse_diagnosis(&reply);
}

fn is_allowed(files: &Files, reply: &str, path: &str, text: &str) {
    assert_eq!(files.read_only(path), None, "{path} may not be changed");
    let before = files.text(path).unwrap_or_default();
    assert!(files.text(path).as_deref() != Some(text), "{path} is not changed");
    if path.ends_with(".py") {
        let is_valid = trellis_python::check(text).is_ok();
        assert!(is_valid || trellis_python::check(&before).is_err(), "{path} is broken:\n{text}");
    }
    // In JSON, lines are escaped.
    if !reply.contains('\\') {
        let known = words(&format!("{before}\n{reply}"));
        let strange = text.lines().find(|it| !known.contains(&words(it)));
        assert_eq!(strange, None, "a line of {path} that is neither in the file nor in the reply");
    }
}

/// Returns a text without spaces and line breaks, since indentation may be corrected.
fn words(text: &str) -> String {
    text.split_whitespace().collect()
}

fn suspects() -> Vec<Suspect> {
    let suspect = |symbol: &str, source: &str| Suspect {
        path: "shop/cart.py".to_owned(),
        line: 1,
        symbol: symbol.to_owned(),
        source: source.to_owned(),
        ..Suspect::default()
    };
    vec![suspect("total", CART), suspect("Cart", CART)]
}
