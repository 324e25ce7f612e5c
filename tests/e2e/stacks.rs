//! Tech stacks: listed, shown, added by people, and used for projects whose tests pass.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ::lsp::patience;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::{Value, json};

use crate::world::{Ran, World, repository};

const NAMES: [&str; 4] = ["go-api", "nodejs-api", "python-api", "react-spa"];

const OWN: &str = r#"name: shell-script
display_name: Shell script
description: A script with a test of its own
category: script
src_dir: src
test_dir: tests
test_command: sh tests/run.sh
install: none
config_files:
  README.md: |
    # {{project_name}}
hello_world:
  src/hello.sh: |
    echo 'Hello, {{project_name}}!'
  tests/run.sh: |
    test "$(sh src/hello.sh)" = 'Hello, {{project_name}}!'
conventions: |
  - POSIX sh.
"#;

fn names(world: &World) -> Vec<String> {
    let listed = world.trellis(&["stacks", "list", "--json"]).exits(0).json();
    let stacks = listed["stacks"].as_array().expect("a list");
    stacks.iter().map(|it| it["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn stacks_are_listed_and_shown_as_files_that_can_be_ones_own() {
    let world = World::new();
    assert_eq!(names(&world), NAMES);
    let text = world.trellis(&["stacks", "list"]).exits(0).stdout;
    assert!(text.lines().count() == 4 && text.contains("FastAPI"), "{text}");
    for name in NAMES {
        let shown = world.trellis(&["stacks", "show", name, "--json"]).exits(0).json();
        for field in ["displayName", "description", "category", "conventions", "testCommand"] {
            assert!(shown[field].as_str().is_some_and(|it| !it.is_empty()), "{name}: {field}");
        }
        // The output is a valid stack again, with every text unchanged.
        let printed = world.trellis(&["stacks", "show", name]).exits(0).stdout;
        let own = printed.replacen(name, &format!("my-{name}"), 1);
        world.write(&format!("trellis-stacks/{name}.yaml"), &own);
        let mut again =
            world.trellis(&["stacks", "show", &format!("my-{name}"), "--json"]).exits(0).json();
        assert!(again["file"].as_str().is_some_and(|it| it.ends_with(".yaml")), "{again}");
        again["file"] = Value::Null;
        again["name"] = json!(name);
        assert_eq!(again, shown);
    }
    let _ = world.trellis(&["stacks", "show", "cobol"]).exits(65).says("choose one of go-api");
}

#[test]
fn people_add_stacks_of_their_own_in_two_places() {
    let world = World::new();
    world.write("home/.config/trellis/stacks/script.yml", OWN);
    let other = OWN.replacen("shell-script", "other-script", 1);
    world.write("trellis-stacks/other.yaml", &other);
    world.write("trellis-stacks/notes.txt", "no stack");
    assert_eq!(
        names(&world),
        ["go-api", "nodejs-api", "other-script", "python-api", "react-spa", "shell-script"]
    );
    let ran = world.trellis(&["stacks", "new", "shell-script", "My Tool", "--json"]).exits(0);
    let made = ran.json();
    assert_eq!(made["projectName"], "my-tool");
    assert_eq!(made["files"], json!(["README.md", "src/hello.sh", "tests/run.sh"]));
    assert_eq!(world.read("My Tool/README.md"), "# my-tool\n");
    passes(&made["testCommand"], &world.root().join("My Tool"), None);
    // Below the project, its stacks are found like its settings.
    fs::create_dir_all(world.root().join("a/b")).expect("folders");
    let mut command = world.command(&["stacks", "show", "other-script"]);
    let below = command.current_dir(world.root().join("a/b")).output().expect("trellis starts");
    let _ = Ran::of(below).exits(0);
}

#[test]
fn a_stack_that_breaks_a_rule_is_named_with_what_to_do() {
    let world = World::new();
    // The change in the file, and the error.
    let table = [
        ("category: script", "category: script\ncolour: red", "unknown field"),
        ("category: script", "category: script\ncolour: red", "line 5"),
        ("category: script\n", "", "missing field"),
        ("install: none", "install: curl", "unknown variant"),
        ("install: none", "install: npm", "has no package.json"),
        ("src_dir: src", "src_dir: src\nsrc_dir: lib", "uplicate"),
        ("  README.md: |", "  README.md: x\n  README.md: |", "uplicate"),
        ("src_dir: src", "src_dir: [", "line "),
        ("README.md", "../README.md", "leads upwards"),
        ("README.md", "/etc/motd", "is absolute"),
        ("README.md", ".git/config", "git's own folder"),
        ("README.md", "src/hello.sh", "are the same file"),
        ("sh tests/run.sh", "sh tests/run.sh; rm x", "which only a shell understands"),
        ("name: shell-script", "name: go-api", "two templates have the name `go-api`"),
        ("# {{project_name}}", "# {{project-name}}", "placeholder {{project-name}}"),
    ];
    for (from, to, words) in table {
        let file = world.write("trellis-stacks/own.yaml", &OWN.replacen(from, to, 1));
        let ran = world.trellis(&["stacks", "list"]).exits(65);
        let _ = ran.says(words).says("hint: ").says(&file.display().to_string());
    }
    assert_eq!(fs::read_dir(world.root()).expect("a folder").count(), 2, "nothing was written");
}

#[test]
fn a_project_is_made_whole_or_not_at_all_and_never_over_anything() {
    let world = World::new();
    let new = |more: &[&str]| world.trellis(&[&["stacks", "new", "go-api"], more].concat());
    let _ = new(&["shop"]).exits(0).says("trellis stacks install shop");
    assert!(world.read("shop/go.mod").starts_with("module example.com/shop\n"));
    let _ = new(&["shop"]).exits(65).says("is not empty; nothing was written");
    fs::create_dir(world.root().join("empty")).expect("a folder");
    let _ = new(&["empty", "--name", "other"]).exits(0);
    assert!(world.read("empty/main.go").contains("example.com/other/internal/api"));
    world.write("file", "mine");
    let _ = new(&["file"]).exits(65).says("empty folder");
    assert_eq!(world.read("file"), "mine");
    for name in ["Shop", "../x", "", "a b", "x\"", "1st"] {
        let _ = new(&["named", "--name", name]).exits(65).says("cannot be the name of a project");
    }
    let _ = new(&["123"]).exits(65).says("--name");
    // A dangling link would create the project somewhere else.
    std::os::unix::fs::symlink("nowhere", world.root().join("link")).expect("a link");
    let _ = new(&["link"]).exits(65).says("nothing was left there");
    // The longest valid path has room for `.gitignore` and `internal/api`, but not for files in the
    // latter.
    let (part, last) = ("d".repeat(200), "e".repeat(62));
    let deep = format!("{}{last}", format!("{part}/").repeat(20));
    let _ = new(&[&deep, "--name", "deep"]).exits(65).says("cannot create the project");
    for none in ["named", "123", "nowhere", &part] {
        assert!(!world.root().join(none).exists(), "{none}");
    }
}

#[test]
fn installing_says_what_is_missing() {
    let world = World::new().with_only(&["python3"]);
    fs::create_dir(world.root().join("empty")).expect("a folder");
    let _ = world.trellis(&["stacks", "install", "empty"]).exits(65).says("package.json");
    let _ = world.trellis(&["stacks", "install", "nowhere"]).exits(65).says("cannot install in");
    for (stack, words) in [("nodejs-api", "install Node.js"), ("go-api", "install Go")] {
        let _ = world.trellis(&["stacks", "new", stack, stack]).exits(0);
        let _ = world.trellis(&["stacks", "install", stack]).exits(69).says(words);
    }
}

/// A stand-in for npm that records its arguments and environment.
const NPM: &str = "#!/bin/sh\necho \"$*\" > asked\nenv > seen\nif test -f fail; then echo broken >&2; exit 3; fi\n";

#[test]
fn installers_execute_no_scripts_and_see_no_keys() {
    let world = World::new();
    let npm = world.write("tools/npm", NPM);
    fs::set_permissions(&npm, fs::Permissions::from_mode(0o755)).expect("set");
    world.write("shop/package.json", "{}");
    let install = || {
        let mut command = world.command(&["stacks", "install", "shop", "--json"]);
        let path = format!("{}:/usr/bin:/bin", world.root().join("tools").display());
        command.env("PATH", path).env("OPENAI_API_KEY", "sk-secret");
        command.env("npm_config_cache", "/tmp/npm").env("GOPROXY", "off");
        Ran::of(command.output().expect("trellis starts"))
    };
    let installed = install().exits(0).json();
    let expected = json!([{ "installer": "npm", "lockFile": null, "interpreter": null }]);
    assert_eq!(installed["installed"], expected);
    let asked = world.read("shop/asked");
    let words = ["install", "--ignore-scripts", "--omit-lockfile-registry-resolved=true"];
    assert!(words.iter().all(|it| asked.split_whitespace().any(|word| word == *it)), "{asked}");
    let seen = world.read("shop/seen");
    assert!(seen.contains("npm_config_cache=/tmp/npm") && seen.contains("HOME="), "{seen}");
    assert!(!seen.contains("sk-secret") && !seen.contains("GOPROXY"), "{seen}");
    world.write("shop/fail", "");
    let _ = install().exits(69).says("npm install").says("broken");
}

#[test]
fn an_installer_that_is_stopped_goes_and_says_so() {
    let world = World::new();
    world.write("shop/package.json", "{}");
    for pipe in ["shop/begun", "shop/never"] {
        let made = Command::new("mkfifo").arg(world.root().join(pipe)).status();
        assert!(made.is_ok_and(|it| it.success()));
    }
    let npm = world.write("tools/npm", "#!/bin/sh\necho $$ > begun\nread line < never\n");
    fs::set_permissions(&npm, fs::Permissions::from_mode(0o755)).expect("set");
    let mut command = world.command(&["stacks", "install", "shop"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", world.root().join("tools").display()));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // Ends once npm is running.
    let npm =
        world.read("shop/begun").trim().parse().ok().and_then(Pid::from_raw).expect("a number");
    let npm = pidfd_open(npm, PidfdFlags::empty()).expect("it is there");
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a number");
    kill_process(pid, Signal::INT).expect("told");
    let ran = Ran::of(child.wait_with_output().expect("it ends")).exits(130);
    let _ = ran.says("stopped while npm was running");
    // Readable once the process has ended.
    let mut ended = [PollFd::new(&npm, PollFlags::IN)];
    let patience = Timespec::try_from(patience()).expect("a time");
    assert_eq!(poll(&mut ended, Some(&patience)), Ok(1), "npm has outlived the installation");
}

#[test]
fn the_template_in_the_documentation_is_one() {
    let page = fs::read_to_string(repository().join("server/docs/templates.md")).expect("the page");
    let blocks = page.split("```yaml\n").skip(1).filter_map(|it| it.split("```").next());
    let [stack] = blocks.collect::<Vec<_>>()[..] else { panic!("one example of a template") };
    let world = World::new();
    world.write("trellis-stacks/python-tool.yaml", stack);
    let project = installed_in(world, "python-tool", Some("requirements.txt"));
    assert!(project.programs.is_some(), "the interpreter is named");
    passes(&project.test_command, &project.root, project.programs.as_deref());
}

/// Returns whether Go is installed, and prints a note if not.
pub(crate) fn has_go() -> bool {
    let is_there = Command::new("go").arg("version").output().is_ok();
    if !is_there {
        eprintln!("SKIPPED: go is not installed");
    }
    is_there
}

/// A project of a stack, with its packages.
pub(crate) struct Project {
    pub(crate) world: World,
    pub(crate) root: PathBuf,
    test_command: Value,
    /// Folder of the programs in its Python environment.
    programs: Option<PathBuf>,
}

/// Creates a project in `hello-shop` of a new world.
pub(crate) fn installed(stack: &str, lock: Option<&str>) -> Project {
    installed_in(World::new(), stack, lock)
}

fn installed_in(world: World, stack: &str, lock: Option<&str>) -> Project {
    let made = world.trellis(&["stacks", "new", stack, "hello-shop", "--json"]).exits(0).json();
    let mut command = world.command(&["stacks", "install", "hello-shop", "--json"]);
    with_packages(&mut command);
    let told = Ran::of(command.output().expect("trellis starts")).exits(0).json();
    let by = &told["installed"][0];
    assert_eq!(by["lockFile"], json!(lock), "{told}");
    let root = world.root().join("hello-shop");
    let interpreter = by["interpreter"].as_str().map(PathBuf::from);
    let programs = interpreter.and_then(|it| it.parent().map(Path::to_owned));
    Project { world, root, test_command: made["testCommand"].clone(), programs }
}

/// Gives a command the user's access to packages, and a shared package cache.
pub(crate) fn with_packages(command: &mut Command) {
    let home = PathBuf::from(std::env::var_os("HOME").expect("a home"));
    command.env("NPM_CONFIG_USERCONFIG", home.join(".npmrc"));
    command.env("NPM_CONFIG_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("npm"));
    for name in ["NODE_EXTRA_CA_CERTS", "GOPROXY"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
}

/// Runs a command as a person would, in the project's folder.
#[track_caller]
pub(crate) fn passes(command: &Value, root: &Path, programs: Option<&Path>) {
    let words = command.as_str().expect("a command").split_whitespace().collect::<Vec<_>>();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = programs.map(Path::to_owned).into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).expect("a path");
    // `env` searches the new PATH, so that the environment's program is found.
    let mut command = Command::new("env");
    command.args(&words).current_dir(root).env("PATH", path).env("CI", "1");
    // Outside of the home of the user who runs the tests.
    command.env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-build"));
    let output = command.output().expect("it starts");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&said));
}
