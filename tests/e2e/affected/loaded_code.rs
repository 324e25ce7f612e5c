//! Code that tests share: what modules execute while they are loaded, and what caches keep.

use super::Project;

const INI: (&str, &str) = ("pytest.ini", "[pytest]\n");

#[test]
fn code_of_a_module_that_a_test_loads_concerns_all_that_use_the_module() {
    let test =
        |name: &str| format!("def test_{name}():\n    import lazy\n    assert lazy.TABLE == 1\n");
    let mut project = Project::of(&[
        INI,
        ("lazy.py", "def build():\n    return 1\n\n\nTABLE = build()\n"),
        ("tests/test_lazy.py", &format!("{}\n\n{}", test("one"), test("two"))),
    ]);
    project.settle(&[]);
    project.edit("lazy.py", "return 1", "return 2");
    assert_eq!(project.affected(&["lazy.py"]), ["tests/test_lazy.py"]);
    let failure = "    raise ValueError('lazy')\n";
    project.edit("lazy.py", "    return 2\n", failure);
    let report = project.run(&[]);
    let traceback = report["tests"][0]["failure"]["traceback"].as_str().expect("a text");
    assert!(!traceback.contains("execution_record"), "{traceback}");
}

#[test]
fn modules_that_are_loaded_by_name_concern_those_that_asked_for_them() {
    let mut project = Project::of(&[
        INI,
        (
            "app.py",
            "import importlib, os\n\ncfg = importlib.import_module(os.environ.get('S', 'settings'))\n",
        ),
        ("settings.py", "from defaults import RATE\n"),
        ("defaults.py", "RATE = 1\n"),
        ("plugin.py", "X = 1\n"),
        ("tests/test_app.py", "import app\n\ndef test_app():\n    assert app.cfg.RATE\n"),
        (
            "tests/test_settings.py",
            "import settings\n\ndef test_settings():\n    assert settings.RATE\n",
        ),
        (
            "tests/test_plugin.py",
            "def test_plugin():\n    assert __import__('plugin').X\n\ndef test_none():\n    pass\n",
        ),
    ]);
    project.settle(&[]);
    project.edit("defaults.py", "1", "2");
    let affected = project.settle(&["defaults.py"]);
    for file in ["tests/test_app.py", "tests/test_settings.py"] {
        assert!(affected.iter().any(|it| it == file), "{affected:?}");
    }
    project.edit("plugin.py", "1", "2");
    assert_eq!(project.affected(&["plugin.py"]), ["tests/test_plugin.py::test_plugin"]);
}

#[test]
fn what_filled_a_cache_is_known_although_its_test_is_gone() {
    let tests =
        |name: &str| format!("from tax import rate\n\ndef test_{name}():\n    assert rate(5)\n");
    let mut project = Project::of(&[
        INI,
        (
            "tax.py",
            "import functools\nimport basis\n\n\n@functools.cache\ndef rate(price):\n    return price + basis.base()\n",
        ),
        ("basis.py", "def base():\n    return 1\n"),
        ("tests/test_a.py", &tests("a")),
        ("tests/test_b.py", &tests("b")),
    ]);
    project.settle(&[]);
    std::fs::remove_file(project.world.root().join("p/tests/test_a.py")).expect("removed");
    project.edit("basis.py", "1", "2");
    assert_eq!(project.affected(&["basis.py"]), ["tests/test_b.py"]);
}

#[test]
fn a_module_with_a_syntax_error_that_no_test_loads_holds_no_test() {
    let mut project = Project::of(&[
        INI,
        ("tests/data/bad.py", "def f(:\n"),
        ("app.py", "X = 1\n"),
        (
            "tests/test_main.py",
            "import subprocess, sys\n\ndef test_main():\n    subprocess.run([sys.executable, '-c', 'import app'], check=True)\n",
        ),
    ]);
    project.settle(&[]);
    for (path, from, to) in [("app.py", "1", "2"), ("tests/data/bad.py", "f", "g")] {
        project.edit(path, from, to);
        let answer = project.answer(&[path]);
        assert_eq!(answer["tests"][0], "tests/test_main.py::test_main", "{answer:#}");
        assert_eq!(answer["held"].as_array().map(Vec::len), Some(0), "{answer:#}");
        assert_eq!(answer["broken"].as_array().map(Vec::len), Some(0), "{answer:#}");
        project.settle(&[path]);
    }
}

#[test]
fn processes_that_multiprocessing_starts_are_not_observed_either() {
    let tests = "import multiprocessing, sys\nimport work\n\nKIND = 'spawn'\n\ndef test_work():\n    with multiprocessing.get_context(KIND).Pool(1) as pool:\n        assert pool.map(work.done, [1]) == [1]\n";
    for kind in ["spawn", "forkserver"] {
        let mut project = Project::of(&[
            INI,
            ("work.py", "def done(it):\n    return it\n"),
            ("tests/test_work.py", &tests.replace("'spawn'", &format!("'{kind}'"))),
        ]);
        project.settle(&[]);
        project.edit("work.py", "return it", "return +it");
        assert_eq!(project.affected(&["work.py"]), ["tests/test_work.py::test_work"], "{kind}");
    }
}
