//! Tests of files in unusual forms: taken as meant, or refused as a whole.

use std::collections::BTreeMap;

use trellis_engine::EditableFiles;
use trellis_engine::issue::changes;

struct Files(BTreeMap<&'static str, &'static str>);

impl EditableFiles for Files {
    fn text(&self, path: &str) -> Option<String> {
        self.0.get(path).map(|it| (*it).to_owned())
    }

    fn read_only(&self, _path: &str) -> Option<&'static str> {
        None
    }
}

fn files() -> Files {
    let texts = [
        ("shop/cart.py", "def total(prices):\n    return sum(prices)\n"),
        ("shop/old.py", "\u{feff}A = 1\r\nB = 2\r\n"),
        ("README.md", "# Shop\n"),
    ];
    Files(texts.into())
}

const TAX: &str = "shop/tax.py\n```python\nVAT = 0.2\n```\n";

#[track_caller]
fn makes(answer: &str, wanted: &[(&str, &str)]) {
    let wanted = wanted.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    assert_eq!(changes(answer, &files()), Ok(wanted.collect()), "{answer}");
}

#[track_caller]
fn is_refused(answer: &str, words: &str) {
    let why = changes(answer, &files()).expect_err(answer).for_model;
    assert!(why.contains(words), "{why} for {answer}");
}

#[test]
fn files_of_any_kind_are_taken() {
    let leads = [
        "docs/usage.rst\n```rst",
        "Makefile\n```makefile",
        "**docs/usage.md** (new file)\n```markdown",
        "File: setup.cfg\n```ini",
        ".env.example\n```",
        "Here:\n```toml title=\"app.toml\"",
        "Here:\n```app/x.json",
    ];
    for lead in leads {
        let taken = changes(&format!("{TAX}\n{lead}\ntext\n```\n"), &files()).expect(lead);
        assert_eq!(taken.len(), 2, "{lead}: {taken:?}");
        assert!(taken.values().any(|it| it == "text\n"), "{lead}: {taken:?}");
    }
    makes("New:\n```python\n# shop/tax.py\nVAT = 1\n```\n", &[("shop/tax.py", "VAT = 1\n")]);
    makes(&TAX.replace("shop/tax", "b/shop/cart"), &[("shop/cart.py", "VAT = 0.2\n")]);
}

#[test]
fn commands_and_changes_are_no_files() {
    let tax = [("shop/tax.py", "VAT = 0.2\n")];
    makes(&format!("{TAX}\nRun the tests of\n* shop/cart.py\n```bash\npytest\n```\n"), &tax);
    makes(&format!("{TAX}\nUse `shop/tax.py` so:\n```python\nprint(VAT)\n```\n"), &tax);
    is_refused(
        &format!("{TAX}\nREADME.md\n```diff\n-# Shop\n+# Store\n```\n"),
        "a diff of README.md",
    );
    let unclear = format!("{TAX}\nHere is the new `docs/use.md`:\n```\n# Use\n```\n");
    is_refused(&unclear, "not clear whether a fence is the text of docs/use.md");
}

#[test]
fn a_text_may_show_fences_and_marks() {
    let readme = "# Shop\n\n```\npip install shop\n```\n\nThen:\n\n```\nshop\n```\n";
    let answer = format!("README.md\n```markdown\n{readme}```\n\n{TAX}");
    makes(&answer, &[("README.md", readme), ("shop/tax.py", "VAT = 0.2\n")]);
    makes(
        &format!("{TAX}\nREADME.md\n```markdown\n{readme}```\n"),
        &[("README.md", readme), ("shop/tax.py", "VAT = 0.2\n")],
    );
    let merges = "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n";
    makes(
        &format!("docs/merge.md\n```\n# Marks\n{merges}```\n"),
        &[("docs/merge.md", &format!("# Marks\n{merges}"))],
    );
    let asks = "docs/need.md\n```\nNEED shop/cart.py\n```\n";
    makes(asks, &[("docs/need.md", "NEED shop/cart.py\n")]);
}

#[test]
fn line_ends_and_the_mark_of_a_file_stay() {
    let answer = "shop/old.py\n```python\nA = 1\nB = 3\n```\n";
    makes(answer, &[("shop/old.py", "\u{feff}A = 1\r\nB = 3\r\n")]);
}

#[test]
fn what_is_cut_off_or_left_out_is_refused() {
    is_refused("shop/tax.py\n```python\nVAT = 0.2\n", "shop/tax.py has no end");
    let elided =
        "README.md\n```markdown\n# Store\n<!-- ... rest of the file unchanged ... -->\n```\n";
    is_refused(elided, "takes the place of lines that would be lost");
    let draft = format!("<think>\nshop/draft.py\n```python\nX = 1\n```\n</think>\n{TAX}");
    makes(&draft, &[("shop/tax.py", "VAT = 0.2\n")]);
}

#[test]
fn a_comment_of_dots_is_text_where_nothing_is_lost() {
    let script = "#!/bin/sh\n# ...\necho done\n";
    makes(&format!("run.sh\n```sh\n{script}```\n"), &[("run.sh", script)]);
    let readme = "# Shop\n\n    total([1])\n    # ...\n";
    makes(&format!("README.md\n```markdown\n{readme}```\n"), &[("README.md", readme)]);
    is_refused("README.md\n```markdown\n# Store\n# ...\n```\n", "would be lost");
    is_refused("shop/tax.py\n```python\nVAT = 1\n# ... rest unchanged\n```\n", "would be lost");
}

#[test]
fn blocks_are_meant_for_the_text_that_was_shown() {
    let block = |search: &str, replace: &str| {
        format!("<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n")
    };
    let head = block("def total(prices):", "def total(prices, tax=0):");
    let both = block(
        "def total(prices):\n    return sum(prices)",
        "def total(prices):\n    return sum(prices) + tax",
    );
    makes(
        &format!("shop/cart.py\n{head}{both}"),
        &[("shop/cart.py", "def total(prices, tax=0):\n    return sum(prices) + tax\n")],
    );
    let first = block("def total(prices):", "def total(prices):\n    prices = list(prices)");
    let again = |end: &str| {
        let made = "def total(prices):\n    prices = list(prices)";
        block(
            "def total(prices):\n    return sum(prices)",
            &format!("{made}\n    return {end}(prices)"),
        )
    };
    makes(
        &format!("shop/cart.py\n{first}{}", again("sum")),
        &[(
            "shop/cart.py",
            "def total(prices):\n    prices = list(prices)\n    return sum(prices)\n",
        )],
    );
    is_refused(&format!("shop/cart.py\n{first}{}", again("max")), "another edit changes its lines");
    let other = block("    return sum(prices)", "    return max(prices)");
    is_refused(&format!("shop/cart.py\n{both}{other}"), "another edit changes its lines");
}
