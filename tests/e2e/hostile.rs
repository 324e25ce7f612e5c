//! A hostile project: its files start no program outside of the sandbox, and cause no write outside
//! of the work.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::implement::{ALONE, ARGUMENTS, CODE, code, new_tests, shop};
use crate::repair::{CALCULATOR, both, git, repair};
use crate::world::{Plot, Ran, World};

/// Creates a shop that is to get a discount, as the base for an attack.
pub(crate) fn prepared() -> World {
    shop(&[("scaffold", &[new_tests()]), ("implementation", &[code()])])
}

pub(crate) fn implement(world: &World) -> Ran {
    world.trellis(&[&ARGUMENTS[..], &ALONE].concat())
}

pub(crate) fn in_p(world: &World, arguments: &[&str]) -> String {
    git(&world.root().join("p"), arguments).trim().to_owned()
}

fn commit(world: &World) {
    in_p(world, &["add", "--all"]);
    in_p(world, &["commit", "--quiet", "--message", "prepared"]);
}

/// Returns the path of a file that exists once an attack has succeeded.
pub(crate) fn mark(world: &World) -> PathBuf {
    world.root().join("started")
}

/// Adds lines to the project's configuration; `START` stands for a program that creates the mark.
fn configure(world: &World, lines: &str) {
    let start =
        world.write("start", &format!("#!/bin/sh\ntouch '{}'\ncat\n", mark(world).display()));
    fs::set_permissions(&start, fs::Permissions::from_mode(0o755)).expect("a mode");
    let own = world.read("p/.git/config");
    let lines = lines.replace("START", &start.display().to_string());
    world.write("p/.git/config", &format!("{own}\n{lines}\n"));
}

/// Returns every entry below a folder with its text; links with their targets.
pub(crate) fn everything(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut out = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, kind) = (entry.path(), entry.file_type().expect("a type"));
        if kind.is_dir() {
            out.extend(everything(&path));
        }
        let text = match kind {
            kind if kind.is_symlink() => {
                fs::read_link(&path).expect("a link").as_os_str().as_bytes().to_vec()
            }
            kind if kind.is_file() => fs::read(&path).expect("a file"),
            _ => Vec::new(),
        };
        out.insert(path, text);
    }
    out
}

#[test]
fn programs_between_a_file_and_what_git_stores_are_the_persons_own_or_none() {
    let attacks = [
        ("* filter=x", "[filter \"x\"]\n\tclean = START"),
        ("* filter=x", "[filter \"x\"]\n\tsmudge = START"),
        ("* filter=x", "[filter \"x\"]\n\tprocess = START"),
        ("* filter=x", "[include]\n\tpath = ../settings"),
        ("* merge=x", "[merge \"x\"]\n\tdriver = START"),
        ("", "[hook \"x\"]\n\tevent = reference-transaction\n\tcommand = START"),
    ];
    for (attributes, lines) in attacks {
        let world = prepared();
        world.write("p/.gitattributes", &format!("{attributes}\n"));
        world.write(
            "p/settings",
            &format!("[filter \"x\"]\n\tclean = touch {}\n", mark(&world).display()),
        );
        commit(&world);
        configure(&world, lines);
        let _ = implement(&world).exits(65).says("git was not started").says("git config --global");
        assert!(!mark(&world).exists(), "{lines}");
        assert!(!world.root().join("p/shop/discount.py").exists(), "{lines}");
    }
    // A setting that the user's own configuration has too is allowed.
    let world = prepared();
    world.write("p/.gitattributes", "* filter=x\n");
    commit(&world);
    let lines = "[filter \"x\"]\n\tclean = START";
    configure(&world, lines);
    let start = world.root().join("start").display().to_string();
    world.write("home/.gitconfig", &lines.replace("START", &start));
    let _ = implement(&world).exits(0);
    assert!(mark(&world).exists());
}

#[test]
fn other_workflows_refuse_such_a_repository_or_do_without_git() {
    let world = both();
    let p = world.root().join("p");
    git(&p, &["init", "--quiet"]);
    world.write("p/.gitattributes", "* filter=x\n");
    git(&p, &["add", "--all"]);
    git(&p, &["commit", "--quiet", "--message", "start"]);
    configure(&world, "[filter \"x\"]\n\tclean = START\n\tsmudge = START");
    let ran = repair(&world, &["--commit"]).exits(0);
    assert!(ran.stdout.contains("start a program"), "{}", ran.stdout);
    world.write("p/calculator.py", CALCULATOR);
    let _ = repair(&world, &["--worktree"]).exits(65).says("git was not started");
    assert!(!mark(&world).exists());
    let world = World::new();
    fs::create_dir_all(world.out()).expect("a folder");
    git(&world.out(), &["init", "--quiet"]);
    world.write("out/.gitattributes", "* filter=x\n");
    world.write(
        "out/.git/config",
        &format!("[filter \"x\"]\n\tclean = touch {}\n", mark(&world).display()),
    );
    let _ = world.grow(&Plot::garden(), &[]).exits(0).says("continues without commits");
    assert!(!mark(&world).exists());
}

#[test]
fn programs_that_git_can_do_without_are_switched_off() {
    let world = prepared();
    world.write("p/.gitattributes", "* diff=x\n");
    commit(&world);
    configure(
        &world,
        "[core]\n\tfsmonitor = START\n\thooksPath = ../hooks\n\teditor = START\n\tpager = START\n\taskPass = START\n\tsshCommand = START\n\
         [diff]\n\texternal = START\n\ttrustExitCode = true\n[diff \"x\"]\n\ttextconv = START\n\tcommand = START\n\
         [gpg]\n\tprogram = START\n[commit]\n\tgpgSign = true\n[log]\n\tshowSignature = true\n[alias]\n\tcommit = !START\n\tmerge = !START",
    );
    for hook in
        ["post-checkout", "reference-transaction", "post-index-change", "post-merge", "pre-commit"]
    {
        for folder in ["p/.git/hooks", "hooks"] {
            fs::create_dir_all(world.root().join(folder)).expect("a folder");
            fs::copy(world.root().join("start"), world.root().join(folder).join(hook))
                .expect("a hook");
        }
    }
    let _ = implement(&world).exits(0);
    assert_eq!(world.read("p/shop/discount.py"), CODE);
    assert!(!mark(&world).exists());
}

#[test]
fn a_repository_inside_of_the_project_has_no_say() {
    let world = prepared();
    let start = format!("touch {}; false", mark(&world).display());
    let sub = world.root().join("p/sub");
    fs::create_dir_all(&sub).expect("a folder");
    git(&sub, &["init", "--quiet"]);
    world.write("p/sub/a.txt", "a\n");
    git(&sub, &["add", "--all"]);
    git(&sub, &["commit", "--quiet", "--message", "inside"]);
    world.write(
        "p/.gitmodules",
        "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n",
    );
    commit(&world);
    git(&sub, &["config", "core.fsmonitor", &start]);
    configure(
        &world,
        "[submodule]\n\trecurse = true\n\tactive = .\n[diff]\n\tignoreSubmodules = none",
    );
    let _ = implement(&world).exits(0);
    assert!(!mark(&world).exists(), "a submodule's settings");
    // A project's files can be laid out as a bare repository, and a clone contains them.
    let world = prepared();
    let bare = world.root().join("p/docs/bare");
    git(world.root(), &["init", "--quiet", "--bare", &bare.display().to_string()]);
    git(&bare, &["config", "core.fsmonitor", &start]);
    git(&bare, &["config", "core.worktree", &world.root().join("p").display().to_string()]);
    commit(&world);
    let mut command = world.command(&[
        "implement",
        ".",
        "--issue",
        "42",
        "--lld",
        "../lld.md",
        "--model",
        "recorded:../../../replies.jsonl",
    ]);
    let ran = Ran::of(command.current_dir(&bare).output().expect("trellis starts"));
    assert_ne!(ran.code, Some(0), "{}", ran.stdout);
    assert!(!mark(&world).exists(), "files of the project");
}

#[test]
fn objects_that_are_not_there_are_not_fetched() {
    let world = prepared();
    let blob = in_p(&world, &["rev-parse", "HEAD:shop/audit.py"]);
    let (folder, file) = blob.split_at(2);
    fs::remove_file(world.root().join(format!("p/.git/objects/{folder}/{file}")))
        .expect("an object");
    world.write("p/shop/audit.py", "changed = 1\n");
    configure(
        &world,
        "[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\turl = ext::START %S\n\tpromisor = true\n\tuploadpack = START\n\
         [protocol]\n\tallow = always\n[protocol \"ext\"]\n\tallow = always",
    );
    let text = world
        .read("p/.git/config")
        .replace("repositoryformatversion = 0", "repositoryformatversion = 1");
    world.write("p/.git/config", &text);
    let ran = implement(&world);
    assert_ne!(ran.code, Some(0), "{}", ran.stdout);
    assert!(!mark(&world).exists());
}

/// An attack on `.git`, given the paths of a foreign repository and of a foreign file.
type Bend = fn(&Path, &Path);

#[test]
fn what_git_keeps_elsewhere_is_not_touched() {
    let attacks: [(&str, Bend); 7] = [
        (".git is a file", |git, victim| {
            fs::remove_dir_all(git).expect("gone");
            fs::write(git, format!("gitdir: {}\n", victim.join(".git").display())).expect("a file");
        }),
        (".git is a link", |git, victim| {
            fs::remove_dir_all(git).expect("gone");
            symlink(victim.join(".git"), git).expect("a link");
        }),
        ("commits are elsewhere", |git, victim| {
            let place = victim.join(".git").display().to_string();
            fs::write(git.join("commondir"), format!("{place}\n")).expect("a file");
        }),
        ("a worktree that nobody made", |git, victim| {
            let fake = git.with_file_name("fake");
            fs::create_dir_all(fake.join("worktrees/x")).expect("folders");
            fs::write(fake.join("worktrees/x/gitdir"), git.display().to_string()).expect("a file");
            let place = victim.join(".git").display().to_string();
            fs::write(fake.join("worktrees/x/commondir"), place).expect("a file");
            fs::write(fake.join("worktrees/x/HEAD"), "ref: refs/heads/main\n").expect("a file");
            fs::remove_dir_all(git).expect("gone");
            fs::write(git, "gitdir: fake/worktrees/x\n").expect("a file");
        }),
        ("files are elsewhere", |git, victim| {
            let mut text = fs::read_to_string(git.join("config")).expect("a file");
            text +=
                &format!("[core]\n\tworktree = {}\n", victim.parent().expect("a parent").display());
            fs::write(git.join("config"), text).expect("a file");
        }),
        ("the log is a link", |git, victim| {
            fs::remove_file(git.join("logs/HEAD")).expect("gone");
            symlink(victim.join("shop/cart.py"), git.join("logs/HEAD")).expect("a link");
        }),
        ("branches are a link", |git, victim| {
            fs::remove_dir_all(git.join("refs/heads")).expect("gone");
            symlink(victim.join(".git/refs/heads"), git.join("refs/heads")).expect("a link");
        }),
    ];
    for (name, bend) in attacks {
        let (world, other) = (prepared(), prepared());
        let victim = other.root().join("p");
        bend(&world.root().join("p/.git"), &victim);
        let before = everything(&victim);
        let ran = implement(&world).exits(65);
        assert!(ran.stderr.contains("git was not started"), "{name}: {}", ran.stderr);
        assert_eq!(everything(&victim), before, "{name}");
    }
    // A worktree, and a repository with a separate git folder, are accepted if both sides name each
    // other.
    let world = prepared();
    in_p(&world, &["worktree", "add", "--quiet", "-b", "other", "../other"]);
    let arguments = ARGUMENTS.map(|it| it.replace("p/docs", "other/docs"));
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments[1] = "other";
    arguments.extend(ALONE);
    let _ = world.trellis(&arguments).exits(0);
    assert_eq!(world.read("other/shop/discount.py"), CODE);
    let world = prepared();
    in_p(&world, &["init", "--quiet", "--separate-git-dir", "../kept.git"]);
    let _ = implement(&world).exits(65).says("core.worktree");
    let top = world.root().join("p").display().to_string();
    in_p(&world, &["config", "core.worktree", &top]);
    let _ = implement(&world).exits(0);
    assert_eq!(world.read("p/shop/discount.py"), CODE);
    // A submodule is such a repository.
    let world = prepared();
    fs::rename(world.root().join("p"), world.root().join("sub")).expect("moved");
    git(world.root(), &["init", "--quiet", "--initial-branch=main", "p"]);
    let url = world.root().join("sub").display().to_string();
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "sub"];
    in_p(&world, &add);
    commit(&world);
    let arguments = ARGUMENTS.map(|it| it.replace("p/docs", "p/sub/docs"));
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments[1] = "p/sub";
    arguments.extend(ALONE);
    let _ = world.trellis(&arguments).exits(0);
    assert_eq!(world.read("p/sub/shop/discount.py"), CODE);
}

#[test]
fn files_that_python_and_pytest_load_by_themselves_run_in_the_sandbox() {
    let world = World::new();
    let mark = mark(&world);
    let attack = format!(
        "import os, subprocess\ntry: open({:?}, 'w').write('x')\nexcept OSError: pass\nsubprocess.run(['touch', {:?}])\n",
        mark.display().to_string(),
        mark.display().to_string()
    );
    for file in [
        "conftest.py",
        "sitecustomize.py",
        "usercustomize.py",
        "evil.py",
        "setup.py",
        "tests/__init__.py",
        "pytest.py",
        "json.py",
    ] {
        world.write(&format!("p/{file}"), &attack);
    }
    world.write("p/evil.pth", &format!("import os; os.system('touch {}')\n", mark.display()));
    world.write("p/pytest.ini", "[pytest]\naddopts = -p evil\npythonpath = .\n");
    world.write(
        "p/pyproject.toml",
        "[build-system]\nrequires = []\nbuild-backend = 'evil'\nbackend-path = ['.']\n",
    );
    world.write("p/tests/test_a.py", "def test_a(): pass\n");
    world.write(
        "p/.venv/bin/python",
        &format!("#!/bin/sh\ntouch {}\nexec /usr/bin/python3 \"$@\"\n", mark.display()),
    );
    fs::set_permissions(world.root().join("p/.venv/bin/python"), fs::Permissions::from_mode(0o755))
        .expect("a mode");
    world.write("p/.venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n");
    world.write("p/.venv/lib/python3.11/site-packages/pytest/__init__.py", &attack);
    let _ = world.trellis(&["test", "p", "--sandbox=local"]);
    let _ = world.trellis(&["localize", "p", "--sandbox=local"]);
    let _ = world.trellis(&["symbols", "find", "test_a", "--in", "p"]);
    assert!(!mark.exists());
}

#[test]
fn names_of_files_are_names_and_nothing_else() {
    let world = prepared();
    let p = world.root().join("p");
    let names: [&[u8]; 6] =
        [b"--output=x.py", b"-rf", b"a\nb.py", b"\xff\xfe.py", b":(top)x.py", b"\x1b[31mred.py"];
    for name in names {
        fs::write(p.join(std::ffi::OsStr::from_bytes(name)), "def odd(): return 1\n")
            .expect("a file");
    }
    commit(&world);
    let listed = || {
        let said =
            Command::new("git").args(["ls-files", "-z"]).current_dir(&p).output().expect("git");
        String::from_utf8_lossy(&said.stdout).split('\0').map(str::to_owned).collect::<Vec<_>>()
    };
    let old = listed();
    let _ = implement(&world).exits(0);
    let new: Vec<String> = listed().into_iter().filter(|it| !old.contains(it)).collect();
    assert_eq!(new, ["shop/discount.py", "tests/test_discount.py"]);
    let found = world.trellis(&["symbols", "find", "odd", "--in", "p"]).exits(0);
    assert!(found.stdout.contains("--output=x.py"), "{}", found.stdout);
}
