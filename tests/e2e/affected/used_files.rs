//! Files that tests read and write.

use serde_json::Value;

use crate::runs::{ended, until};

use super::Project;

const INI: (&str, &str) = ("pytest.ini", "[pytest]\n");
const NONE: [&str; 0] = [];

#[test]
fn data_that_a_module_reads_when_it_is_loaded_is_met() {
    let app = "import importlib.resources, pkgutil\n\nTEXT = importlib.resources.files('pkg').joinpath('text.txt').read_text()\nDATA = pkgutil.get_data('pkg', 'data.txt')\nNAMES = [it.name for it in importlib.resources.files('pkg.parts').iterdir()]\n";
    let mut project = Project::of(&[
        INI,
        ("pkg/__init__.py", ""),
        ("pkg/app.py", app),
        ("pkg/text.txt", "1"),
        ("pkg/data.txt", "1"),
        ("pkg/parts/__init__.py", ""),
        ("tests/test_app.py", "from pkg import app\n\ndef test_app():\n    assert app.TEXT\n"),
    ]);
    project.settle(&[]);
    for path in ["pkg/text.txt", "pkg/data.txt"] {
        project.edit(path, "1", "2");
        assert_eq!(project.settle(&[path]), ["tests/test_app.py"], "{path}");
    }
    project.write("pkg/parts/new.txt", "");
    assert_eq!(project.settle(&["pkg/parts/new.txt"]), ["tests/test_app.py"]);
}

#[test]
fn what_tests_write_does_not_start_them() {
    let test = "import os, pathlib, sys\n\ndef test_write():\n    here = pathlib.Path('made')\n    here.mkdir(exist_ok=True)\n    (here / 'gen.py').write_text('X = 1')\n    (here / 'out.txt').write_text('1')\n    (here / 'out.txt').rename(here / 'moved.txt')\n    assert os.listdir('made')\n    sys.path.insert(0, 'made')\n    import gen\n    assert open('made/moved.txt').read() == '1'\n";
    let mut project = Project::of(&[
        INI,
        ("tests/test_write.py", test),
        ("tests/test_other.py", "def test_other():\n    pass\n"),
    ]);
    project.settle(&[]);
    let written = ["made/gen.py", "made/out.txt", "made/moved.txt"];
    assert_eq!(project.settle(&written), NONE);
    project.write("made/gen.py", "X = 2");
    assert!(!project.affected(&["made/gen.py"]).is_empty());
}

#[test]
fn changes_during_a_run_are_not_taken_for_what_the_tests_met() {
    let tests = "import os, subprocess, sys\n\ndef test_items():\n    assert os.listdir('items')\n\ndef test_main():\n    subprocess.run([sys.executable, '-c', 'import app'], check=True)\n\ndef test_wait():\n    while '1' in open('go.txt').read():\n        pass\n";
    let mut project = Project::of(&[
        INI,
        ("app.py", "X = 1\n"),
        ("go.txt", "1"),
        ("items/a.csv", "1"),
        ("tests/test_all.py", tests),
    ]);
    let job = project.begin(&[], &[]);
    let is_main = |it: &Value| it["type"] == "test" && it["id"] == "tests/test_all.py::test_main";
    until(&mut project.client, is_main);
    project.edit("app.py", "1", "2");
    project.write("items/b.csv", "1");
    project.write("go.txt", "2");
    ended(&mut project.client, &job);
    let affected = project.affected(&["app.py", "items/b.csv"]);
    assert_eq!(affected, ["tests/test_all.py::test_items", "tests/test_all.py::test_main"]);
}

#[test]
fn settings_of_all_names_are_met() {
    let mut project = Project::of(&[
        ("pyproject.toml", "[project]\nname = 'p'\n"),
        ("tests/test_a.py", "def test_a():\n    pass\n"),
    ]);
    project.settle(&[]);
    for path in ["pytest.toml", ".pytest.toml", "setup.cfg"] {
        project.write(path, "");
        assert_eq!(project.settle(&[path]), ["tests/test_a.py"], "{path}");
    }
}

#[test]
fn examples_in_test_files_are_tests_of_their_texts() {
    let mut project = Project::of(&[
        ("pytest.ini", "[pytest]\naddopts = --doctest-modules\n"),
        (
            "tests/test_a.py",
            "def two():\n    \"\"\"\n    >>> 1 + 1\n    2\n    \"\"\"\n\ndef test_a():\n    pass\n",
        ),
    ]);
    project.settle(&[]);
    project.edit("tests/test_a.py", "1 + 1", "2 + 0");
    assert_eq!(project.affected(&["tests/test_a.py"]).len(), 1);
}
