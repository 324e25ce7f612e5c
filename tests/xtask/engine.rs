//! A temporary Docker engine with one image, for the tests that need one.

use std::{
    env,
    ffi::OsStr,
    fs::{self, File},
    hash::{DefaultHasher, Hash, Hasher},
    io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::process::geteuid;
use tempfile::TempDir;

use crate::{Outcome, setup};

mod remains;
mod swarm;

pub(crate) use swarm::SWARM;
use swarm::Swarm;

/// Environment variable with the engine's address; an address that is already set is used.
pub(crate) const HOST: &str = "TRELLIS_TEST_DOCKER_HOST";
/// Environment variable with the base image.
pub(crate) const IMAGE: &str = "TRELLIS_TEST_IMAGE";

const NAME: &str = "trellis-test-base:latest";
const PREFIX: &str = "trellis-engine-";
const PATIENCE: Duration = Duration::from_secs(60);

/// Program that builds the image's files from the machine's own Python, so that no registry is
/// needed.
const BASE_IMAGE: &str = include_str!("base_image.py");

/// A running engine; stopped when dropped.
pub(crate) struct Engine {
    /// The engine's process; `None` if an existing engine is used.
    daemon: Option<Daemon>,
    /// `None` if there is none, or an existing one is used.
    swarm: Option<Swarm>,
}

/// Builds the image of [`start`] early if it will be needed, which takes half a minute that can
/// overlap the build. Errors are reported by [`start`].
pub(crate) fn prepare() {
    if env::var_os(HOST).is_none_or(|host| host.is_empty()) && geteuid().is_root() {
        let _ = base_image();
    }
}

/// Starts an engine, or prints why the tests that need one are skipped.
pub(crate) fn start() -> Option<Engine> {
    if env::var_os(HOST).is_some_and(|host| !host.is_empty()) {
        return Some(Engine { daemon: None, swarm: None });
    }
    match Daemon::start() {
        Ok(daemon) => Some(Engine { daemon: Some(daemon), swarm: None }),
        Err(why) => {
            eprintln!("\nSKIPPED: every test that needs a Docker engine, because {why}\n");
            None
        }
    }
}

impl Engine {
    /// Starts a swarm as well, or prints why the tests that need one are skipped.
    pub(crate) fn with_swarm(self) -> Engine {
        Engine { swarm: swarm::start(), ..self }
    }

    /// Returns environment variables for the tests.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let own = self.daemon.as_ref();
        let own = own.map(|it| vec![(HOST, it.host()), (IMAGE, NAME.to_owned())]);
        let swarm = self.swarm.iter().map(Swarm::variable);
        own.into_iter().flatten().chain(swarm).collect()
    }
}

/// `dockerd` with all of its files in one folder.
struct Daemon {
    folder: TempDir,
    child: Child,
}

impl Daemon {
    fn start() -> Result<Daemon, String> {
        Daemon::needs()?;
        remains::sweep();
        let image = base_image()?;
        let started = Instant::now();
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "TERM", "dockerd", "--bridge=none"]);
        let daemon =
            Daemon::spawn(command).map_err(|error| format!("it cannot be started: {error}"))?;
        daemon.ready()?;
        daemon.import(&image)?;
        eprintln!("a Docker engine runs at {} ({:.1?})", daemon.host(), started.elapsed());
        Ok(daemon)
    }

    /// Gives the engine the image of the tests.
    fn import(&self, image: &Path) -> Result<String, String> {
        self.docker(["import", "--change", "CMD python3"], [image.as_os_str(), NAME.as_ref()])
    }

    /// Checks what an engine needs of the machine.
    fn needs() -> Outcome {
        if !geteuid().is_root() {
            return Err(format!("only root can start one; set {HOST} and {IMAGE} to use another"));
        }
        for program in ["dockerd", "docker", "setpriv"] {
            let found = Command::new(program).arg("--version").stdout(Stdio::null()).status();
            found.map_err(|error| format!("{program} cannot be started: {error}"))?;
        }
        Ok(())
    }

    /// Starts `dockerd`, the last words of the command, with a folder of its own.
    fn spawn(mut command: Command) -> io::Result<Daemon> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        let path = |name: &str| folder.path().join(name);
        let log = File::create(path("log"))?;
        // With `setpriv` the engine ends as well if this process is killed.
        command.args(["--storage-driver", "overlay2"]);
        command.arg("--host").arg(format!("unix://{}", path("docker.sock").display()));
        command.arg("--data-root").arg(path("data")).arg("--exec-root").arg(path("exec"));
        command.arg("--pidfile").arg(path("docker.pid"));
        command.args(["--exec-opt", "native.cgroupdriver=cgroupfs"]);
        command.args(["--iptables=false", "--ip6tables=false", "--ip-forward=false"]);
        command.arg("--ip-masq=false").current_dir("/").stdin(Stdio::null());
        // Ctrl-C is for this process: cleaning up still needs the engine.
        command.process_group(0).stdout(log.try_clone()?).stderr(log);
        let child = command.spawn()?;
        Ok(Daemon { folder, child })
    }

    fn host(&self) -> String {
        format!("unix://{}", self.folder.path().join("docker.sock").display())
    }

    fn ready(&self) -> Outcome {
        let deadline = Instant::now() + PATIENCE;
        while !self.folder.path().join("docker.pid").exists() || !self.answers() {
            let ended = fs::metadata(format!("/proc/{}/exe", self.child.id())).is_err();
            if ended || Instant::now() > deadline {
                let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                let lines: Vec<&str> = log.lines().collect();
                let tail = lines[lines.len().saturating_sub(5)..].join("\n  ");
                return Err(format!("it does not answer; its last words:\n  {tail}"));
            }
            sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    fn answers(&self) -> bool {
        self.docker(["version"], [""; 0]).is_ok()
    }

    /// Returns the Docker client's output, or its last lines as an error.
    fn docker<A: AsRef<OsStr>, B: AsRef<OsStr>>(
        &self,
        command: impl IntoIterator<Item = A>,
        arguments: impl IntoIterator<Item = B>,
    ) -> Result<String, String> {
        let mut docker = Command::new("docker");
        docker.env("DOCKER_HOST", self.host()).env_remove("DOCKER_CONTEXT");
        docker.args(command).args(arguments).stdin(Stdio::null());
        let output = docker.output().map_err(|error| format!("docker: {error}"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(format!("docker: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }

    /// Removes and reports containers that tests left behind.
    fn clear(&self) {
        let left = self.docker(["ps", "--all", "--quiet"], [""; 0]).unwrap_or_default();
        let left: Vec<&str> = left.split_whitespace().collect();
        if !left.is_empty() {
            eprintln!("the tests left {} containers behind", left.len());
            let _ = self.docker(["rm", "--force"], left);
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.clear();
        remains::end(self.child.id(), || matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)));
        remains::clean(self.folder.path());
    }
}

/// Returns the archive with the image's files, built once per Python version.
fn base_image() -> Result<PathBuf, String> {
    let output = Command::new("python3")
        .args(["-I", "-c", "import sys; print(sys.version, sys.executable)"])
        .output();
    let python = output.map_err(|error| format!("python3 cannot be started: {error}"))?.stdout;
    let mut hash = DefaultHasher::new();
    (BASE_IMAGE, python).hash(&mut hash);
    let folder = setup::target().join("docker-test");
    let image = folder.join(format!("base-{:016x}.tar", hash.finish()));
    if image.exists() {
        return Ok(image);
    }
    eprintln!("making {}", image.display());
    let failed = |error: io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    let unfinished = tempfile::NamedTempFile::new_in(&folder).map_err(failed)?;
    let mut command = Command::new("python3");
    command.args(["-c", BASE_IMAGE]).arg(unfinished.path()).current_dir("/");
    setup::run(&mut command).map_err(|_| "no image could be made from this Python".to_owned())?;
    unfinished.persist(&image).map_err(|error| failed(error.error))?;
    Ok(image)
}
