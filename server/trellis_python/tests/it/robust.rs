//! Unusual but legal Python, found by running every function of this crate over the standard
//! library.

use std::collections::HashSet;

use trellis_python::{
    FilePart, Fragment, ImportGroups, SearchReplace, Signature, enforce, merge, rename,
    search_replace, unresolved,
};

fn check_enforce(spec: &str, source: &str, expect: Option<&str>) {
    let signature = Signature::parse(spec).expect(spec);
    let found = enforce(source, &signature).expect(source);
    assert_eq!(found.as_deref(), expect, "{spec} on {source}");
}

#[test]
fn a_signature_is_compared_wherever_the_definition_stands() {
    check_enforce(
        "def f(a, b)",
        "# c\ndef f(a: int, b: str = 'x') -> int: pass",
        Some("# c\ndef f(a, b): pass"),
    );
    check_enforce("def f(a, b)", "# c\n@cache\ndef f(a: int, b: str) -> int: pass", None);
    check_enforce(
        "def f(a: int, b = \"x\")",
        "@cache\nasync def f(a, b='x'): pass",
        Some("@cache\ndef f(a: int, b = \"x\"): pass"),
    );
    check_enforce(
        "def f(a)",
        "@g\n# the default\ndef f(): pass",
        Some("@g\n# the default\ndef f(a): pass"),
    );
    check_enforce(
        "async def f(a)",
        "@g\n# async?\nasync  def f(): pass",
        Some("@g\n# async?\nasync def f(a): pass"),
    );
    check_enforce(
        "def f(a) -> dict[str, int]",
        "def f(a) -> (\n    dict  # x: y\n): return {}",
        Some("def f(a) -> dict[str, int]: return {}"),
    );
    check_enforce(
        "def f(n)",
        "def f(count):\n    def g():\n        nonlocal count\n        count += 1\n    return g",
        Some("def f(n):\n    def g():\n        nonlocal n\n        n += 1\n    return g"),
    );
}

#[test]
fn names_that_only_look_unbound() {
    let cases: &[(&str, &[&str])] = &[
        ("class A:\n    K = 1\n    def f(self, a=K, *, b: 'K' = K) -> K:\n        return a\n", &[]),
        ("class A:\n    K = 1\n    def f[T](self, a: T = K): return K\n", &["K"]),
        ("class A:\n    K = 1\n    f = lambda a=K: K\n", &["K"]),
        ("class A:\n    K = 1\n    x = [K for _ in K]\n", &["K"]),
        ("class A:\n    class B:\n        y = x\n    x = 1\n", &["x"]),
        (
            "type P[T: Base] = list[T]\ndef f[U: Bound = Other](a: U): pass\n",
            &["Base", "Bound", "Other"],
        ),
        ("import re\nx = re.compile('a')\ndel re\n", &[]),
        ("def größe(ä):\n    return ä + é\n", &["é"]),
        (
            "async def f():\n    async with a() as b, c:\n        return [x async for x in b]\n",
            &["a", "c"],
        ),
    ];
    for (source, expect) in cases {
        let found: Vec<String> = unresolved(source).expect(source).into_iter().collect();
        assert_eq!(found, *expect, "{source}");
    }
}

#[test]
fn a_rename_reaches_every_binding_and_nothing_else() {
    let cases = [
        // Attributes and methods of a class are not module-level names.
        (
            "h = 1\nclass A:\n    h = 2\n    def f(self, a=h): return h\n",
            "n = 1\nclass A:\n    h = 2\n    def f(self, a=h): return n\n",
        ),
        (
            "h = 1\nclass A(h):\n    @h\n    def h(self): return self.h + h\n",
            "n = 1\nclass A(n):\n    @h\n    def h(self): return self.h + n\n",
        ),
        (
            "try:\n    import h\nexcept E:\n    h = None\n",
            "try:\n    import h as n\nexcept E:\n    n = None\n",
        ),
        (
            "if x:\n    from a import h, k as h\nelse:\n    from a import b as h\nh()\n",
            "if x:\n    from a import h as n, k as n\nelse:\n    from a import b as n\nn()\n",
        ),
        (
            "try:\n    pass\nexcept E as h:\n    print(h)\n",
            "try:\n    pass\nexcept E as n:\n    print(n)\n",
        ),
        (
            "match h:\n    case [h, *_]: h\n    case {**h} | [*h]: h\n",
            "match n:\n    case [n, *_]: n\n    case {**n} | [*n]: n\n",
        ),
        (
            "def f():\n    for h in x: h\n    if y:\n        global k\n",
            "def f():\n    for h in x: h\n    if y:\n        global k\n",
        ),
        (
            "h = 1\ndef f():\n    if y:\n        global h\n        h = 2\n",
            "n = 1\ndef f():\n    if y:\n        global n\n        n = 2\n",
        ),
        (
            "h = 1\nf'{h:{h}} {h=}' 'h'\n# h\ng(h=h).h\n",
            "n = 1\nf'{n:{n}} {n=}' 'h'\n# h\ng(h=n).h\n",
        ),
        (
            "@pytest.fixture\ndef h(): pass\n@pytest.mark.usefixtures('h', \"k\")\n@pytest.mark.parametrize('a, h', [('h', 1)])\ndef test(request): request.getfixturevalue('h')\n",
            "@pytest.fixture\ndef n(): pass\n@pytest.mark.usefixtures('n', \"k\")\n@pytest.mark.parametrize('a, n', [('h', 1)])\ndef test(request): request.getfixturevalue('n')\n",
        ),
    ];
    for (source, expect) in cases {
        let found = rename(source, "h", "n").expect(source);
        assert_eq!(found, expect);
    }
}

fn merged(texts: &[&str]) -> String {
    let fragments: Vec<Fragment> =
        texts.iter().map(|text| Fragment::parse(text).expect(text)).collect();
    let suffixes = ["a", "b", "c"];
    let parts: Vec<FilePart<'_>> = (fragments.iter().zip(suffixes))
        .map(|(fragment, suffix)| FilePart { fragment, defines: None, class: None, suffix })
        .collect();
    let groups = ImportGroups { local: &|_| false };
    let merged = merge(None, &parts, &HashSet::new(), &groups, true).expect("merges");
    trellis_python::check(&merged.text).expect("the merged file parses");
    merged.text
}

#[test]
fn a_file_merged_with_itself_is_itself() {
    let files = [
        "import re\n\n\nX = re.compile('a')\ndel re\n",
        "from io import FileIO\n\nFileIO.register(X)\n\n\nclass FileIO:\n    pass\n",
        "import sys\n\nif sys.platform == 'win32':\n    import nt as os\nelse:\n    import posix as os\nos.seed(1)\n",
        "def f():\n    pass\n\n\nf()\nf.x = 1\n",
        "import os.path\nimport os as system\n\ntry:\n    from a import b\nexcept ImportError:\n    b = None\n",
    ];
    for file in files {
        assert_eq!(merged(&[file, file]), merged(&[file]));
    }
}

#[test]
fn an_equal_helper_that_means_something_else_is_no_copy() {
    assert_eq!(
        merged(&[
            "LIMIT = 3\ndef top():\n    return LIMIT\ndef f():\n    return top()\n",
            "LIMIT = 4\ndef top():\n    return LIMIT\ndef g():\n    return top()\n",
        ]),
        "LIMIT = 3\n\n\ndef top():\n    return LIMIT\n\n\ndef f():\n    return top()\n\n\nLIMIT_b = 4\n\n\ndef top_b():\n    return LIMIT_b\n\n\ndef g():\n    return top_b()\n"
    );
    assert_eq!(
        merged(&[
            "from a import x\ndef f():\n    return x\n",
            "from b import x\ndef f():\n    return x\n"
        ]),
        "from a import x\nfrom b import x as x_b\n\n\ndef f():\n    return x\n\n\ndef f_b():\n    return x_b\n"
    );
}

fn check_items(source: &str, expect: &[&str]) {
    let fragment = Fragment::parse(source).expect(source);
    let items: Vec<&str> = fragment.items.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(items, expect, "{source:?}");
    assert_eq!(Fragment::parse(&fragment.to_source()).expect("parses"), fragment);
}

#[test]
fn odd_layouts_come_apart_in_whole_lines() {
    check_items(
        "def f():\r\n\treturn 1\r\n\x0c\r\n# c\r\nx = 1\r\n",
        &["def f():\n\treturn 1", "# c\nx = 1"],
    );
    check_items(
        "x = 1; y = 2; import os\nz = 3 \\\n    + 4\n",
        &["x = 1; y = 2; import os", "z = 3 \\\n    + 4"],
    );
    check_items(
        "def f(a):\n    # type: (int) -> int\n    return a  # type: ignore\n",
        &["def f(a):\n    # type: (int) -> int\n    return a  # type: ignore"],
    );
    check_items(
        "if a:\n    def f(): pass\nelse:\n    def f(): return 1\n\n\n# tail\n",
        &["if a:\n    def f(): pass\nelse:\n    def f(): return 1\n\n\n# tail"],
    );
    check_items(
        "\u{feff}class Größe:\n    '''Nur Doku.'''\n",
        &["class Größe:\n    '''Nur Doku.'''"],
    );
    check_items(
        "x = '''\n# no comment\n'''\n@d\n# between\ndef f(): pass\n",
        &["x = '''\n# no comment\n'''", "@d\n# between\ndef f(): pass"],
    );
}

#[test]
fn the_lines_above_a_module_s_docstring_stay() {
    let source = "#!/usr/bin/env python\n# Licence\n\"\"\"Doc.\"\"\"\n\nimport os\n\n\nos.x()\n";
    assert_eq!(merged(&[source]).lines().next(), Some("#!/usr/bin/env python"));
    let fragment = Fragment::parse(source).expect("parses");
    assert_eq!(
        fragment.docstring.as_deref(),
        Some("#!/usr/bin/env python\n# Licence\n\"\"\"Doc.\"\"\"")
    );
    assert_eq!(Fragment::parse(&fragment.to_source()).expect("parses"), fragment);
}

fn check_edit(text: &str, search: &str, replace: &str, expect: &str) {
    let (search, replace) = (search.to_owned(), replace.to_owned());
    let edit = SearchReplace { path: String::new(), search, replace, occurrence: None };
    let edits = search_replace(text, &edit)
        .unwrap_or_else(|e| panic!("{search:?}: {e}", search = edit.search));
    assert_eq!(edits.edits.apply(text), expect);
}

#[test]
fn a_replacement_is_moved_as_its_search_was() {
    let text = "class A:\n    def f(self):\n        if x:\n            return 1\n        else:\n            return 2\n";
    let other = "class A:\n    def f(self):\n        if x:\n            return 1\n        elif y:\n            return 3\n";
    // The first line may be the deeper one.
    check_edit(
        text,
        "    return 1\nelse:\n    return 2\n",
        "    return 1\nelif y:\n    return 3\n",
        other,
    );
    // The search is indented deeper than the file.
    check_edit(
        text,
        "            if x:\n                return 1\n            else:\n                return 2\n",
        "            if x:\n                return 1\n            elif y:\n                return 3\n",
        other,
    );
    check_edit(
        "def f():\n\tif x:\n\t\treturn 1\n",
        "    if x:\n        return 1",
        "    if x:\n        return 2",
        "def f():\n\tif x:\n\t\treturn 2\n",
    );
    // A line missing in the search stays.
    let long = "def f():\n    a = 1\n    b = 2\n    c = 3\n    d = 4\n    e = 5\n    return a\n";
    check_edit(
        long,
        "a = 1\nb = 2\nd = 4\ne = 5\nreturn a\n",
        "a = 1\nb = 2\nd = 4\ne = 6\nreturn 0\n",
        "def f():\n    a = 1\n    b = 2\n    c = 3\n    d = 4\n    e = 6\n    return 0\n",
    );
    // The file keeps its line breaks.
    for (search, replace) in [
        ("a = 1\nb = 2\n", "a = 3\nb = 4\n"),
        ("a = 1\r\nb = 2", "a = 3\r\nb = 4"),
        ("a  = 1\nb = 2", "a = 3\nb = 4"),
    ] {
        check_edit("a = 1\r\nb = 2\r\nc\r\n", search, replace, "a = 3\r\nb = 4\r\nc\r\n");
    }
}

#[test]
fn matches_that_overlap_or_are_nearly_as_alike_are_ambiguous() {
    let edit = |search: &str, occurrence| SearchReplace {
        path: String::new(),
        search: search.to_owned(),
        replace: "y".to_owned(),
        occurrence,
    };
    let text = "x\nx\nx\ntotal = sum(values)\ntotal = sum(value2)\n";
    for (search, words) in [
        ("x\nx\n", "2 times, at lines 1 (`x`), 2 (`x`)"),
        ("totals = sum(value)", "at lines 4 (`total = sum(values)`), 5"),
    ] {
        let said = search_replace(text, &edit(search, None)).expect_err(search).to_string();
        assert!(said.contains(words), "{said}");
    }
    let all = search_replace(text, &edit("x\nx\n", Some(0))).expect("applies");
    assert_eq!(all.edits.apply(text), "yx\ntotal = sum(values)\ntotal = sum(value2)\n");
    let second = search_replace(text, &edit("x\nx\n", Some(2))).expect("applies");
    assert_eq!(second.edits.apply(text), "x\nytotal = sum(values)\ntotal = sum(value2)\n");
}

/// A search text that a model remembers wrongly must not change the file where it differs.
#[test]
fn of_lines_that_are_merely_alike_only_what_the_replacement_changes_is_changed() {
    let text = "def limits(plan):\n    if plan == 'free':\n        users = 2\n        disk = 10  # GB\n        mails = 100\n        return users - 1, disk, mails\n    return 50, 500, 5000\n";
    let wrong = "        users = 2\n        disk = 20\n        mails = 100\n        return users - 1, disk, mails\n";
    let table = [
        // A line is changed; wrongly remembered lines stay.
        (wrong, wrong.replace("users - 1", "users"), text.replace("users - 1", "users")),
        // One line is inserted, one is removed.
        (
            wrong,
            wrong.replace("        mails", "        seats = 1\n        mails"),
            text.replace("        mails", "        seats = 1\n        mails"),
        ),
        (wrong, wrong.replace("        users = 2\n", ""), text.replace("        users = 2\n", "")),
        // The search has one line less than the file, or one more.
        (
            &wrong.replace("        disk = 20\n", ""),
            wrong.replace("        disk = 20\n", "").replace("users - 1", "users"),
            text.replace("users - 1", "users"),
        ),
        (
            &wrong.replace("        disk", "        # the disk\n        disk"),
            wrong
                .replace("        disk", "        # the disk\n        disk")
                .replace("users = 2", "users = 3"),
            text.replace("users = 2", "users = 3"),
        ),
        // Other words of one line: the file keeps its comment.
        (
            &wrong.replace("disk = 20", "disk = 10"),
            wrong.replace("disk = 20", "disks = 10"),
            text.replace("disk = 10", "disks = 10"),
        ),
        // White space that was remembered wrongly as well.
        (
            "users = 2\ndisk = 20\nmails = 100\nreturn users - 1, disk, mails",
            "users = 2\ndisk = 20\nif users:\n    mails = 100\nreturn users - 1, disk, mails"
                .to_owned(),
            text.replace("        mails = 100\n", "        if users:\n            mails = 100\n"),
        ),
    ];
    for (search, replace, wanted) in table {
        let edit = SearchReplace {
            path: String::new(),
            search: search.to_owned(),
            replace,
            occurrence: None,
        };
        let replaced = search_replace(text, &edit).unwrap_or_else(|e| panic!("{search}: {e}"));
        assert_eq!(replaced.edits.apply(text), wanted, "{search}");
        assert!(replaced.report().expect("told").contains("% alike"), "{search}");
    }
    // Text that the replacement changes must be in the file.
    for (search, replace, line) in [
        (wrong, wrong.replace("disk = 20", "disk = 30"), "line 4: `disk = 10  # GB`"),
        (wrong, wrong.replace("        disk = 20\n", ""), "line 4: `disk = 10  # GB`"),
        (wrong, String::new(), "line 4: `disk = 10  # GB`"),
        (wrong, "        return 0\n".to_owned(), "line 4: `disk = 10  # GB`"),
    ] {
        let edit = SearchReplace {
            path: String::new(),
            search: search.to_owned(),
            replace,
            occurrence: None,
        };
        let said = search_replace(text, &edit).expect_err("uncertain").to_string();
        assert!(said.contains(line) && said.contains("lines 3 to 6 are"), "{said}");
    }
}

/// Lines that differ only in white space count as equal, and unchanged lines keep the file's white
/// space.
#[test]
fn lines_that_differ_in_white_space_are_the_same_and_keep_theirs() {
    let text = "class A:\n\tdef f(self):\n\t\tx  =  1\n\t\treturn x\n";
    let edit = SearchReplace {
        path: String::new(),
        search: "def f(self):\n    x = 1\n    return x\n".to_owned(),
        replace: "def f(self):\n    x = 1\n    x += 1\n    return x\n".to_owned(),
        occurrence: None,
    };
    let replaced = search_replace(text, &edit).expect("the same lines");
    let wanted = text.replace("\t\treturn", "\t\tx += 1\n\t\treturn");
    assert_eq!(replaced.edits.apply(text), wanted);
    assert_eq!(replaced.report(), None);
}

/// The white space before a word is removed with the word.
#[test]
fn words_of_a_line_that_is_merely_alike_are_changed_with_their_space() {
    let text = "def heading(text):\n    return text + '\\\\n' + '=' * (len(text) - 1)\n";
    let search = "    return text + '\\n' + '=' * (len(text) - 1)\n";
    let edit = SearchReplace {
        path: String::new(),
        search: search.to_owned(),
        replace: search.replace("(len(text) - 1)", "len(text)"),
        occurrence: None,
    };
    let replaced = search_replace(text, &edit).expect("alike");
    assert_eq!(replaced.edits.apply(text), text.replace("(len(text) - 1)", "len(text)"));
}
