//! Fixtures of pytest: asked for by parameters, in marks and in calls.

use crate::marked::{Marked, check};

const CONFTEST: &str = "import pytest\n@pytest.fixture\ndef «store»(): return {'a': 1}\n";

fn with_conftest(test: &str) {
    Marked::new(&[("conftest.py", CONFTEST), ("test_m.py", test)]).check();
}

#[test]
fn tests_ask_for_a_fixture_by_parameter() {
    with_conftest(
        "def test_a(«store»):\n    assert «store»['a']\nclass TestB:\n    def test_c(self, «store»): assert «store»\n    def helper(self, store): return store\ndef other(store=1): return store\n",
    );
    with_conftest("async def test_a(*, «store»):\n    def inner(): return «store»\n    inner()\n");
    with_conftest("import pytest\n@pytest.fixture()\ndef full(«store»): yield «store»\n");
}

#[test]
fn marks_and_calls_name_fixtures() {
    with_conftest(
        "import pytest\npytestmark = pytest.mark.usefixtures('«store»')\n@pytest.mark.usefixtures(\"other\", \"«store»\")\ndef test_a(request):\n    request.getfixturevalue('«store»')\n",
    );
    with_conftest(
        "import pytest\n@pytest.mark.parametrize('«store»', [1], indirect=['«store»'])\ndef test_a(«store»): assert «store»\n@pytest.mark.parametrize('«store»', [1], indirect=True)\n@pytest.mark.usefixtures('x')\ndef test_b(): pass\n",
    );
}

#[test]
fn the_nearest_fixture_is_meant() {
    let near = "import pytest\n@pytest.fixture\ndef «size»(): return 1\ndef test_a(«size»): assert «size»\n";
    let far =
        "import pytest\n@pytest.fixture\ndef size(): return 2\ndef test_a(size): assert size\n";
    Marked::new(&[("test_a.py", near), ("test_b.py", far)]).check();
    let deep = [
        ("a/conftest.py", "import pytest\n@pytest.fixture\ndef «size»(): return 1\n"),
        ("b/conftest.py", "import pytest\n@pytest.fixture\ndef size(): return 1\n"),
        ("a/test_a.py", "def test_a(«size»): assert «size»\n"),
        ("b/test_b.py", "def test_b(size): assert size\n"),
    ];
    Marked::new(&deep).check();
}

/// Other fixtures ask for an overridden fixture and for what overrides it by one name.
#[test]
fn overriding_fixtures_keep_one_name() {
    let files = [
        (
            "conftest.py",
            "import pytest\n@pytest.fixture\ndef size(): return 1\n@pytest.fixture\ndef box(size): return size\n",
        ),
        (
            "test_m.py",
            "import pytest\n@pytest.fixture\ndef size(size): return size + 1\ndef test_a(box, size): assert box == size\n",
        ),
    ];
    let marked = Marked::new(&[
        (files[0].0, &files[0].1.replacen("size", "«size»", 1)),
        (files[1].0, files[1].1),
    ]);
    let rename = marked.index.rename(marked.at.0, marked.at.1, "width").unwrap();
    let count: usize = rename.edits.iter().map(|(_, ranges)| ranges.len()).sum();
    let all: usize = files.iter().map(|it| it.1.matches("size").count()).sum();
    assert_eq!(count, all);
}

#[test]
fn a_fixture_may_have_another_name_than_its_function() {
    let conftest = "import pytest\n@pytest.fixture(name='«store»')\ndef make_store(): return 1\n";
    Marked::new(&[("conftest.py", conftest), ("test_m.py", "def test_a(«store»): «store»\n")])
        .check();
    let function = "import pytest\n@pytest.fixture(name='store')\ndef «make_store»(): return 1\n";
    Marked::new(&[("conftest.py", function), ("test_m.py", "def test_a(store): store\n")]).check();
}

#[test]
fn imported_fixtures_and_those_of_plugins_are_found() {
    let files = [
        ("pkg/__init__.py", ""),
        ("pkg/fixtures.py", "import pytest\n@pytest.fixture\ndef «store»(): return 1\n"),
        ("test_m.py", "from pkg.fixtures import «store»\ndef test_a(«store»): «store»\n"),
        ("test_n.py", "pytest_plugins = ['pkg.fixtures']\ndef test_a(«store»): «store»\n"),
    ];
    Marked::new(&files).check();
}

#[test]
fn what_is_made_a_fixture_in_another_way_may_be_asked_for() {
    let assigned = "import pytest\ndef _store(): return 1\n«store» = pytest.fixture(_store)\n";
    for conftest in [
        assigned,
        "from pytest import fixture as fix\n@fix\ndef «store»(): return 1\n",
        "import pytest\nin_module = pytest.fixture(scope='module')\n@in_module\ndef «store»(): return 1\n",
    ] {
        let test = "def test_a(‹store›): assert store\ndef helper(store): return store\n";
        Marked::new(&[("conftest.py", conftest), ("test_m.py", test)]).check();
    }
    let given = "import pytest\n@pytest.mark.parametrize('store', [1])\ndef test_a(store): store\n";
    Marked::new(&[("conftest.py", assigned), ("test_m.py", given)]).check();
    // Code that makes no fixture.
    let other = "def test_a(store): assert store\n";
    Marked::new(&[("shop.py", "«store» = 1\n"), ("test_m.py", other)]).check();
}

#[test]
fn settings_of_pytest_name_fixtures() {
    for (path, settings) in [
        ("pytest.ini", "[pytest]\nusefixtures = other «store»\naddopts = -k store\n"),
        ("tox.ini", "[pytest]\nusefixtures =\n    other\n    «store»\nstore = 1\n"),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\nusefixtures = [\n\"other\",\n'«store»']\naddopts = 'store'\n",
        ),
    ] {
        Marked::new(&[("conftest.py", CONFTEST), (path, settings)]).check();
        // Those of a folder below are not those of all tests.
        let settings = settings.replace('«', "‹").replace('»', "›");
        Marked::new(&[("tests/conftest.py", CONFTEST), (path, &settings)]).check();
    }
}

#[test]
fn fixtures_of_classes_are_seen_there_only() {
    check(
        "import pytest\nclass TestA:\n    @pytest.fixture\n    def «part»(self): return 1\n    def test_a(self, «part»): assert «part»\nclass TestB(TestA):\n    def test_b(self, «part»): «part»\nclass TestC:\n    def test_c(self, part): part\n",
    );
}

#[test]
fn parameters_of_parametrized_tests_change_with_their_strings() {
    check(
        "import pytest\n@pytest.mark.parametrize(\"«left», right\", [(1, 2)])\ndef test_sum(«left», right): assert «left» + right\n",
    );
    check(
        "from pytest import mark\n@mark.parametrize(('a', '«b»'), [(1, 2)])\nclass TestIt:\n    def test_a(self, a, «b»): assert a < «b»\n",
    );
    check(
        "import pytest\npytestmark = [pytest.mark.parametrize(argnames=['«n»'], argvalues=[[1]])]\ndef test_a(«n»): assert «n»\n",
    );
    // From the string as well.
    check(
        "import pytest\n@pytest.mark.parametrize('«n»', [1])\ndef test_a(«n»): assert «n»\n@pytest.mark.parametrize('n', [1])\ndef test_b(n): assert n\n",
    );
}

#[test]
fn the_values_of_fixtures_have_types() {
    let conftest = "import pytest\nclass Store:\n    def «size»(self): return 1\n@pytest.fixture\ndef store():\n    s = Store()\n    yield s\n@pytest.fixture\nasync def later(): return Store()\n";
    let test = "def test_a(store, later):\n    store.«size»()\n    later.«size»()\n";
    Marked::new(&[("conftest.py", conftest), ("test_m.py", test)]).check();
}

#[test]
fn what_pytest_itself_looks_for_is_refused() {
    let refused = |text: &str| Marked::new(&[("conftest.py", text)]).refusal("zz");
    assert!(
        refused("def «pytest_collection_modifyitems»(items): ...\n").contains("pytest looks for")
    );
    assert!(
        refused("def pytest_configure(«config»): config.x = 1\n")
            .contains("pytest passes `config`")
    );
    assert!(refused("«pytest_plugins» = ['x']\n").contains("pytest looks for"));
    let test = Marked::new(&[("test_m.py", "def test_a(«tmp_path»): tmp_path.mkdir()\n")]);
    assert!(test.refusal("zz").contains("pytest.tmp_path"));
}

#[test]
fn a_new_name_may_not_be_that_of_another_fixture() {
    let files = [
        ("conftest.py", "import pytest\n@pytest.fixture\ndef «store»(): ...\n"),
        ("test_m.py", "import pytest\n@pytest.fixture\ndef shop(): ...\ndef test_a(store): ...\n"),
    ];
    assert!(Marked::new(&files).refusal("shop").contains("has a fixture with that name"));
    for built_in in ["tmp_path", "request"] {
        let refusal = Marked::new(&files).refusal(built_in);
        assert!(refusal.contains("pytest has a fixture with that name"), "{refusal}");
    }
    let local = [
        ("conftest.py", "import pytest\n@pytest.fixture\ndef «store»(): ...\n"),
        ("test_m.py", "def test_a(store):\n    shop = 1\n    return store, shop\n"),
    ];
    assert!(Marked::new(&local).refusal("shop").contains("binds it"));
}

#[test]
fn values_that_pytest_passes_have_types() {
    check(
        "import pytest\nclass A:\n    def «go»(self): ...\nclass B:\n    def go(self): ...\n@pytest.mark.parametrize('make', [A, pytest.param(A, id='a')])\ndef test_a(make): make().«go»()\n@pytest.mark.parametrize('n, it', [(1, A()), (2, A())])\ndef test_b(n, it): it.«go»()\n@pytest.mark.parametrize('it', [B()])\ndef test_c(it): it.go()\n",
    );
    check(
        "import pytest\nclass Bad(Exception):\n    def __init__(self): self.«code» = 1\ndef test_a():\n    with pytest.raises(Bad) as caught: raise Bad\n    assert caught.value.«code» == 1\ndef test_b(monkeypatch):\n    monkeypatch.setattr(Bad, '«code»', 2)\n    monkeypatch.code\n",
    );
}
