//! Resources that a user grants to tests: variables, memory, processors, the network, time.

use std::{collections::BTreeMap, io::Write, net::TcpListener, thread, time::Duration};

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use trellis_sandbox::{Config, Isolation, Limits, Outcome, Report, Request, Runner, Tree};

use crate::support::{environment, files, patience, scratch};

/// Runs `request` of a runner under `config`.
async fn run(config: Config, tree: &[(&str, &str)], change: impl FnOnce(&mut Request)) -> Report {
    let runner = Runner::new(environment().await, config);
    let mut request = runner.request(files(tree));
    change(&mut request);
    let cancel = CancellationToken::new();
    let ran = timeout(patience(), runner.run(&request, &cancel)).await;
    let report = ran.expect("the run ends by itself");
    assert_eq!(runner.close().await, Vec::<String>::new());
    report
}

fn config() -> Config {
    Config { scratch: scratch(), ..Config::from_environment() }
}

fn ways() -> impl Iterator<Item = (Isolation, Config)> {
    let ways = [Isolation::Namespaces, Isolation::Bubblewrap, Isolation::LandlockOnly];
    ways.into_iter().map(|it| (it, Config { isolation: Some(it), ..config() }))
}

fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

#[tokio::test]
async fn variables_that_are_given_are_seen_and_win() {
    let given = [
        ("DATABASE", "sqlite://a=b;c"),
        ("EMPTY", ""),
        ("HOME", "/somewhere"),
        ("LANG", "de_DE.UTF-8"),
        ("PYTHONHASHSEED", "7"),
        ("ümlaut", "ß\nline"),
    ];
    let text = "
import os, subprocess, sys

WANTED = {'DATABASE': 'sqlite://a=b;c', 'EMPTY': '', 'HOME': '/somewhere', 'LANG': 'de_DE.UTF-8',
          'PYTHONHASHSEED': '7', 'ümlaut': 'ß\\nline'}
AT_IMPORT = os.environ['DATABASE']

def test_here():
    assert {name: os.environ.get(name) for name in WANTED} == WANTED
    assert AT_IMPORT == WANTED['DATABASE']

def test_child():
    code = 'import json, os; print(json.dumps(dict(os.environ)))'
    import json
    seen = json.loads(subprocess.check_output([sys.executable, '-c', code]))
    assert {name: seen.get(name) for name in WANTED} == WANTED
";
    for (way, config) in ways() {
        for cold in [false, true] {
            let config = Config { env: env(&given), ..config.clone() };
            let report = run(config, &[("test_a.py", text)], |it| it.cold = cold).await;
            assert_eq!(report.outcome, Outcome::Passed, "{way:?} cold {cold} {report:#?}");
        }
    }
}

/// The worker's interpreter starts long before it gets a run's variables.
#[tokio::test]
async fn pythons_own_path_counts() {
    let tree = [
        ("lib/helper.py", "VALUE = 3\n"),
        ("more/other.py", "VALUE = 4\n"),
        (
            "test_a.py",
            "import helper, other\ndef test_a(): assert helper.VALUE + other.VALUE == 7\n",
        ),
    ];
    let given = Config { env: env(&[("PYTHONPATH", "lib:more")]), ..config() };
    for cold in [false, true] {
        let report = run(given.clone(), &tree, |it| it.cold = cold).await;
        assert_eq!(report.outcome, Outcome::Passed, "cold {cold} {report:#?}");
    }
    let report = run(config(), &tree, |_| {}).await;
    assert_eq!(report.outcome, Outcome::CollectionError, "{report:#?}");
}

#[tokio::test]
async fn the_network_is_there_where_it_is_allowed_and_the_report_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = (&stream).write_all(b"hello");
        }
    });
    let text = format!(
        "import socket\n\ndef test_a():\n    with socket.create_connection(('127.0.0.1', {port})) as it:\n        assert it.recv(5) == b'hello'\n"
    );
    for (way, config) in ways() {
        for network in [true, false] {
            let limits = Limits { network, ..Limits::default() };
            let config = Config { limits, ..config.clone() };
            let report = run(config, &[("test_a.py", &text)], |_| {}).await;
            let wanted = if network { Outcome::Passed } else { Outcome::Failed };
            assert_eq!(report.outcome, wanted, "{way:?} {report:#?}");
            let reported = report.limits.iter().find(|it| it.name == "network").expect("told");
            assert_eq!(reported.enforced, !network, "{reported:?}");
            assert_eq!(reported.how.contains("as you asked"), network, "{reported:?}");
        }
    }
}

/// No report advises to allow what is already allowed.
#[tokio::test]
async fn a_network_that_is_down_is_the_sandbox_s_doing_only_without_one() {
    let text = "def test_a(): raise OSError('Network is unreachable')\n";
    for network in [true, false] {
        let limits = Limits { network, ..Limits::default() };
        let report = run(Config { limits, ..config() }, &[("test_a.py", text)], |_| {}).await;
        let reported = report.notes.iter().any(|it| it.contains("--network"));
        assert_eq!(reported, !network, "{:?}", report.notes);
    }
}

#[tokio::test]
async fn processors_are_as_many_as_said() {
    let text = "import os\ndef test_a(): assert len(os.sched_getaffinity(0)) == 1\n";
    for cold in [false, true] {
        let limits = Limits { cores: Some(1), ..Limits::default() };
        let config = Config { limits, ..config() };
        let report = run(config, &[("test_a.py", text)], |it| it.cold = cold).await;
        assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    }
}

#[tokio::test]
async fn memory_is_as_much_as_said() {
    let text = "def test_a(): assert len(bytearray(700 << 20)) == 700 << 20\n";
    for (megabytes, wanted) in [(1500, true), (300, false)] {
        let limits = Limits { memory_bytes: megabytes << 20, ..Limits::default() };
        let report = run(Config { limits, ..config() }, &[("test_a.py", text)], |_| {}).await;
        assert_eq!(report.outcome == Outcome::Passed, wanted, "{megabytes} {report:#?}");
    }
}

#[tokio::test]
async fn a_whole_run_takes_the_time_that_is_said() {
    let text = "def test_a():\n    while True: pass\n";
    let config = Config { run_timeout: Duration::from_secs(1), ..config() };
    let report = run(config, &[("test_a.py", text)], |_| {}).await;
    assert_eq!(report.outcome, Outcome::TimedOut, "{report:#?}");
    assert!(report.reason.as_ref().is_some_and(|it| it.contains("the whole run")), "{report:#?}");
}

/// A project in a folder gets the user's variables just as texts do.
#[tokio::test]
async fn a_project_in_a_folder_has_them_too() {
    let folder = tempfile::tempdir_in(scratch()).expect("a folder");
    let text = "import os\ndef test_a(): assert os.environ['STAGE'] == 'test'\n";
    std::fs::write(folder.path().join("test_a.py"), text).expect("written");
    let given = Config { env: env(&[("STAGE", "test")]), ..config() };
    let runner = Runner::new(environment().await, given);
    let request = runner.request(Tree::Folder(folder.path().to_owned()));
    for _ in 0..2 {
        let report = runner.run(&request, &CancellationToken::new()).await;
        assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    }
    assert_eq!(runner.close().await, Vec::<String>::new());
}
