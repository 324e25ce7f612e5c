//! Symbol edits: whole files before and after, and refusals.

use trellis_python::{
    NamePath, Refused, TextEdit, TextEdits, delete_symbol, insert_after_symbol,
    insert_before_symbol, insert_into_class, replace_symbol_body, unified_diff,
};

#[derive(Clone, Copy, Debug)]
enum Tool {
    Replace,
    Before,
    After,
    Into,
    Delete,
}

use Tool::{After, Before, Delete, Into, Replace};

fn edits(tool: Tool, source: &str, path: &str, text: &str) -> Result<TextEdits, Refused> {
    let path = &NamePath::parse(path).expect("a name path");
    match tool {
        Replace => replace_symbol_body(source, path, text),
        Before => insert_before_symbol(source, path, text),
        After => insert_after_symbol(source, path, text),
        Into => insert_into_class(source, path, text),
        Delete => delete_symbol(source, path),
    }
}

/// Tool, name path, file before, new text, file after.
type Case = (Tool, &'static str, &'static str, &'static str, &'static str);

fn check(cases: &[Case]) {
    for (tool, path, before, text, after) in cases {
        let edits = edits(*tool, before, path, text)
            .unwrap_or_else(|e| panic!("{tool:?} {path} in {before:?}: {e}"));
        let found = edits.apply(before);
        assert_eq!(found, *after, "{tool:?} {path} with {text:?}");
        let back = edits.inverse(before);
        assert_eq!(back.apply(&found), *before, "undo of {tool:?} {path}");
        assert_eq!(back.inverse(&found), edits);
    }
}

#[test]
fn a_body_replaces_the_body_and_nothing_else() {
    check(&[
        (
            Replace,
            "f",
            "# above\n@deco(1)\n\ndef f(a,  b = 2) : # why\n    '''Doc.'''\n    # inner\n    return a # last\n    # deeper\n# below\nx = 1\n",
            "if a:\n    return b\nreturn a",
            "# above\n@deco(1)\n\ndef f(a,  b = 2) : # why\n    if a:\n        return b\n    return a\n# below\nx = 1\n",
        ),
        // Text copied from a class, as a whole or without the indentation of its first line.
        (
            Replace,
            "A/m",
            "class A:\n    def m(self):\n        pass\n\n    y = 2\n",
            "        x = 1\n        return x\n",
            "class A:\n    def m(self):\n        x = 1\n        return x\n\n    y = 2\n",
        ),
        (
            Replace,
            "A/m",
            "class A:\n    def m(self):\n        pass\n",
            "for i in x:\n            pass\n        return x",
            "class A:\n    def m(self):\n        for i in x:\n            pass\n        return x\n",
        ),
        // A definition cut out after its margin.
        (
            Replace,
            "A/m",
            "class A:\n    def m(self):\n        pass\n",
            "def m(self):\n        return \"\"\"\nraw\"\"\"",
            "class A:\n    def m(self):\n        return \"\"\"\nraw\"\"\"\n",
        ),
        // One line stays one line if possible.
        (Replace, "f", "def f(): return 1  # why\n", "return 2", "def f(): return 2  # why\n"),
        (
            Replace,
            "f",
            "def f(): return 1  # why\n",
            "x = 2\nreturn x",
            "def f():  # why\n    x = 2\n    return x\n",
        ),
        (
            Replace,
            "f",
            "class A:\n\tdef f(self): ...\n",
            "if self:\n  return 1",
            "class A:\n\tdef f(self):\n\t\tif self:\n\t\t\treturn 1\n",
        ),
        // Nested, async, with a return type over many lines; the file has no final line break.
        (
            Replace,
            "f/g",
            "def f():\n  async def g(\n      a,\n  ) -> dict[\n      str, int\n  ]:\n    return {}\n  return g",
            "if a:\n    return {a: 1}\nreturn {}",
            "def f():\n  async def g(\n      a,\n  ) -> dict[\n      str, int\n  ]:\n    if a:\n      return {a: 1}\n    return {}\n  return g",
        ),
        // The inside of a string is data; a docstring moves with its code.
        (
            Replace,
            "A/m",
            "class A:\n    def m(self):\n        return ''\n",
            "'''Doc.\n\nMore.\n'''\nreturn '''\n  raw\n'''",
            "class A:\n    def m(self):\n        '''Doc.\n\n        More.\n        '''\n        return '''\n  raw\n'''\n",
        ),
        // The body of a class is its members.
        (
            Replace,
            "A",
            "@d\nclass A(B):\n    x = 1\n\n    def f(self): pass\n\n\ny = 1\n",
            "def g(self):\n    return 1",
            "@d\nclass A(B):\n    def g(self):\n        return 1\n\n\ny = 1\n",
        ),
        // Windows line breaks, a byte order mark, a form feed, a declared encoding.
        (
            Replace,
            "f",
            "\u{feff}# coding: utf-8\r\n\x0c\r\ndef f():\r\n    return 1\r\n\x0cx = 1\r\n",
            "if 1:\n    return 2",
            "\u{feff}# coding: utf-8\r\n\x0c\r\ndef f():\r\n    if 1:\r\n        return 2\r\n\x0cx = 1\r\n",
        ),
    ]);
}

#[test]
fn a_definition_brings_its_header() {
    check(&[
        (
            Replace,
            "f",
            "# about f\n@a\n@b(\n    1)\ndef f(x):\n    return x\n\n\nf(1)\n",
            "async def f(x, y=2) -> int:\n    '''Doc.'''\n    return x",
            "# about f\n@a\n@b(\n    1)\nasync def f(x, y=2) -> int:\n    '''Doc.'''\n    return x\n\n\nf(1)\n",
        ),
        (
            Replace,
            "A/f",
            "class A:\n    # old\n    @a\n    def f(self): return 1\n\n    g = f\n",
            "# new\n@b\n@c\ndef f(self):\n    return 2\n",
            "class A:\n    # new\n    @b\n    @c\n    def f(self):\n        return 2\n\n    g = f\n",
        ),
        (
            Replace,
            "A",
            "class A: pass\nx = 1\n",
            "class A(B):\n    def f(self):\n        return 2",
            "class A(B):\n    def f(self):\n        return 2\nx = 1\n",
        ),
        (
            Replace,
            "A/f[1]",
            "class A:\n    @property\n    def f(self): return 1\n    @f.setter\n    def f(self, v): pass\n",
            "def f(self, value):\n    self.v = value",
            "class A:\n    @property\n    def f(self): return 1\n    @f.setter\n    def f(self, value):\n        self.v = value\n",
        ),
    ]);
}

#[test]
fn variables_are_statements_or_values() {
    check(&[
        (
            Replace,
            "X",
            "X: int = 1  # count\nY = 2\n",
            "X: float = 2.5",
            "X: float = 2.5  # count\nY = 2\n",
        ),
        (
            Replace,
            "X",
            "X: int = 1  # count\n",
            "[\n    1,\n    2,\n]",
            "X: int = [\n    1,\n    2,\n]  # count\n",
        ),
        (
            Replace,
            "A/x",
            "class A:\n    x: int\n    y = 1\n",
            "3",
            "class A:\n    x: int = 3\n    y = 1\n",
        ),
        (Replace, "b", "a = 1; b = 2; c = 3\n", "b = 5", "a = 1; b = 5; c = 3\n"),
        (Replace, "x", "x, y = 1, 2\n", "y = x = 0", "y = x = 0\n"),
        (
            Replace,
            "A/x",
            "class A: x = 1; y = 2\n",
            "x = f(\n    2)",
            "class A: x = f(\n    2); y = 2\n",
        ),
    ]);
}

#[test]
fn insertions_keep_the_blank_lines_of_pep_8() {
    check(&[
        (
            Before,
            "f",
            "import os\n\n\n# f\n@d\ndef f(): pass\n",
            "X = 1",
            "import os\n\n\nX = 1\n\n\n# f\n@d\ndef f(): pass\n",
        ),
        (
            Before,
            "f",
            "def f():\n    pass\n",
            "def g():\n    pass\n",
            "def g():\n    pass\n\n\ndef f():\n    pass\n",
        ),
        (
            Before,
            "f",
            "#!/usr/bin/env python\n# coding: utf-8\ndef f(): pass\n",
            "import os",
            "#!/usr/bin/env python\n# coding: utf-8\nimport os\n\n\ndef f(): pass\n",
        ),
        (Before, "X", "\u{feff}X = 1\n", "Y = 2", "\u{feff}Y = 2\nX = 1\n"),
        (
            After,
            "f",
            "def f():\n    pass",
            "def g():\n    pass",
            "def f():\n    pass\n\n\ndef g():\n    pass",
        ),
        (
            After,
            "f",
            "def f():\n    pass\n\nx = 1\n",
            "def g():\n    pass",
            "def f():\n    pass\n\n\ndef g():\n    pass\n\n\nx = 1\n",
        ),
        (After, "X", "X = 1\nY = 2\n", "Z = 3", "X = 1\nZ = 3\nY = 2\n"),
        (
            After,
            "X",
            "X = 1\nY = 2\n",
            "def f():\n    pass",
            "X = 1\n\n\ndef f():\n    pass\n\n\nY = 2\n",
        ),
        (After, "Y", "X = 1; Y = 2\n", "Z = 3", "X = 1; Y = 2\nZ = 3\n"),
        // In a class one blank line, and none right below its header.
        (
            Before,
            "A/m",
            "class A:\n    def m(self):\n        pass\n",
            "x = 1",
            "class A:\n    x = 1\n\n    def m(self):\n        pass\n",
        ),
        (
            After,
            "A/m",
            "class A:\n\tdef m(self):\n\t\tpass\n\t\t# end of m\n\n\tx = 1\n\n\ny = 1\n",
            "@d\ndef n(self):\n    if self:\n        return 2",
            "class A:\n\tdef m(self):\n\t\tpass\n\t\t# end of m\n\n\t@d\n\tdef n(self):\n\t\tif self:\n\t\t\treturn 2\n\n\tx = 1\n\n\ny = 1\n",
        ),
        (
            After,
            "A/m",
            "class A:\r\n    def m(self): pass\r\n\r\n\r\nx = 1\r\n",
            "def n(self):\n    pass\n",
            "class A:\r\n    def m(self): pass\r\n\r\n    def n(self):\r\n        pass\r\n\r\n\r\nx = 1\r\n",
        ),
        // Stubs stay packed.
        (
            After,
            "f",
            "def f() -> int: ...\ndef g() -> int: ...\n",
            "def h() -> int: ...",
            "def f() -> int: ...\ndef h() -> int: ...\ndef g() -> int: ...\n",
        ),
        // Into a class.
        (
            Into,
            "A",
            "class A:\n    pass\n\n\nx = 1\n",
            "def f(self):\n    pass",
            "class A:\n    def f(self):\n        pass\n\n\nx = 1\n",
        ),
        (Into, "A", "class A: ...  # why\n", "x = 1", "class A:  # why\n    x = 1\n"),
        (
            Into,
            "A",
            "class A: x = 1; y = 2\n",
            "def f(self): pass",
            "class A:\n    x = 1; y = 2\n\n    def f(self): pass\n",
        ),
        (
            Into,
            "A",
            "class A:\n    '''Doc.'''\n",
            "def f(self): pass",
            "class A:\n    '''Doc.'''\n\n    def f(self): pass\n",
        ),
    ]);
}

#[test]
fn deletions_leave_no_disorder() {
    check(&[
        (
            Delete,
            "f",
            "x = 1\n\n\n# about f\n@d\ndef f():\n    pass\n    # end\n\n\ny = 1\n",
            "",
            "x = 1\n\n\ny = 1\n",
        ),
        (Delete, "f", "def f():\n    pass\n\n\ny = 1\n", "", "y = 1\n"),
        (Delete, "g", "def f():\n    pass\n\n\ndef g():\n    pass\n", "", "def f():\n    pass\n"),
        (Delete, "g", "def f():\n    pass\n\n\ndef g():\n    pass", "", "def f():\n    pass"),
        (Delete, "f", "def f():\n    pass\n", "", ""),
        (
            Delete,
            "A/f",
            "class A:\n    # f\n    def f(self):\n        pass\n\n\ny = 1\n",
            "",
            "class A:\n    pass\n\n\ny = 1\n",
        ),
        (
            Delete,
            "A/g",
            "class A:\n    def f(self): pass\n\n    def g(self): pass\n\n\ny = 1\n",
            "",
            "class A:\n    def f(self): pass\n\n\ny = 1\n",
        ),
        (
            Delete,
            "A/f",
            "class A:\n    def f(self): pass\n\n    def g(self): pass\n",
            "",
            "class A:\n    def g(self): pass\n",
        ),
        (
            Delete,
            "f",
            "def f():\n    return 1\n\x0c\n# part\n\x0c\ndef g():\n    return 2\n",
            "",
            "\x0c\n# part\n\x0c\ndef g():\n    return 2\n",
        ),
        (
            Delete,
            "g",
            "x = 1\n\x0c\ndef g():\n    return 2\n\x0c\ny = 1\n",
            "",
            "x = 1\n\x0c\n\x0c\ny = 1\n",
        ),
        (Delete, "a", "a = 1; b = 2\n", "", "b = 2\n"),
        (Delete, "b", "a = 1; b = 2; c = 3\n", "", "a = 1; c = 3\n"),
        (Delete, "c", "a = 1; b = 2; c = 3\n", "", "a = 1; b = 2\n"),
        (Delete, "A/x", "class A: x = 1\ny = 2\n", "", "class A: pass\ny = 2\n"),
        (
            Delete,
            "g",
            "try:\n    import g\nexcept E:\n    g = None\n",
            "",
            "try:\n    import g\nexcept E:\n    pass\n",
        ),
        (Delete, "X", "X = 1\r\nY = 2\r\n", "", "Y = 2\r\n"),
    ]);
}

#[test]
fn broken_files_are_edited_where_they_are_intact() {
    check(&[
        (
            Replace,
            "g",
            "def f(:\n    pass\n\ndef g():\n    return 1\n\nx = (\n",
            "return 2",
            "def f(:\n    pass\n\ndef g():\n    return 2\n\nx = (\n",
        ),
        (
            Replace,
            "f",
            "def f():\n    return (1\n\ndef g():\n    return 1\n",
            "return 2",
            "def f():\n    return 2\n\ndef g():\n    return 1\n",
        ),
        (
            After,
            "A/m",
            "class A:\n    def m(self):\n        x = 1\n  y = 2\n    def n(self):\n        pass\n",
            "def k(self): pass",
            "class A:\n    def m(self):\n        x = 1\n\n    def k(self): pass\n\n  y = 2\n    def n(self):\n        pass\n",
        ),
        (
            Replace,
            "h",
            "<<<<<<< HEAD\ndef f(): pass\n=======\ndef g(): pass\n>>>>>>> b\ndef h(): pass\n",
            "return 1",
            "<<<<<<< HEAD\ndef f(): pass\n=======\ndef g(): pass\n>>>>>>> b\ndef h(): return 1\n",
        ),
        (
            Delete,
            "g",
            "x = \"\"\"open\n\ndef g():\n    '''Doc.'''\n\ndef h():\n    \"\"\"Doc.\"\"\"\n    return 2\n",
            "",
            "x = \"\"\"open\n\ndef h():\n    \"\"\"Doc.\"\"\"\n    return 2\n",
        ),
    ]);
}

#[test]
fn what_could_break_a_file_is_refused_with_words() {
    let cases: &[(Tool, &str, &str, &str, &str)] = &[
        (
            Replace,
            "g",
            "def f(): pass\nX = 1\n",
            "pass",
            "there is no `g` in the file; it defines /f, /X",
        ),
        (
            Delete,
            "g",
            "if a:\n    def g(): pass\nelse:\n    def g(): pass\n",
            "",
            "`g` is defined 2 times; choose one of /g[0] (line 2), /g[1] (line 4)",
        ),
        (
            Replace,
            "f",
            "def f(): pass\n",
            "return (",
            "the new text is not valid Python: line 1, column",
        ),
        (Replace, "f", "def f(): pass\n", " \n", "the new text is empty"),
        (Replace, "f", "def f(): pass\n", "# nothing\n", "the new text is empty"),
        (Replace, "f", "def f(): pass\n", "def g(): pass", "a definition of g, not of /f"),
        (
            Replace,
            "f",
            "def f(): pass\n",
            "import os\ndef f(): pass",
            "other statements next to it",
        ),
        (Replace, "x", "x, y = 1, 2\n", "x = 1", "line 1 also binds y"),
        (Delete, "x", "x = y = 1\n", "", "line 1 also binds y"),
        (Replace, "x", "x = 1; y = 2\n", "def x(): pass", "shares line 1 with other code"),
        (Before, "y", "x = 1; y = 2\n", "z = 1", "shares line 1"),
        (After, "x", "x = 1; y = 2\n", "z = 1", "shares line 1"),
        (After, "A/x", "class A: x = 1\n", "z = 1", "shares line 1"),
        (Replace, "A", "class A: x = 1\n", "return 1", "`return` statement outside of a function"),
        (Into, "f", "def f(): pass\n", "pass", "/f is not a class"),
        (
            Delete,
            "x",
            "x = foo(\n    1,\n    2\ny = 3\n",
            "",
            "leaves it unclear where /x ends (line 1)",
        ),
    ];
    for (tool, path, before, text, words) in cases {
        let found = edits(*tool, before, path, text);
        let said = found.map(|it| it.apply(before)).expect_err(before).to_string();
        assert!(said.contains(words), "{tool:?} {path} in {before:?} says {said:?}");
    }
}

/// A text with each kind of place for an error of the compiler.
const COMPILED: &str = "\
from __future__ import annotations

x = 1


def f():
    return 1


async def k():
    await f()


class A:
    z = 1
";

#[test]
fn what_parses_and_does_not_compile_is_refused() {
    let cases: [(Tool, &str, &str, &str); 12] = [
        (Replace, "f", "await g()", "asynchronous function"),
        (Replace, "f", "nonlocal q\nreturn 1", "`q`"),
        (Replace, "f", "def f(a, a):\n    return 1", "duplicate parameter"),
        (Replace, "f", "from os import *", "import *"),
        (Replace, "f", "y = 1\nglobal y", "global"),
        (Replace, "f", "for i in []:\n    def g():\n        break", "`break` outside loop"),
        (Replace, "k", "def k():\n    await f()", "asynchronous function"),
        (Replace, "k", "return [x for x in y async for z in x]\nyield 1", "return"),
        (Replace, "x", "x = f(a=1, a=2)", "duplicate keyword"),
        (After, "x", "from __future__ import division", "__future__"),
        (After, "A/z", "yield 1", "yield"),
        (After, "x", "try: pass\nexcept: pass\nexcept ValueError: pass", "the last handler"),
    ];
    for (tool, path, text, words) in cases {
        let found = edits(tool, COMPILED, path, text);
        let said = found.map(|it| it.apply(COMPILED)).expect_err(text).to_string();
        assert!(said.contains(words), "{text:?}: {said}");
    }
    let compiles = [
        (Replace, "f", "def g():\n    nonlocal y\n    y = 2\ndel y\nreturn g"),
        (Replace, "f", "global x\nx = [x for x in range(3) if (y := x)]"),
        (Replace, "f", "return (await it for it in []), lambda: (yield)"),
        (Replace, "k", "return [await f() for _ in [1]], [x async for x in f()]"),
        (
            Replace,
            "k",
            "async with f() as it:\n    async for _ in it:\n        if _: continue\n        break",
        ),
        (After, "A/z", "y = [z for z in range(3)]\ndef m(self, *, x: int = z) -> A: yield from x"),
        (After, "x", "while x:\n    try: break\n    finally: pass\nelse: x = 2"),
        (After, "x", "match x:\n    case [a, *b] | {'k': a, **b}: x = 3\n    case _: x = 4"),
    ];
    for (tool, path, text) in compiles {
        let after = edits(tool, COMPILED, path, text);
        assert!(after.is_ok(), "{text:?}: {:?}", after.map(|it| it.apply(COMPILED)));
    }
}

#[test]
fn edits_are_disjoint_and_can_be_taken_back() {
    let edit =
        |range: std::ops::Range<usize>, text: &str| TextEdit { range, text: text.to_owned() };
    let source = "aäb\ncd\n";
    let edits =
        TextEdits::new(source, [edit(5..6, "X"), edit(0..1, ""), edit(1..1, "1"), edit(1..1, "2")]);
    let edits = edits.expect("disjoint");
    assert_eq!(edits.apply(source), "12äb\nXd\n");
    assert_eq!(edits.inverse(source).apply("12äb\nXd\n"), source);
    assert!(TextEdits::new(source, [edit(0..4, ""), edit(3..5, "")]).is_err());
    assert!(TextEdits::new(source, [edit(2..3, "")]).is_err(), "inside a character");
    assert!(TextEdits::new(source, [edit(8..9, "")]).is_err(), "behind the end");
    for (old, new, count) in
        [("a\nb\nc\n", "a\nx\nc\ny", 2), ("", "a", 1), ("a\n", "a\n", 0), ("a", "", 1)]
    {
        let edits = TextEdits::between(old, new);
        assert_eq!((edits.apply(old).as_str(), edits.as_slice().len()), (new, count), "{old:?}");
    }
    assert_eq!(
        unified_diff("a.py", "a\nb\n", "a\nc\n"),
        "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
    );
}
