//! Installs a project's packages and keeps the lock file. This is the only step that uses the
//! network.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use super::Installer;
use crate::fault::{Exit, Fault};
use crate::reporter::Reporter;
use crate::sandbox::{self, SandboxArgs};
use trellis_git::git::find;

/// Result of one installer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    pub installer: Installer,
    /// The file in the project's root with every version, if there is one; it belongs with the
    /// sources.
    pub lock: Option<&'static str>,
    /// The interpreter that has the packages; only for pip.
    pub interpreter: Option<PathBuf>,
}

/// Time limit of an installer.
const PATIENCE: Duration = Duration::from_secs(20 * 60);

/// Arguments for npm. `--ignore-scripts`: nothing of a package is executed. The other options
/// produce a lock file without a registry, so that it is the same for everyone, and fix programs
/// that a project's own settings could replace.
const NPM: [&str; 8] = [
    "install",
    "--ignore-scripts",
    "--omit-lockfile-registry-resolved=true",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--git=git",
    "--loglevel=error",
];

/// Variables for installers: where their packages are and how these are reached. The variables may
/// contain passwords, so no other program gets them.
const NPM_OWN: [&str; 3] = ["npm_config_", "NPM_CONFIG_", "NODE_EXTRA_CA_CERTS"];
const GO_OWN: [&str; 9] = [
    "GOPROXY",
    "GOSUMDB",
    "GONOSUMDB",
    "GOPRIVATE",
    "GONOPROXY",
    "GOINSECURE",
    "GOPATH",
    "GOMODCACHE",
    "GOCACHE",
];

/// Installs what the files in the project's root require, with the installer of each language.
///
/// # Errors
///
/// No file requires anything; an installer is missing or fails (with the end of its output); or
/// `cancel` was triggered.
pub async fn install(
    root: &Path,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Vec<Installed>, Fault> {
    let root = root.canonicalize().map_err(|error| {
        Fault::input(format!("cannot install in {}: {error}", root.display()))
            .hint("give the folder of a project")
    })?;
    let wanted = wanted(&root)?;
    let mut done = Vec::new();
    for installer in wanted {
        reporter.note(format_args!("installing packages with {}", installer.name()));
        done.push(tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(stopped(installer)),
            installed = with(installer, &root, reporter) => installed?,
        });
    }
    Ok(done)
}

fn wanted(root: &Path) -> Result<Vec<Installer>, Fault> {
    let all = [Installer::Npm, Installer::Pip, Installer::Go];
    let is_wanted = |it: &Installer| it.manifests().iter().any(|file| root.join(file).is_file());
    let wanted: Vec<Installer> = all.into_iter().filter(is_wanted).collect();
    if wanted.is_empty() {
        let files: Vec<&str> = all.iter().flat_map(|it| it.manifests()).copied().collect();
        let message = format!("there is nothing to install in {}", root.display());
        let hint = format!("give a folder with one of {}", files.join(", "));
        return Err(Fault::input(message).hint(hint));
    }
    Ok(wanted)
}

fn stopped(installer: Installer) -> Fault {
    Fault::new(Exit::Interrupted, format!("stopped while {} was running", installer.name()))
        .hint("run the same command again; it continues with what is installed")
}

async fn with(installer: Installer, root: &Path, reporter: &Reporter) -> Result<Installed, Fault> {
    let mut interpreter = None;
    match installer {
        Installer::Npm => finish("npm", &NPM, root, &NPM_OWN, &[]).await?,
        Installer::Pip => {
            let python = sandbox::environment(&SandboxArgs::default(), root, reporter).await?;
            interpreter = Some(python.interpreter);
        }
        Installer::Go => {
            // Uses the installed Go toolchain, for this module alone.
            let fixed = [("GOTOOLCHAIN", "local"), ("GOFLAGS", "-mod=mod"), ("GOWORK", "off")];
            finish("go", &["mod", "tidy"], root, &GO_OWN, &fixed).await?;
            finish("go", &["mod", "download"], root, &GO_OWN, &fixed).await?;
        }
        Installer::None => {}
    }
    let lock = lock(installer).filter(|file| root.join(file).is_file());
    Ok(Installed { installer, lock, interpreter })
}

fn lock(installer: Installer) -> Option<&'static str> {
    match installer {
        Installer::Npm => Some("package-lock.json"),
        Installer::Pip => Some("requirements.txt"),
        Installer::Go => Some("go.sum"),
        Installer::None => None,
    }
}

/// Runs an installer to its end, without API keys in its environment.
async fn finish(
    program: &'static str,
    arguments: &[&str],
    root: &Path,
    own: &[&str],
    fixed: &[(&str, &str)],
) -> Result<(), Fault> {
    let shown = format!("{program} {}", arguments[..arguments.len().min(2)].join(" "));
    let found = find(program).ok_or_else(|| not_started(program, &ErrorKind::NotFound.into()))?;
    let mut command = Command::new(found);
    command.args(arguments).current_dir(root).stdin(Stdio::null()).kill_on_drop(true);
    command.env_clear().envs(environment(own)).envs(fixed.iter().copied());
    let ended = match tokio::time::timeout(PATIENCE, command.output()).await {
        Ok(Ok(ended)) => ended,
        Ok(Err(error)) => return Err(not_started(program, &error)),
        Err(_) => {
            let minutes = PATIENCE.as_secs() / 60;
            return Err(Fault::unavailable(format!(
                "{shown} did not end within {minutes} minutes"
            ))
            .hint("check the network, then run the same command again"));
        }
    };
    if ended.status.success() {
        return Ok(());
    }
    let words = last_words(&ended.stderr, &ended.stdout);
    Err(Fault::unavailable(format!("{shown} ended with {}:\n{words}", ended.status))
        .hint("check the network and the versions that the project requires"))
}

fn not_started(program: &str, error: &std::io::Error) -> Fault {
    let fault = Fault::unavailable(format!("cannot start {program}: {error}"));
    match (error.kind(), program) {
        (ErrorKind::NotFound, "npm") => fault.hint("install Node.js 20 or newer with npm"),
        (ErrorKind::NotFound, _) => fault.hint("install Go (Debian, Ubuntu: `golang-go`)"),
        _ => fault.hint("check that it works in a terminal"),
    }
}

fn environment(own: &[&str]) -> Vec<(OsString, OsString)> {
    let is_own = |name: &OsString| {
        name.to_str().is_some_and(|name| own.iter().any(|it| name.starts_with(it)))
    };
    let own = std::env::vars_os().filter(|(name, _)| is_own(name));
    trellis_os::environment::plain_environment().into_iter().chain(own).collect()
}

/// Returns the end of a program's output.
fn last_words(stderr: &[u8], stdout: &[u8]) -> String {
    let said = if stderr.trim_ascii().is_empty() { stdout } else { stderr };
    let text = String::from_utf8_lossy(said);
    let lines: Vec<&str> = text.lines().filter(|it| !it.trim().is_empty()).collect();
    let tail = &lines[lines.len().saturating_sub(15)..];
    if tail.is_empty() { "it printed nothing".to_owned() } else { tail.join("\n") }
}
