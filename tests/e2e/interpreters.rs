//! The interpreter of tests is the user's: the command line and an editor find a project's
//! environment wherever a tool keeps it, and an editor can name one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::runs::{call, editor};
use crate::world::{Ran, World, real_python};

/// Creates a project in `mono/p` whose test needs a package that only the environment has.
fn project() -> World {
    let world = World::new();
    world.write("mono/p/pyproject.toml", "[project]\nname = \"Shop App\"\nversion = \"1\"\n");
    let test = "import theirs\n\n\ndef test_a():\n    assert theirs.VALUE == 5\n";
    world.write("mono/p/test_a.py", test);
    world
}

/// Creates a virtual environment with that package and without pytest.
fn environment(at: &Path) {
    let made = Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(at).status();
    assert!(made.expect("python3").success());
    give(at);
}

/// Puts the package into an environment.
fn give(environment: &Path) {
    let libraries = fs::read_dir(environment.join("lib")).expect("a folder");
    let is_its = |it: &PathBuf| it.is_dir() && it.to_string_lossy().contains("/python3.");
    let mut folders = libraries.flatten().map(|it| it.path()).filter(is_its);
    let packages = folders.next().expect("one").join("site-packages");
    fs::create_dir_all(&packages).expect("a folder");
    fs::write(packages.join("theirs.py"), "VALUE = 5\n").expect("written");
}

/// Creates a prefix like conda's: an interpreter with its library, and records of packages.
fn conda(at: &Path) {
    let python = real_python();
    let asked = "import sys, sysconfig; print(sysconfig.get_path('stdlib')); print('%d.%d.%d' % sys.version_info[:3])";
    let said = Command::new(&python).args(["-c", asked]).output().expect("python");
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let (library, version) = said.trim().split_once('\n').expect("two lines");
    let own = at.join("lib").join(Path::new(library).file_name().expect("a name"));
    for folder in [&at.join("bin"), &at.join("conda-meta"), &own] {
        fs::create_dir_all(folder).expect("a folder");
    }
    fs::copy(&python, at.join("bin/python")).expect("an interpreter");
    // Large parts that are not needed here.
    let left_out = ["site-packages", "dist-packages", "test", "idlelib", "__pycache__"];
    let entries = fs::read_dir(library).expect("a library").flatten();
    let entries = entries.filter(|it| !left_out.iter().any(|name| it.file_name() == *name));
    let copied = Command::new("cp").arg("-r").args(entries.map(|it| it.path())).arg(&own).status();
    assert!(copied.expect("cp").success());
    // The interpreter's shared library, if it is a separate file.
    let shared = Path::new(library).parent().expect("lib");
    for entry in fs::read_dir(shared).expect("a folder").flatten() {
        if entry.file_name().to_string_lossy().starts_with("libpython") {
            fs::copy(entry.path(), at.join("lib").join(entry.file_name())).expect("a library");
        }
    }
    // The folder in which Debian's interpreter looks.
    let packages = at.join("lib/python3/dist-packages");
    fs::create_dir_all(&packages).expect("a folder");
    fs::write(packages.join("theirs.py"), "VALUE = 5\n").expect("written");
    fs::write(at.join(format!("conda-meta/python-{version}-h1_0.json")), "{}").expect("a record");
    give(at);
}

fn digest(path: &Path) -> Vec<u8> {
    Sha256::digest(path.to_string_lossy().as_bytes()).to_vec()
}

/// A tool, and a function that gives a project the tool's layout and returns the environment's
/// path.
type Layout = (&'static str, fn(&World) -> PathBuf);

const LAYOUTS: [Layout; 9] = [
    ("uv", |world| {
        world.write("mono/p/uv.lock", "");
        world.root().join("mono/p/.venv")
    }),
    ("poetry", |world| {
        world.write("mono/p/poetry.lock", "");
        let hash = URL_SAFE.encode(digest(&world.root().join("mono/p")));
        let name = format!("shop_app-{}-py3.11", &hash[..8]);
        world.root().join("home/.cache/pypoetry/virtualenvs").join(name)
    }),
    ("pipenv", |world| {
        let pipfile = world.write("mono/p/Pipfile", "");
        let hash = URL_SAFE.encode(&digest(&pipfile)[..6]);
        world.root().join("home/.local/share/virtualenvs").join(format!("p-{hash}"))
    }),
    ("pyenv-virtualenv", |world| {
        world.write("mono/p/.python-version", "shop-env\n");
        world.root().join("home/.pyenv/versions/shop-env")
    }),
    ("conda", |world| {
        let prefix = world.root().join("home/miniconda3/envs/shop");
        world.write("mono/p/environment.yml", "name: shop\ndependencies: [python]\n");
        world.write("home/.conda/environments.txt", &format!("{}\n", prefix.display()));
        prefix
    }),
    ("conda in the project", |world| world.root().join("mono/p/.conda")),
    ("a repository of many projects", |world| {
        fs::create_dir_all(world.root().join("mono/.git")).expect("a folder");
        world.root().join("mono/.venv")
    }),
    ("a repository with an environment of another name", |world| {
        fs::create_dir_all(world.root().join("mono/.git")).expect("a folder");
        world.root().join("mono/venv")
    }),
    ("an environment of the project", |world| world.root().join("mono/p/venv")),
];

/// An environment in a test folder, or a folder with the name of one, is no project.
#[test]
fn an_environment_below_a_project_does_not_hide_the_project() {
    let tests = "import shop\n\n\ndef test_a():\n    assert shop.VALUE == 5\n";
    let project = |folder: &str| {
        let world = World::new();
        world.write("p/pytest.ini", "[pytest]\npythonpath = .\n");
        world.write("p/shop.py", "VALUE = 5\n");
        world.write(&format!("p/{folder}/test_a.py"), tests);
        world
    };
    for (folder, environment) in
        [("tests", "tests/venv"), ("tests", "tests/.venv"), ("tests/unit", "tests/venv")]
    {
        let world = project(folder);
        world.write(&format!("p/{environment}/pyvenv.cfg"), "home = /usr/bin\nversion = 3.11.2\n");
        check_passes(&world, folder);
    }
    let world = project("checks");
    world.write("p/checks/venv/__init__.py", "");
    check_passes(&world, "checks");
}

#[track_caller]
fn check_passes(world: &World, folder: &str) {
    let mut command = world.command(&["test", "--sandbox=local", "--json"]);
    let here = world.root().join("p").join(folder);
    let ran = Ran::of(command.current_dir(here).output().expect("trellis"));
    assert_eq!(ran.json()["outcome"], "passed", "{folder}: {}{}", ran.stdout, ran.stderr);
}

fn outcome(world: &World, more: Value) -> Value {
    let mut client = editor(world, Value::Null);
    let mut params = json!({ "root": "mono/p", "sandbox": "local" });
    let (all, more) = (params.as_object_mut(), more.as_object().cloned());
    all.expect("an object").extend(more.unwrap_or_default());
    let result = call(&mut client, "runTests", params);
    let _ = client.shutdown();
    result["outcome"].clone()
}

#[test]
fn the_environment_is_found_where_the_tool_keeps_it_by_the_command_line_and_by_an_editor() {
    for (tool, layout) in LAYOUTS {
        let world = project();
        let at = layout(&world);
        if tool.starts_with("conda") {
            conda(&at)
        } else {
            environment(&at)
        }
        let ran = world.trellis(&["test", "mono/p", "--sandbox=local", "--json"]);
        assert_eq!(ran.json()["outcome"], "passed", "{tool}: {}", ran.stdout);
        assert_eq!(outcome(&world, json!({})), "passed", "{tool}");
    }
}

#[test]
fn an_interpreter_that_is_named_or_activated_comes_first() {
    let world = project();
    let named = world.root().join("elsewhere");
    environment(&named);
    // A usable environment of the project that is not the named one.
    let own = world.root().join("mono/p/.venv");
    environment(&own);
    // The interpreter there is a link to the common one.
    fs::remove_file(own.join("bin/python")).expect("a link");
    fs::write(own.join("bin/python"), "#!/bin/sh\nexit 9\n").expect("written");
    fs::set_permissions(own.join("bin/python"), fs::Permissions::from_mode(0o755)).expect("set");
    for path in [named.clone(), named.join("bin/python")] {
        assert_eq!(outcome(&world, json!({ "interpreter": path })), "passed");
        for flag in ["--python", "--interpreter"] {
            let flag = format!("{flag}={}", path.display());
            let _ = world.trellis(&["test", "mono/p", "--sandbox=local", &flag]).exits(0);
        }
    }
    let mut command = world.command(&["test", "mono/p", "--sandbox=local"]);
    let _ = Ran::of(command.env("VIRTUAL_ENV", &named).output().expect("trellis")).exits(0);
}

#[test]
fn who_debugs_is_told_the_environment_that_runs_use() {
    let world = project();
    let own = world.root().join("mono/p/.venv");
    environment(&own);
    let named = world.root().join("elsewhere");
    environment(&named);
    let mut client = editor(&world, Value::Null);
    for (more, wanted) in [(json!({}), &own), (json!({ "interpreter": named }), &named)] {
        let mut params = json!({ "root": "mono/p" });
        params["interpreter"] = more["interpreter"].clone();
        let found = call(&mut client, "environment", params);
        assert_eq!(found["interpreter"], json!(wanted.join("bin/python")));
        // The environment has no pytest.
        let packages = found["packages"].as_str().expect("a folder");
        let asked = Command::new(wanted.join("bin/python"))
            .env("PYTHONPATH", packages)
            .args(["-m", "pytest", "-q"])
            .current_dir(world.root().join("mono/p"))
            .output()
            .expect("pytest");
        assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stdout));
    }
    assert!(client.shutdown().expect("an end").success());
}
