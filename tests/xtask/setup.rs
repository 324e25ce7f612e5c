//! Requirements on the machine: installed if allowed, else named exactly.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;

/// Returns the repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .unwrap_or_else(|_| PathBuf::from("."))
}

/// A requirement: its check, and the Debian packages that satisfy it.
struct Need {
    what: &'static str,
    check: &'static [&'static str],
    packages: &'static [&'static str],
}

const NEEDS: [Need; 3] = [
    Need {
        what: "Python 3.9 or newer with venv",
        check: &[
            "python3",
            "-c",
            "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))",
        ],
        packages: &["python3", "python3-venv"],
    },
    Need { what: "git", check: &["git", "--version"], packages: &["git"] },
    Need {
        what: "a C compiler for crates that build C",
        check: &["cc", "--version"],
        packages: &["gcc", "libc6-dev"],
    },
];

/// Optional requirements: tests that need them are skipped without them. Only root can use an
/// engine.
const OPTIONAL: [Need; 3] = [
    Need {
        what: "Docker engines, and a network between them",
        check: &["sh", "-c", "test \"$(id -u)\" != 0 || { dockerd --version && ip -V; }"],
        packages: &["docker.io", "iproute2"],
    },
    Need { what: "bubblewrap", check: &["bwrap", "--version"], packages: &["bubblewrap"] },
    Need { what: "go", check: &["go", "version"], packages: &["golang-go"] },
];

/// Requirements of the mock model providers.
const MOCK: [Need; 2] = [
    Need {
        what: "Node.js 20.15 or newer with npm",
        check: &[
            "sh",
            "-c",
            "npm --version && node -e 'const [a, b] = process.versions.node.split(\".\"); \
             process.exit(a > 20 || (a == 20 && b >= 15) ? 0 : 1)'",
        ],
        packages: &["nodejs", "npm"],
    },
    Need { what: "openssl", check: &["openssl", "version"], packages: &["openssl"] },
];

/// Requirements of the extension's tests.
const EDITOR: [Need; 3] = [
    Need {
        what: "Chromium",
        check: &["sh", "-c", "test -x \"${TRELLIS_CHROMIUM:-/usr/bin/chromium}\""],
        packages: &["chromium"],
    },
    Need {
        what: "ripgrep, which the editor searches with",
        check: &["test", "-x", "/usr/bin/rg"],
        packages: &["ripgrep"],
    },
    Need {
        what: "a C++ compiler with make, for packages of the editor",
        check: &["sh", "-c", "g++ --version && make --version && strip --version"],
        packages: &["g++", "make", "binutils"],
    },
];

/// Installs optional requirements; prints which tests are skipped without them.
pub(crate) fn optional() {
    for need in OPTIONAL.iter().filter(|need| !succeeds(need.check)) {
        eprintln!("installing {}", need.packages.join(" "));
        if let Err(why) = install(need.packages) {
            eprintln!("\nSKIPPED: every test that needs {}, because: {why}\n", need.what);
        }
    }
}

/// Installs missing requirements (as root or through sudo without a password), else names them in
/// an error.
pub(crate) fn machine() -> Outcome {
    meet(&NEEDS)
}

/// Installs the requirements of the mock model providers.
pub(crate) fn mock() -> Outcome {
    meet(&MOCK)
}

/// Installs Node.js with npm.
pub(crate) fn node() -> Outcome {
    meet(&MOCK[..1])
}

/// Installs the requirements of the extension's tests.
pub(crate) fn editor() -> Outcome {
    meet(&EDITOR)
}

fn meet(needs: &[Need]) -> Outcome {
    let missing: Vec<&Need> = needs.iter().filter(|need| !succeeds(need.check)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().flat_map(|need| need.packages).copied().collect();
    eprintln!("installing {}", packages.join(" "));
    install(&packages)?;
    match missing.iter().find(|need| !succeeds(need.check)) {
        None => Ok(()),
        Some(need) => Err(format!(
            "{} is still missing after installing {}",
            need.what,
            need.packages.join(" ")
        )),
    }
}

fn install(packages: &[&str]) -> Outcome {
    let named = format!("install these packages and run this again: {}", packages.join(" "));
    if !succeeds(&["apt-get", "--version"]) {
        return Err(named);
    }
    let prefix: &[&str] = if succeeds(&["sh", "-c", "test \"$(id -u)\" = 0"]) {
        &[]
    } else if succeeds(&["sudo", "-n", "true"]) {
        &["sudo", "-n"]
    } else {
        return Err(format!("{named} (apt-get install {})", packages.join(" ")));
    };
    let apt = |arguments: &[&str]| {
        let mut words: Vec<&str> = prefix.to_vec();
        words.extend(["apt-get", "-o", "DPkg::Lock::Timeout=300", "-q", "-y"]);
        words.extend(arguments);
        silent(Command::new(words[0]).args(&words[1..]).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update"])?;
    let mut arguments = vec!["install", "--no-install-recommends"];
    arguments.extend(packages);
    apt(&arguments)
}

fn succeeds(words: &[&str]) -> bool {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Runs a command to its end; an unsuccessful exit is an error.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let shown = format!(
        "{} {}",
        command.get_program().display(),
        command.get_args().map(|it| it.display().to_string()).collect::<Vec<_>>().join(" ")
    );
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{shown}` ended with {status}")),
        Err(error) => Err(format!("`{shown}` could not be started: {error}")),
    }
}

/// Runs a command to its end, and shows its output only on failure.
pub(crate) fn silent(command: &mut Command) -> Outcome {
    let program = command.get_program().display().to_string();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("`{program}` could not be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!("{command:?} ended with {}:\n{}", output.status, String::from_utf8_lossy(&said)))
}

/// Returns cargo's target folder.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Builds `trellis` in release mode, without the measures for reproducible builds, and returns its
/// path.
pub(crate) fn released() -> Result<PathBuf, String> {
    let path = target().join("release/trellis");
    hint(&path, "ten minutes and more");
    run(cargo(false).args(["build", "--release", "--package", "trellis"]))?;
    Ok(path)
}

/// Returns cargo at the repository's root. With `linted`, clippy compiles the workspace's crates
/// like `cargo clippy`, and its warnings are errors: a separate pass would compile every crate a
/// second time. A following call with the other value compiles the crates again.
pub(crate) fn cargo(linted: bool) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root());
    if linted {
        cargo.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").env("CLIPPY_ARGS", "-Dwarnings");
    }
    cargo
}

/// Builds `trellis` for demonstrations and tests, and returns its path.
pub(crate) fn trellis() -> Result<PathBuf, String> {
    build(&mut cargo(false), &["--bins"])
}

/// Builds the requested targets of the whole workspace, so that external crates are compiled once,
/// with one set of features; returns the path of `trellis`.
pub(crate) fn build(cargo: &mut Command, what: &[&str]) -> Result<PathBuf, String> {
    let path = target().join("debug/trellis");
    hint(&path, "about five minutes on two processors");
    run(cargo.args(["build", "--workspace"]).args(what))?;
    Ok(path)
}

/// Returns the PATH for tests. The folder of the real Python behind `python3` comes first, since a
/// version manager's wrapper takes longer than Python's start.
pub(crate) fn path() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let probe = ["-c", "import sys; print(sys.base_prefix, end='')"];
    let output = Command::new("python3").args(probe).stdin(Stdio::null()).output();
    let prefix = output.ok().filter(|it| it.status.success()).map(|it| it.stdout);
    let folder = prefix.map(|it| Path::new(OsStr::from_bytes(&it)).join("bin"));
    let folders = folder.into_iter().chain(std::env::split_paths(&path));
    std::env::join_paths(folders).unwrap_or(path)
}

/// Prints, before the first build, how long it takes without output.
fn hint(binary: &Path, time: &str) {
    if !binary.exists() {
        eprintln!(
            "building Trellis and the 300 crates below it: {time} the first time, seconds later on"
        );
    }
}

/// Returns a temporary folder for a copy of a project. Language servers leave out folders whose
/// names begin with a dot, like those of other temporary folders.
pub(crate) fn temporary_folder() -> Result<tempfile::TempDir, String> {
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix("trellis-");
    let folder = std::env::temp_dir().canonicalize().and_then(|it| builder.tempdir_in(it));
    folder.map_err(|error| format!("no temporary folder: {error}; is there space left in it?"))
}
