//! Puts a run together and makes the report.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    cage::Cage,
    frames::{Places, parse_dump},
    limits::{for_worker, kernel_memory_kills},
    local::{Isolation, Local},
    pool::{Key, Pool, Post},
    python::Python,
    report::{Activity, LimitStatus, Outcome, Report, Stuck, TestResult},
    request::{Limits, Request, Tree},
    sandbox::Launch,
    session::{End, Session, Stop},
    tally::Tally,
    tree::Grounds,
    verdict::{Facts, judge},
    wire::{BOOT, Ended},
    worker::Worker,
};

/// Variables that test code may see when the caller's environment has them, besides those whose
/// name starts with `LC_`.
const ALLOWED: [&str; 4] = ["PATH", "LANG", "LANGUAGE", "TZ"];

/// Asks the reporter for the stack. No program is known to use this signal (`SIGSTKFLT`); the
/// kernel never sends it.
const STACK_SIGNAL: i32 = 16;

/// What all runs of a [`Runner`] share.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where scratch folders are made.
    pub scratch: PathBuf,
    /// Variables handed to test code. Anything else it sees is made up for the run.
    pub variables: BTreeMap<OsString, OsString>,
    /// None: the strongest isolation this machine allows.
    pub isolation: Option<Isolation>,
}

impl Config {
    /// Scratch folders in the system's folder for temporary files; `PATH`, `LANG`, `LANGUAGE`,
    /// `LC_*` and `TZ` as they are, everything else left out.
    pub fn from_environment() -> Config {
        let allowed = |name: &OsString| {
            name.to_str().is_some_and(|name| ALLOWED.contains(&name) || name.starts_with("LC_"))
        };
        Config {
            scratch: env::temp_dir(),
            variables: env::vars_os().filter(|(name, _)| allowed(name)).collect(),
            isolation: None,
        }
    }
}

/// Runs tests with one interpreter, in warm workers. Cheap to clone, and clones share the workers:
/// any number of runs may be under way at once. Call [`Runner::close`] at the end.
#[derive(Clone, Debug)]
pub struct Runner {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    python: Python,
    config: Config,
    local: Local,
    pool: Pool,
}

impl Runner {
    /// `python` needs pytest; see [`crate::python::provide`].
    pub fn new(python: Python, config: Config) -> Runner {
        let none = OsString::new();
        let path = config.variables.get(&OsString::from("PATH")).unwrap_or(&none);
        let local = Local::new(config.scratch.clone(), config.isolation, path);
        Runner { shared: Arc::new(Shared { python, config, local, pool: Pool::default() }) }
    }

    /// What would be enforced for a run under `limits` on this machine, and what not; found out by
    /// starting a sandbox. The error is a sentence for people.
    pub async fn limits(&self, limits: &Limits) -> Result<Vec<LimitStatus>, String> {
        self.shared.local.probe(limits).await
    }

    /// Runs the tests. Ends early when `cancel` is cancelled; dropping the future ends it too.
    /// Either way everything the run has started is killed. Needs a tokio runtime with time and I/O
    /// enabled.
    pub async fn run(&self, request: &Request, cancel: &CancellationToken) -> Report {
        self.run_telling(request, cancel, &mut |_| {}).await
    }

    /// The same; `on_test` hears of every test as it ends. What it hears is in the report as well,
    /// and only the report says whether it can be trusted.
    pub async fn run_telling(
        &self,
        request: &Request,
        cancel: &CancellationToken,
        on_test: &mut (dyn FnMut(&TestResult) + Send),
    ) -> Report {
        // An engine that was restarted, a worker that died while it waited: that is no fault of the
        // tests. Should they have caused it after all, they do so again.
        let first = self.attempt(request, cancel, on_test).await;
        let lost = |it: &Report| matches!(it.outcome, Outcome::SandboxLost { .. });
        let report = match first {
            Ok(report) if lost(&report) => self.attempt(request, cancel, on_test).await,
            first => first,
        };
        report.unwrap_or_else(|reason| ending(Outcome::SandboxUnavailable { reason }))
    }

    /// Ends the workers that wait, and removes what was put up for them. The errors are sentences
    /// for people.
    pub async fn close(&self) -> Vec<String> {
        let mut errors = Vec::new();
        for post in self.shared.pool.empty() {
            errors.extend(post.close().await);
        }
        self.shared.local.settled().await;
        errors
    }
}

impl Runner {
    async fn attempt(
        &self,
        request: &Request,
        cancel: &CancellationToken,
        on_test: &mut (dyn FnMut(&TestResult) + Send),
    ) -> Result<Report, String> {
        let key = Key::of(&request.tree, &request.limits, Some(self.shared.python.prefix()));
        let waiting = self.shared.pool.take(&key);
        let mut post = match waiting {
            Some(post) => self.prepared(post, request).await?,
            None => tokio::select! {
                post = self.post(key, request) => post?,
                () = cancel.cancelled() => return Ok(ending(Outcome::Cancelled)),
            },
        };
        if post.worker.ready.pytest.is_none() {
            post.close().await;
            return Err(format!(
                "pytest is not installed for {}: install it there",
                self.shared.python.interpreter.display()
            ));
        }
        let token = token();
        let order = self.order(request, &post, &token);
        let places = Places::new(post.grounds.root(), self.shared.python.prefix());
        let kills = post.worker.cage.memory_kills().or_else(kernel_memory_kills);
        let limits = post.worker.limits();
        let began = Instant::now();
        let mut session = Session::new(
            &mut post.worker,
            Tally::new(places, token),
            request.limits.output_bytes,
            on_test,
        );
        let (stop, end) = session.follow(order, request, cancel).await;
        let seen = Seen::of(session);
        let kills_now = post.worker.cage.memory_kills().or_else(kernel_memory_kills);
        let killed_inside = matches!(&end, End::Ended(ended) if ended.memory_kill);
        let mut finished = Finished {
            stop,
            end,
            memory_kill: kills_now > kills || killed_inside,
            duration: began.elapsed(),
            limits,
            notes: Vec::new(),
        };
        let reusable = matches!(&finished.end, End::Ended(ended) if ended.clean);
        finished.notes.extend(notes(&finished.end, &post.worker));
        let superfluous = if reusable { self.shared.pool.put(post) } else { Some(post) };
        if let Some(post) = superfluous {
            finished.notes.extend(post.close().await);
        }
        Ok(compose(request, seen, finished))
    }

    /// A worker from the pool with this run's files.
    async fn prepared(&self, mut post: Post, request: &Request) -> Result<Post, String> {
        let Tree::Files(files) = &request.tree else { return Ok(post) };
        let (files, trusted) = (files.clone(), post.worker.cage.protects_files());
        let write = move || post.grounds.renew(&files, trusted).map(|()| post);
        tokio::task::spawn_blocking(write).await.map_err(unprepared)?
    }

    /// A new worker.
    async fn post(&self, key: Key, request: &Request) -> Result<Post, String> {
        let (parent, tree) = (self.shared.config.scratch.clone(), request.tree.clone());
        let grounds = tokio::task::spawn_blocking(move || Grounds::new(&parent, &tree))
            .await
            .map_err(unprepared)??;
        let launch = Launch {
            command: vec![self.shared.python.interpreter.clone().into(), "-c".into(), BOOT.into()],
            tree: grounds.root().to_owned(),
            variables: self.variables(),
            limits: request.limits,
        };
        let worker = self.worker(&launch).await.map_err(|reason| {
            format!(
                "{} does not work in the sandbox: {reason}; choose another interpreter or make the environment anew",
                self.shared.python.interpreter.display()
            )
        })?;
        Ok(Post { key, worker, grounds })
    }

    async fn worker(&self, launch: &Launch) -> Result<Worker, String> {
        let local = &self.shared.local;
        let (cell, connection) = local.start(launch).await?;
        let cage = Cage::Local(cell);
        let may_be_refused = cage.is_bubblewrap() && self.shared.config.isolation.is_none();
        match Worker::begin(cage, connection).await {
            Err(reason) if may_be_refused && reason.contains("bwrap: ") => {
                local.refuse(Isolation::Bubblewrap, reason);
                let (cell, connection) = local.start(launch).await?;
                Worker::begin(Cage::Local(cell), connection).await
            }
            begun => begun,
        }
    }

    fn variables(&self) -> BTreeMap<OsString, OsString> {
        let python = &self.shared.python;
        let mut all = self.shared.config.variables.clone();
        let mut set = |name: &str, value: OsString| all.insert(name.into(), value);
        set("PYTHONDONTWRITEBYTECODE", "1".into());
        set("PYTHONHASHSEED", "0".into());
        if python.is_virtual() {
            set("VIRTUAL_ENV", python.prefix().into());
        }
        let mut path = python.folder().as_os_str().to_owned();
        if let Some(rest) = self.shared.config.variables.get(&OsString::from("PATH")) {
            path.push(":");
            path.push(rest);
        }
        all.insert("PATH".into(), path);
        all.entry("LANG".into()).or_insert("C.UTF-8".into());
        all
    }

    fn order(&self, request: &Request, post: &Post, token: &str) -> Value {
        let root = post.grounds.root().to_string_lossy();
        let cache = post.worker.writable().cache.display();
        // Not `-p no:cacheprovider`: a project may well have `--ff` among its options.
        let mut args = vec![
            "--color=no".to_owned(),
            "--rootdir".to_owned(),
            root.to_string(),
            "-o".to_owned(),
        ];
        args.push(format!("cache_dir={cache}/pytest"));
        args.extend(request.targets.iter().map(|target| not_an_option(target)));
        let stranger = post.worker.cage.runs_as_stranger();
        json!({
            "op": "run",
            "kind": "pytest",
            "args": args,
            "cwd": root,
            "root": root,
            "env": {},
            "coverage": request.coverage,
            "captured": request.limits.output_bytes,
            "rlimits": for_worker(&request.limits, stranger),
            "token": token,
            "stack_signal": STACK_SIGNAL,
        })
    }
}

/// What all that was seen amounts to.
fn compose(request: &Request, mut seen: Seen, finished: Finished) -> Report {
    let (stdout, stderr) = (seen.stdout, seen.stderr);
    let facts = Facts {
        tally: &seen.tally,
        torn: seen.torn,
        stop: finished.stop,
        end: &finished.end,
        memory_kill: finished.memory_kill,
    };
    let (outcome, reason) = judge(&facts, request);
    let stuck = stuck(&seen.tally, &outcome, &seen.stack, &stderr);
    seen.tally.close(&outcome, reason.as_deref(), stuck.as_ref(), &stderr);
    seen.tally.notes.extend(finished.notes);
    Report {
        not_run: seen.tally.not_run().cloned().collect(),
        exit_code: match &finished.end {
            End::Ended(ended) => ended.code,
            End::Lost(_) => None,
        },
        reason,
        tests: seen.tally.tests,
        collection_errors: seen.tally.collection_errors,
        limits: finished.limits,
        stdout,
        stderr,
        duration: finished.duration,
        stuck,
        coverage: seen.tally.coverage,
        notes: seen.tally.notes,
        ..ending(outcome)
    }
}

fn unprepared(error: tokio::task::JoinError) -> String {
    format!("the scratch folder could not be prepared: {error}")
}

/// What a session has taken in.
struct Seen {
    tally: Tally,
    torn: bool,
    stdout: String,
    stderr: String,
    stack: String,
}

impl Seen {
    fn of(session: Session<'_>) -> Seen {
        let torn = session.is_torn();
        let [stdout, stderr, stack] =
            [&session.stdout, &session.stderr, &session.stack].map(|it| it.text());
        Seen { torn, stdout, stderr, stack, tally: session.tally }
    }
}

/// What is known of a run that is over.
struct Finished {
    stop: Option<Stop>,
    end: End,
    memory_kill: bool,
    duration: Duration,
    limits: Vec<LimitStatus>,
    notes: Vec<String>,
}

fn notes(end: &End, worker: &Worker) -> Vec<String> {
    let End::Ended(Ended { left_behind, clean, why, .. }) = end else {
        return Some(worker.words()).filter(|it| !it.is_empty()).into_iter().collect();
    };
    let mut notes = Vec::new();
    if *left_behind > 0 {
        notes.push(format!("{left_behind} process(es) outlived the tests; they were killed"));
    }
    if !clean {
        let why = why.as_deref().unwrap_or("no reason given");
        notes.push(format!("the sandbox was not left clean ({why}); it was thrown away"));
    }
    notes
}

/// Random enough that code under test cannot guess it; it could only find it in memory.
fn token() -> String {
    let random = std::collections::hash_map::RandomState::new();
    let part = |n: u64| std::hash::BuildHasher::hash_one(&random, n);
    format!("{:016x}{:016x}", part(0), part(1))
}

/// A target that begins with a dash would be read as an option.
fn not_an_option(target: &str) -> String {
    if target.starts_with('-') { format!("./{target}") } else { target.to_owned() }
}

/// Where the process stood, if it was stopped or died: from the answer to our signal, else from
/// what `faulthandler` wrote when it crashed.
fn stuck(tally: &Tally, outcome: &Outcome, stack: &str, stderr: &str) -> Option<Stuck> {
    if !matches!(outcome, Outcome::TimedOut | Outcome::Crashed { .. } | Outcome::KilledForMemory) {
        return None;
    }
    let answer = parse_dump(stack);
    let raw = if answer.is_empty() { parse_dump(stderr) } else { answer };
    let during = tally.activity.clone().unwrap_or(Activity::Starting);
    Some(Stuck { during, frames: tally.places.stack(raw) })
}

/// A report that says nothing but how it ended.
fn ending(outcome: Outcome) -> Report {
    Report {
        outcome,
        reason: None,
        exit_code: None,
        tests: Vec::new(),
        not_run: Vec::new(),
        collection_errors: Vec::new(),
        limits: Vec::new(),
        stdout: String::new(),
        stderr: String::new(),
        duration: Duration::ZERO,
        stuck: None,
        coverage: None,
        notes: Vec::new(),
    }
}
