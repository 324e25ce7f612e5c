//! Edits of class bodies: all other bytes stay unchanged.

use trellis_python::{insert_method, remove_methods};

const METHOD: &str = "def new(self):\n    return 1";

/// Inserts [`METHOD`] and compares. Removing the method again must give `class` (or `emptied`).
fn check(class: &str, expect: &str) {
    let inserted = insert_method(class, METHOD).expect(class);
    assert_eq!(inserted, expect);
    trellis_python::check(&inserted).expect("the class parses");
    let (_, out) = remove_methods(&inserted, &|name| name == "new").expect(class);
    let texts: Vec<&str> = out.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(texts, [METHOD], "{inserted}");
}

#[test]
fn a_method_goes_to_the_end_in_the_class_s_own_style() {
    let cases = [
        ("class A: pass", "class A:\n    def new(self):\n        return 1"),
        ("class A:\n    ...\n", "class A:\n    def new(self):\n        return 1"),
        (
            "class A(B): x = 1; y = 2",
            "class A(B):\n    x = 1; y = 2\n\n    def new(self):\n        return 1",
        ),
        (
            "class A(B): pass  # why",
            "class A(B):\n    pass  # why\n\n    def new(self):\n        return 1",
        ),
        ("class A:\n  x = 1", "class A:\n  x = 1\n\n  def new(self):\n      return 1"),
        (
            "class A:\n\tdef f(self):\n\t\treturn 2",
            "class A:\n\tdef f(self):\n\t\treturn 2\n\n\tdef new(self):\n\t    return 1",
        ),
        (
            "class A[T: int](B[T]):\n    \"\"\"Doc.\"\"\"",
            "class A[T: int](B[T]):\n    \"\"\"Doc.\"\"\"\n\n    def new(self):\n        return 1",
        ),
        ("class A[T: int]: pass", "class A[T: int]:\n    def new(self):\n        return 1"),
        (
            "class A(  # a: b\n    B,\n    metaclass=M,\n):  # c\n        # odd: indentation\n\n    \"\"\"Doc.\"\"\"",
            "class A(  # a: b\n    B,\n    metaclass=M,\n):  # c\n        # odd: indentation\n\n    \"\"\"Doc.\"\"\"\n\n    def new(self):\n        return 1",
        ),
        (
            "# about\n@deco  # class: x\nclass A :\n    x = 1",
            "# about\n@deco  # class: x\nclass A :\n    x = 1\n\n    def new(self):\n        return 1",
        ),
        (
            "class A:\n    '''Doc\nat the left.\n    '''\n\n\n    def f(self): return ('''a\nb'''\n        'c')",
            "class A:\n    '''Doc\nat the left.\n    '''\n\n\n    def f(self): return ('''a\nb'''\n        'c')\n\n    def new(self):\n        return 1",
        ),
        (
            "class A:\n    @overload\n    def f(self, a: int): ...\n    @overload\n    def f(self, a: str): ...\n    def f(self, a): pass",
            "class A:\n    @overload\n    def f(self, a: int): ...\n    @overload\n    def f(self, a: str): ...\n    def f(self, a): pass\n\n    def new(self):\n        return 1",
        ),
    ];
    for (class, expect) in cases {
        check(class, expect);
    }
}

#[test]
fn what_is_taken_out_is_a_function_at_top_level() {
    let cases = [
        (
            "class A:\n    x = 1\n\n    # why\n    @property\n    def f(self):\n        return f'''\n  {raw}'''\n\n    @f.setter\n    def f(self, v): pass\n\n    y = 2",
            "class A:\n    x = 1\n\n    y = 2",
            &[
                "# why\n@property\ndef f(self):\n    return f'''\n  {raw}'''",
                "@f.setter\ndef f(self, v): pass",
            ][..],
        ),
        (
            "class A:\n    async def f(self):\n        await g()",
            "class A:\n    pass",
            &["async def f(self):\n    await g()"],
        ),
        (
            "class A:\n    '''Doc.'''\n    def f(self):\n        # a\n        x = (1,\n    2)\n        # end of f",
            "class A:\n    '''Doc.'''",
            &["def f(self):\n    # a\n    x = (1,\n2)\n    # end of f"],
        ),
        (
            "class A:\n    if FAST:\n        def f(self): pass\n    f = 1",
            "class A:\n    if FAST:\n        def f(self): pass\n    f = 1",
            &[],
        ),
        (
            "class A:\n    def f(self):\n        return 1\n    # about x\n    x = 1",
            "class A:\n    # about x\n    x = 1",
            &["def f(self):\n    return 1"],
        ),
        ("class A: x = 1", "class A: x = 1", &[]),
    ];
    for (class, expect, methods) in cases {
        let (rest, out) = remove_methods(class, &|name| name == "f").expect(class);
        let texts: Vec<&str> = out.iter().map(|item| item.text.as_str()).collect();
        assert_eq!((rest.as_str(), texts.as_slice()), (expect, methods), "{class}");
        trellis_python::check(&rest).expect("the rest parses");
    }
}

#[test]
fn a_comment_at_the_end_stays_where_it_was() {
    let inserted =
        insert_method("class A:\n    x = 1\n    # last words\n", METHOD).expect("a class");
    assert_eq!(
        inserted,
        "class A:\n    x = 1\n    # last words\n\n    def new(self):\n        return 1"
    );
}
