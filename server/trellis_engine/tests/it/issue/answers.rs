//! Tests of the changes that replies make to a project's files.

use std::collections::BTreeMap;

use trellis_engine::EditableFiles;
use trellis_engine::issue::changes;

struct Files(BTreeMap<&'static str, &'static str>);

impl EditableFiles for Files {
    fn text(&self, path: &str) -> Option<String> {
        self.0.get(path).map(|it| (*it).to_owned())
    }

    fn read_only(&self, path: &str) -> Option<&'static str> {
        path.starts_with("tests/").then_some("tests are read-only")
    }

    fn is_shown(&self, path: &str) -> bool {
        !path.starts_with("hidden/")
    }
}

const CART: &str = "def total(prices):\n    return sum(prices)\n";

fn files() -> Files {
    Files([("shop/cart.py", CART), ("tests/test_cart.py", "x = 1\n")].into())
}

#[test]
fn whole_files_and_edits_are_taken_together() {
    let table = [
        ("shop/tax.py\n```python\nVAT = 0.2\n```\n", vec![("shop/tax.py", "VAT = 0.2\n")]),
        ("### `shop/tax.py`\n\n```python\nVAT = 0.2\n```\n", vec![("shop/tax.py", "VAT = 0.2\n")]),
        ("**./shop/tax.py**:\n```\nVAT = 0.2\n```\n", vec![("shop/tax.py", "VAT = 0.2\n")]),
        ("Here:\n```python shop/Tax.py\nVAT = 0.2\n```\n", vec![("shop/Tax.py", "VAT = 0.2\n")]),
        ("```js:web/app.js\nlet a;\n```\n", vec![("web/app.js", "let a;\n")]),
        (
            "shop/cart.py\n<<<<<<< SEARCH\n    return sum(prices)\n=======\n    return sum(prices, 0)\n>>>>>>> REPLACE\n\nshop/tax.py\n```python\nVAT = 0.2\n```\n",
            vec![
                ("shop/cart.py", "def total(prices):\n    return sum(prices, 0)\n"),
                ("shop/tax.py", "VAT = 0.2\n"),
            ],
        ),
        // A block that searches for nothing creates a file.
        ("a.py\n<<<<<<< SEARCH\n=======\nA = 1\n>>>>>>> REPLACE\n", vec![("a.py", "A = 1\n")]),
    ];
    for (answer, wanted) in table {
        let wanted = wanted.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned()));
        assert_eq!(changes(answer, &files()), Ok(wanted.collect()), "{answer}");
    }
}

const DOC: &str = "\"\"\"\nSummary\n=======\n\nWhat it does.\n\"\"\"\n\nTITLE = 1\n";

/// Texts of a block may hold lines that look like the block's own.
#[test]
fn a_block_is_divided_where_its_search_text_says_it() {
    let heading = "Summary\n=======\n\nWhat it does.\n";
    let longer = "Summary\n=======\n\nWhat it does, and why.\n";
    let plain = "Summary\n\nWhat it does.\n";
    let two = "Summary\n=======\n\nWhat it does.\n\nMore\n=======\n";
    let table = [
        // In both texts, only in the search, only in the replacement, more often in the
        // replacement.
        (heading, longer),
        (heading, plain),
        ("TITLE = 1\n", "TITLE = '''\nA title\n=======\n'''\n"),
        (heading, two),
        // Eight signs are no divider, nor are seven that are indented.
        ("TITLE = 1\n", "TITLE = '''\n========\n    =======\n======\n'''\n"),
        // Conflict markers, to be kept.
        ("TITLE = 1\n", "TITLE = '''\n<<<<<<< one\n'''\n"),
    ];
    for (search, replace) in table {
        for indent in ["", "  "] {
            let block = format!("<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n");
            let lines = block.lines().map(|it| format!("{indent}{it}\n"));
            let answer = format!("doc.py\n{}", lines.collect::<String>());
            let files = Files([("doc.py", DOC)].into());
            let wanted = [("doc.py".to_owned(), DOC.replace(search, replace))].into();
            assert_eq!(changes(&answer, &files), Ok(wanted), "{answer}");
        }
    }
    // Edits are never applied in part.
    let one = "doc.py\n<<<<<<< SEARCH\nTITLE = 1\n=======\nTITLE = 2\n>>>>>>> REPLACE\n";
    let open = "doc.py\n<<<<<<< SEARCH\nTITLE = 1\n=======\nTITLE = 2\n";
    for (answer, words) in [
        (open.to_owned(), "of doc.py has no end"),
        (format!("{one}{open}"), "of doc.py has no end"),
        (one.replace("=======", "    ======="), "is not divided"),
        (
            one.replace("TITLE = 1", "Title\n======="),
            "of 2 lines that may divide the block none makes sense",
        ),
    ] {
        let said =
            changes(&answer, &Files([("doc.py", DOC)].into())).expect_err("half an edit").for_model;
        assert!(said.contains(words), "{said}");
    }
}

/// A fence within a string, or within a text that shows fences, is part of the text.
#[test]
fn fences_within_a_text_do_not_end_it() {
    let table = [
        (
            "a.py",
            "python",
            "def f():\n    \"\"\"A page.\n\n```python\nf()\n```\n    \"\"\"\n    return 1\n",
        ),
        ("a.py", "python", "PAGE = f'''\n```\n{1 + 1}\n```\n'''\nEND = 1\n"),
        ("a.py", "", "PAGE = rb'''\n```\n'''\nEND = 1\n"),
        (
            "a.py",
            "python",
            "# it's a comment, and \"\"\" opens nothing\nPAGE = \"\"\"\n```sh\nls\n```\n\"\"\"\nEND = 1\n",
        ),
        (
            "README.md",
            "markdown",
            "# A\n\n```sh\nls\n```\n\nand\n\n```python\nf()\n```\n\nThe end.\n",
        ),
        ("page.js", "js", "const page = `\n```js\nf()\n```\n`\nlet end\n"),
    ];
    for (path, language, text) in table {
        let answer = format!("Here it is.\n\n{path}\n```{language}\n{text}```\n\nThat is all.\n");
        let wanted = [(path.to_owned(), text.to_owned())];
        assert_eq!(changes(&answer, &Files([].into())), Ok(wanted.clone().into()), "{answer}");
        // Another file after it.
        let answer = format!("{answer}\nb.py\n```python\nB = 1\n```\n");
        let [one] = wanted;
        let both = [one, ("b.py".to_owned(), "B = 1\n".to_owned())];
        assert_eq!(changes(&answer, &Files([].into())), Ok(both.into()), "{answer}");
    }
    // A string that is never closed is an error of the model, not of the fence.
    let answer = "a.py\n```python\nA = \"\"\"\n```\n\nb.py\n```python\nB = 1\n```\n";
    let said = changes(answer, &Files([].into())).expect_err("no Python").for_model;
    assert!(said.contains("a.py would be broken"), "{said}");
}

#[test]
fn what_cannot_be_used_is_reported_and_changes_nothing() {
    let table = [
        ("I would rather not.", "it holds no file under its path"),
        ("```python\nVAT = 0.2\n```\n", "it holds no file under its path"),
        (
            "shop/cart.py\n```python\ndef total(prices):\n    return sum(prices)\n```\n",
            "it holds no file",
        ),
        (
            "tests/test_cart.py\n```python\nx = 2\n```\n",
            "tests/test_cart.py may not be changed: tests are read-only",
        ),
        ("shop/tax.py\n```python\ndef (:\n```\n", "shop/tax.py would be broken"),
        ("a.py\n```\nA = 1\n```\na.py\n```\nA = 2\n```\n", "it holds a.py twice"),
        ("b.py\n<<<<<<< SEARCH\nA\n=======\nB\n>>>>>>> REPLACE\n", "there is no file b.py"),
        ("<<<<<<< SEARCH\nA\n=======\nB\n>>>>>>> REPLACE\n", "a search/replace block has no path"),
        (
            "shop/cart.py\n<<<<<<< SEARCH\nnowhere\n=======\nB\n>>>>>>> REPLACE\n",
            "the edit of shop/cart.py was refused",
        ),
    ];
    for (answer, wanted) in table {
        let why = changes(answer, &files()).expect_err(answer).for_model;
        assert!(why.starts_with(wanted), "{answer}: {why}");
    }
}

/// A file that no prompt has shown is not replaced, but shown first.
#[test]
fn nothing_is_rewritten_unseen() {
    let files = Files(
        [("hidden/tax.py", "VAT = 20\n"), ("hidden/__init__.py", ""), ("shop/cart.py", CART)]
            .into(),
    );
    let whole = |path: &str| format!("{path}\n```python\nNEW = 1\n```\n");
    let block = |search: &str| {
        format!("hidden/tax.py\n<<<<<<< SEARCH\n{search}\n=======\nVAT = 19\n>>>>>>> REPLACE\n")
    };
    let refused = [
        (whole("hidden/tax.py"), "hidden/tax.py exists, and you had not seen it whole"),
        (block("RATE = 1"), "the edit of hidden/tax.py was refused"),
        ("I have to look.\nNEED hidden/tax.py\n".to_owned(), "you asked for hidden/tax.py"),
        ("NEED `hidden/tax.py`\nNEED nowhere.py\n".to_owned(), "you asked for hidden/tax.py"),
    ];
    for (answer, why) in refused {
        let refused = changes(&answer, &files).expect_err("unseen");
        assert!(refused.for_model.starts_with(why), "{}", refused.for_model);
        assert_eq!(refused.show, ["hidden/tax.py"]);
    }
    let taken = [
        whole("shop/cart.py"),
        whole("hidden/new.py"),
        // An empty file has nothing to lose.
        whole("hidden/__init__.py"),
        // A model that quotes lines of the file has seen them.
        block("VAT = 20"),
        format!("NEED shop/cart.py\n{}", whole("shop/new.py")),
    ];
    for answer in taken {
        assert!(changes(&answer, &files).is_ok(), "{answer}");
    }
}
