//! A replacement is indented as a whole, level by level, like the lines that it replaces.

use super::{applied, check};

const TOTAL: &str = "def total(prices):\n    total = 0\n    for price in prices:\n        total += price\n    return total\n";

#[test]
fn a_search_without_indentation_is_moved_as_a_whole() {
    check(&[
        (
            TOTAL,
            ["return total\n", "if total < 0:\n    total = 0\nreturn total\n"],
            "def total(prices):\n    total = 0\n    for price in prices:\n        total += price\n    if total < 0:\n        total = 0\n    return total\n",
        ),
        (
            "K = {}\n\n\ndef f(name, kind):\n    K[name] = kind\n",
            ["K[name] = kind\n", "K[name.lower()] = kind\nS[\"größe\"] = len(K)\n"],
            "K = {}\n\n\ndef f(name, kind):\n    K[name.lower()] = kind\n    S[\"größe\"] = len(K)\n",
        ),
        // No line break at the end, neither of the file nor of the texts.
        (
            "def f():\n\treturn 1",
            ["return 1", "if x:\n\treturn 2\nreturn 1"],
            "def f():\n\tif x:\n\t\treturn 2\n\treturn 1",
        ),
        // Deleted as whole lines.
        ("def f():\n    a = 1\n    b = 2\n", ["a = 1\n", ""], "def f():\n    b = 2\n"),
        // Another indentation than the file's.
        (
            "class A:\n    def f(self):\n        return 1\n",
            ["    return 1\n", "    if x:\n        return 2\n    return 1\n"],
            "class A:\n    def f(self):\n        if x:\n            return 2\n        return 1\n",
        ),
        (
            "def f():\n    return 1\n",
            [
                "            return 1\n",
                "            if x:\n                return 2\n            return 1\n",
            ],
            "def f():\n    if x:\n        return 2\n    return 1\n",
        ),
        // Decorators.
        (
            "class A:\n    @cached\n    def f(self):\n        return 1\n",
            ["@cached\ndef f(self):\n", "@property\n@cached\ndef f(self):\n    self.g()\n"],
            "class A:\n    @property\n    @cached\n    def f(self):\n        self.g()\n        return 1\n",
        ),
    ]);
}

/// A text cut out of the file after the indentation of its first line.
#[test]
fn a_text_cut_out_after_its_indentation_stays_as_it_is() {
    check(&[
        (
            TOTAL,
            ["return total\n", "if total < 0:\n        total = 0\n    return total\n"],
            "def total(prices):\n    total = 0\n    for price in prices:\n        total += price\n    if total < 0:\n        total = 0\n    return total\n",
        ),
        (
            TOTAL,
            [
                "for price in prices:\n        total += price\n",
                "for price in prices:\n        total += price\n    if total < 0:\n        total = 0\n",
            ],
            "def total(prices):\n    total = 0\n    for price in prices:\n        total += price\n    if total < 0:\n        total = 0\n    return total\n",
        ),
        // One level below the first line, which is that of the file.
        (
            TOTAL,
            [
                "total += price\n",
                "if price:\n            total += price\n        else:\n            pass\n",
            ],
            "def total(prices):\n    total = 0\n    for price in prices:\n        if price:\n            total += price\n        else:\n            pass\n    return total\n",
        ),
        (
            TOTAL,
            ["return total", "if total:\n    return total"],
            "def total(prices):\n    total = 0\n    for price in prices:\n        total += price\n    if total:\n        return total\n",
        ),
        // Parts of statements.
        (
            "def f():\n    if a:\n        b()\n    else:\n        c()\n",
            ["else:\n", "elif d:\n        e()\n    else:\n"],
            "def f():\n    if a:\n        b()\n    elif d:\n        e()\n    else:\n        c()\n",
        ),
        (
            "def f():\n    if a:\n        b()\n    else:\n        c()\n",
            ["else:\n", "elif d:\n    e()\nelse:\n"],
            "def f():\n    if a:\n        b()\n    elif d:\n        e()\n    else:\n        c()\n",
        ),
        (
            "def f():\n    for a in b:\n            c()\n",
            ["for a in b:\n", "for a in b:\n    if a:\n"],
            "def f():\n    for a in b:\n        if a:\n            c()\n",
        ),
        (
            "class A:\n    @one\n    def f(self): pass\n",
            ["@one\n", "@one\n    @two\n"],
            "class A:\n    @one\n    @two\n    def f(self): pass\n",
        ),
        (
            TOTAL,
            ["return total", "total += 1\n    return total"],
            "def total(prices):\n    total = 0\n    for price in prices:\n        total += price\n    total += 1\n    return total\n",
        ),
    ]);
}

#[test]
fn all_places_are_indented_each_like_its_own() {
    let text = "if a:\n    f()\n\tg(f())\nf()\n";
    let edit = ["f()", "if b:\n    f()"];
    let all = applied(text, edit, Some(0));
    let wanted = "if a:\n    if b:\n        f()\n\tg(if b:\n    f())\nif b:\n    f()\n";
    assert_eq!(all.as_deref(), Ok(wanted));
}

#[test]
fn the_inside_of_new_strings_stays() {
    check(&[
        (
            "class A:\n    def f(self):\n        return 1\n",
            ["return 1\n", "x = '''\n  raw\n    deep\n'''\nif x:\n    return x\n"],
            "class A:\n    def f(self):\n        x = '''\n  raw\n    deep\n'''\n        if x:\n            return x\n",
        ),
        // A string that stands in the file keeps its text.
        (
            "def f():\n    x = '''\n  raw\n'''\n    return x\n",
            ["x = '''\n  raw\n'''\nreturn x\n", "x = '''\n  raw\n'''\ny = 1\nreturn x\n"],
            "def f():\n    x = '''\n  raw\n'''\n    y = 1\n    return x\n",
        ),
        // Docstrings move with their code.
        (
            "class A:\n\tdef f(self):\n\t\treturn 1\n",
            [
                "def f(self):\n    return 1\n",
                "def f(self):\n    \"\"\"One.\n\n    Two.\n    \"\"\"\n    return 1\n",
            ],
            "class A:\n\tdef f(self):\n\t\t\"\"\"One.\n\n\t\tTwo.\n\t\t\"\"\"\n\t\treturn 1\n",
        ),
        // It moves if that of the search is moved.
        (
            "def f():\n    q = \"\"\"\n    select 1\n    \"\"\"\n    return q\n",
            [
                "        q = \"\"\"\n        select 1\n        \"\"\"\n        return q\n",
                "        q = \"\"\"\n        select 2\n          from t\n        \"\"\"\n        return q\n",
            ],
            "def f():\n    q = \"\"\"\n    select 2\n      from t\n    \"\"\"\n    return q\n",
        ),
    ]);
}

/// Text that is no Python has levels as well.
#[test]
fn lines_of_other_languages_keep_their_levels() {
    check(&[
        (
            "jobs:\n  test:\n    steps:\n      - run: a\n",
            ["- run: a\n", "- run: a\n  with:\n    x: 1\n- run: b\n"],
            "jobs:\n  test:\n    steps:\n      - run: a\n        with:\n          x: 1\n      - run: b\n",
        ),
        ("a:\n  b: 1\n", ["b: 1", "b: 1\n  c: 2"], "a:\n  b: 1\n  c: 2\n"),
    ]);
}
