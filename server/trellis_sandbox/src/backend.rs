//! The backend in which a runner's workers run: local sandboxes or Docker containers.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    config::Config,
    docker::{self, Docker, Engines, Mounted, ProjectCopy, SentProject},
    error::{LocalError, ReadOnlyReason, SandboxError},
    local::{Isolation, Local},
    python::Python,
    request::Limits,
    running_sandbox::RunningSandbox,
    sandbox::{Launch, Writable},
    toolchain::Toolchain,
    tree::VisibleFolder,
    wire::{BOOT, Packages},
    worker::Worker,
};

/// Local sandboxes with one interpreter, or containers of one image.
#[derive(Debug)]
pub(crate) enum Backend {
    Local {
        python: Python,
        config: Box<Config>,
        local: Local,
    },
    /// Containers, with `env` as the user's variables for tests.
    Docker {
        engines: Engines,
        env: BTreeMap<String, String>,
        /// Tests may not write to the project, even where all such writes would be discarded.
        read_only: bool,
    },
}

/// Returns the local sandbox under `config`.
pub(crate) fn local_of(config: &Config) -> Local {
    let none = OsString::new();
    let path = config.variables.get(&OsString::from("PATH")).unwrap_or(&none);
    Local::new(config.scratch.clone(), config.isolation, path)
}

impl Backend {
    pub(crate) fn local(python: Python, config: Config) -> Backend {
        let (local, config) = (local_of(&config), Box::new(config));
        Backend::Local { python, config, local }
    }

    /// Returns the variables that the user sets for tests.
    pub(crate) fn env(&self) -> &BTreeMap<String, String> {
        match self {
            Backend::Local { config, .. } => &config.env,
            Backend::Docker { env, .. } => env,
        }
    }

    /// Returns the folder of the installed packages on this machine; they may change while a worker
    /// is idle.
    pub(crate) fn packages(&self) -> Option<&Path> {
        match self {
            Backend::Local { python, .. } => Some(python.prefix()),
            Backend::Docker { .. } => None,
        }
    }

    /// Returns the folders of `tree` that a sandbox shows as they were when it was created.
    pub(crate) fn mounted(&self, tree: &Path) -> Vec<Mounted> {
        match self {
            Backend::Local { .. } => Vec::new(),
            Backend::Docker { engines, .. } if engines.first().store.is_none() => {
                docker::mounted(tree)
            }
            Backend::Docker { .. } => Vec::new(),
        }
    }

    /// Returns the version of the interpreter on this machine, such as `3.11.7`.
    pub(crate) fn python_version(&self) -> Option<&str> {
        match self {
            Backend::Local { python, .. } => Some(&python.version),
            Backend::Docker { .. } => None,
        }
    }

    /// Returns the interpreter or image as messages name it.
    pub(crate) fn python(&self) -> String {
        match self {
            Backend::Local { python, .. } => python.interpreter.display().to_string(),
            Backend::Docker { engines, .. } => {
                format!("the image {}", engines.first().image.name)
            }
        }
    }

    /// Waits until the cleanup of dropped sandboxes has finished, and removes the services of swarms.
    /// The errors are sentences for people.
    pub(crate) async fn settled(&self) -> Vec<String> {
        match self {
            Backend::Local { local, .. } => {
                local.settled().await;
                Vec::new()
            }
            Backend::Docker { engines, .. } => engines.close().await,
        }
    }

    /// Returns the variables for a run that needs `toolchain`.
    pub(crate) fn variables(
        &self,
        toolchain: Toolchain,
        writable: &Writable,
    ) -> Vec<(&'static str, String)> {
        let modules = match self {
            Backend::Local { config, .. } => toolchain.modules(config.home.as_deref()),
            Backend::Docker { .. } => None,
        };
        toolchain.variables(writable, modules.as_deref())
    }

    /// Returns the error of a `program` that could not be started, with the worker's message.
    pub(crate) fn missing(
        &self,
        toolchain: Option<Toolchain>,
        program: &str,
        message: &str,
    ) -> SandboxError {
        let needed = toolchain.map_or("Python", Toolchain::name);
        let (program, message) = (program.to_owned(), message.to_owned());
        match self {
            Backend::Local { .. } => SandboxError::NoProgram { program, message, needed },
            Backend::Docker { engines, .. } => {
                let image = engines.first().image.name.clone();
                SandboxError::NoProgramInImage { program, message, needed, image }
            }
        }
    }

    /// Returns whether the project is sent to engines.
    pub(crate) fn is_sent(&self) -> bool {
        self.engines().is_some_and(|it| it.first().store.is_some())
    }

    /// Returns the engines; `None` for local sandboxes.
    pub(crate) fn engines(&self) -> Option<&Engines> {
        match self {
            Backend::Local { .. } => None,
            Backend::Docker { engines, .. } => Some(engines),
        }
    }

    /// Starts a worker that sees the folder `visible`, on one of the engines if there are any. A local
    /// sandbox also shows `toolchain` and the provided coverage.py; containers have what their image
    /// holds.
    pub(crate) async fn start(
        &self,
        engine: usize,
        visible: &VisibleFolder,
        limits: &Limits,
        toolchain: Option<Toolchain>,
        provided: Option<PathBuf>,
    ) -> Result<Worker, SandboxError> {
        let tree = visible.root();
        let does_not_work = |source| SandboxError::Interpreter { python: self.python(), source };
        match self {
            Backend::Local { python, config, local } => {
                let path = config.variables.get(&OsString::from("PATH"));
                let path = path.cloned().unwrap_or_default();
                let mut variables = variables(python, config);
                for folder in toolchain.into_iter().flat_map(|it| it.folders(&path)) {
                    let path = variables.entry("PATH".into()).or_default();
                    path.push(":");
                    path.push(folder);
                }
                let visible = toolchain.map(|it| it.places(&path, config.home.as_deref()));
                let packages = Packages { added: python.added.clone(), provided };
                let launch = Launch {
                    command: vec![python.interpreter.clone().into(), "-c".into(), BOOT.into()],
                    tree: tree.to_owned(),
                    visible: visible.into_iter().flatten().chain(packages.folders()).collect(),
                    shares_memory: toolchain.is_some(),
                    variables,
                    limits: *limits,
                };
                let begun = in_cell(local, &launch, &packages, config.isolation.is_none()).await;
                let mut worker = begun.map_err(does_not_work)?;
                worker.sandbox.open_tree(tree, limits, config.read_only).await;
                Ok(worker)
            }
            Backend::Docker { engines, env, read_only } => {
                let docker = engines.get(engine);
                let Some(store) = &docker.store else {
                    Docker::may_read(tree)?;
                    let copied = copied(tree, limits, *read_only).await;
                    return in_container(docker, tree, limits, toolchain, env, copied).await;
                };
                let packages = toolchain == Some(Toolchain::Node);
                let copied = sent(tree, limits, *read_only, packages).await;
                let copied =
                    copied.map_err(|it| SandboxError::NotSent { reason: it.to_string() })?;
                let shown = visible.shown();
                let begun = in_container(docker, shown, limits, toolchain, env, Ok(copied)).await;
                let mut worker = begun?;
                worker.sent = Some(SentProject::new(tree, packages, store.clone()));
                Ok(worker)
            }
        }
    }
}

async fn in_cell(
    local: &Local,
    launch: &Launch,
    packages: &Packages,
    may_choose: bool,
) -> Result<Worker, LocalError> {
    let (cell, connection) = local.start(launch).await?;
    let sandbox = RunningSandbox::local(cell);
    let may_be_refused = sandbox.is_bubblewrap() && may_choose;
    match Worker::begin(sandbox, connection, &launch.tree, packages).await {
        Err(error) if may_be_refused && error.is_from_bubblewrap() => {
            local.refuse(Isolation::Bubblewrap, Arc::new(error.into()));
            let (cell, connection) = local.start(launch).await?;
            let sandbox = RunningSandbox::local(cell);
            Ok(Worker::begin(sandbox, connection, &launch.tree, packages).await?)
        }
        begun => Ok(begun?),
    }
}

/// Returns the copy of the project that tests in a container may write to, or the reason there is
/// none.
async fn copied(
    tree: &Path,
    limits: &Limits,
    read_only: bool,
) -> Result<ProjectCopy, ReadOnlyReason> {
    if read_only {
        return Err(ReadOnlyReason::Requested);
    }
    let (tree, limits) = (tree.to_owned(), *limits);
    let measured = tokio::task::spawn_blocking(move || ProjectCopy::of(&tree, &limits)).await;
    measured.map_err(ReadOnlyReason::Unmeasured).flatten()
}

/// Returns the copy of a project that is sent to an engine, or the reason it cannot be sent.
async fn sent(
    tree: &Path,
    limits: &Limits,
    read_only: bool,
    packages: bool,
) -> Result<ProjectCopy, ReadOnlyReason> {
    if read_only {
        return Err(ReadOnlyReason::Requested);
    }
    let (tree, limits) = (tree.to_owned(), *limits);
    let measure = move || ProjectCopy::sent(&tree, &limits, packages);
    let measured = tokio::task::spawn_blocking(measure).await;
    measured.map_err(ReadOnlyReason::Unmeasured).flatten()
}

async fn in_container(
    docker: &Docker,
    tree: &Path,
    limits: &Limits,
    toolchain: Option<Toolchain>,
    env: &BTreeMap<String, String>,
    copied: Result<ProjectCopy, ReadOnlyReason>,
) -> Result<Worker, SandboxError> {
    let writable = Writable::private();
    let text = |it: OsString| it.to_string_lossy().into_owned();
    let own = writable.with(&always()).into_iter().map(|(name, value)| (text(name), text(value)));
    let mut environment: BTreeMap<String, String> = own.collect();
    environment.insert("LANG".to_owned(), "C.UTF-8".to_owned());
    environment.extend(from_start(env));
    let shared = PathBuf::from("/dev/shm");
    let folders = writable.all.iter().filter(|it| **it != shared);
    let launch = docker::Launch {
        image: docker.image.name.clone(),
        command: vec![docker.image.python.clone(), "-c".to_owned(), BOOT.to_owned()],
        tree: tree.to_owned(),
        copied: copied.as_ref().ok().cloned(),
        volume: docker.store.as_ref().map(|it| it.volume.clone()),
        working: "/".into(),
        environment,
        user: docker::user(),
        limits: *limits,
        scratch: folders.map(|it| (it.display().to_string(), limits.file_bytes)).collect(),
        // `go` starts the tests that it has built in `/tmp`.
        executable: toolchain == Some(Toolchain::Go),
        project: tree.display().to_string(),
    };
    let (container, connection) = docker.start(&launch).await?;
    let sandbox = RunningSandbox::docker(container, docker.limits(limits), copied);
    let begun = Worker::begin(sandbox, connection, tree, &Packages::default()).await;
    begun.map_err(|source| SandboxError::Image { image: docker.image.name.clone(), source })
}

/// Returns the variables that tests see in any sandbox.
fn always() -> BTreeMap<OsString, OsString> {
    [("PYTHONDONTWRITEBYTECODE", "1"), ("PYTHONHASHSEED", "0")]
        .map(|(name, value)| (name.into(), value.into()))
        .into()
}

/// Returns the user's variables that the worker has from its start, as a library may read them when
/// it is loaded. Variables of Python itself would change the worker, so only runs and their child
/// processes get them.
fn from_start(env: &BTreeMap<String, String>) -> impl Iterator<Item = (String, String)> {
    let all = env.iter().filter(|(name, _)| !name.starts_with("PYTHON"));
    all.map(|(name, value)| (name.clone(), value.clone()))
}

fn variables(python: &Python, config: &Config) -> BTreeMap<OsString, OsString> {
    let mut all = config.variables.clone();
    all.extend(always());
    if python.is_virtual() {
        all.insert("VIRTUAL_ENV".into(), python.prefix().into());
    }
    let mut path = python.folder().as_os_str().to_owned();
    if let Some(rest) = config.variables.get(&OsString::from("PATH")) {
        path.push(":");
        path.push(rest);
    }
    all.insert("PATH".into(), path);
    all.entry("LANG".into()).or_insert("C.UTF-8".into());
    all.extend(from_start(&config.env).map(|(name, value)| (name.into(), value.into())));
    all
}
