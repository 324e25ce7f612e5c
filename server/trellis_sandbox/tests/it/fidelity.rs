//! Compares warm and cold runs of the same suites, which must not differ.
//!
//! The cold side does not use the code under test: it is a fresh `python -m pytest`, whose results
//! come from pytest's own JUnit XML. The exit code, every test's outcome, standard output and
//! standard error are compared, with times and paths made equal. All suites run on one runner,
//! forward and backward, so that state left in a worker by one suite would show in another.
//!
//! Known differences are left out: frames of the worker at the bottom of a test's stack,
//! `gc.freeze`, the names of preloaded modules, descriptors from 200 up, and the effects of an
//! interpreter's final cleanup on modules.

mod suites;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tempfile::TempDir;
use tokio::{process::Command, time::timeout};
use tokio_util::sync::CancellationToken;
use trellis_sandbox::{Config, Isolation, Report, Request, Runner, TestOutcome, python::Python};

use crate::support::{environment, files, patience, scratch};

/// The facts that must be equal in both ways.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    exit_code: Option<i32>,
    /// `class name outcome`, in order.
    tests: Vec<String>,
    stdout: String,
    stderr: String,
    /// Lines that must differ each time.
    unique: Vec<String>,
}

/// Number of parts of the suites, which are compared in parallel.
const PARTS: usize = 8;

macro_rules! warm_runs_are_like_cold_ones {
    ($($part:ident: $number:literal),*) => {
        mod warm_runs_are_like_cold_ones {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $part() {
                super::compare($number).await;
            })*
        }
    };
}

warm_runs_are_like_cold_ones![a: 0, b: 1, c: 2, d: 3, e: 4, f: 5, g: 6, h: 7];

/// Runs the suites of one part in both ways.
async fn compare(part: usize) {
    let bench = Bench::new().await;
    let size = suites::ALL.len().div_ceil(PARTS);
    let suites = suites::ALL.chunks(size).nth(part).expect("as many parts");
    let mut wrong = Vec::new();
    let mut colds = Vec::new();
    for (name, text) in suites {
        // While the cold run goes on, the worker learns the suite's imports.
        let (first, cold) = tokio::join!(bench.warm(text), bench.cold(text));
        let second = bench.warm(text).await;
        wrong.extend(difference(name, &cold, &first));
        wrong.extend(difference(&format!("{name}, again"), &cold, &second));
        wrong.extend(repeated(name, [&cold, &first, &second]));
        colds.push(cold);
    }
    for ((name, text), cold) in suites.iter().zip(&colds).rev() {
        let back = bench.warm(text).await;
        wrong.extend(difference(&format!("{name}, on the way back"), cold, &back));
    }
    assert_eq!(bench.runner.close().await, Vec::<String>::new());
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

struct Bench {
    python: Python,
    config: Config,
    scratch: TempDir,
    runner: Runner,
}

impl Bench {
    async fn new() -> Bench {
        let scratch = tempfile::tempdir_in(scratch()).expect("a folder");
        let path = std::env::var_os("PATH").expect("PATH is set");
        let variables = [("PATH".into(), path), ("LANG".into(), "C.UTF-8".into())];
        let variables = variables.into_iter().chain([("TZ".into(), "Asia/Tokyo".into())]).collect();
        let isolation = Some(Isolation::Namespaces);
        let folder = scratch.path().to_owned();
        let config = Config { scratch: folder, variables, isolation, ..Config::from_environment() };
        let python = environment().await;
        Bench { runner: Runner::new(python.clone(), config.clone()), python, config, scratch }
    }

    async fn warm(&self, text: &'static str) -> Seen {
        let request = Request {
            test_timeout: Duration::from_secs(20),
            whole: false,
            ..Request::new(files(&split(text)))
        };
        let cancel = CancellationToken::new();
        let report =
            timeout(patience(), self.runner.run(&request, &cancel)).await.expect("it ends");
        let entries = fs::read_dir(self.scratch.path()).expect("there").flatten();
        let mut trees = entries.map(|it| it.path()).filter(|it| is_named(it, "tree-"));
        let root = trees.next().expect("the worker waits").join("tree");
        let places = Places {
            root,
            home: "/home/sandbox".into(),
            temporary: "/tmp".into(),
            cache: "/run/sandbox".into(),
        };
        let [(stdout, mut unique), (stderr, more)] =
            [&report.stdout, &report.stderr].map(|it| self.plain(it, &places));
        unique.extend(more);
        Seen { exit_code: report.exit_code, tests: outcomes(&report), stdout, stderr, unique }
    }

    async fn cold(&self, text: &'static str) -> Seen {
        let [tree, folder] = [(); 2].map(|()| {
            let folder = tempfile::Builder::new().prefix("cold-").tempdir_in(self.scratch.path());
            folder.expect("a folder")
        });
        let at = |name: &str| folder.path().join(name);
        let places = Places {
            root: tree.path().join("tree"),
            home: at("home"),
            temporary: at("temporary"),
            cache: at("cache"),
        };
        for place in [&places.root, &places.home, &places.temporary, &places.cache] {
            fs::create_dir(place).expect("a folder");
        }
        for (name, text) in split(text) {
            let path = places.root.join(name);
            fs::create_dir_all(path.parent().expect("inside")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        let xml = at("results.xml");
        let output = self
            .python_in(&places)
            .args(["-m", "pytest", "--color=no", "--rootdir"])
            .arg(&places.root)
            .arg("-o")
            .arg(format!("cache_dir={}", places.cache.join("pytest").display()))
            .arg(format!("--junitxml={}", xml.display()))
            .output()
            .await
            .expect("python starts");
        let [(stdout, mut unique), (stderr, more)] = [&output.stdout, &output.stderr]
            .map(|it| self.plain(&String::from_utf8_lossy(it), &places));
        unique.extend(more);
        let tests = match fs::read_to_string(&xml) {
            Ok(text) => outcomes_of_xml(&text),
            Err(_) => Vec::new(),
        };
        Seen { exit_code: output.status.code(), tests, stdout, stderr, unique }
    }

    /// Returns a command for Python without this process's environment.
    fn python_in(&self, places: &Places) -> Command {
        let folder = self.python.interpreter.parent().expect("a folder");
        let mut path = folder.as_os_str().to_owned();
        path.push(":");
        path.push(&self.config.variables[std::ffi::OsStr::new("PATH")]);
        let mut command = Command::new(&self.python.interpreter);
        command
            .env_clear()
            .envs(&self.config.variables)
            .env("PATH", path)
            .env("HOME", &places.home)
            .env("TMPDIR", &places.temporary)
            .env("VIRTUAL_ENV", folder.parent().expect("an environment"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("PYTHONHASHSEED", "0")
            .current_dir(&places.root)
            .stdin(Stdio::null());
        command
    }

    /// Returns the text without parts that may differ, and the lines that must differ.
    fn plain(&self, text: &str, places: &Places) -> (String, Vec<String>) {
        let mut text = text.to_owned();
        let environment = self.python.interpreter.ancestors().nth(2).expect("an environment");
        let own = [
            (environment, "<environment>"),
            (places.root.as_path(), "<root>"),
            (&places.home, "<home>"),
            (&places.cache, "<cache>"),
            (&places.temporary, "<tmp>"),
        ];
        for (path, name) in own {
            text = replaced(&text, &path.display().to_string(), name);
        }
        // A report on a copy names files relative to its root.
        text = text.replace("<root>/", "").replace("<root>", ".");
        let (mut kept, mut unique) = (String::new(), Vec::new());
        for line in text.lines().filter(|it| !is_ours(it)) {
            if let Some(line) = line.strip_prefix("unique ") {
                unique.push(line.to_owned());
                continue;
            }
            // The length of a separator depends on the time in it.
            kept += &line
                .trim_matches(['=', ' '])
                .split(' ')
                .map(plain_word)
                .collect::<Vec<_>>()
                .join(" ");
            kept.push('\n');
        }
        (kept, unique)
    }
}

struct Places {
    root: PathBuf,
    home: PathBuf,
    temporary: PathBuf,
    cache: PathBuf,
}

/// Returns `class name outcome` for each test of a JUnit report; a module that could not be
/// imported is not a test.
fn outcomes_of_xml(text: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(text).expect("XML");
    let mut seen: Vec<(String, &str)> = Vec::new();
    for case in document.descendants().filter(|it| it.has_tag_name("testcase")) {
        let class = case.attribute("classname").unwrap_or_default();
        let name = format!("{class} {}", case.attribute("name").unwrap_or_default());
        let is_test = !["", "pytest"].contains(&class);
        // An error in teardown is a second element of the same name.
        if is_test && seen.iter().all(|it| it.0 != name) {
            seen.push((name, case.children().fold("passed", outcome_of_xml)));
        }
    }
    seen.into_iter().map(|(name, outcome)| format!("{name} {outcome}")).collect()
}

/// Returns the outcome after a child of a test's element, given the outcome before it.
fn outcome_of_xml<'a>(before: &'a str, child: roxmltree::Node<'_, '_>) -> &'a str {
    let is_expected = child.attribute("type") == Some("pytest.xfail");
    match child.tag_name().name() {
        "failure" => "failed",
        "error" => "error",
        "skipped" if is_expected => "xfailed",
        "skipped" => "skipped",
        _ => before,
    }
}

/// Returns the same lines for a report.
fn outcomes(report: &Report) -> Vec<String> {
    let line = |test: &trellis_sandbox::TestResult| {
        let (id, parameters) = test.id.split_at(test.id.find('[').unwrap_or(test.id.len()));
        let (path, rest) = id.split_once("::").unwrap_or((id, ""));
        let (classes, name) = rest.rsplit_once("::").unwrap_or(("", rest));
        let module = path.strip_suffix(".py").unwrap_or(path).replace('/', ".");
        let class = [&module, classes].map(|it| it.replace("::", ".")).join(".");
        let outcome = match test.outcome {
            TestOutcome::Passed | TestOutcome::XPassed => "passed",
            TestOutcome::Failed => "failed",
            TestOutcome::Skipped => "skipped",
            TestOutcome::XFailed => "xfailed",
            TestOutcome::Error => "error",
            TestOutcome::TimedOut | TestOutcome::Crashed => return None, // not in the XML
        };
        Some(format!("{} {name}{parameters} {outcome}", class.trim_end_matches('.')))
    };
    report.tests.iter().filter_map(line).collect()
}

/// Splits a suite into files; `#- path` begins a file.
fn split(text: &'static str) -> Vec<(&'static str, &'static str)> {
    let parts = text.split("#- ").skip(1);
    parts.map(|part| part.split_once('\n').expect("a path and a text")).collect()
}

/// Replaces `path` where it is a whole path, unlike the `/tmp` in `/tmpdir.py`.
fn replaced(text: &str, path: &str, name: &str) -> String {
    let mut parts = text.split(path);
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        all += if part.starts_with(char::is_alphanumeric) { path } else { name };
        all += part;
    }
    all
}

fn is_named(path: &Path, start: &str) -> bool {
    path.file_name().is_some_and(|it| it.to_string_lossy().starts_with(start))
}

/// Returns whether a line is added by one of the two ways: messages on the XML report, frames of
/// internal errors (pluggy has some for each hook wrapper), and frames of `-m`.
fn is_ours(line: &str) -> bool {
    line.contains("generated xml file: ")
        || line.starts_with("INTERNALERROR>  ")
        || line.starts_with("  File \"<frozen runpy>\"")
}

/// Replaces `0.12s` by `_s` and `0x7fbe7daf8850` by `0x_`, and unifies names of users.
fn plain_word(word: &str) -> String {
    if word.strip_suffix('s').is_some_and(|it| it.parse::<f64>().is_ok()) {
        return "_s".to_owned();
    }
    let word = word.replace("pytest-of-root", "pytest-of-sandbox");
    match word.split_once("0x7") {
        Some((start, rest)) => {
            format!("{start}0x_{}", rest.trim_start_matches(|it: char| it.is_ascii_hexdigit()))
        }
        None => word,
    }
}

fn difference(name: &str, cold: &Seen, warm: &Seen) -> Option<String> {
    let mut found = Vec::new();
    if cold.exit_code != warm.exit_code {
        found.push(format!("exit code: {:?}, warm {:?}", cold.exit_code, warm.exit_code));
    }
    let parts = [
        ("tests", cold.tests.join("\n"), warm.tests.join("\n")),
        ("stdout", cold.stdout.clone(), warm.stdout.clone()),
        ("stderr", cold.stderr.clone(), warm.stderr.clone()),
    ];
    for (what, cold, warm) in parts.into_iter().filter(|(_, cold, warm)| cold != warm) {
        found.push(format!("{what}:\n{}", line_by_line(&cold, &warm)));
    }
    (!found.is_empty()).then(|| format!("== {name}: {}", found.join("\n")))
}

/// Returns the lines that only one side has, or both texts if only the order differs.
fn line_by_line(cold: &str, warm: &str) -> String {
    let lines = |text: &str, other: &str, sign: &str| {
        let others: BTreeSet<&str> = other.lines().collect();
        let own = text.lines().filter(|it| !others.contains(it));
        own.map(|it| format!("{sign} {it}\n")).collect::<String>()
    };
    let found = lines(cold, warm, "cold") + &lines(warm, cold, "warm");
    if found.is_empty() { format!("cold\n{cold}\nwarm\n{warm}") } else { found }
}

/// Reports lines that came twice although they must not.
fn repeated(name: &str, all: [&Seen; 3]) -> Option<String> {
    let lines: Vec<&String> = all.iter().flat_map(|it| &it.unique).collect();
    let different: BTreeSet<&String> = lines.iter().copied().collect();
    let counts: BTreeSet<usize> = all.iter().map(|it| it.unique.len()).collect();
    (different.len() < lines.len() || counts.len() > 1)
        .then(|| format!("== {name}: not unique: {counts:?} {:?}", twice(&lines)))
}

fn twice<'a>(lines: &[&'a String]) -> Vec<&'a String> {
    let again = |at: usize| lines[..at].contains(&lines[at]);
    (0..lines.len()).filter(|at| again(*at)).map(|at| lines[at]).collect()
}
