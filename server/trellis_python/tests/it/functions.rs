//! Functions of a file, as seen by code that tests or displays them.

use trellis_python::{Function, Functions, uses};

const CART: &str = r#"import requests
from datetime import datetime as moment
import os.path


class Cart:
    class Line:
        async def load(self, address: str) -> dict:
            r'''Loads it.

                Twice indented.
            Once.
            '''
            return requests.get(address).json()

    @property
    def total(self):
        return 0

    @staticmethod
    @wraps(
        x)
    def parse(
        text: str,
    ) -> "Cart": return Cart()


def stamp():
    import random as dice
    def inner():
        return moment.now()
    return inner(), dice.random()


if True:
    def äöü(): pass
else:
    def äöü(): return 1
"#;

fn named<'a>(all: &'a Functions, path: &str) -> &'a Function {
    all.functions.iter().find(|it| it.name_path == path).expect(path)
}

#[test]
fn every_function_is_found_with_its_facts() {
    let all = Functions::of(CART);
    assert_eq!(all.errors, []);
    let shown: Vec<String> = (all.functions.iter())
        .map(|it| {
            format!(
                "{} class={} {}{}{}-{} {}",
                it.name_path,
                it.class.as_deref().unwrap_or("-"),
                if it.is_async { "async " } else { "" },
                if it.is_nested { "nested " } else { "" },
                it.first_line,
                it.end_line,
                it.line,
            )
        })
        .collect();
    let expected = [
        "/Cart/Line/load class=Cart.Line async 8-14 8",
        "/Cart/total class=Cart 16-18 17",
        "/Cart/parse class=Cart 20-25 23",
        "/stamp class=- 28-32 28",
        "/stamp/inner class=- nested 30-31 30",
        "/äöü[0] class=- 36-36 36",
        "/äöü[1] class=- 38-38 38",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn texts_are_as_they_are_written() {
    let all = Functions::of(CART);
    let load = named(&all, "/Cart/Line/load");
    assert_eq!(load.signature, "async def load(self, address: str) -> dict");
    assert_eq!(load.docstring.as_deref(), Some("Loads it.\n\n    Twice indented.\nOnce."));
    assert_eq!(load.qualified_name, "Cart.Line.load");
    assert!(load.source.starts_with("        async def load"), "{}", load.source);
    let parse = named(&all, "/Cart/parse");
    assert_eq!(parse.signature, "def parse(\n        text: str,\n    ) -> \"Cart\"");
    assert_eq!(parse.decorators, ["@staticmethod", "@wraps(\n        x)"]);
    assert_eq!(parse.body, "return Cart()");
    assert_eq!(named(&all, "/Cart/total").body, "        return 0");
    assert_eq!((named(&all, "/äöü[1]").column, named(&all, "/äöü[1]").nth), (9, 1));
}

#[test]
fn all_texts_of_a_file_are_no_longer_than_it() {
    let deep: String =
        (0..90).map(|depth| format!("{}def f{depth}():\n", " ".repeat(depth))).collect();
    for source in [CART.to_owned(), deep + &" ".repeat(90) + "pass\n"] {
        let all = Functions::of(&source).functions;
        let length: usize = all.iter().map(|it| it.source.len()).sum();
        assert!(all.len() > 5 && length > 0 && length <= source.len(), "{length}");
    }
}

#[test]
fn a_broken_file_answers_as_far_as_it_can_be_understood() {
    let all = Functions::of("def a(x):\n    return (x\n\n\ndef b():\n    return 2\n");
    let names: Vec<&str> = all.functions.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(!all.errors.is_empty());
    assert_eq!(Functions::of(&"(".repeat(5000)).functions, []);
}

#[test]
fn what_reaches_outside_is_resolved_by_its_module() {
    for (source, expected) in [
        ("import requests\ndef f():\n    return requests.get('x').json()", "requests.get network"),
        (
            "from requests import get as fetch\ndef f():\n    return fetch('x')",
            "requests.get network",
        ),
        (
            "from datetime import datetime\ndef f():\n    return datetime.now()",
            "datetime.datetime.now clock",
        ),
        (
            "import datetime as dt\ndef f():\n    return dt.date.today()",
            "datetime.date.today clock",
        ),
        (
            "import os\ndef f():\n    return os.environ['x'], os.path.join('a')",
            "os.environ environment",
        ),
        ("def f(p):\n    with open(p) as file: return file.read()", "open files"),
        ("def f(open):\n    return open()", ""),
        ("import random\ndef f():\n    random = 1\n    return random.x", ""),
        ("import time\ndef f(t):\n    return time.strptime(t)", ""),
        ("def f():\n    return requests.get('x')", ""),
        ("def f():\n    import subprocess\n    subprocess.run(['x'])", "subprocess.run process"),
        (
            "class A:\n    def f(self):\n        return [u.uuid4() for _ in x]\nimport uuid as u",
            "uuid.uuid4 randomness",
        ),
        (
            "def f():\n    return sqlite3.connect\ntry:\n    import sqlite3\nexcept ImportError: pass",
            "sqlite3.connect database",
        ),
    ] {
        let all = Functions::of(source);
        let found = uses(source, &all.functions[0]);
        let found: Vec<String> = (found.outside.iter())
            .map(|it| format!("{} {}", it.resolved, it.contact.as_str()))
            .collect();
        assert_eq!(found.join(", "), expected, "{source}");
    }
}

#[test]
fn imports_are_those_of_the_file_and_those_it_speaks_of() {
    let source = "import os\nimport json as j\nfrom a import b\ndef f():\n    from c import d\n    return j.dumps(d)";
    let found = uses(source, &Functions::of(source).functions[0]);
    let shown =
        |all: &[trellis_python::Import]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        shown(&found.imports),
        ["import os", "import json as j", "from a import b", "from c import d"]
    );
    assert_eq!(shown(&found.used), ["import json as j", "from c import d"]);
}
