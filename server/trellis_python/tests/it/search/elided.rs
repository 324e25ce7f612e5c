//! Lines of `...` in both texts stand for lines that stay.

use trellis_python::EditRefused;

use super::{applied, check, check_ambiguous};

const REPORT: &str = "def report(items):\n    \"\"\"Make a report.\"\"\"\n    lines = []\n    for item in items:\n        lines.append(item)\n    lines.sort()\n    return lines[1:]\n";

#[test]
fn dots_on_both_sides_stand_for_lines_that_stay() {
    let sorted = REPORT.replace("a report", "a report, sorted").replace("[1:]", "");
    let edit = |dots: &str| {
        let search = format!(
            "def report(items):\n    \"\"\"Make a report.\"\"\"\n{dots}\n    lines.sort()\n    return lines[1:]\n"
        );
        let replace = search.replace("a report", "a report, sorted").replace("[1:]", "");
        [search, replace]
    };
    for dots in ["...", "    ...", "# ...", "    # ...", "\t...  ", "#..."] {
        let [search, replace] = edit(dots);
        check(&[(REPORT, [&search, &replace], &sorted)]);
        // No line break at the end of the file.
        let last = [search.trim_end(), replace.trim_end()];
        check(&[(REPORT.trim_end(), last, sorted.trim_end())]);
        // The dots may differ.
        let other = edit("...");
        check(&[(REPORT, [&search, &other[1]], &sorted)]);
    }
}

#[test]
fn pieces_are_laid_out_like_their_lines() {
    let inner = REPORT.lines().map(|it| format!("\t{}\n", it.replace("    ", "\t")));
    let text: String = std::iter::once("class Größe:\n".to_owned()).chain(inner).collect();
    let wanted = text.replace("\t\tlines.sort()\n", "\t\tif lines:\n\t\t\tlines.sort()\n");
    check(&[(
        &text,
        [
            "def report(items):\n...\n    lines.sort()\n...\n",
            "def report(items):\n...\n    if lines:\n        lines.sort()\n...\n",
        ],
        &wanted,
    )]);
    // Lines may be added to and taken from a piece; dots may stand at the beginning.
    check(&[(
        REPORT,
        [
            "...\n    lines = []\n...\n        lines.append(item)\n    lines.sort()\n",
            "...\n    lines = []\n    seen = set()\n...\n        lines.append(item)\n",
        ],
        &REPORT
            .replace("    lines = []\n", "    lines = []\n    seen = set()\n")
            .replace("    lines.sort()\n", ""),
    )]);
    // Deeper lines after one that opens a block are in this block.
    check(&[(
        "def f(\n    a,\n):\n    if a:\n        b()\n    else:\n        c()\n    return a\n\n\ndef g():\n    return a\n",
        [
            "def f(\n    a,\n):\n    if a:\n...\n        c()\n",
            "def f(\n    a,\n):\n    if not a:\n...\n        d()\n",
        ],
        "def f(\n    a,\n):\n    if not a:\n        b()\n    else:\n        d()\n    return a\n\n\ndef g():\n    return a\n",
    )]);
    // A line before the first piece is not in order.
    check(&[(
        "a = 1\nreturn x\nb = 2\nc = 3\nreturn x\n",
        ["b = 2\n...\nreturn x\n", "b = 2\n...\nreturn y\n"],
        "a = 1\nreturn x\nb = 2\nc = 3\nreturn y\n",
    )]);
}

#[test]
fn dots_that_stand_in_the_file_are_code() {
    let stub = "class P:\n    def f(self):\n        ...\n\n    def g(self):\n        ...\n";
    check(&[
        (
            stub,
            ["    def g(self):\n        ...\n", "    def g(self, x):\n        ...\n"],
            &stub.replace("g(self)", "g(self, x)"),
        ),
        (
            stub,
            ["def g(self):\n    ...\n", "def g(self):\n    ...\n\ndef h(self):\n    pass\n"],
            &format!("{stub}\n    def h(self):\n        pass\n"),
        ),
        // Dots in one side only are code.
        (
            stub,
            ["def g(self):\n    ...\n", "def g(self):\n    pass\n"],
            "class P:\n    def f(self):\n        ...\n\n    def g(self):\n        pass\n",
        ),
    ]);
}

#[test]
fn dots_that_are_not_clear_are_refused() {
    let not_found = |edit| {
        let refused = applied(REPORT, edit, None);
        assert!(
            matches!(refused, Err(EditRefused::NotFound | EditRefused::Uncertain { .. })),
            "{edit:?}: {refused:?}"
        );
    };
    // In one side only, or not the same number.
    not_found([
        "def report(items):\n...\n    lines.sort()\n",
        "def report(items):\n    lines.sort()\n",
    ]);
    not_found([
        "def report(items):\n...\n    lines.sort()\n",
        "def report(items):\n...\n    lines.sort()\n...\n",
    ]);
    not_found([
        "def report(items):\n    lines.sort()\n",
        "def report(items):\n...\n    lines.sort()\n",
    ]);
    // Not in order, or not there.
    not_found([
        "    lines.sort()\n...\n    lines = []\n",
        "    lines.sort()\n...\n    lines = {}\n",
    ]);
    not_found(["def report(items):\n...\n    none()\n", "def report(items):\n...\n    one()\n"]);
    // New lines where the search says nothing.
    not_found(["...\n    lines.sort()\n", "    first()\n...\n    lines.sort()\n"]);
    not_found(["...\n", "...\n"]);
    let text =
        "def f():\n    a = 1\n    return x\n\n\ndef g():\n    b = 2\n    c = 3\n    return x\n";
    check_ambiguous(
        text,
        ["def f():\n...\n    return x\n", "def f():\n...\n    return y\n"],
        &[3, 9],
    );
    let twice = "x = 1\na = 1\nx = 1\nb = 2\ny = 1\n";
    check_ambiguous(twice, ["x = 1\n...\ny = 1\n", "x = 2\n...\ny = 1\n"], &[1, 3]);
}
