//! Losses of a program by an edit of one place.

use trellis_python::{Loss, Mutant, MutantKind};

/// Returns what a source loses if its text between `«` and `»` is replaced.
fn loss(marked: &str, replacement: &str) -> Option<Loss> {
    let (before, rest) = marked.split_once('«').expect("a start");
    let (old, after) = rest.split_once('»').expect("an end");
    let mutant = Mutant {
        line: before.matches('\n').count() as u32 + 1,
        kind: MutantKind::Name,
        range: before.len()..before.len() + old.len(),
        replacement: replacement.to_owned(),
    };
    let source = format!("{before}{old}{after}");
    assert!(mutant.apply(&source).is_some(), "{marked} with {replacement} is not Python");
    mutant.loss(&source)
}

fn binding(name: &str) -> Option<Loss> {
    Some(Loss::Binding(name.to_owned()))
}

fn last_use(name: &str) -> Option<Loss> {
    Some(Loss::Use(name.to_owned()))
}

fn assignment(name: &str) -> Option<Loss> {
    Some(Loss::Assignment(name.to_owned()))
}

fn initial(name: &str) -> Option<Loss> {
    Some(Loss::InitialValue(name.to_owned()))
}

fn check(table: &[(&str, &str, &str, Option<Loss>)]) {
    for (name, marked, replacement, expected) in table {
        assert_eq!(loss(marked, replacement), *expected, "{name}: {marked}");
    }
}

#[test]
fn the_only_binding_of_a_name_that_others_read_is_a_loss() {
    let worker = "\
class Worker:
    def __init__(self, last_active):
        self.last_active = last_active
        self.«started» = now()
";
    let attribute = |assigned: &str| {
        format!("class A:\n    def f(self, a, b):\n        {assigned}\n        self.z = 0\n")
    };
    check(&[
        ("an attribute", worker, "last_active", binding("started")),
        ("in a tuple", &attribute("self.«x», self.y = a, b"), "y", binding("x")),
        ("left out", &attribute("«self.x = a + b»"), "pass", binding("x")),
        ("added to", &attribute("self.x «=» a + b"), "+=", binding("x")),
        ("bound again", &attribute("self.«x» = a\n        g()\n        self.x = b"), "w", None),
        ("a class attribute", "class A:\n    «x» = 1\n    y = 2\n", "y", binding("x")),
        ("of the module", "«LIMIT» = 1\nSIZE = f()\n", "SIZE", binding("LIMIT")),
        (
            "a global",
            "def f():\n    global x\n    «x» = 1\ndef g():\n    y = x\n    return y\n",
            "y",
            binding("x"),
        ),
        (
            "a local variable",
            "def f():\n    «x» = 1\n    y = g()\n    return x + y\n",
            "y",
            binding("x"),
        ),
        (
            "of a closure",
            "def f(y):\n    «x» = 1\n    print(y)\n    return lambda: x\n",
            "y",
            binding("x"),
        ),
    ]);
}

#[test]
fn a_name_that_no_other_code_reads_may_go() {
    let class = "class A:\n    def f(self):\n        self.«_x» = 1\n        return self.y\n";
    check(&[
        ("an attribute misspelt", class, "y", None),
        ("and public", &class.replace("_x", "x"), "y", None),
        ("an unused variable", "def f():\n    «x» = 1\n    return 2\n", "y", None),
        ("a constant misspelt", "«LIMTI» = 1\n\ndef f():\n    return LIMIT\n", "LIMIT", None),
    ]);
}

#[test]
fn the_last_use_of_a_parameter_or_a_variable_is_a_loss() {
    check(&[
        ("a parameter", "def f(a, b):\n    return a + «b»\n", "a", last_use("b")),
        ("an argument", "def f(a, b):\n    return g(a«, b»)\n", "", last_use("b")),
        ("a variable", "def f(a):\n    b = a + 1\n    return «b»\n", "a", last_use("b")),
        ("left out", "def f(a, b):\n    «b.sort()»\n    return a\n", "pass", last_use("b")),
        ("used elsewhere", "def f(a, b):\n    g(b)\n    return a + «b»\n", "a", None),
        ("in a closure", "def f(a, b):\n    g(lambda: b)\n    return a + «b»\n", "a", None),
        (
            "of another function",
            "def f(a):\n    return «a»\ndef g(a):\n    return 0\n",
            "1",
            last_use("a"),
        ),
        ("only updated", "def f(a):\n    n = 0\n    n += 1\n    return «n»\n", "a", last_use("n")),
        ("self", "class A:\n    def f(self, a):\n        return «self» + a\n", "a", None),
        ("an unused name", "def f(a, _b):\n    return a + «_b»\n", "a", None),
        ("of the module", "A = 1\nB = 2\nprint(A + «B»)\n", "A", None),
    ]);
}

#[test]
fn an_assignment_that_the_next_one_overwrites_is_a_loss() {
    let method = |body: &str| format!("class A:\n    def f(self, a, b):\n        {body}\n");
    let pair = |between: &str| {
        method(&format!("self.x = a\n        {between}self.«y» = b\n        self.y = g(self.x)"))
    };
    check(&[
        ("an attribute", &pair(""), "x", assignment("self.x")),
        ("after a call", &pair("g()\n        "), "x", assignment("self.x")),
        ("after its use", &pair("g(self.x)\n        "), "x", None),
        ("after a method", &pair("self.g()\n        "), "x", None),
        ("after the object", &pair("g(self)\n        "), "x", None),
        ("after a branch", &pair("if a: g()\n        "), "x", None),
        (
            "a variable",
            "def f(a):\n    x = a\n    «y» = 1\n    y = 2\n    return x + y\n",
            "x",
            assignment("x"),
        ),
        ("a sum", "def f(a):\n    n = 0\n    n «+=» a\n    return n\n", "=", assignment("n")),
        (
            "a parameter",
            "def f(a, b):\n    «c» = 1\n    c = b\n    return a + c\n",
            "a",
            assignment("a"),
        ),
        (
            "one used for itself",
            "def f(a):\n    c = 0\n    «c» = g(a)\n    return a + c\n",
            "a",
            None,
        ),
        (
            "in a tuple",
            "def f(a):\n    x, y = a\n    «z», w = a\n    z = 1\n    return x, y, z, w\n",
            "x",
            assignment("x"),
        ),
    ]);
}

#[test]
fn a_truth_value_that_a_state_starts_with_is_a_loss() {
    check(&[
        (
            "a flag",
            "def f(a):\n    done = «False»\n    return g(a, done)\n",
            "True",
            initial("done"),
        ),
        ("nothing", "def f(a):\n    best = «None»\n    return g(a, best)\n", "0", initial("best")),
        (
            "an attribute",
            "class A:\n    def f(self):\n        self.on = «True»\n",
            "False",
            initial("self.on"),
        ),
        ("with a type", "def f():\n    on: bool = «True»\n    return on\n", "False", initial("on")),
        ("of a class", "class A:\n    on = «True»\n", "False", initial("on")),
        ("one of two", "def f():\n    a, b = 1, «True»\n    return a, b\n", "False", initial("b")),
        (
            "a state of the module",
            "on = «True»\ndef f():\n    global on\n    on = False\n",
            "False",
            initial("on"),
        ),
        ("a constant", "STRICT = «True»\n", "False", None),
        ("a number", "def f():\n    n = «0»\n    return n\n", "1", None),
        ("in a dictionary", "def f():\n    it = {'on': «True»}\n    return it\n", "False", None),
        (
            "an argument",
            "def f():\n    it = sorted([], reverse=«True»)\n    return it\n",
            "False",
            None,
        ),
        ("a default", "def f(on=«True»):\n    return on\n", "False", None),
        ("a result", "def f():\n    return «True»\n", "False", None),
        ("a choice", "def f(a):\n    on = «True» if a else False\n    return on\n", "False", None),
    ]);
}

#[test]
fn the_usual_repairs_lose_nothing() {
    check(&[
        ("a default", "def f(id, last_active«»):\n    return id, last_active\n", "=None", None),
        ("an operator", "def f(a, b):\n    return a «-» b\n", "+", None),
        ("a comparison", "def f(a, b):\n    return a «<» b\n", "<=", None),
        ("an index", "def f(a, i):\n    return a[«i»]\n", "i - 1", None),
        ("a method", "def f(a):\n    a.«append»(1)\n", "extend", None),
        ("arguments", "def f(a, b):\n    return g(«a, b»)\n", "b, a", None),
        ("a name", "def f(a, b):\n    return a + b + «a»\n", "b", None),
        ("an undefined name", "def f(out):\n    return lambda: «out_path»\n", "out", None),
        ("a number", "LIMIT = «1»\n", "2", None),
    ]);
}

#[test]
fn a_loss_is_said_in_words() {
    let worker = "class A:\n    def f(self):\n        self.a = 1\n        self.«b» = 2\n";
    let said = loss(worker, "a").expect("a loss").describe();
    assert_eq!(said, "`b` is then bound nowhere");
}
