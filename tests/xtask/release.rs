//! `cargo xtask release`: a reproducible build of the release binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use sha2::{Digest as _, Sha256};

use crate::{Outcome, setup};

#[derive(Args)]
pub(crate) struct ReleaseArgs {
    /// Build it a second time, elsewhere and with packages fetched anew, from what is committed; say whether both are the same.
    #[arg(long)]
    twice: bool,
}

/// Builds `trellis` and prints its path and hash.
pub(crate) fn run(args: &ReleaseArgs) -> Outcome {
    setup::machine()?;
    if args.twice {
        return twice();
    }
    let home = cargo_home()?;
    let (path, sum) = built(&setup::root(), &home, &setup::target())?;
    println!("{sum}  {}", path.display());
    Ok(())
}

/// Builds from two clones at paths of different lengths; they share only the lock file.
fn twice() -> Outcome {
    let scratch = tempfile::tempdir().map_err(|error| format!("a scratch folder: {error}"))?;
    let (one, two) = (scratch.path().join("one"), scratch.path().join("another/one"));
    for folder in [&one, &two] {
        let mut clone = Command::new("git");
        clone.args(["clone", "--quiet", "--no-hardlinks"]).arg(setup::root()).arg(folder);
        setup::run(&mut clone)?;
    }
    let first = built(&one, &cargo_home()?, &one.join("target"))?.1;
    let second = built(&two, &scratch.path().join("cargo"), &scratch.path().join("made"))?.1;
    if first != second {
        let kept = scratch.keep();
        return Err(format!(
            "two builds differ ({first} and {second}): compare what is in {}",
            kept.display()
        ));
    }
    println!("{first}  the same from two places");
    Ok(())
}

/// Builds the sources of `root`, without paths of this machine in the binary.
fn built(root: &Path, cargo: &Path, target: &Path) -> Result<(PathBuf, String), String> {
    let flags = [(cargo, "/cargo"), (root, "/trellis")]
        .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()));
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(root).args(["build", "--locked", "--release", "--package", "trellis"]);
    command.env("CARGO_HOME", cargo).env("CARGO_TARGET_DIR", target);
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}")).env_remove("RUSTFLAGS");
    // C sources embed their file names as well.
    let remap = [(cargo, "/cargo"), (target, "/target")]
        .map(|(from, to)| format!("-ffile-prefix-map={}={to}", from.display()));
    command.env("CFLAGS", remap.join(" ")).env("SOURCE_DATE_EPOCH", "0");
    setup::run(&mut command)?;
    let path = target.join("release/trellis");
    let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok((path, Sha256::digest(bytes).iter().map(|it| format!("{it:02x}")).collect()))
}

fn cargo_home() -> Result<PathBuf, String> {
    let home = || Some(std::env::home_dir()?.join(".cargo"));
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home);
    home.ok_or_else(|| "neither CARGO_HOME nor HOME is set".to_owned())
}
