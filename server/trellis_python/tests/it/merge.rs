//! Files merged from the contributions of nodes.

use std::collections::HashSet;

use trellis_python::{FilePart, Fragment, ImportGroups, merge};

struct Node<'a> {
    defines: &'a str,
    class: Option<&'a str>,
    text: &'a str,
}

fn node<'a>(defines: &'a str, text: &'a str) -> Node<'a> {
    Node { defines, class: None, text }
}

fn check(nodes: &[Node<'_>], reserved: &[&str], expect: &str) {
    let fragments: Vec<Fragment> =
        nodes.iter().map(|node| Fragment::parse(node.text).expect(node.text)).collect();
    let parts: Vec<FilePart<'_>> = (nodes.iter().zip(&fragments))
        .map(|(node, fragment)| FilePart {
            fragment,
            defines: Some(node.defines),
            class: node.class,
            suffix: node.defines,
        })
        .collect();
    let reserved: HashSet<&str> = reserved.iter().copied().collect();
    let groups = ImportGroups { local: &|name| name == "pkg" };
    let merged = merge(None, &parts, &reserved, &groups, false).expect("merges");
    assert_eq!(merged.text, expect);
    trellis_python::check(&merged.text).expect("the merged file parses");
}

#[test]
fn imports_are_united_grouped_sorted_and_unused_ones_dropped() {
    check(
        &[
            node(
                "f",
                "import os\nimport numpy as np\nfrom typing import List, Dict\n\ndef f(a: List[int]) -> Dict:\n    return np.sum(a)\n",
            ),
            node(
                "g",
                "from pkg.b import h\nfrom typing import Optional, List\n\ndef g(x: 'Optional[int]'):\n    return h(x)\n",
            ),
        ],
        &[],
        "from typing import Dict, List, Optional\n\nimport numpy as np\n\nfrom pkg.b import h\n\n\ndef f(a: List[int]) -> Dict:\n    return np.sum(a)\n\n\ndef g(x: 'Optional[int]'):\n    return h(x)\n",
    );
}

#[test]
fn a_clashing_helper_is_renamed_inside_its_own_part() {
    check(
        &[
            node("f", "def _h(x):\n    return x + 1\n\ndef f(x):\n    return _h(x)\n"),
            node(
                "g",
                "LIMIT = 3\n\ndef _h(x):\n    return x * LIMIT\n\ndef g(x, y=_h):\n    _h.calls = 1\n    return [_h(i) for i in x]\n",
            ),
        ],
        &[],
        "def _h(x):\n    return x + 1\n\n\ndef f(x):\n    return _h(x)\n\n\nLIMIT = 3\n\n\ndef _h_g(x):\n    return x * LIMIT\n\n\ndef g(x, y=_h_g):\n    _h_g.calls = 1\n    return [_h_g(i) for i in x]\n",
    );
}

#[test]
fn an_equal_helper_is_kept_once_and_a_planned_definition_is_not_copied() {
    check(
        &[
            node("is_prime", "def is_prime(n):\n    return n > 1\n"),
            node(
                "f",
                "def same():\n    pass\n\ndef is_prime(n):\n    return False\n\ndef f(n):\n    return is_prime(n)\n",
            ),
            node("g", "def same():\n    pass\n\ndef g():\n    same()\n"),
        ],
        &["is_prime", "f", "g"],
        "def is_prime(n):\n    return n > 1\n\n\ndef same():\n    pass\n\n\ndef f(n):\n    return is_prime(n)\n\n\ndef g():\n    same()\n",
    );
}

#[test]
fn a_helper_may_not_take_the_name_of_a_node_still_to_come() {
    check(
        &[node("f", "def g(n):\n    return n\n\ndef f(n):\n    return g(n)\n")],
        &["f", "g"],
        "def g_f(n):\n    return n\n\n\ndef f(n):\n    return g_f(n)\n",
    );
}

#[test]
fn methods_go_into_their_class() {
    check(
        &[
            node(
                "Model",
                "class Model:\n    \"\"\"A model.\n\n    Long.\n    \"\"\"\n\n    rate = 1\n",
            ),
            Node {
                defines: "fit",
                class: Some("Model"),
                text: "import math\n\nSEED = 7\n\n@staticmethod\ndef fit(x):\n    \"\"\"Fit.\n\n    More.\n    \"\"\"\n    text = '''a\nb'''\n    return math.sqrt(x) + SEED\n",
            },
            Node {
                defines: "p",
                class: Some("Model"),
                text: "@property\ndef p(self):\n    return 1\n\n@p.setter\ndef p(self, v):\n    pass\n",
            },
        ],
        &["Model"],
        "import math\n\nSEED = 7\n\n\nclass Model:\n    \"\"\"A model.\n\n    Long.\n    \"\"\"\n\n    rate = 1\n\n    @staticmethod\n    def fit(x):\n        \"\"\"Fit.\n\n        More.\n        \"\"\"\n        text = '''a\nb'''\n        return math.sqrt(x) + SEED\n\n    @property\n    def p(self):\n        return 1\n\n    @p.setter\n    def p(self, v):\n        pass\n",
    );
}

#[test]
fn a_class_that_only_passes_gives_way_and_a_missing_one_is_made() {
    check(
        &[
            node("A", "class A(Base): pass\n"),
            Node { defines: "f", class: Some("A"), text: "def f(self):\n    return 1\n" },
            Node { defines: "g", class: Some("B"), text: "def g(self):\n    return 2\n" },
        ],
        &["A"],
        "class A(Base):\n    def f(self):\n        return 1\n\n\nclass B:\n    def g(self):\n        return 2\n",
    );
}

#[test]
fn clashing_fixtures_are_renamed_with_the_parameters_that_ask_for_them() {
    check(
        &[
            node(
                "a",
                "import pytest\n\n@pytest.fixture\ndef rows():\n    return 1\n\ndef test_a(rows):\n    assert rows\n",
            ),
            node(
                "b",
                "import pytest\n\n@pytest.fixture\ndef rows():\n    return 2\n\ndef test_a(rows):\n    assert rows == 2\n",
            ),
        ],
        &[],
        "import pytest\n\n\n@pytest.fixture\ndef rows():\n    return 1\n\n\ndef test_a(rows):\n    assert rows\n\n\n@pytest.fixture\ndef rows_b():\n    return 2\n\n\ndef test_a_b(rows_b):\n    assert rows_b == 2\n",
    );
}

#[test]
fn two_imports_of_one_name_are_distinguished() {
    check(
        &[
            node("f", "from math import floor\ndef f(x):\n    return floor(x)\n"),
            node("g", "from numpy import floor\ndef g(x):\n    return floor(x)\n"),
        ],
        &[],
        "from math import floor\n\nfrom numpy import floor as floor_g\n\n\ndef f(x):\n    return floor(x)\n\n\ndef g(x):\n    return floor_g(x)\n",
    );
}

#[test]
fn a_method_stands_in_its_class_once() {
    check(
        &[
            node(
                "A",
                "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n",
            ),
            Node { defines: "f", class: Some("A"), text: "def f(self):\n    return 3\n" },
        ],
        &["A"],
        "class A:\n    def g(self):\n        return 2\n\n    def f(self):\n        return 3\n",
    );
}

#[test]
fn what_a_person_wrote_stays_byte_for_byte() {
    let opening = "#!/usr/bin/env python\n\"\"\"Mine.\"\"\"\nimport os  # why\n\nLIMIT  =  3\n\n\nclass A:\n    x = 1   # odd\n\n\nif __name__ == \"__main__\":\n    print(os.name)\n";
    let method =
        Fragment::parse("import math\n\ndef f(self):\n    return math.pi\n").expect("parses");
    let helper = Fragment::parse("LIMIT = 4\n\ndef g():\n    return LIMIT\n").expect("parses");
    let parts = [
        FilePart { fragment: &method, defines: Some("f"), class: Some("A"), suffix: "A_f" },
        FilePart { fragment: &helper, defines: Some("g"), class: None, suffix: "g" },
    ];
    let groups = ImportGroups { local: &|_| false };
    let reserved = HashSet::from(["A", "g"]);
    let merged = merge(Some(opening), &parts, &reserved, &groups, false).expect("merges");
    assert_eq!(
        merged.text,
        "#!/usr/bin/env python\n\"\"\"Mine.\"\"\"\nimport os  # why\nimport math\n\nLIMIT  =  3\n\n\nclass A:\n    x = 1   # odd\n\n    def f(self):\n        return math.pi\n\n\nLIMIT_g = 4\n\n\ndef g():\n    return LIMIT_g\n\n\nif __name__ == \"__main__\":\n    print(os.name)\n"
    );
    let alone = merge(Some(opening), &[], &reserved, &groups, false).expect("merges");
    assert_eq!(alone.text, opening);
}

#[test]
fn one_type_under_its_two_names_is_imported_once() {
    check(
        &[
            node("f", "from typing import Sequence\ndef f(x: Sequence): pass\n"),
            node("g", "from collections.abc import Sequence\ndef g(x: Sequence): pass\n"),
        ],
        &[],
        "from typing import Sequence\n\n\ndef f(x: Sequence): pass\n\n\ndef g(x: Sequence): pass\n",
    );
}
