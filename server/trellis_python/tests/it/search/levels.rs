//! Levels of indentation that are new are as wide as those of the file.

use super::check;

#[test]
fn new_levels_have_the_width_of_the_files() {
    let replies = [
        "    for row in rows:\n        out.append(row)\n    return out\n",
        "    for row in rows:\n        if row:\n            if row > 0:\n                out.append(row)\n    return out\n",
    ];
    for unit in ["  ", "\t", "   ", "        ", "    "] {
        let of_file = |text: &str| text.replace("    ", unit);
        let file =
            |body: &str| format!("def grid(rows):\n{}", of_file(&format!("    out = []\n{body}")));
        let [text, wanted] = replies.map(file);
        check(&[(&text, replies, &wanted)]);
        // The pairs of lines go from deep to flat, or one line is all there is.
        let part = replies.map(|it| it.split_once('\n').map_or("", |it| it.1));
        check(&[(&text, part, &file(&format!("    for row in rows:\n{}", part[1])))]);
        let line = [part[0], part[1]].map(|it| it.trim_end_matches("    return out\n"));
        check(&[(&text, line, &file(&format!("    for row in rows:\n{}", part[1])))]);
        // The reply has no indentation.
        let bare = line.map(|it| {
            it.lines()
                .map(|it| it.strip_prefix("        ").unwrap_or(it).to_owned() + "\n")
                .collect::<String>()
        });
        let bare = [bare[0].as_str(), bare[1].as_str()];
        check(&[(&text, bare, &file(&format!("    for row in rows:\n{}", part[1])))]);
    }
}

#[test]
fn levels_of_replies_may_be_narrower_or_tabs() {
    for unit in ["  ", "\t"] {
        let replies = [
            "    if a:\n        b()\n",
            "    if a:\n        if c:\n            b()\n        else:\n            d()\n",
        ];
        let text = format!(
            "class A:\n    def f(self):\n{}",
            replies[0].replace("    if", "        if").replace("        b", "            b")
        );
        let wanted = "class A:\n    def f(self):\n        if a:\n            if c:\n                b()\n            else:\n                d()\n";
        let [search, replace] = replies.map(|it| it.replace("    ", unit));
        check(&[(&text, [&search, &replace], wanted)]);
    }
}

#[test]
fn levels_above_the_matched_ones_are_converted() {
    check(&[(
        "def f():\n  for x in y:\n    if x:\n      a(x)\n  return 1\n",
        [
            "        if x:\n            a(x)\n",
            "        if x:\n            a(x)\n    else:\n        b()\n",
        ],
        "def f():\n  for x in y:\n    if x:\n      a(x)\n  else:\n    b()\n  return 1\n",
    )]);
}

#[test]
fn a_file_may_have_different_levels() {
    let text = "def f():\n    if a:\n        b()\n    if c:\n        d()\n\n\ndef g():\n\tx()\n\n\nclass A:\n  @one\n  def h(self):\n    y()\n";
    let new = |old: &str, new: &str| text.replace(old, new);
    check(&[
        (text, ["x()\n", "if y:\n    x()\n"], &new("\tx()", "\tif y:\n\t\tx()")),
        (
            text,
            ["    x()\n", "    if y:\n        x()\n    else:\n        # größer\n        z()\n"],
            &new("\tx()", "\tif y:\n\t\tx()\n\telse:\n\t\t# größer\n\t\tz()"),
        ),
        (
            text,
            [
                "    @one\n    def h(self):\n",
                "    @two\n    @one\n    def h(self):\n        if a:\n            for b in c:\n                b()\n",
            ],
            &new(
                "  @one\n  def h(self):\n",
                "  @two\n  @one\n  def h(self):\n    if a:\n      for b in c:\n        b()\n",
            ),
        ),
        // Levels of the edit that are the file's stay.
        (
            text,
            ["    b()\n", "    for b in c:\n        if d:\n            b()\n"],
            &new("        b()", "        for b in c:\n            if d:\n                b()"),
        ),
    ]);
}

/// Texts within code have levels of their own.
#[test]
fn levels_within_docstrings_do_not_count() {
    check(&[(
        "class A:\n    def f(self):\n        return 1\n",
        [
            "return 1\n",
            "def g():\n    '''Doc.\n\n    Args:\n      x: y\n    Returns:\n      z: 1\n    '''\n    if x:\n        return 2\nreturn g()\n",
        ],
        "class A:\n    def f(self):\n        def g():\n            '''Doc.\n\n            Args:\n              x: y\n            Returns:\n              z: 1\n            '''\n            if x:\n                return 2\n        return g()\n",
    )]);
}

#[test]
fn new_code_after_a_string_has_the_files_levels() {
    check(&[(
        "def f():\n  if a:\n    b()\n",
        [
            "    if a:\n        b()\n",
            "    if a:\n        b('''\n            x\n        ''')\n        if c:\n            d()\n",
        ],
        "def f():\n  if a:\n    b('''\n            x\n        ''')\n    if c:\n      d()\n",
    )]);
}
