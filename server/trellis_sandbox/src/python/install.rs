//! Installs packages into a new environment: with uv, or with the interpreter's own venv and pip.

use std::{
    env,
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use tokio::process::Command;

use trellis_os::environment::plain_environment;

use super::{Python, PythonError, last_words, output, provide::interpreter};
use crate::error::{PipProblem, UvProblem, VenvProblem};

/// The tool that makes environments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Installer {
    /// The uv at this path. If uv cannot work, venv and pip are used instead, but not if uv refuses
    /// the requirements.
    Uv(PathBuf),
    /// The interpreter's own venv and pip.
    Pip,
}

impl Installer {
    /// Returns uv if a folder of `path`, a list as in the variable `PATH`, has it; else pip.
    pub fn on_path(path: &OsStr) -> Installer {
        let folders = env::split_paths(path).filter(|folder| folder.is_absolute());
        let mut files = folders.map(|folder| folder.join("uv"));
        files.find(|file| file.is_file()).map_or(Installer::Pip, Installer::Uv)
    }
}

/// Settings of pip and the same ones of uv. uv reads neither pip's variables nor `pip.conf`.
const SETTINGS: [(&str, &str); 4] = [
    ("PIP_INDEX_URL", "UV_INDEX_URL"),
    ("PIP_EXTRA_INDEX_URL", "UV_EXTRA_INDEX_URL"),
    ("PIP_FIND_LINKS", "UV_FIND_LINKS"),
    ("PIP_NO_INDEX", "UV_NO_INDEX"),
];

/// uv's exit status if it works but refuses; others mean that it could not work.
const UV_REFUSES: Option<i32> = Some(1);

/// Makes the empty environment in `folder`, which exists.
pub(super) async fn create(
    installer: &Installer,
    base: &Python,
    folder: &Path,
) -> Result<(), PythonError> {
    if let Installer::Uv(uv) = installer {
        let interpreter = base.interpreter.to_string_lossy();
        let folder = folder.to_string_lossy();
        let args =
            ["venv", "--quiet", "--no-project", "--allow-existing", "--python", &interpreter];
        let made = run_uv(uv, &[&args[..], &[&folder]].concat()).await;
        if made.is_ok_and(|output| output.status.success()) {
            return Ok(());
        }
    }
    create_with_venv(base, folder).await
}

async fn create_with_venv(base: &Python, folder: &Path) -> Result<(), PythonError> {
    let failed = |detail: String| PythonError::VenvFailed {
        interpreter: base.interpreter.clone(),
        problem: VenvProblem::of(&detail),
        detail,
    };
    let folder = folder.to_string_lossy();
    match output(&base.interpreter, &["-m", "venv", &folder]).await {
        Ok(output) if output.status.success() => Ok(()),
        // venv reports a failing ensurepip on standard output.
        Ok(output) => Err(failed(format!(
            "{} {}",
            String::from_utf8_lossy(&output.stdout).trim(),
            last_words(&output)
        ))),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Installs `requirements` into the environment in `folder`.
pub(super) async fn install(
    installer: &Installer,
    folder: &Path,
    requirements: &[String],
) -> Result<(), PythonError> {
    if let Installer::Uv(uv) = installer {
        match install_with_uv(uv, folder, requirements).await {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) if output.status.code() == UV_REFUSES => {
                let detail = last_words(&output);
                let problem = UvProblem::of(&detail);
                let requirements = requirements.to_vec();
                return Err(PythonError::UvFailed { requirements, detail, problem });
            }
            _ => add_pip(folder).await,
        }
    }
    install_with_pip(folder, requirements).await
}

async fn install_with_uv(uv: &Path, folder: &Path, requirements: &[String]) -> io::Result<Output> {
    let interpreter = interpreter(folder);
    let interpreter = interpreter.to_string_lossy();
    let mut args = vec!["pip", "install", "--quiet", "--python", &interpreter, "--"];
    args.extend(requirements.iter().map(String::as_str));
    run_uv(uv, &args).await
}

async fn run_uv(uv: &Path, args: &[&str]) -> io::Result<Output> {
    let mut command = Command::new(uv);
    command.args(args).current_dir("/").stdin(Stdio::null()).kill_on_drop(true);
    command.env_clear().envs(plain_environment()).env("NO_COLOR", "1");
    for (pips, uvs) in SETTINGS {
        if let (Some(value), None) = (env::var_os(pips), env::var_os(uvs)) {
            // pip separates several folders by spaces, uv by commas.
            let commas = value.to_string_lossy().split_whitespace().collect::<Vec<_>>().join(",");
            command.env(uvs, if uvs == "UV_FIND_LINKS" { commas.into() } else { value });
        }
    }
    command.output().await
}

/// Installs pip, which uv's environments lack. If this fails, pip fails as well and reports the
/// reason.
async fn add_pip(folder: &Path) {
    let _ = output(&interpreter(folder), &["-m", "ensurepip", "--default-pip"]).await;
}

async fn install_with_pip(folder: &Path, requirements: &[String]) -> Result<(), PythonError> {
    let failed = |detail: String| PythonError::PipFailed {
        requirements: requirements.to_vec(),
        problem: PipProblem::of(&detail),
        detail,
    };
    let mut args = vec!["-m", "pip", "install", "--quiet", "--"];
    args.extend(requirements.iter().map(String::as_str));
    match output(&interpreter(folder), &args).await {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(failed(last_words(&output))),
        Err(error) => Err(failed(error.to_string())),
    }
}
