//! `trellis test` and `trellis doctor`: tests in sandboxes, without remains.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use crate::world::{Ran, World, binary, eventually, tree};

const SUITE: &str = "import pytest\n\
    def test_ok(): assert 1 + 1 == 2\n\
    def test_bad(): assert 1 + 1 == 3\n\
    @pytest.mark.skip(reason='later')\n\
    def test_later(): pass\n";

#[test]
fn results_are_shown_and_say_what_was_enforced() {
    let world = World::new();
    world.write("project/test_a.py", SUITE);
    let before = tree(&world.root().join("project"));
    let ran = world.trellis(&["test", "project", "--json", "--sandbox=local"]).exits(1);
    let report = ran.json();
    assert_eq!(report["outcome"], "failed");
    let outcomes: Vec<&str> = report["tests"]
        .as_array()
        .expect("tests")
        .iter()
        .filter_map(|it| it["outcome"].as_str())
        .collect();
    assert_eq!(outcomes, ["passed", "failed", "skipped"]);
    let names: Vec<&str> = report["limits"]
        .as_array()
        .expect("limits")
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    for name in ["memory", "processes", "network", "file system", "daemons"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let ran = world.trellis(&["test", "project", "--sandbox=local", "--junit=out.xml"]).exits(1);
    assert!(ran.stdout.contains("failed   test_a.py::test_bad"), "{}", ran.stdout);
    assert!(ran.stdout.contains("(1 passed, 1 failed, 1 skipped in"), "{}", ran.stdout);
    assert!(world.read("out.xml").contains("tests=\"3\""));
    assert_eq!(tree(&world.root().join("project")), before, "the project is as it was");
}

#[test]
fn a_project_is_found_from_any_place_in_it() {
    let world = World::new();
    world.write("project/setup.cfg", "");
    world.write("project/conftest.py", "import pytest\n@pytest.fixture\ndef one(): return 1\n");
    world.write("project/calc.py", "def double(x): return 2 * x\n");
    world.write(
        "project/tests/test_a.py",
        "from calc import double\ndef test_a(one): assert double(one) == 2\n",
    );
    world.write("project/tests/test_b.py", "def test_b(): assert 0\n");
    // A requirements file for the tests alone makes no project of their folder.
    world.write("project/tests/requirements.txt", "");
    for (folder, paths, code, count) in [
        ("", vec!["project"], 1, 2),
        ("", vec!["project/tests/test_a.py"], 0, 1),
        ("project", vec![], 1, 2),
        ("project", vec!["tests"], 1, 2),
        ("project/tests", vec!["test_a.py::test_a"], 0, 1),
        ("project/tests", vec!["../tests/test_b.py"], 1, 1),
    ] {
        let mut command =
            world.command(&[&["test", "--json", "--sandbox=local"][..], &paths].concat());
        let ran = Ran::of(command.current_dir(world.root().join(folder)).output().expect("starts"));
        let tests = ran.exits(code).says("project: ").json()["tests"].clone();
        assert_eq!(tests.as_array().map(Vec::len), Some(count), "{folder} {paths:?}: {tests:#}");
        assert!(tests[0]["id"].as_str().is_some_and(|it| it.starts_with("tests/")), "{tests:#}");
    }
    let _ = world.trellis(&["test", "project/nowhere.py"]).exits(65).says("project/nowhere.py");
    let _ = world.trellis(&["test", "project", "--junit=/proc/no"]).exits(65).says("/proc/no");
}

#[test]
fn what_a_sandbox_forbids_is_explained_and_nothing_drives_the_terminal() {
    let world = World::new();
    world.write(
        "project/test_a.py",
        "def test_write(): open('/usr/new', 'w')\ndef test_red(): raise ValueError('\\x1b[31mred\\rspoof')\n",
    );
    let ran = world.trellis(&["test", "project", "--sandbox=local"]).exits(1);
    assert!(ran.stdout.contains("1 failure tried to write"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("\\u{1b}[31mred") && !ran.stdout.contains('\u{1b}'),
        "{}",
        ran.stdout
    );
}

#[test]
fn options_after_two_dashes_are_pytests() {
    let world = World::new();
    world.write("project/test_a.py", SUITE);
    let ran =
        world.trellis(&["test", "project", "--sandbox=local", "--json", "--", "-k", "ok", "-x"]);
    let ran = ran.exits(0);
    assert_eq!(ran.json()["tests"][0]["id"], "test_a.py::test_ok");
    let more = ["test", "project", "--sandbox=local", "--framework=unittest", "--", "-v"];
    let _ = world.trellis(&more).exits(64).says("unittest takes no options");
}

/// Tests without a result are counted, not forgotten.
#[test]
fn tests_that_never_ran_are_named() {
    let world = World::new();
    world.write("project/test_a.py", "import os\ndef test_a(): os._exit(0)\ndef test_b(): pass\n");
    let ran = world.trellis(&["test", "project", "--sandbox=local"]).exits(1);
    assert!(ran.stdout.contains("not run  test_a.py::test_b"), "{}", ran.stdout);
    assert!(ran.stdout.contains("1 crashed, 1 not run in"), "{}", ran.stdout);
}

#[test]
fn a_fresh_interpreter_says_the_same() {
    let world = World::new();
    world.write("project/test_a.py", SUITE);
    let outcomes = |more: &[&str]| {
        let ran = world.trellis(&[&["test", "project", "--json"], more].concat()).exits(1);
        let tests = ran.json()["tests"].clone();
        let of = |it: &Value| (it["id"].clone(), it["outcome"].clone(), it["line"].clone());
        tests.as_array().expect("tests").iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(outcomes(&["--cold"]), outcomes(&[]));
}

#[test]
fn doctor_says_what_is_there_and_what_would_hold() {
    let world = World::new();
    let found = world.trellis(&["doctor", "--json"]).exits(0).json();
    let tools = found["tools"].as_array().expect("tools");
    for name in ["python", "git", "docker", "bubblewrap", "uv"] {
        let tool = tools.iter().find(|it| it["name"] == name).expect(name);
        assert!(tool["ok"] == true || tool["cost"].is_string(), "{tool}");
    }
    let limits = found["localLimits"].as_array().expect("limits");
    assert!(limits.len() > 10);
    assert!(limits.iter().any(|it| it["name"] == "project"), "whether tests may write: {limits:?}");
    let ran = world.with_only(&[]).trellis(&["doctor"]).exits(69);
    assert!(ran.stdout.contains("missing  python"), "{}", ran.stdout);
}

#[test]
fn docker_that_is_asked_for_and_does_not_answer_is_an_error() {
    let world = World::new();
    world.write("project/test_a.py", SUITE);
    let ask = |choice: &str| {
        let mut command = world.command(&["test", "project", choice]);
        Ran::of(command.env("DOCKER_HOST", "unix:///nowhere.sock").output().expect("it starts"))
    };
    let _ = ask("--sandbox=docker").exits(69).says("/nowhere.sock").says("--sandbox local");
    let _ = ask("--sandbox=auto").exits(1);
}

/// Starts tests that wait forever in a separate process, and waits until they run.
fn waiting(world: &World, more: &[&str], environment: &[(&str, &str)]) -> (Child, String) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("trellis-e2e-{}-{number}", std::process::id());
    let text = format!(
        "import subprocess, sys\ndef test_a():\n    \
         subprocess.run([sys.executable, '-c', 'import time; time.sleep(1000) # {name}'])\n"
    );
    world.write("project/test_a.py", &text);
    fs::create_dir_all(world.root().join("tmp")).expect("a folder");
    let mut command = world.command(&[&["test", "project"], more].concat());
    command.env("TMPDIR", world.root().join("tmp")).envs(environment.iter().copied());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().expect("trellis starts");
    eventually(|| processes(&name) > 0, || "the tests run");
    (child, name)
}

/// Counts processes of this machine with `name` in their command line.
fn processes(name: &str) -> usize {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    let lines = entries.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    lines.filter(|line| line.windows(name.len()).any(|it| it == name.as_bytes())).count()
}

/// Counts control groups that process `pid` created and left behind.
fn groups(pid: u32) -> usize {
    let mut left = vec![Path::new("/sys/fs/cgroup").to_owned()];
    let mut found = 0;
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let ours = entry.file_name().to_string_lossy().starts_with(&format!("trellis-{pid}-"));
            found += usize::from(ours);
            if !ours && entry.file_type().is_ok_and(|it| it.is_dir()) {
                left.push(entry.path());
            }
        }
    }
    found
}

fn scratch(world: &World) -> Vec<String> {
    let entries = fs::read_dir(world.root().join("tmp")).expect("a folder").flatten();
    entries.map(|it| it.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn killed_in_the_middle_it_leaves_no_process_and_the_next_start_sweeps_the_rest() {
    let world = World::new();
    let (mut child, name) = waiting(&world, &["--sandbox=local"], &[]);
    let pid = child.id();
    child.kill().expect("it can be killed");
    child.wait().expect("it ended");
    eventually(|| processes(&name) == 0, || "the tests end with the process that started them");
    world.write("project/test_a.py", "def test_a(): pass\n");
    let mut next = world.command(&["test", "project", "--sandbox=local"]);
    let _ =
        Ran::of(next.env("TMPDIR", world.root().join("tmp")).output().expect("starts")).exits(0);
    assert_eq!(scratch(&world), Vec::<String>::new());
    assert_eq!(groups(pid), 0);
}

#[test]
fn an_interrupt_ends_the_tests_and_leaves_nothing() {
    let world = World::new();
    let (child, name) = waiting(&world, &["--sandbox=local"], &[]);
    let pid = child.id();
    let number =
        i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw).expect("a number");
    rustix::process::kill_process(number, rustix::process::Signal::INT).expect("sent");
    let output = child.wait_with_output().expect("it ended");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!((processes(&name), groups(pid), scratch(&world)), (0, 0, Vec::new()));
}

/// Returns address and image of an engine started by `cargo xtask test`.
fn engine() -> Option<(String, String)> {
    let given = |name: &str| std::env::var(name).ok().filter(|it| !it.is_empty());
    let engine = given("TRELLIS_TEST_DOCKER_HOST").zip(given("TRELLIS_TEST_IMAGE"));
    if engine.is_none() {
        eprintln!("SKIPPED: no Docker engine, see `cargo xtask test`");
    }
    engine
}

fn containers(host: &str, project: &Path) -> usize {
    let mut command = Command::new("docker");
    command.env("DOCKER_HOST", host).args(["ps", "-aq", "--no-trunc", "--filter"]);
    command.arg(format!("label=trellis.project={}", project.display()));
    let output = command.output().expect("docker starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().count()
}

#[test]
fn in_containers_it_is_the_same_and_a_killed_process_leaves_none() {
    let Some((host, image)) = engine() else { return };
    let world = World::new();
    world.write("project/test_a.py", SUITE);
    let project = world.root().join("project").canonicalize().expect("there");
    let more = ["--sandbox=docker", "--image", &image];
    let docker = [("DOCKER_HOST", host.as_str())];
    let run = |more: &[&str]| {
        let mut command = world.command(&[&["test", "project", "--json"], more].concat());
        Ran::of(command.envs(docker).output().expect("trellis starts"))
    };
    let report = run(&more).exits(1).json();
    assert_eq!(
        (&report["outcome"], report["tests"].as_array().map(Vec::len)),
        (&"failed".into(), Some(3))
    );
    let limits = report["limits"].as_array().expect("limits");
    assert!(limits.iter().all(|it| it["enforced"] == true), "{limits:?}");
    assert_eq!(containers(&host, &project), 0);
    let (mut child, name) = waiting(&world, &more, &docker);
    child.kill().expect("it can be killed");
    child.wait().expect("it ended");
    eventually(|| processes(&name) == 0, || "the container ends with the process that started it");
    eventually(|| containers(&host, &project) == 0, || "the container is removed");
}

/// A user id that owns nothing on this machine.
const NOBODY: u32 = 65_534;

/// A suite that tries harmful actions, and asserts that they fail.
const HOSTILE: &str = "import os, socket\nimport pytest\n\
    def test_repository():\n    try: open('new', 'x')\n    except OSError: print('refused')\n\
    def test_network():\n    with pytest.raises(OSError): socket.create_connection(('127.0.0.1', PORT), timeout=3)\n\
    def test_secret():\n    with pytest.raises(OSError): open('SECRET').read()\n\
    def test_home():\n    open(os.path.expanduser('~/new'), 'w').write('x')\n\
    def test_daemon():\n    if os.fork() == 0:\n        os.setsid()\n        \
    import sys; os.execve(sys.executable, [sys.executable, '-c', 'import time; time.sleep(1000) # NAME'], {})\n";

#[test]
fn an_ordinary_user_has_a_sandbox_too() {
    let python = Path::new("/usr/bin/python3");
    if !rustix::process::geteuid().is_root() || !python.exists() {
        eprintln!("SKIPPED: only root can become another user, who needs {}", python.display());
        return;
    }
    let world = World::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let secret = world.write("home-of-nobody/.ssh/id_rsa", "the key");
    let name = format!("trellis-e2e-user-{}", std::process::id());
    let port = listener.local_addr().expect("bound").port().to_string();
    let text = HOSTILE.replace("PORT", &port).replace("NAME", &name);
    world.write("project/test_a.py", &text.replace("SECRET", &secret.display().to_string()));
    environment(&world, python);
    fs::copy(binary(), world.root().join("trellis")).expect("copied");
    fs::create_dir(world.root().join("pybin")).expect("a folder");
    std::os::unix::fs::symlink(python, world.root().join("pybin/python3")).expect("a link");
    give_away(world.root());
    let own = world.root().join("pybin").display().to_string();
    let usual = "/usr/local/bin:/usr/bin:/bin".to_owned();
    // With bubblewrap on PATH; without it; and where namespaces are forbidden.
    let closed = ["bwrap", "--unshare-user", "--disable-userns", "--dev-bind", "/", "/"];
    let ways: [(&[&str], &str, &str); 3] =
        [(&[], &usual, "bubblewrap"), (&[], &own, "namespaces"), (&closed, &usual, "Landlock")];
    for (around, path, by) in ways {
        let report = as_nobody(&world, around, path).exits(0).json();
        assert_eq!(report["outcome"], "passed", "{by}: {report:#}");
        let limits = report["limits"].as_array().expect("limits");
        let limit = |name: &str| limits.iter().find(|it| it["name"] == name).expect("listed");
        assert!(
            limit("file system")["how"].as_str().is_some_and(|it| it.contains(by)),
            "{limits:#?}"
        );
        for name in ["network", "file system", "processes", "system calls", "project"] {
            assert_eq!(limit(name)["enforced"], true, "{by}: {limits:#?}");
        }
        let project = limit("project")["how"].as_str().unwrap_or_default();
        assert_eq!(project.starts_with("tests may write to it"), by != "Landlock", "{project}");
        let said = report["tests"][0]["stdout"].as_str().unwrap_or_default();
        assert_eq!(said.contains("refused"), by == "Landlock", "{by}: {report:#}");
        // Without namespaces a daemon may escape when the worker is killed, which is reported.
        assert_eq!(limit("daemons")["enforced"], by != "Landlock");
        assert_eq!(processes(&name), 0, "{by}");
        assert!(!world.root().join("project/new").exists());
        assert!(!world.root().join("home-of-nobody/new").exists());
    }
}

/// Runs `trellis test` as another user, started through `around`.
fn as_nobody(world: &World, around: &[&str], path: &str) -> Ran {
    let trellis = world.root().join("trellis").display().to_string();
    let words = [around, &[&trellis, "test", "project", "--json", "--sandbox=local"]].concat();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(world.root()).env_clear().env("PATH", path);
    command.env("HOME", world.root().join("home-of-nobody")).env("TMPDIR", world.root());
    Ran::of(command.uid(NOBODY).gid(NOBODY).output().expect("it starts"))
}

/// Creates a world-readable virtual environment with the packages of the shared one.
fn environment(world: &World, python: &Path) {
    let _ = world.trellis(&["test", "project", "--sandbox=local"]); // makes the shared one
    let project = world.root().join("project/.venv");
    let made = Command::new(python).args(["-m", "venv", "--without-pip"]).arg(&project).status();
    assert!(made.expect("Python starts").success());
    let packages = |root: &Path| {
        let folders = fs::read_dir(root.join("lib")).expect("lib").flatten();
        folders.map(|it| it.path().join("site-packages")).find(|it| it.is_dir()).expect("packages")
    };
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache/venvs");
    let shared = fs::read_dir(cache).expect("made").flatten().find_map(|place| {
        let name = fs::read_to_string(place.path().join("ready")).ok()?;
        Some(place.path().join(name))
    });
    let mut copy = Command::new("cp");
    copy.arg("-r")
        .arg(packages(&shared.expect("an environment")).join("."))
        .arg(packages(&project));
    assert!(copy.status().expect("cp starts").success());
}

fn give_away(folder: &Path) {
    let path = folder.to_owned();
    std::os::unix::fs::chown(&path, Some(NOBODY), Some(NOBODY)).expect("given away");
    let metadata = fs::symlink_metadata(&path).expect("there");
    if !metadata.is_symlink() {
        fs::set_permissions(
            &path,
            fs::Permissions::from_mode(metadata.permissions().mode() | 0o700),
        )
        .expect("set");
    }
    if metadata.is_dir() {
        for entry in fs::read_dir(&path).expect("a folder").flatten() {
            if entry.file_type().is_ok_and(|it| it.is_symlink()) {
                continue;
            }
            give_away(&entry.path());
        }
    }
}

/// Tests see what is mounted below a project, and then cannot write.
#[test]
fn a_project_with_something_mounted_below_it_is_shown_whole_and_read_only() {
    let world = World::new();
    world.write("p/test_a.py", "def test_a(): print(open('below/data.txt').read())\n");
    world.write("p/below/here", "");
    world.write("data.txt", "mounted");
    let root = world.root().display();
    let script = format!(
        "mount -t tmpfs none {root}/p/below && cp {root}/data.txt {root}/p/below/ && exec {} test {root}/p --sandbox local --json",
        binary().display()
    );
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can mount something below a project");
        return;
    }
    let surroundings = world.command(&[]);
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script]).env_clear();
    command.envs(surroundings.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = Ran::of(command.output().expect("unshare is there")).exits(0);
    let report = ran.json();
    assert!(report["tests"][0]["stdout"].to_string().contains("mounted"), "{report:#}");
    let limits = report["limits"].as_array().expect("limits");
    let project = limits.iter().find(|it| it["name"] == "project").expect("listed");
    let how = project["how"].as_str().expect("words");
    assert!(how.starts_with("read-only: ") && how.contains("mounted below it"), "{how}");
}
