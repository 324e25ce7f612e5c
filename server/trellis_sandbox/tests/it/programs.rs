//! Real runs of vitest, jest and go in the sandbox. npm's packages are installed once, below the
//! cache folder. Without npm or go, the tests print that they are skipped.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use tempfile::TempDir;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use trellis_sandbox::{
    Config, Isolation, Outcome, Report, Request, Runner,
    TestOutcome::{self, *},
    Tree,
    frameworks::Framework,
};

use crate::support::{base, cache, patience, results, scratch};

fn is_installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).any(|it| it.join(program).is_file());
    if !found {
        eprintln!("SKIPPED: {program} is not installed");
    }
    found
}

fn write(root: &Path, tree: &[(&str, &str)]) {
    for (name, text) in tree {
        let file = root.join(name);
        fs::create_dir_all(file.parent().expect("below the root")).expect("a folder");
        fs::write(file, text).expect("a file");
    }
}

/// Makes a project with `package` in its `node_modules`. Returns `None`, and prints a notice, if
/// npm is missing.
fn node_project(package: &str, tree: &[(&str, &str)]) -> Option<TempDir> {
    if !["npm", "npx", "node"].iter().all(|it| is_installed(it)) {
        return None;
    }
    let project = tempfile::tempdir_in(scratch()).expect("a folder");
    let copied = Command::new("cp")
        .arg("-al")
        .arg(installed(package).join("node_modules"))
        .arg(project.path())
        .status();
    assert!(copied.expect("cp starts").success());
    write(project.path(), tree);
    Some(project)
}

fn installed(package: &str) -> PathBuf {
    let place = cache().join(format!("npm-{package}"));
    if !place.is_dir() {
        let folder = tempfile::tempdir_in(cache()).expect("a folder");
        fs::write(folder.path().join("package.json"), "{}").expect("a file");
        let npm = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", package])
            .current_dir(folder.path())
            .output()
            .expect("npm starts");
        assert!(npm.status.success(), "{}", String::from_utf8_lossy(&npm.stderr));
        // If another process was faster, this copy is dropped.
        let renamed = fs::rename(folder.path(), &place);
        assert!(renamed.is_ok() || place.is_dir(), "{renamed:?}");
    }
    place
}

/// Runs `project` in the strongest sandbox, with an interpreter that need not have pytest.
async fn run(project: &Path, framework: Framework, change: impl FnOnce(&mut Request)) -> Report {
    run_in(None, project, framework, change).await
}

async fn run_in(
    isolation: Option<Isolation>,
    project: &Path,
    framework: Framework,
    change: impl FnOnce(&mut Request),
) -> Report {
    let config = Config { scratch: scratch(), isolation, ..Config::from_environment() };
    let runner = Runner::new(base().await, config);
    let mut request = Request::new(Tree::Folder(project.to_owned()));
    request.framework = framework;
    request.run_timeout = patience();
    change(&mut request);
    let cancel = CancellationToken::new();
    let mut reported = Vec::new();
    let mut tell = |test: &trellis_sandbox::TestResult| reported.push(test.id.clone());
    let report = runner.run_telling(&request, &cancel, &mut tell);
    let report = timeout(patience(), report).await.expect("the run ends by itself");
    assert_eq!(runner.close().await, Vec::<String>::new());
    let ids: Vec<String> = report.tests.iter().map(|test| test.id.clone()).collect();
    assert_eq!(reported, ids);
    report
}

fn names(project: &Path) -> Vec<String> {
    let mut names = crate::support::left_in(project);
    names.sort();
    names
}

/// Returns the deciding facts of a report for comparison.
fn shown(report: &Report) -> (Outcome, bool, Vec<(&str, TestOutcome)>) {
    (report.outcome.clone(), report.parsing_failed, results(report))
}

const CART: &str = "exports.total = items => items.reduce((sum, it) => sum + it.price, 0)\nexports.spin = () => { for (;;) {} }\n";

/// Tests for jest and vitest, which differ in their first lines.
const TESTS: &str = "
describe('total', () => {
  it('adds', () => { console.log('added'); expect(total([{ price: 2 }])).toBe(2) })
  it('is wrong', () => { expect(total([])).toBe(1) })
  it.skip('is skipped', () => {})
})
";
const SANDBOX: &str = "
const fs = require('fs'), net = require('net'), os = require('os')
it('keeps the tree', () => { fs.writeFileSync(__dirname + '/written', '') })
it('hides the machine', () => { expect(fs.existsSync(HOME)).toBe(false) })
it('has no network', async () => {
  const error = await new Promise(done => net.connect(80, '192.0.2.1').on('error', done).on('connect', () => done(null)))
  expect(error).not.toBe(null)
})
it('has a home and a place for files', () => {
  for (const folder of [os.homedir(), os.tmpdir()]) fs.writeFileSync(folder + '/x', '')
})
";

/// Makes a folder that the sandbox must not show.
fn secret() -> TempDir {
    tempfile::tempdir_in(cache()).expect("a folder")
}

/// Tests a framework: passes and failures, targets, the sandbox, exiting tests, endless tests.
async fn node_framework(framework: Framework, package: &str, start: &str, more: &[(&str, &str)]) {
    let secret = secret();
    let tests = format!("{start}const {{ total }} = require('../src/cart.cjs')\n{TESTS}");
    let sandbox =
        format!("{start}const HOME = {:?}\n{SANDBOX}", secret.path().display().to_string());
    let leaves = format!("{start}it('leaves', () => {{ process.kill(process.pid, 'SIGKILL') }})\n");
    let spins = format!(
        "{start}const {{ spin }} = require('../src/cart.cjs')\nit('spins', () => spin())\n"
    );
    let broken = format!("{start}require('./nowhere.cjs')\nit('is never run', () => {{}})\n");
    let mut tree = vec![
        ("src/cart.cjs", CART),
        ("tests/cart.test.js", &tests),
        ("sandbox/a.test.js", &sandbox),
        ("leaves/a.test.js", &leaves),
        ("spins/a.test.js", &spins),
        ("broken/a.test.js", &broken),
    ];
    tree.extend(more);
    let Some(project) = node_project(package, &tree) else { return };
    let (root, before) = (project.path(), names(project.path()));
    let target = |target: &str| vec![target.to_owned()];

    let report = run(root, framework, |it| it.targets = target("tests/cart.test.js")).await;
    let expected = vec![
        ("tests/cart.test.js::total::adds", Passed),
        ("tests/cart.test.js::total::is wrong", Failed),
        ("tests/cart.test.js::total::is skipped", Skipped),
    ];
    assert_eq!(shown(&report), (Outcome::Failed, false, expected.clone()), "{report:#?}");
    let failure = report.tests[1].failure.as_ref().expect("why");
    assert_eq!(failure.path.as_deref(), Some("tests/cart.test.js"), "{report:#?}");

    let one = "tests/cart.test.js::total::adds";
    let report = run(root, framework, |it| it.targets = target(one)).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    // The frameworks report the others as skipped.
    assert_eq!(results(&report), [(one, Passed)]);
    let report =
        run(root, framework, |it| it.targets = target("tests/cart.test.js::total::")).await;
    assert_eq!(shown(&report).2, expected, "a group: {report:#?}");

    for isolation in [Isolation::Bubblewrap, Isolation::LandlockOnly] {
        let report = run_in(Some(isolation), root, framework, |it| it.targets = target(one)).await;
        assert_eq!(report.outcome, Outcome::Passed, "{isolation:?} {report:#?}");
    }

    let report = run(root, framework, |it| it.targets = target("sandbox/a.test.js")).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    assert_eq!(report.tests.len(), 4);
    assert!(!root.join("sandbox/written").exists());

    let report = run(root, framework, |it| it.targets = target("broken/a.test.js")).await;
    assert_eq!(report.outcome, Outcome::CollectionError, "{report:#?}");

    let report = run(root, framework, |it| it.targets = target("leaves/a.test.js")).await;
    assert!(!matches!(report.outcome, Outcome::Passed | Outcome::NoTests), "{report:#?}");

    let stopped = run(root, framework, |request| {
        request.targets = target("spins/a.test.js");
        request.run_timeout = Duration::from_secs(8);
    })
    .await;
    assert_eq!(stopped.outcome, Outcome::TimedOut, "{stopped:#?}");
    assert_eq!(names(root), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn vitest_in_the_sandbox() {
    let package = r#"{"scripts": {"test": "vitest"}, "devDependencies": {"vitest": "3"}}"#;
    let config = "import { defineConfig } from 'vitest/config'\nexport default defineConfig({ test: { globals: true } })\n";
    let more = [("package.json", package), ("vitest.config.mts", config)];
    let start = "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url), __dirname = import.meta.dirname\n";
    node_framework(Framework::Vitest, "vitest@3", start, &more).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jest_in_the_sandbox() {
    let package = r#"{"scripts": {"test": "jest"}, "devDependencies": {"jest": "30"}}"#;
    node_framework(Framework::Jest, "jest@30", "", &[("package.json", package)]).await;
}

#[tokio::test]
async fn node_packages_have_to_be_installed() {
    let project = tempfile::tempdir_in(scratch()).expect("a folder");
    write(project.path(), &[("package.json", "{}")]);
    let report = run(project.path(), Framework::Jest, |_| {}).await;
    let Outcome::SandboxUnavailable { reason } = &report.outcome else { panic!("{report:#?}") };
    assert!(reason.contains("npm install"), "{reason}");
}

/// A stand-in for jest puts various things in the place of the report.
#[tokio::test]
async fn only_a_file_of_the_runs_own_is_a_report() {
    if !["npm", "npx", "node"].iter().all(|it| is_installed(it)) {
        return;
    }
    let project = tempfile::tempdir_in(scratch()).expect("a folder");
    let jest = project.path().join("node_modules/.bin/jest");
    let good = include_str!("frameworks/captured/jest30-good.json");
    write(
        project.path(),
        &[("package.json", "{}"), ("good.json", good), ("node_modules/.bin/jest", "")],
    );
    let config = Config { scratch: scratch(), ..Config::from_environment() };
    let runner = Runner::new(base().await, config);
    let mut request = Request::new(Tree::Folder(project.path().to_owned()));
    request.framework = Framework::Jest;
    request.limits.file_bytes = 80 << 20;
    for (what, expected) in [
        ("cat good.json > $report", None),
        ("true", Some("wrote no report")),
        ("head -c 100 good.json > $report", Some("incomplete")),
        ("ln -s $PWD/good.json $report", Some("cannot be opened")),
        ("mkfifo $report", Some("not a file that this run wrote")),
        ("mkdir $report", Some("not a file that this run wrote")),
        ("truncate -s 65M $report", Some("larger than 64 MiB")),
        ("truncate -s 64M $report", Some("incomplete")),
        ("cat good.json > $report; kill -9 $$", Some("ended with")),
    ] {
        let script = format!(
            "#!/bin/sh\nfor word; do case $word in --outputFile=*) report=${{word#*=}};; esac; done\n{what}\n"
        );
        fs::write(&jest, script).expect("a file");
        fs::set_permissions(&jest, fs::Permissions::from_mode(0o755)).expect("set");
        let report = runner.run(&request, &CancellationToken::new()).await;
        let reason = report.reason.as_deref().unwrap_or_default();
        match expected {
            None => assert_eq!(report.outcome, Outcome::Passed, "{what}: {report:#?}"),
            Some(part) => {
                assert_ne!(report.outcome, Outcome::Passed, "{what}: {report:#?}");
                assert!(reason.contains(part), "{what}: {reason}: {report:#?}");
            }
        }
        assert_eq!(report.parsing_failed, expected.is_some_and(|it| it != "ended with"), "{what}");
        assert_eq!(report.notes, Vec::<String>::new(), "{what}");
    }
    assert_eq!(runner.close().await, Vec::<String>::new());
}

/// On a machine without the programs, their names are not on the sandbox's `PATH`.
#[tokio::test]
async fn programs_that_are_missing_are_named() {
    let project = tempfile::tempdir_in(scratch()).expect("a folder");
    write(project.path(), &[("go.mod", "module example.com/a\n")]);
    let mut config = Config { scratch: scratch(), ..Config::from_environment() };
    config.variables.insert("PATH".into(), "/nowhere".into());
    let runner = Runner::new(base().await, config);
    let mut request = Request::new(Tree::Folder(project.path().to_owned()));
    request.framework = Framework::Go;
    let report = runner.run(&request, &CancellationToken::new()).await;
    let Outcome::SandboxUnavailable { reason } = &report.outcome else { panic!("{report:#?}") };
    assert!(reason.contains("cannot start go") && reason.contains("install Go"), "{reason}");
    assert_eq!(runner.close().await, Vec::<String>::new());
}

#[tokio::test]
async fn docker_images_without_the_programs_are_named() {
    let Some(docker) = crate::support::docker().await else { return };
    let config = Config { scratch: scratch(), ..Config::from_environment() };
    let runner = Runner::in_docker(docker, &config);
    let project = tempfile::tempdir_in(scratch()).expect("a folder");
    fs::set_permissions(project.path(), fs::Permissions::from_mode(0o755)).expect("set");
    write(project.path(), &[("go.mod", "module example.com/a\n")]);
    let mut request = Request::new(Tree::Folder(project.path().to_owned()));
    request.framework = Framework::Go;
    let report = runner.run(&request, &CancellationToken::new()).await;
    let Outcome::SandboxUnavailable { reason } = &report.outcome else { panic!("{report:#?}") };
    assert!(reason.contains("choose an image with Python and Go"), "{reason}");
    assert_eq!(runner.close().await, Vec::<String>::new());
}

/// A script that makes a zip of a module in the form that a proxy serves.
const PROXY: &str = "
import pathlib, sys, zipfile
folder = pathlib.Path(sys.argv[1], 'example.com/dep/@v')
folder.mkdir(parents=True)
(folder / 'list').write_text('v1.0.0\\n')
(folder / 'v1.0.0.info').write_text('{\"Version\": \"v1.0.0\"}')
(folder / 'v1.0.0.mod').write_text('module example.com/dep\\n')
with zipfile.ZipFile(folder / 'v1.0.0.zip', 'w') as file:
    file.writestr('example.com/dep@v1.0.0/go.mod', 'module example.com/dep\\n')
    file.writestr('example.com/dep@v1.0.0/dep.go', 'package dep\\n\\nconst X = 1\\n')
";

/// Modules are read from go's own cache, without a network.
#[tokio::test(flavor = "multi_thread")]
async fn go_modules_that_were_loaded_before() {
    if !is_installed("go") {
        return;
    }
    let (home, project) = (secret(), tempfile::tempdir_in(scratch()).expect("a folder"));
    let (proxy, modules) = (home.path().join("proxy"), home.path().join("go/pkg/mod"));
    let test = "package a\n\nimport (\"testing\"; \"example.com/dep\")\n\nfunc TestA(t *testing.T) { if dep.X != 1 { t.Fail() } }\n";
    let module = "module example.com/a\n\ngo 1.18\n\nrequire example.com/dep v1.0.0\n";
    write(project.path(), &[("go.mod", module), ("a_test.go", test)]);
    let python = base().await.interpreter;
    let made = Command::new(python).args(["-c", PROXY]).arg(&proxy).status();
    assert!(made.expect("Python starts").success());
    let loaded = Command::new("go")
        .args(["mod", "download", "-modcacherw", "all"])
        .current_dir(project.path())
        .env("GOPROXY", format!("file://{}", proxy.display()))
        .env("GOMODCACHE", &modules)
        .env("GONOSUMDB", "*")
        .output()
        .expect("go starts");
    assert!(loaded.status.success(), "{}", String::from_utf8_lossy(&loaded.stderr));
    let config = Config {
        scratch: scratch(),
        home: Some(home.path().to_owned()),
        ..Config::from_environment()
    };
    let runner = Runner::new(base().await, config);
    let mut request = Request::new(Tree::Folder(project.path().to_owned()));
    request.framework = Framework::Go;
    let report = runner.run(&request, &CancellationToken::new()).await;
    assert_eq!(shown(&report), (Outcome::Passed, false, vec![(".::TestA", Passed)]), "{report:#?}");
    assert_eq!(runner.close().await, Vec::<String>::new());
}

const GO: &str = r#"package cart

import ("fmt"; "os"; "testing")

func TestAdds(t *testing.T) { if Total([]int{1, 2}) != 3 { t.Fatal("wrong") } }
func TestParts(t *testing.T) {
    t.Run("good", func(t *testing.T) {})
    t.Run("bad", func(t *testing.T) { t.Errorf("got %d", 1) })
}
func TestSkipped(t *testing.T) { t.Skip("later") }
func TestPrints(t *testing.T) {
    for i := 0; i < 60000; i++ { fmt.Println("a line that fills the output up to its limit and beyond it") }
}
func TestSandbox(t *testing.T) {
    if os.WriteFile("written", nil, 0o644) != nil { t.Fatal("no writing beside the code") }
    if os.WriteFile(t.TempDir() + "/x", nil, 0o644) != nil { t.Fatal("no place for files") }
}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn go_in_the_sandbox() {
    if !is_installed("go") {
        return;
    }
    let project = tempfile::tempdir_in(scratch()).expect("a folder");
    let tree = [
        ("go.mod", "module example.com/cart\n\ngo 1.18\n"),
        (
            "cart.go",
            "package cart\n\nfunc Total(items []int) (sum int) {\n\tfor _, it := range items {\n\t\tsum += it\n\t}\n\treturn\n}\n",
        ),
        ("cart_test.go", GO),
        (
            "spins/a_test.go",
            "package spins\n\nimport \"testing\"\n\nfunc TestGood(t *testing.T) {}\nfunc TestSpins(t *testing.T) { for { } }\n",
        ),
        (
            "leaves/a_test.go",
            "package leaves\n\nimport (\"os\"; \"testing\")\n\nfunc TestLeaves(t *testing.T) { os.Exit(0) }\nfunc TestNever(t *testing.T) {}\n",
        ),
        (
            "broken/a_test.go",
            "package broken\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { nowhere() }\n",
        ),
        (
            "many/a_test.go",
            "package many\n\nimport (\"fmt\"; \"testing\"; \"strings\")\n\nfunc TestA(t *testing.T) { for i := 0; i < 80; i++ { fmt.Println(strings.Repeat(\"x\", 1 << 20)) } }\n",
        ),
    ];
    write(project.path(), &tree);
    let (root, before) = (project.path(), names(project.path()));
    let target = |target: &str| vec![target.to_owned()];

    let report = run(root, Framework::Go, |it| it.targets = target(".")).await;
    let mut found = shown(&report);
    found.2.sort_by_key(|(id, _)| *id);
    let expected = vec![
        (".::TestAdds", Passed),
        (".::TestParts", Failed),
        (".::TestParts/bad", Failed),
        (".::TestParts/good", Passed),
        (".::TestPrints", Passed),
        (".::TestSandbox", Passed),
        (".::TestSkipped", Skipped),
    ];
    assert_eq!(found, (Outcome::Failed, false, expected), "{:?}", report.stderr);
    assert!(report.stdout.len() < 2 << 20);
    assert!(!root.join("written").exists());

    let report = run(root, Framework::Go, |it| it.targets = target(".::TestAdds")).await;
    assert_eq!(shown(&report), (Outcome::Passed, false, vec![(".::TestAdds", Passed)]));
    for isolation in [Isolation::Bubblewrap, Isolation::LandlockOnly] {
        let one = |it: &mut Request| it.targets = target(".::TestAdds");
        let report = run_in(Some(isolation), root, Framework::Go, one).await;
        assert_eq!(report.outcome, Outcome::Passed, "{isolation:?} {report:#?}");
    }

    let report = run(root, Framework::Go, |it| it.targets = target("broken")).await;
    assert_eq!(report.outcome, Outcome::CollectionError, "{report:#?}");

    let report = run(root, Framework::Go, |it| it.targets = target("leaves")).await;
    assert!(!matches!(report.outcome, Outcome::Passed | Outcome::NoTests), "{report:#?}");

    let report = run(root, Framework::Go, |it| it.targets = target("many")).await;
    assert!(report.parsing_failed && report.outcome != Outcome::Passed, "{:?}", report.outcome);
    let reason = report.reason.as_deref().unwrap_or_default();
    assert!(reason.contains("64 MiB"), "{reason}");

    let report = run(root, Framework::Go, |request| {
        request.targets = target("spins");
        request.run_timeout = Duration::from_secs(15);
    })
    .await;
    assert_eq!(report.outcome, Outcome::TimedOut, "{report:#?}");
    assert!(results(&report).contains(&("spins::TestGood", Passed)), "{report:#?}");
    assert_eq!(names(root), before);
}
