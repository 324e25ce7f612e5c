//! Puts a run together.

use std::{collections::BTreeMap, env, ffi::OsString, path::PathBuf, sync::Arc, time::Instant};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    compose::{Finished, Seen, compose, ending, notes},
    docker::Docker,
    frames::Places,
    limits::{for_worker, kernel_memory_kills},
    local::Isolation,
    place::Place,
    pool::{Key, Pool, Post},
    python::Python,
    report::{LimitStatus, Outcome, Report, TestResult},
    request::{Limits, Request, Tree},
    session::{End, Session},
    tally::Tally,
    tree::Grounds,
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
    place: Place,
    scratch: PathBuf,
    pool: Pool,
}

impl Runner {
    /// In local sandboxes. `python` needs pytest; see [`crate::python::provide`].
    pub fn new(python: Python, config: Config) -> Runner {
        let scratch = config.scratch.clone();
        Runner::at(Place::local(python, config), scratch)
    }

    /// In containers. `config`'s variables and isolation play no part.
    pub fn in_docker(docker: Docker, config: &Config) -> Runner {
        Runner::at(Place::docker(docker), config.scratch.clone())
    }

    fn at(place: Place, scratch: PathBuf) -> Runner {
        Runner { shared: Arc::new(Shared { place, scratch, pool: Pool::default() }) }
    }

    /// What would be enforced for a run under `limits` in a local sandbox on this machine, and what
    /// not; found out by starting one. The error is a sentence for people.
    pub async fn local_limits(
        config: &Config,
        limits: &Limits,
    ) -> Result<Vec<LimitStatus>, String> {
        crate::place::local_of(config).probe(limits).await
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
        let Ok(Report { outcome: Outcome::SandboxLost { reason: lost }, .. }) = &first else {
            return first.unwrap_or_else(|reason| ending(Outcome::SandboxUnavailable { reason }));
        };
        let again = |reason| {
            let reason = format!("{lost}; and when the run was to be repeated: {reason}");
            ending(Outcome::SandboxLost { reason })
        };
        self.attempt(request, cancel, on_test).await.unwrap_or_else(again)
    }

    /// Ends the workers that wait, and removes what was put up for them. The errors are sentences
    /// for people.
    pub async fn close(&self) -> Vec<String> {
        let mut errors = Vec::new();
        for post in self.shared.pool.empty() {
            errors.extend(post.close().await);
        }
        self.shared.place.settled().await;
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
        let key = Key::of(&request.tree, &request.limits, self.shared.place.packages());
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
            let python = self.shared.place.python();
            return Err(format!("pytest is not installed for {python}: install it there"));
        }
        let token = token();
        let order = self.order(request, &post, &token);
        let places = Places::new(post.grounds.root(), self.shared.place.packages());
        let kills = post.worker.cage.memory_kills().or_else(kernel_memory_kills);
        let limits = post.worker.limits();
        let began = Instant::now();
        let mut session = Session::new(
            &mut post.worker,
            Tally::new(places, token),
            request.limits.output_bytes,
            on_test,
        );
        let (stop, mut end) = session.follow(order, request, cancel).await;
        let seen = Seen::of(session);
        if let (End::Lost(reason), None) = (&mut end, stop) {
            reason.extend(post.worker.cage.last_words().await.map(|it| format!(": {it}")));
        }
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
        let (parent, tree) = (self.shared.scratch.clone(), request.tree.clone());
        let grounds = tokio::task::spawn_blocking(move || Grounds::new(&parent, &tree))
            .await
            .map_err(unprepared)??;
        let worker = self.shared.place.start(grounds.root(), &request.limits).await?;
        Ok(Post { key, worker, grounds })
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
        if post.worker.cage.shows_what_is_above() {
            // pytest would list the folder in which it has found settings.
            args.extend(["--confcutdir".to_owned(), root.to_string()]);
        }
        args.extend(request.targets.iter().map(|target| not_an_option(target)));
        let processes = post.worker.cage.process_ceiling(&request.limits);
        json!({
            "op": "run",
            "kind": "pytest",
            "args": args,
            "cwd": root,
            "root": root,
            "env": {},
            "coverage": request.coverage,
            "captured": request.limits.output_bytes,
            "rlimits": for_worker(&request.limits, processes),
            "token": token,
            "stack_signal": STACK_SIGNAL,
        })
    }
}

fn unprepared(error: tokio::task::JoinError) -> String {
    format!("the scratch folder could not be prepared: {error}")
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
