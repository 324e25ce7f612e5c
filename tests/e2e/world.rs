//! A folder, a home and an environment for each test, and runs of the binary in them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use ::lsp::patience;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) struct World {
    folder: TempDir,
    path: Option<PathBuf>,
}

/// Result of a run of the binary.
#[must_use]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Asserts the exit code and returns the run.
    pub(crate) fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that standard error contains a text.
    pub(crate) fn says(self, words: &str) -> Ran {
        assert!(self.stderr.contains(words), "`{words}` is missing in:\n{}", self.stderr);
        self
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}\n{}", self.stdout, self.stderr))
    }
}

/// Returns the binary, built by `cargo xtask test` or by hand.
pub(crate) fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("TRELLIS_BIN") {
        return PathBuf::from(path);
    }
    let test = std::env::current_exe().expect("a test has a path");
    let path = test.parent().and_then(Path::parent).expect("target/debug").join("trellis");
    assert!(
        path.exists(),
        "{} is missing: run `cargo xtask test`, or `cargo build -p trellis` first",
        path.display()
    );
    path
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository")
}

/// Returns the cache folder: test environments are created once and shared by all tests.
/// Returns the user's cache, which all tests share.
pub(crate) fn cache() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    fs::create_dir_all(&folder).expect("a cache folder");
    folder
}

impl World {
    pub(crate) fn new() -> World {
        World { folder: tempfile::tempdir().expect("a temporary folder"), path: None }
    }

    /// Restricts PATH to these programs.
    pub(crate) fn with_only(mut self, programs: &[&str]) -> World {
        let bin = self.root().join("bin");
        fs::create_dir(&bin).expect("bin");
        for program in programs {
            let real = if *program == "python3" { real_python() } else { which(program) };
            std::os::unix::fs::symlink(real, bin.join(program)).expect("a link");
        }
        self.path = Some(bin);
        self
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn out(&self) -> PathBuf {
        self.root().join("out")
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(&path, text).expect("a file");
        path
    }

    pub(crate) fn read(&self, path: &str) -> String {
        let path = self.root().join(path);
        fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// Returns the binary in a clean environment, without anything of the user who runs the tests.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.shell(binary());
        command.args(arguments);
        command
    }

    /// Returns any program in that environment.
    pub(crate) fn shell(&self, program: impl AsRef<OsStr>) -> Command {
        let home = self.root().join("home");
        fs::create_dir_all(&home).expect("a home");
        let mut command = Command::new(program);
        command.current_dir(self.root()).env_clear().stdin(Stdio::null());
        let path = self.path.as_ref().map(|it| it.as_os_str().to_owned());
        command.env("PATH", path.or_else(|| std::env::var_os("PATH")).unwrap_or_default());
        command.env("HOME", home).env("TRELLIS_CACHE", cache());
        for proxy in [
            "PIP_INDEX_URL",
            "PIP_CONFIG_FILE",
            "HTTPS_PROXY",
            "https_proxy",
            "SSL_CERT_FILE",
            "REQUESTS_CA_BUNDLE",
        ] {
            if let Some(value) = std::env::var_os(proxy) {
                command.env(proxy, value);
            }
        }
        command
    }

    pub(crate) fn trellis(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().expect("trellis starts"))
    }

    /// Writes a graph and its recording, and returns the arguments that generate it into `out`.
    pub(crate) fn plant(&self, plot: &Plot) -> Vec<String> {
        let graph = self.write("rpg.json", &plot.graph().to_string());
        let replies = self.write("replies.jsonl", &plot.recording());
        vec![
            "generate".to_owned(),
            graph.display().to_string(),
            format!("--model=recorded:{}", replies.display()),
            format!("--out={}", self.out().display()),
            "--json".to_owned(),
        ]
    }

    pub(crate) fn grow(&self, plot: &Plot, more: &[&str]) -> Ran {
        let arguments = self.plant(plot);
        let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        arguments.extend(more);
        self.trellis(&arguments)
    }

    /// Runs git in the generated repository and returns its output.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        let output = command.args(arguments).current_dir(self.out()).output().expect("git");
        Ran::of(output).exits(0).stdout
    }

    pub(crate) fn checkpoint(&self) -> Value {
        serde_json::from_str(&self.read("out/docs/generation_checkpoint.json"))
            .expect("a checkpoint")
    }

    /// Returns the journal's events of one kind.
    pub(crate) fn journal(&self, kind: &str) -> Vec<Value> {
        let text = self.read("out/.trellis/journal.jsonl");
        let lines =
            text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a journal line"));
        lines.map(|line| line["event"].clone()).filter(|event| event["kind"] == kind).collect()
    }

    /// Returns the generated tree without `.git` and `.trellis`, and with times masked.
    pub(crate) fn tree(&self) -> BTreeMap<String, String> {
        tree(&self.out())
    }
}

/// Returns the files of a tree; timestamps and durations are masked.
pub(crate) fn tree(root: &Path) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != ".git" && name != ".trellis" {
                    left.push(path);
                }
            } else {
                let relative = path.strip_prefix(root).expect("inside").display().to_string();
                let text = String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned();
                out.insert(relative.clone(), masked(&relative, &text, root));
            }
        }
    }
    out
}

/// Asserts that two trees are equal, byte for byte, and shows the differences.
#[track_caller]
pub(crate) fn assert_same(found: &BTreeMap<String, String>, expected: &BTreeMap<String, String>) {
    let paths: Vec<(&String, &String)> =
        found.keys().zip(expected.keys()).filter(|(a, b)| a != b).collect();
    assert!(
        found.len() == expected.len() && paths.is_empty(),
        "{:?} against {:?}",
        found.keys(),
        expected.keys()
    );
    for (path, text) in found {
        let lines = text.lines().zip(expected[path].lines());
        let different: Vec<(&str, &str)> = lines.filter(|(a, b)| a != b).take(5).collect();
        assert!(*text == expected[path], "{path} differs: {different:?}");
    }
}

fn masked(path: &str, text: &str, root: &Path) -> String {
    let parent = root.parent().unwrap_or(root).display().to_string();
    let text = text.replace(&root.display().to_string(), "<root>").replace(&parent, "<world>");
    let timed = [
        "docs/generation_report.md",
        "docs/generation_checkpoint.json",
        "docs/rpg.json",
        "test_results.xml",
    ];
    if !timed.contains(&path) {
        return text;
    }
    let duration =
        |line: &str| ["**Generated**", "Time", "timestamp"].iter().any(|word| line.contains(word));
    let lines = text.lines().filter(|line| !duration(line));
    let lines =
        lines.map(|line| mask_attribute(&mask_attribute(line, " time=\""), " timestamp=\""));
    lines.collect::<Vec<_>>().join("\n")
}

fn mask_attribute(line: &str, start: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once(start) {
        out.push_str(before);
        rest = after.split_once('"').map_or("", |(_, after)| after);
    }
    out + rest
}

fn which(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .unwrap_or_else(|| panic!("{program} is not installed"))
}

/// Waits for an effect of other processes.
#[track_caller]
pub(crate) fn eventually<What: Display>(happened: impl Fn() -> bool, what: impl Fn() -> What) {
    let deadline = Instant::now() + patience();
    while !happened() {
        assert!(Instant::now() < deadline, "in vain: {}", what());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the interpreter itself, not a version manager's wrapper.
pub(crate) fn real_python() -> PathBuf {
    let output = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .expect("python3");
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
        .canonicalize()
        .expect("an interpreter")
}

/// A graph with its recording, in a short notation.
#[derive(Clone, Default)]
pub(crate) struct Plot {
    pub(crate) nodes: Vec<Value>,
    pub(crate) edges: Vec<Value>,
    pub(crate) replies: Vec<Value>,
    /// `metadata.spec`; null for none.
    pub(crate) spec: Value,
}

impl Plot {
    /// Adds a function `name` in `src/lib/<file>.py` that returns `good`, with replies that get it
    /// right after as many fixes as there are `wrong` bodies.
    pub(crate) fn function(
        mut self,
        name: &str,
        file: &str,
        needs: &[&str],
        wrong: &[&str],
        good: &str,
    ) -> Plot {
        let path = format!("src/lib/{file}.py");
        self.nodes.push(json!({
            "id": name, "name": name, "type": "function", "node_type": "leaf", "file_path": path,
            "signature": format!("def {name}(x: int) -> int"), "docstring": format!("Return {good} for an int x."),
            "dependencies": needs, "subgraph_id": file,
        }));
        for need in needs {
            self.edges.push(json!({"source": name, "target": need, "type": "function_call"}));
        }
        let body =
            |body: &str| format!("```python\ndef {name}(x: int) -> int:\n    return {body}\n```\n");
        let mut bodies = wrong.to_vec();
        bodies.push(good);
        self.reply(name, "implementation", 0, &body(bodies[0]));
        for (attempt, text) in bodies[1..].iter().enumerate() {
            self.reply(name, "fix", attempt, &body(text));
        }
        self
    }

    /// Adds tests that compare `name(1)`, `name(2)`, `name(3)`.
    pub(crate) fn tests(mut self, name: &str, file: &str, expected: [i64; 3]) -> Plot {
        let tests: String = (expected.iter().enumerate())
            .map(|(index, value)| {
                format!(
                    "\n\ndef test_{name}_{index}():\n    assert {name}({}) == {value}\n",
                    index + 1
                )
            })
            .collect();
        let text = format!("```python\nfrom lib.{file} import {name}\n{tests}```\n");
        self.reply(name, "tests", 0, &text);
        self
    }

    pub(crate) fn reply(&mut self, node: &str, stage: &str, attempt: usize, reply: &str) {
        self.replies
            .push(json!({"node": node, "stage": stage, "attempt": attempt, "reply": reply}));
    }

    /// Adds one test of the whole library, with these imports (module and name) and this assertion.
    pub(crate) fn library(mut self, imports: &[(&str, &str)], asserted: &str) -> Plot {
        let import = |(module, name): &(&str, &str)| format!("from lib.{module} import {name}\n");
        let imports: String = imports.iter().map(import).collect();
        let tests = format!("{imports}\n\ndef test_there():\n    assert {asserted}\n");
        let reply = format!("```python\n{tests}```");
        self.reply("the whole library", "integration_tests", 0, &reply);
        self
    }

    /// Adds token usage to each reply.
    pub(crate) fn with_usage(mut self) -> Plot {
        for (place, reply) in self.replies.iter_mut().enumerate() {
            reply["usage"] = json!({"input_tokens": 100 + place, "output_tokens": 10 + place});
        }
        self
    }

    pub(crate) fn graph(&self) -> Value {
        json!({
            "nodes": self.nodes, "edges": self.edges,
            "metadata": {"phase": 3, "project_name": "lib", "description": "A little library.", "version": "0.2.0",
                         "spec": self.spec},
        })
    }

    pub(crate) fn recording(&self) -> String {
        self.replies.iter().map(|reply| format!("{reply}\n")).collect()
    }

    /// Returns three functions in two files: one right at once, one after a fix, one that depends
    /// on both.
    pub(crate) fn three() -> Plot {
        Plot::default()
            .function("double", "basic", &[], &[], "2 * x")
            .tests("double", "basic", [2, 4, 6])
            .function("square", "basic", &[], &["x ** 3"], "x * x")
            .tests("square", "basic", [1, 4, 9])
            .function("summed", "middle", &["double", "square"], &[], "double(x) + square(x)")
            .tests("summed", "middle", [3, 8, 15])
    }

    /// Returns six functions in three files: some right at once, some after fixes, one chain of
    /// dependencies.
    pub(crate) fn garden() -> Plot {
        Plot::default()
            .function("double", "basic", &[], &[], "2 * x")
            .tests("double", "basic", [2, 4, 6])
            .function("square", "basic", &[], &["x ** 3"], "x * x")
            .tests("square", "basic", [1, 4, 9])
            .function("shifted", "middle", &["double"], &["double(x)"], "double(x) + 1")
            .tests("shifted", "middle", [3, 5, 7])
            .function("summed", "middle", &["double", "square"], &[], "double(x) + square(x)")
            .tests("summed", "middle", [3, 8, 15])
            .function("negated", "top", &["summed"], &["summed(x)", "-x"], "-summed(x)")
            .tests("negated", "top", [-3, -8, -15])
            .function("tenfold", "top", &[], &[], "10 * x")
            .tests("tenfold", "top", [10, 20, 30])
    }
}
