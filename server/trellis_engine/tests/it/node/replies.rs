//! Tests of replies brought into the plan's shape, as seen in the draft that is run.

use super::*;

/// Checks the implementation parsed from `reply`.
#[track_caller]
fn check_reply(item: &Item, reply: &str, expect: &str) {
    let name = if item.class.is_some() {
        format!("{}.{}", item.import_name(), item.name)
    } else {
        item.name.clone()
    };
    let tests = TESTS
        .replace("import mean", &format!("import {}", item.import_name()))
        .replace("mean(", &format!("{name}("));
    let played = play(
        item,
        &Policy::generate(),
        vec![python(&tests), uncollected(no_module(&item.module)), say(reply)],
    );
    assert!(played.trace.ends_with("run green"), "{}\n{reply}", played.trace);
    assert_eq!(played.implementation(), expect, "{reply}");
}

#[test]
fn code_is_found_in_whatever_it_is_wrapped() {
    let table = [
        format!("```python\n{GOOD}```"),
        format!("Sure!\n\n```py\n{GOOD}```\n\nand\n\n```python\nother = 1\n```"),
        format!("```Python3\r\n{}```\r\n", GOOD.replace('\n', "\r\n")),
        format!("```text\nmean = sum / n\n```\n```\n{GOOD}```"),
        format!("````python\n{GOOD}````"),
        format!("```python title=\"src/pkg/stats.py\"\n{GOOD}```"),
        format!("```python\n{GOOD}"),
        format!("~~~python\n{GOOD}~~~"),
        GOOD.to_owned(),
        format!(
            "  ```python\n{}  ```",
            GOOD.lines().map(|line| format!("  {line}\n")).collect::<String>()
        ),
    ];
    for reply in table {
        check_reply(&item(), &reply, GOOD);
    }
}

#[test]
fn the_plan_s_name_and_signature_win() {
    let table = [
        (
            "def average(values: list[float]) -> float:\n    return average(values[1:])\n",
            "def mean(values: list[float]) -> float:\n    return mean(values[1:])\n",
        ),
        (
            "def mean(xs):\n    return sum(xs)\n",
            "def mean(values: list[float]) -> float:\n    return sum(values)\n",
        ),
        (
            "# The mean.\ndef mean(values: list[float]) -> float:\n    return 1\n",
            "# The mean.\ndef mean(values: list[float]) -> float:\n    return 1\n",
        ),
        (
            "from .sums import total\nfrom ..pkg.stats import spread\nfrom pkg import total as t\n\ndef mean(values: list[float]) -> float:\n    return total(values) / spread(values) / t(values)\n\nif __name__ == '__main__':\n    print(mean([1]))\n",
            "from pkg.sums import total\nfrom pkg.sums import total as t\n\n\ndef mean(values: list[float]) -> float:\n    return total(values) / spread(values) / t(values)\n",
        ),
        // The plan allows numpy, which may have a `total` of its own.
        (
            "from numpy import total\n\ndef mean(values: list[float]) -> float:\n    return total(values)\n",
            "from numpy import total\n\n\ndef mean(values: list[float]) -> float:\n    return total(values)\n",
        ),
    ];
    for (reply, expect) in table {
        check_reply(&item(), &format!("```python\n{reply}```"), expect);
    }
}

#[test]
fn the_planned_annotations_bring_their_imports() {
    let signature =
        Signature::parse("def mean(values: Sequence[float]) -> Optional[float]").expect("parses");
    check_reply(
        &Item { signature: Some(signature), ..item() },
        "```python\ndef mean(values):\n    return None\n```",
        "from typing import Optional\nfrom typing import Sequence\n\n\ndef mean(values: Sequence[float]) -> Optional[float]:\n    return None\n",
    );
}

#[test]
fn methods_come_out_of_their_class_and_classes_lose_planned_methods() {
    check_reply(
        &method(),
        "```python\nclass Model:\n    '''A model.'''\n\n    def __init__(self):\n        self.x = 1\n\n    @property\n    def fit(self, rows):\n        return self._go()\n\n    def _go(self):\n        return 1\n\n    def predict(self):\n        return 2\n```",
        "def __init__(self):\n    self.x = 1\n\n\n@property\ndef fit(self, rows):\n    return self._go()\n\n\ndef _go(self):\n    return 1\n",
    );
    check_reply(
        &class(),
        "```python\nclass Model(Base):\n    def __init__(self):\n        self.x = 1\n\n    def fit(self, rows):\n        return self\n```",
        "class Model(Base):\n    def __init__(self):\n        self.x = 1\n",
    );
}

/// `def fit(rows)` in a class: Python passes no object.
#[test]
fn a_method_that_is_planned_without_self_is_static() {
    let planned = |text: &str| Item {
        signature: Some(Signature::parse(text).expect("parses").of_method()),
        name: text["def ".len()..].split('(').next().expect("a name").to_owned(),
        ..method()
    };
    let table = [
        (
            "def fit(rows)",
            "def fit(rows):\n    return rows",
            "@staticmethod\ndef fit(rows):\n    return rows\n",
        ),
        (
            "def fit()",
            "@cache\ndef fit():\n    return 1",
            "@staticmethod\n@cache\ndef fit():\n    return 1\n",
        ),
        (
            "def fit(rows)",
            "@staticmethod\ndef fit(rows):\n    return rows",
            "@staticmethod\ndef fit(rows):\n    return rows\n",
        ),
        (
            "def fit(rows)",
            "@classmethod\ndef fit(cls, rows):\n    return rows",
            "@staticmethod\ndef fit(rows):\n    return rows\n",
        ),
        (
            "def fit(rows)",
            "class Model:\n    @staticmethod\n    def fit(rows):\n        return rows",
            "@staticmethod\ndef fit(rows):\n    return rows\n",
        ),
        (
            "def fit(rows)",
            "class Model:\n    # Why.\n    def fit(self, rows):\n        return rows",
            "# Why.\n@staticmethod\ndef fit(rows):\n    return rows\n",
        ),
        // Planned with an object, a class, or variable arguments.
        ("def fit(self)", "def fit(self):\n    return 1", "def fit(self):\n    return 1\n"),
        (
            "def fit(cls, a)",
            "@classmethod\ndef fit(cls, a):\n    return 1",
            "@classmethod\ndef fit(cls, a):\n    return 1\n",
        ),
        ("def fit(*args)", "def fit(*args):\n    return 1", "def fit(*args):\n    return 1\n"),
        // Python always passes the object to these.
        (
            "def __len__() -> int",
            "def __len__(self) -> int:\n    return 1",
            "def __len__(self) -> int:\n    return 1\n",
        ),
        (
            "def __eq__(other)",
            "def __eq__(self, other):\n    return True",
            "def __eq__(self, other):\n    return True\n",
        ),
    ];
    for (signature, reply, expect) in table {
        check_reply(&planned(signature), &format!("```python\n{reply}\n```"), expect);
    }
    let played = play(&planned("def fit(rows)"), &Policy::generate(), vec![]);
    assert!(played.prompts[0].contains("@staticmethod\ndef fit(rows)"), "{}", played.prompts[0]);
}

#[test]
fn what_a_package_s_own_file_imports_is_taken_from_the_package() {
    check_reply(
        &Item { path: "src/pkg/__init__.py".to_owned(), module: "pkg".to_owned(), ..item() },
        "```python\nfrom .sums import total\n\ndef mean(values: list[float]) -> float:\n    return total(values)\n```",
        "from pkg.sums import total\n\n\ndef mean(values: list[float]) -> float:\n    return total(values)\n",
    );
}

#[test]
fn a_reply_without_the_definition_is_an_attempt_that_failed() {
    let two = "```python\ndef one(): pass\ndef two(): pass\n```";
    let played = play(&item(), &Policy::generate(), vec![tests(), red(), say(two)]);
    assert!(played.trace.ends_with("[attempt-unusable]; search; ask fix 0"), "{}", played.trace);
    assert_eq!(played.note("attempt-unusable"), "the reply does not define `mean`");
}
