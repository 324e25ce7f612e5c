//! Tests of the text about a failure.

use trellis_engine::repair::failure_text;
use trellis_engine::{Failure, Frame};

const ID: &str = "tests/test_cart.py::test_a";

/// Returns the text about a failure of a test with this output.
fn with_output(output: &str) -> String {
    let failure = Failure {
        exception: "AssertionError".to_owned(),
        message: "None != 'x'".to_owned(),
        output: output.to_owned(),
        ..Failure::default()
    };
    failure_text(ID, &failure, &[])
}

/// A traceback as a server logs it.
const LOGGED: &str = "\
Traceback (most recent call last):
  File \"/usr/lib/python3.11/asyncio/events.py\", line 80, in _run
    self._context.run(self._callback, *self._args)
  File \"/usr/lib/python3.11/asyncio/runners.py\", line 9, in run
    run()
  File \"shop/web.py\", line 887, in namespace
    namespace.update(self.ui)
    ~~~~~~~~~~~~~~~~^^^^^^^^^
TypeError: 'NoneType' object is not iterable
";

#[test]
fn logged_tracebacks_are_shown_with_the_projects_frames() {
    let output = format!("started\nERROR shop: <C at 0x7f1234567890>\n{LOGGED}stopped\n");
    let shown = with_output(&output);
    let wanted = "
The test printed and logged:
started
ERROR shop: <C at 0x…>
Traceback (most recent call last):
  … 2 frames of libraries …
  File \"shop/web.py\", line 887, in namespace
    namespace.update(self.ui)
TypeError: 'NoneType' object is not iterable
stopped
";
    assert!(shown.ends_with(wanted), "{shown}");
}

#[test]
fn equal_output_is_shown_once_and_none_not_at_all() {
    let shown = with_output(&format!("again\n\nagain\n{LOGGED}again\nERROR shop\n{LOGGED}"));
    assert_eq!(shown.matches("again").count(), 1, "{shown}");
    assert_eq!(shown.matches("TypeError").count(), 1, "{shown}");
    assert!(shown.contains("ERROR shop"), "{shown}");
    assert!(!with_output(" \n").contains("printed"), "{}", with_output(" \n"));
}

#[test]
fn long_output_is_cut_around_its_last_traceback() {
    let many = |word: &str| (0..500).map(|it| format!("{word} {it}\n")).collect::<String>();
    let shown = with_output(&format!("{}{LOGGED}{}", many("before"), many("after")));
    let (_, output) = shown.split_once("logged:\n").expect("a section");
    assert!(output.len() < 2_500, "{}", output.len());
    for part in ["before 0\n", "before 499\nTraceback", "not iterable\nafter 0\n", "after 499\n"] {
        assert!(output.contains(part), "{part}: {output}");
    }
}

#[test]
fn a_traceback_of_libraries_alone_keeps_its_last_frame() {
    let shown = with_output(
        "Traceback (most recent call last):\n  File \"/usr/lib/a.py\", line 1, in f\n    g()\n  \
         File \"/usr/lib/b.py\", line 2, in g\n    h()\nValueError: no\n",
    );
    let wanted = "last):\n  … 1 frame of libraries …\n  File \"/usr/lib/b.py\", line 2, in g\n    \
                  h()\nValueError: no\n";
    assert!(shown.ends_with(wanted), "{shown}");
}

/// Returns the text about a failure in a line of a function with these locals, as pytest shows
/// them.
fn with_locals(line: &str, locals: &str) -> String {
    let frame = Frame {
        path: "shop/cart.py".to_owned(),
        line: 9,
        function: "total".to_owned(),
        source: line.to_owned(),
    };
    let failure = Failure {
        exception: "TypeError".to_owned(),
        message: "no".to_owned(),
        frames: vec![frame],
        traceback: format!(
            ">   {line}\nE   TypeError: no\n\n{locals}\n\nshop/cart.py:9: TypeError"
        ),
        ..Failure::default()
    };
    failure_text(ID, &failure, &[])
}

#[test]
fn locals_of_the_raising_line_come_first_and_those_left_out_are_counted() {
    let all: Vec<String> = (0..12).map(|it| format!("a{it:<9} = {it}")).collect();
    let shown =
        with_locals("return prefix[-2:] + a11", &format!("{}\nprefix     = 42", all.join("\n")));
    let (_, locals) = shown.split_once("+ a11\n").expect("the line");
    assert!(
        locals.starts_with("      with a11 = 11\n      with prefix = 42\n      with a0 = 0\n"),
        "{shown}"
    );
    assert!(locals.ends_with("      with a7 = 7\n      … and 3 more\n"), "{shown}");
}

#[test]
fn values_of_several_lines_are_shown_whole_on_one() {
    let table = [
        (
            "x          = (\"FUCK=fuck alias 'A \"\n \"B=c' \"\n \"D\")\ny          = 1",
            "x = \"FUCK=fuck alias 'A B=c' D\"\n",
        ),
        ("x          = {'a': 1,\n 'b': 'c'}", "x = {'a': 1, 'b': 'c'}\n"),
        (
            "x          = array([[1, 2],\n       [3, 4]])\n_y         = 2",
            "x = array([[1, 2], [3, 4]])\n",
        ),
        ("x          = ('a'\n \"b'\")", "x = ('a' \"b'\")\n"),
    ];
    for (locals, wanted) in table {
        let shown = with_locals("f(x)", locals);
        assert!(shown.contains(&format!("      with {wanted}")), "{wanted}: {shown}");
    }
    let long = format!("x          = [{}1]", "'word',\n ".repeat(90));
    assert!(with_locals("f(x)", &long).contains("'word',…\n"), "{}", with_locals("f(x)", &long));
}
