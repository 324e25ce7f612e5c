//! Files with syntax errors: what the parser passes over is listed as possible, and edits do not
//! make it worse.

use trellis_python::{TextEdit, TextEdits, check_no_new_errors};

use crate::marked::Marked;

fn check(broken: &str) {
    Marked::new(&[("a.py", "def «g»():\n    return 2\n"), ("b.py", broken)]).check();
}

#[test]
fn names_beside_a_syntax_error_are_possible() {
    check("from a import «g»\ndef f(:\n    ‹g›()\nprint(«g»())\n");
    check("from a import «g»\nx = («g»()\ny = «g»\n");
}

#[test]
fn a_line_is_replaced_though_the_code_above_breaks_it() {
    let replaced = |from: &str, to: &str| {
        let source = "x = (1\ny = 2\nz = [\n";
        let start = source.find(from).unwrap();
        let edit = TextEdit { range: start..start + from.len(), text: to.to_owned() };
        let edits = TextEdits::new(source, [edit]).unwrap();
        check_no_new_errors(source, &edits).map(|()| edits.apply(source))
    };
    assert_eq!(replaced("y = 2", "y = 3").unwrap(), "x = (1\ny = 3\nz = [\n");
    assert_eq!(replaced("(1\ny", "(1)\ny").unwrap(), "x = (1)\ny = 2\nz = [\n");
    assert!(replaced("y = 2", "y = 2)\nw = (").is_err());
    assert!(replaced("z = [", "z = [\nw = (").is_err());
}
