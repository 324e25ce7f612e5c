//! Measures the time of a test run, cold and warm, on this machine and in containers. `cargo xtask
//! bench run` starts this benchmark and the engine, which it passes in `TRELLIS_TEST_DOCKER_HOST`
//! and `TRELLIS_TEST_IMAGE`.

#![allow(clippy::print_stdout, reason = "its results go to the terminal")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio_util::sync::CancellationToken;
use trellis_sandbox::error::DockerError;
use trellis_sandbox::{Config, Docker, ImageSpec, Outcome as Ended, Request, Runner, Tree, python};

/// Projects: a name, the number of files, and the number of tests in each file.
const SIZES: [(&str, usize, usize); 3] =
    [("one test", 1, 1), ("50 tests in a file", 1, 50), ("1000 tests in 100 files", 100, 10)];

/// Number of rounds; each round measures every way once, one after the other.
const ROUNDS: usize = 11;

/// A way of testing a project, with the measured times.
struct Way {
    name: &'static str,
    times: Vec<Duration>,
}

type Outcome = Result<(), String>;

fn main() -> Outcome {
    let runtime = tokio::runtime::Runtime::new().map_err(|e| e.to_string())?;
    runtime.block_on(measure())
}

async fn measure() -> Outcome {
    let given = |name: &str| env::var(name).ok().filter(|it| !it.is_empty());
    let engine = given("TRELLIS_TEST_DOCKER_HOST").zip(given("TRELLIS_TEST_IMAGE"));
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned();
    let config = Config { scratch: scratch.path().to_owned(), ..Config::from_environment() };
    let path = env::var_os("PATH").unwrap_or_default();
    let base =
        python::find(&python::InterpreterSearch::on(&path)).await.map_err(|e| e.to_string())?;
    let python = python::provide(&base, &[], &cache, &|_| {}).await.map_err(|e| e.to_string())?;
    let interpreter = python.interpreter.clone();
    let local = Runner::new(python.clone(), config.clone());
    let read_only = Runner::new(python, Config { read_only: true, ..config.clone() });
    let closed = Config { read_only: true, ..config.clone() };
    let containers = docker(engine.as_ref(), &cache)
        .await
        .map_err(|e| e.to_string())?
        .map(|it| [&config, &closed].map(|config| Runner::in_docker(it.clone(), config)));
    let mut bench = Bench { interpreter, local, read_only, containers, engine };
    for (name, files, tests) in SIZES {
        let project = project(scratch.path(), files, tests)?;
        bench.size(name, &project, if files > 1 { ROUNDS / 2 } else { ROUNDS }).await?;
    }
    bench.pairs(&project(scratch.path(), 100, 10)?).await?;
    bench.local.close().await;
    bench.read_only.close().await;
    for containers in bench.containers.iter().flatten() {
        containers.close().await;
    }
    Ok(())
}

async fn docker(
    engine: Option<&(String, String)>,
    cache: &Path,
) -> Result<Option<Docker>, DockerError> {
    let Some((host, base)) = engine else {
        println!("SKIPPED: containers, for no Docker engine is to be had");
        return Ok(None);
    };
    let spec = ImageSpec { base: base.clone(), requirements: Vec::new() };
    Docker::open(Some(host), &spec, cache, &|_| {}).await.map(Some)
}

/// Makes a project of small tests, each a different one, in files that import a module of the
/// project.
fn project(scratch: &Path, files: usize, tests: usize) -> Result<PathBuf, String> {
    let folder = scratch.join(format!("project-{files}-{tests}"));
    let write = |name: String, text: String| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&folder))?;
        fs::write(path, text)
    };
    let all = || {
        write("calculator.py".to_owned(), "def add(a, b):\n    return a + b\n".to_owned())?;
        write("pytest.ini".to_owned(), "[pytest]\npythonpath = .\n".to_owned())?;
        for file in 0..files {
            let test = |n| {
                format!("def test_add_{n}():\n    assert add({file}, {n}) == {}\n\n\n", file + n)
            };
            let body: String = (0..tests).map(test).collect();
            write(
                format!("tests/test_{file}.py"),
                format!("from calculator import add\n\n\n{body}"),
            )?;
        }
        std::io::Result::Ok(())
    };
    all().map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(folder)
}

struct Bench {
    interpreter: PathBuf,
    local: Runner,
    /// The local runner whose tests may not write to the project.
    read_only: Runner,
    /// Runners in containers: tests of the first may write to the project, those of the second may
    /// not.
    containers: Option<[Runner; 2]>,
    /// Address and image.
    engine: Option<(String, String)>,
}

impl Bench {
    async fn size(&mut self, name: &str, project: &Path, rounds: usize) -> Outcome {
        let mut ways: Vec<Way> = [
            "cold pytest",
            "warm local",
            "read-only",
            "docker run",
            "warm Docker",
            "closed Docker",
        ]
        .into_iter()
        .take(if self.containers.is_some() { 6 } else { 3 })
        .map(|name| Way { name, times: Vec::new() })
        .collect();
        // The first round starts workers and fills caches.
        for round in 0..=rounds {
            for way in &mut ways {
                let took = self.once(way.name, project).await?;
                if round > 0 {
                    way.times.push(took);
                }
            }
        }
        let [cold, warm, read_only, rest @ ..] = ways.as_slice() else { return Ok(()) };
        println!("\n{name} (median of {rounds}, {}):", load());
        ways.iter().for_each(|way| {
            println!("  {:<12} {:>8.1} ms", way.name, millis(way.times.as_slice()))
        });
        println!("  warm local / cold pytest: 1/{:.1}", millis(&cold.times) / millis(&warm.times));
        let layer = millis(&warm.times) / millis(&read_only.times);
        println!("  warm local / where tests may not write to the project: {layer:.2}");
        if let [run, kept, closed] = rest {
            let [run, kept, closed] = [run, kept, closed].map(|it| millis(&it.times));
            println!("  warm Docker / docker run: 1/{:.1}", run / kept);
            println!(
                "  warm Docker / where tests may not write to the project: {:.2}",
                kept / closed
            );
        }
        Ok(())
    }

    async fn once(&self, way: &str, project: &Path) -> Result<Duration, String> {
        let started = Instant::now();
        match way {
            "cold pytest" => finished(&mut self.pytest(project))?,
            "docker run" => finished(&mut self.docker_run(project))?,
            "warm local" => self.warm(&self.local, project).await?,
            "read-only" => self.warm(&self.read_only, project).await?,
            _ => match &self.containers {
                Some([open, closed]) => {
                    let runner = if way == "warm Docker" { open } else { closed };
                    self.warm(runner, project).await?;
                }
                None => return Err("there is no engine".to_owned()),
            },
        }
        Ok(started.elapsed())
    }

    /// Returns the command that a developer would run.
    fn pytest(&self, project: &Path) -> Command {
        let mut command = Command::new(&self.interpreter);
        command.args(["-m", "pytest", "-q"]).current_dir(project);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    fn docker_run(&self, project: &Path) -> Command {
        let (host, image) = self.engine.clone().unwrap_or_default();
        let mut command = Command::new("docker");
        command.env("DOCKER_HOST", host);
        let folder = project.display();
        command.args(["run", "--rm", "--network", "none", "--read-only", "--user", "1000:1000"]);
        command.args(["--cap-drop", "ALL", "--security-opt", "no-new-privileges"]);
        command.args(["--memory", "2g", "--pids-limit", "256", "--tmpfs", "/tmp"]);
        command.arg("-v").arg(format!("{folder}:{folder}:ro")).arg("-w").arg(project);
        command.arg(image).args(["python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"]);
        command
    }

    async fn warm(&self, runner: &Runner, project: &Path) -> Outcome {
        let request = Request::new(Tree::Folder(project.to_owned()));
        let report = runner.run(&request, &CancellationToken::new()).await;
        match report.outcome {
            Ended::Passed => Ok(()),
            other => Err(format!("the project's tests do not pass: {other:?} {:?}", report.reason)),
        }
    }

    /// Compares two runs at once with two in sequence, for plain processes and for workers.
    async fn pairs(&self, project: &Path) -> Outcome {
        let (mut plain, mut ours) = (Vec::new(), Vec::new());
        for round in 0..=ROUNDS / 2 {
            let one = self.once("cold pytest", project).await?;
            let started = Instant::now();
            let both =
                [self.pytest(project), self.pytest(project)].map(|mut it| quiet(&mut it).spawn());
            for child in both {
                child.and_then(|mut it| it.wait()).map_err(|e| e.to_string())?;
            }
            let two = started.elapsed();
            let ours_one = self.once("warm local", project).await?;
            let started = Instant::now();
            let (a, b) = tokio::join!(self.spawned(project), self.spawned(project));
            a.and(b)?;
            let ours_two = started.elapsed();
            if round > 0 {
                plain.push(2.0 * one.as_secs_f64() / two.as_secs_f64());
                ours.push(2.0 * ours_one.as_secs_f64() / ours_two.as_secs_f64());
            }
        }
        let (plain, ours) = (median(plain), median(ours));
        println!("\ntwo at once, 1000 tests each ({}):", load());
        println!("  speed-up of two plain pytest processes: {plain:.2}");
        println!("  speed-up of two workers:                {ours:.2}, ratio {:.2}", ours / plain);
        Ok(())
    }

    async fn spawned(&self, project: &Path) -> Outcome {
        let (runner, project) = (self.local.clone(), Arc::new(project.to_owned()));
        let work = async move {
            let request = Request::new(Tree::Folder(project.as_ref().clone()));
            runner.run(&request, &CancellationToken::new()).await.outcome
        };
        match tokio::spawn(work).await {
            Ok(Ended::Passed) => Ok(()),
            other => Err(format!("the project's tests do not pass: {other:?}")),
        }
    }
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

fn finished(command: &mut Command) -> Outcome {
    match quiet(command).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!("load {}", text.split(' ').next().unwrap_or("unknown"))
}

fn millis(times: &[Duration]) -> f64 {
    median(times.iter().map(|it| it.as_secs_f64() * 1000.0).collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
