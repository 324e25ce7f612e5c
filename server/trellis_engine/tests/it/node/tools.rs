//! Tests of fixes made with tools: assembled files given to the model, and read back with its
//! changes.

use std::collections::BTreeMap;

use trellis_engine::assembly::{Contribution, Layout, sources};
use trellis_engine::{FixWith, Upstream};

use super::*;

const PATH: &str = "src/pkg/stats.py";
const SUMS: &str = "src/pkg/sums.py";

fn policy() -> Policy {
    Policy { fix_with: FixWith::Tools, ..Policy::generate() }
}

/// Another function of the same file.
fn spread() -> Item {
    Item {
        id: "stats.spread".to_owned(),
        name: "spread".to_owned(),
        signature: None,
        dependencies: Vec::new(),
        ..item()
    }
}

fn total() -> Item {
    let (path, module) = (SUMS.to_owned(), "pkg.sums".to_owned());
    Item { id: "sums.total".to_owned(), name: "total".to_owned(), path, module, ..spread() }
}

fn predict() -> Item {
    let signature = Some(Signature::parse("def predict(self, rows)").expect("parses"));
    Item { id: "stats.Model.predict".to_owned(), name: "predict".to_owned(), signature, ..method() }
}

type Texts = Vec<(Item, String)>;
type Files = BTreeMap<String, String>;

/// Assembles the files of items.
fn assembled(texts: &Texts) -> Files {
    let draft = |text: &String| Draft {
        implementation: Some(trellis_python::Fragment::parse(text).expect("parses")),
        ..Draft::default()
    };
    let drafts: Vec<(&Item, Draft)> =
        texts.iter().map(|(item, text)| (item, draft(text))).collect();
    let shares: Vec<Contribution<'_>> =
        drafts.iter().map(|(item, draft)| Contribution { item, draft }).collect();
    let layout = Layout::of([PATH, SUMS]);
    sources(&layout, &shares, &BTreeMap::new()).expect("they fit together").files
}

/// Texts of the item and of others before a fix.
struct Fixture {
    /// In the plan's order, including the item in work.
    texts: Texts,
    item: Item,
    /// Ids of items that may be changed as well.
    upstream: Vec<&'static str>,
}

impl Fixture {
    fn new(item: Item, own: &str, others: Texts) -> Fixture {
        let mut texts = others;
        texts.push((item.clone(), own.to_owned()));
        Fixture { texts, item, upstream: Vec::new() }
    }

    fn upstream(mut self, ids: &[&'static str]) -> Fixture {
        self.upstream = ids.to_vec();
        self
    }

    /// Plays up to the first fix, which changes the files by `edits` (path, old, new).
    fn play(&self, edits: &[(&str, &str, &str)]) -> (Played, Files) {
        let before = assembled(&self.texts);
        let mut files = Files::new();
        for (path, old, new) in edits {
            let text = files.get(*path).or(before.get(*path)).cloned().unwrap_or_default();
            assert!(text.contains(old), "no `{old}` in:\n{text}");
            files.insert((*path).to_owned(), text.replacen(old, new, 1));
        }
        let upstream =
            self.texts.iter().filter(|(item, _)| self.upstream.contains(&item.id.as_str()));
        let upstream = upstream.map(|(item, text)| Upstream {
            item: item.clone(),
            implementation: trellis_python::Fragment::parse(text).expect("parses"),
        });
        let found = Localization { upstream: upstream.collect(), ..Localization::default() };
        let own = &self.texts.iter().find(|(item, _)| item.id == self.item.id).expect("own").1;
        let name = self.item.qualified_name();
        let tests = TESTS
            .replace("import mean", &format!("import {}", self.item.import_name()))
            .replace("mean(", &format!("{name}("));
        let mut script = vec![python(&tests), red()];
        match own.is_empty() {
            true => script.extend([say("No."), say("No."), say("No.")]),
            false => script.extend([python(own), fail(), fail(), Votes("A!")]),
        }
        script.push(Left(EditedFiles { files: files.clone(), before }));
        let found = Event::Localized(found);
        (play_found(found, State::default(), &self.item, &policy(), script), files)
    }

    /// Checks that the files assembled from the fix equal the edited files.
    #[track_caller]
    fn check(&self, edits: &[(&str, &str, &str)]) -> Played {
        let (played, files) = self.play(edits);
        assert!(
            played.trace.ends_with("run green") || played.trace.ends_with("wait; run green"),
            "{}",
            played.trace
        );
        let mut texts = self.texts.clone();
        for (item, text) in &mut texts {
            if item.id == self.item.id {
                *text = played.implementation();
            } else if let Some(amended) = played.draft.amended.get(&item.id) {
                *text = amended.to_source();
            }
        }
        let again = assembled(&texts);
        for (path, text) in files {
            assert_eq!(again[&path], text, "{path}");
        }
        played
    }

    #[track_caller]
    fn check_refused(&self, edits: &[(&str, &str, &str)], why: &str) {
        let (played, _) = self.play(edits);
        assert!(
            played.trace.ends_with("[attempt-unusable]; search; ask fix 1"),
            "{}",
            played.trace
        );
        assert_eq!(played.note("attempt-unusable"), why);
        assert_eq!(played.state.fixes(), 1, "it counts");
    }
}

const OWN: &str = "import math\n\n\ndef _check(values):\n    return bool(values)\n\n\ndef mean(values: list[float]) -> float:\n    return math.fsum(values)\n";
const SPREAD: &str = "def _check(values):\n    return len(values) > 1\n\n\ndef spread(values):\n    return max(values) - min(values)\n";
const TOTAL: &str = "def total(values):\n    return sum(values) + 1\n";

/// `mean` and `spread` in one file, each with its own `_check`; `total` in another.
fn functions() -> Fixture {
    Fixture::new(item(), OWN, vec![(total(), TOTAL.to_owned()), (spread(), SPREAD.to_owned())])
}

const MODEL: &str =
    "class Model:\n    \"\"\"A model.\"\"\"\n\n    def __init__(self):\n        self.rows = []\n";

/// A class of three nodes; `fit` is the item in work.
fn methods() -> Fixture {
    let fit = "def fit(self, rows):\n    self.rows = self._clean(rows)\n    return None\n\n\ndef _clean(self, rows):\n    return rows\n";
    let other = "def predict(self, rows):\n    return [0 for _ in rows]\n";
    let mut it = Fixture::new(method(), fit, vec![(class(), MODEL.to_owned())]);
    it.texts.push((predict(), other.to_owned()));
    it
}

#[test]
fn a_question_with_tools_names_them_and_shows_no_files() {
    let found = Localization {
        suspects: vec![trellis_engine::Suspect {
            path: SUMS.to_owned(),
            symbol: "total".to_owned(),
            why: "executed by the failing test alone".to_owned(),
            source: TOTAL.to_owned(),
            specification: "The sum.".to_owned(),
            ..trellis_engine::Suspect::default()
        }],
        upstream: vec![Upstream {
            item: total(),
            implementation: trellis_python::Fragment::default(),
        }],
        ..Localization::default()
    };
    let around = ItemContext { file: SPREAD.to_owned(), ..ItemContext::default() };
    let script =
        vec![tests(), red(), bad(), fail(), fail(), Votes("A!"), Unusable("it stopped half way")];
    let found = Event::Localized(found);
    let played = play_in(&around, found, State::default(), &item(), &policy(), script);
    assert_eq!(
        played.asks.iter().map(|ask| ask.tools).collect::<Vec<_>>(),
        [false, false, false, true, true]
    );
    let prompt = &played.prompts[3];
    let tools = [
        "read_file",
        "write_file",
        "edit_file",
        "list_files",
        "grep",
        "find_symbol",
        "find_references",
        "replace_symbol_body",
        "insert_before_symbol",
        "insert_after_symbol",
        "suspects",
        "search_plan",
        "done",
    ];
    for part in tools.map(|tool| format!("`{tool}`")).iter().map(String::as_str).chain([
        "Traceback: AssertionError",
        "The arithmetic mean.",
        "## Suspect 1: `total`\nsrc/pkg/sums.py:0: executed by the failing test alone\nMeant to be: The sum.",
        "Fix `mean` in `src/pkg/stats.py`; its tests are in `tests/test_stats.py`.",
        "`total` in `src/pkg/sums.py`",
        "read-only",
    ]) {
        assert!(prompt.contains(part), "no `{part}` in:\n{prompt}");
    }
    for part in ["def test_one", "return 0.0", "sum(values) + 1", "max(values)", "SEARCH"] {
        assert!(!prompt.contains(part), "`{part}` in:\n{prompt}");
    }
    assert!(played.prompts[4].contains("It could not be used: it stopped half way"));
}

#[test]
fn what_is_the_item_s_own_is_taken_out_of_its_file() {
    let played =
        functions().check(&[(PATH, "math.fsum(values)", "math.fsum(values) / len(values)")]);
    assert_eq!(
        played.implementation(),
        "import math\n\n\ndef _check_mean(values):\n    return bool(values)\n\n\ndef mean(values: list[float]) -> float:\n    return math.fsum(values) / len(values)\n",
        "the names are those of the file"
    );
    assert!(played.draft.amended.is_empty());
    // A helper and its import; the item's own helper under the name that the file gave it.
    functions().check(&[
        (PATH, "import math\n", "import math\nimport re\n"),
        (PATH, "def _check_mean(values):\n    return bool(values)", "def _digits(text):\n    return re.findall(\"[0-9]+\", text)\n\n\ndef _check_mean(values):\n    return bool(_digits(str(values)))"),
    ]);
    // A helper that is no longer used, and its import.
    let played = functions().check(&[
        (PATH, "def _check_mean(values):\n    return bool(values)\n\n\n", ""),
        (PATH, "import math\n\n\n", ""),
        (PATH, "math.fsum(values)", "sum(values)"),
    ]);
    assert_eq!(
        played.implementation(),
        "def mean(values: list[float]) -> float:\n    return sum(values)\n"
    );
}

#[test]
fn what_belongs_to_a_suspect_that_passed_before_is_amended() {
    let both = functions().upstream(&["stats.spread", "sums.total"]);
    let played =
        both.check(&[(PATH, "max(values) - min(values)", "max(values) - min(values) + 0")]);
    assert_eq!(played.draft.amended.keys().collect::<Vec<_>>(), ["stats.spread"]);
    assert_eq!(played.implementation(), OWN, "what was not changed is as it was");
    let helper = "def _one():\n    return 0\n\n\ndef total(values):";
    let played = both.check(&[
        (SUMS, "sum(values) + 1", "sum(values) + _one()"),
        (SUMS, "def total(values):", helper),
        (PATH, "math.fsum(values)", "math.fsum(values) / len(values)"),
    ]);
    assert_eq!(played.draft.amended.keys().collect::<Vec<_>>(), ["sums.total"]);
    assert!(played.trace.contains("[upstream-fix]; wait"), "{}", played.trace);
}

#[test]
fn a_class_is_shared_method_by_method() {
    let own = ("return None", "return self");
    let played = methods().check(&[(PATH, own.0, own.1)]);
    assert_eq!(
        played.implementation(),
        "def fit(self, rows):\n    self.rows = self._clean(rows)\n    return self\n\n\ndef _clean(self, rows):\n    return rows\n"
    );
    // Helper methods, old and new.
    let (played, _) = methods().play(&[
        (PATH, "        return rows\n", "        return [row for row in rows if self._good(row)]\n\n    def _good(self, row):\n        return row\n"),
    ]);
    assert!(played.trace.ends_with("run green"), "{}", played.trace);
    assert!(
        played.implementation().contains("\ndef _good(self, row):\n    return row\n"),
        "{}",
        played.implementation()
    );
    // The class itself is a suspect: its own method, and the code next to methods.
    let with_class = methods().upstream(&["stats.Model"]);
    let played = with_class.check(&[
        (PATH, "self.rows = []", "self.rows = None"),
        (PATH, "A model.", "A good model."),
        (PATH, own.0, own.1),
    ]);
    let amended = MODEL.replace("[]", "None").replace("A model", "A good model");
    assert_eq!(played.draft.amended["stats.Model"].to_source(), amended);
    // A method with a node of its own is left to that node.
    let mut unfinished = methods();
    unfinished.texts.retain(|(item, _)| item.name != "predict");
    let (played, _) = unfinished.play(&[
        (PATH, own.0, own.1),
        (PATH, "    def fit(", "    def predict(self, rows):\n        return 1\n\n    def fit("),
    ]);
    assert!(played.trace.ends_with("run green"), "{}", played.trace);
    assert!(!played.implementation().contains("predict"), "{}", played.implementation());
    assert_eq!(played.note("implementation-adjusted"), "left to its own node: predict");
}

#[test]
fn what_belongs_to_others_is_refused() {
    let functions = functions().upstream(&["sums.total"]);
    let table: [(&str, &str, &str, &str); 7] = [
        (
            "tests/test_stats.py",
            "",
            "def test_one(): pass\n",
            "the edit of tests/test_stats.py was refused: tests are read-only while the implementation is fixed; change src/pkg/stats.py",
        ),
        (
            "tests/conftest.py",
            "",
            "x = 1\n",
            "the edit of tests/conftest.py was refused: tests are read-only while the implementation is fixed; change src/pkg/stats.py",
        ),
        (
            "src/pkg/__init__.py",
            "",
            "x = 1\n",
            "the edit of src/pkg/__init__.py was refused: it belongs to other nodes; change src/pkg/stats.py",
        ),
        (
            "src/pkg/new.py",
            "",
            "x = 1\n",
            "the edit of src/pkg/new.py was refused: it belongs to other nodes; change src/pkg/stats.py",
        ),
        (
            PATH,
            "max(values) - min(values)",
            "0",
            "the edit of `spread` in src/pkg/stats.py was refused: it belongs to other nodes; change `mean`",
        ),
        (
            PATH,
            "def _check(values):\n    return len(values) > 1\n\n\n",
            "",
            "the edit of `_check` in src/pkg/stats.py was refused: it belongs to other nodes; change `mean`",
        ),
        (
            PATH,
            "def mean(",
            "def mean((",
            "after the edit the file has a syntax error: line 16, column 10: expected `)`, found `(`",
        ),
    ];
    for (path, old, new, why) in table {
        functions.check_refused(&[(path, old, new)], why);
    }
    let table = [
        ("[0 for _ in rows]", "[]", "Model.predict"),
        ("self.rows = []", "self.rows = None", "Model.__init__"),
        ("A model.", "A good model.", "Model"),
    ];
    for (old, new, name) in table {
        let why = format!(
            "the edit of `{name}` in src/pkg/stats.py was refused: it belongs to other nodes; change `Model.fit`"
        );
        methods().check_refused(&[(PATH, old, new)], &why);
    }
}

#[test]
fn files_left_as_they_were_are_an_attempt() {
    let nothing = "the answer changes nothing";
    functions().check_refused(&[], nothing);
    functions().check_refused(&[(PATH, "def mean", "def mean")], nothing);
    functions().check_refused(&[(PATH, "\n\n\ndef mean", "\n\n\n\ndef mean")], nothing);
    let gone = "def mean(values: list[float]) -> float:\n    return math.fsum(values)\n";
    functions().check_refused(&[(PATH, gone, "")], "the files do not define `mean`");
}

#[test]
fn a_definition_that_was_not_there_can_be_written_into_the_file() {
    let mut nothing_yet = functions();
    nothing_yet.texts.last_mut().expect("own").1 = String::new();
    let (played, _) = nothing_yet.play(&[(
        PATH,
        "def spread",
        "def mean(values: list[float]) -> float:\n    return sum(values)\n\n\ndef spread",
    )]);
    assert!(
        played.trace.ends_with("[attempt-unusable]; search; ask fix 0; run green"),
        "{}",
        played.trace
    );
    assert_eq!(
        played.implementation(),
        "def mean(values: list[float]) -> float:\n    return sum(values)\n"
    );
}
