//! Symbol edits on the command line: complete files before and after, undo, refusals.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;

use crate::crash::faults::{ERRORS, Fault, KILLS};
use crate::world::{Ran, World, tree};

pub(crate) const CART: &str = "# coding: utf-8\r\nclass Cart:\r\n    @property\r\n    def total(self) -> int:\r\n        '''Sum.'''\r\n        return 0\r\n\r\n\r\ndef helper(): return 1\r\n";

pub(crate) fn cart() -> World {
    let world = World::new();
    world.write("lib/pyproject.toml", "");
    world.write("lib/cart.py", CART);
    world.write("lib/other.py", "def helper():\n    pass\n");
    world
}

#[test]
fn symbols_are_edited_and_every_edit_is_undone() {
    let world = cart();
    let replaced = CART.replace("'''Sum.'''\r\n        return 0", "return sum(self.items)");
    let edit = [
        "symbols",
        "replace-body",
        "Cart/total",
        "--in=lib",
        "--text=return sum(self.items)",
        "--json",
    ];
    let dry = world.trellis(&[&edit[..], &["--dry-run"]].concat()).exits(0).json();
    assert_eq!(world.read("lib/cart.py"), CART, "a dry run changes nothing");
    let done = world.trellis(&edit).exits(0).json();
    assert_eq!((world.read("lib/cart.py"), &done["undo"]), (replaced.clone(), &1.into()));
    assert_eq!(
        (&dry["diff"], &dry["edits"], dry["undo"].is_null()),
        (&done["diff"], &done["edits"], true)
    );
    assert_eq!(done["edits"][0]["range"]["end"], serde_json::json!({ "line": 6, "column": 17 }));
    let diff = done["diff"].as_str().expect("a diff");
    assert!(diff.starts_with("--- a/lib/cart.py\n+++ b/lib/cart.py\n@@ "), "{diff}");
    // Text from standard input, and from a file.
    let mut command =
        world.command(&["symbols", "insert-after", "Cart", "--inside", "--in=lib/cart.py"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("trellis");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(b"def clear(self):\n    self.items = []\n")
        .expect("written");
    let _ =
        Ran::of(child.wait_with_output().expect("it ends")).exits(0).says("trellis symbols undo 2");
    let inserted = replaced.replace(
        "\r\n\r\n\r\ndef",
        "\r\n\r\n    def clear(self):\r\n        self.items = []\r\n\r\n\r\ndef",
    );
    assert_eq!(world.read("lib/cart.py"), inserted);
    world.write("new.txt", "X = 1\n");
    let _ = world
        .trellis(&["symbols", "insert-before", "helper", "--in=lib/cart.py", "--text-file=new.txt"])
        .exits(0);
    let _ = world
        .trellis(&["symbols", "replace", "--search=X = 1", "--replace=X = 2", "--in=lib/cart.py"])
        .exits(0);
    assert!(world.read("lib/cart.py").contains("\r\n\r\n\r\nX = 2\r\n\r\n\r\ndef helper"));
    // An edit cannot be undone before later edits of the file; in reverse order all can.
    let _ = world
        .trellis(&["symbols", "undo", "2", "--in=lib/cart.py"])
        .exits(65)
        .says("changed since");
    for _ in 0..4 {
        let _ = world.trellis(&["symbols", "undo", "--in=lib/cart.py"]).exits(0);
    }
    assert_eq!(world.read("lib/cart.py"), CART);
    let _ =
        world.trellis(&["symbols", "undo", "--in=lib/cart.py"]).exits(65).says("no edit to undo");
    let _ = world.trellis(&["symbols", "undo", "8", "--in=lib/cart.py"]).exits(0);
    assert_eq!(world.read("lib/cart.py"), replaced, "an undoing is undone");
}

#[test]
fn what_cannot_be_edited_is_left_as_it_is() {
    let world = cart();
    let latin = world.root().join("lib/latin.py");
    fs::write(&latin, b"def caf\xe9(): pass\n").expect("a file");
    let fixed = world.write("lib/fixed.py", "def f(): pass\n");
    fs::set_permissions(&fixed, fs::Permissions::from_mode(0o444)).expect("a mode");
    let table: [(&[&str], &str); 7] = [
        (
            &["replace-body", "helper", "--in=lib", "--text=pass"],
            "is defined 2 times: cart.py:9 /helper, other.py:1 /helper",
        ),
        (&["replace-body", "nowhere", "--in=lib", "--text=pass"], "there is no `nowhere`"),
        (
            &["replace-body", "helper", "--in=lib/other.py", "--text=return ("],
            "the new text is not valid Python: line 1",
        ),
        (&["replace-body", "x", "--in=lib/latin.py", "--text=pass"], "is not UTF-8 (byte 7)"),
        (&["replace-body", "f", "--in=lib/fixed.py", "--text=pass"], "is read-only"),
        (
            &["replace", "--search=pass", "--replace=return (", "--in=lib/other.py"],
            "would get a new syntax error",
        ),
        (
            &["replace", "--search=e", "--replace=s", "--in=lib/other.py"],
            "occurs 3 times, at lines 1",
        ),
    ];
    for (arguments, words) in table {
        let _ = world.trellis(&[&["symbols"], arguments].concat()).exits(65).says(words);
    }
    assert_eq!(fs::read(&latin).expect("a file"), b"def caf\xe9(): pass\n");
    assert_eq!(world.read("lib/other.py"), "def helper():\n    pass\n");
    // Modes and links are kept.
    symlink("other.py", world.root().join("lib/link.py")).expect("a link");
    fs::set_permissions(world.root().join("lib/other.py"), fs::Permissions::from_mode(0o751))
        .expect("a mode");
    let _ = world
        .trellis(&["symbols", "replace-body", "helper", "--in=lib/link.py", "--text=return 1"])
        .exits(0);
    let meta = fs::symlink_metadata(world.root().join("lib/link.py")).expect("a link");
    assert!(meta.file_type().is_symlink() && world.read("lib/other.py").contains("return 1"));
    let mode =
        fs::metadata(world.root().join("lib/other.py")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o751);
}

/// Has an edit meet a fault, and makes another edit afterwards. Returns whether the first one ended as
/// without the fault.
fn edited_after(fault: Fault) -> bool {
    let world = cart();
    let mut edit =
        world.command(&["symbols", "replace-body", "Cart/total", "--in=lib", "--text=return 1"]);
    fault.happens_in(&mut edit);
    let output = edit.output().expect("trellis starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!errors.contains("panicked"), "{fault:?}: {errors}");
    let next = ["symbols", "replace", "--search=pass", "--replace=return 2", "--in=lib/other.py"];
    let _ = world.trellis(&next).exits(0);
    assert_eq!(world.read("lib/other.py"), "def helper():\n    return 2\n", "{fault:?}");
    let whole = [CART.to_owned(), CART.replace("'''Sum.'''\r\n        return 0", "return 1")];
    assert!(whole.contains(&world.read("lib/cart.py")), "{fault:?}");
    let left: Vec<String> = tree(&world.root().join("lib")).into_keys().collect();
    assert!(!left.iter().any(|it| it.contains("pending") || it.contains(".tmp")), "{left:?}");
    output.status.success()
}

#[test]
fn no_fault_at_any_step_of_an_edit_leaves_half_a_file_or_stops_the_next_edit() {
    let points = 1..;
    let is_reached = |point: &u64| !edited_after(Fault { point: *point, name: KILLS[0] });
    let reached = points.take_while(is_reached).inspect(|point| {
        for name in [KILLS[1]].into_iter().chain(ERRORS) {
            edited_after(Fault { point: *point, name });
        }
    });
    assert!(reached.count() > 4, "an edit has more steps");
}
