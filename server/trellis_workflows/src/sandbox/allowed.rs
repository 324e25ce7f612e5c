//! Permissions that a person gives to tests: flags and the editor's settings, then `[sandbox]` in
//! the person's own `trellis.toml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_sandbox::{Config, Limits, RaisedBy};

use crate::config::{self, is_variable};
use crate::fault::Fault;
use crate::sandbox::RAISED_BY;

/// What tests may have beside what every sandbox gives. A person says it, never a project or a model.
#[derive(Clone, Debug, Default, PartialEq, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Allowed {
    /// Set a variable for the tests. Repeatable.
    #[arg(long, help_heading = "Sandbox", value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Pass a variable of yours to the tests. Repeatable.
    #[arg(long, help_heading = "Sandbox", value_name = "NAME")]
    pub pass_env: Vec<String>,
    /// Memory limit in MiB [default: 2048].
    #[arg(long, help_heading = "Sandbox", value_name = "MIB", value_parser = clap::value_parser!(u64).range(LEAST_MEMORY..=MOST_MEMORY))]
    pub memory: Option<u64>,
    /// Number of processors [default: all; 1 in containers].
    #[arg(long, help_heading = "Sandbox", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_CORES))]
    pub cores: Option<u32>,
    /// Let tests use the network, including services on this machine.
    #[arg(long, help_heading = "Sandbox")]
    pub network: bool,
    /// Do not let tests write to the project folder.
    #[arg(long, help_heading = "Sandbox")]
    pub read_only: bool,
    /// Run the tests on this Docker engine: an address (`unix://`, `tcp://`), or a Docker context.
    /// Repeatable.
    #[arg(long = "engine", help_heading = "Sandbox", value_name = "HOST")]
    pub engines: Vec<String>,
    /// Seconds for all tests of a run, where nothing else is said (default: 1800).
    #[arg(skip)]
    pub run_seconds: Option<u64>,
}

/// The settings that raise time limits, for commands without flags of their own for these.
const RAISED_BY_SETTINGS: RaisedBy = RaisedBy {
    test: RAISED_BY.test,
    run: Some("`run_seconds` in trellis.toml (in the editor `trellis.allow.runSeconds`)"),
};

/// Minimum memory limit in MiB; Python and pytest do not start with less.
pub const LEAST_MEMORY: u64 = 64;
/// Maximum memory limit in MiB.
pub const MOST_MEMORY: u64 = 1 << 24;
pub(super) const MOST_CORES: i64 = 4096;

/// The permissions after all sources were merged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settled {
    pub python: Option<PathBuf>,
    /// Docker engines that run tests, by address or context.
    pub engines: Vec<String>,
    env: BTreeMap<String, String>,
    memory: Option<u64>,
    cores: Option<u32>,
    network: bool,
    read_only: bool,
    run_seconds: Option<u64>,
    /// Notes on permissions that could not be granted.
    pub notes: Vec<String>,
}

impl Allowed {
    /// Merges these permissions with the person's own file for work in `root`.
    ///
    /// # Errors
    ///
    /// A variable has no valid name, or the file is wrong.
    pub(super) fn settled(
        &self,
        interpreter: Option<&Path>,
        root: &Path,
    ) -> Result<Settled, Fault> {
        let variable = |name: &str| std::env::var(name).ok();
        let config::Config { sandbox: file, engines, .. } = config::Config::load(root, variable)?;
        let is_little = self.memory.is_some_and(|it| !(LEAST_MEMORY..=MOST_MEMORY).contains(&it));
        if is_little || self.cores == Some(0) {
            return Err(Fault::input(
                "a limit for tests is too small, or more than this machine has",
            )
            .hint(format!("give `memory` in MiB, at least {LEAST_MEMORY}, and `cores` from 1")));
        }
        let (mut env, mut notes) = (file.env, Vec::new());
        for name in file.pass_env.iter().chain(&self.pass_env) {
            check_variable_name(name)?;
            match variable(name) {
                Some(value) => drop(env.insert(name.clone(), value)),
                None => notes
                    .push(format!("{name} should be passed to the tests, but it is not set here")),
            }
        }
        for pair in &self.env {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !pair.contains('=') {
                return Err(Fault::input(format!("`{pair}` is not a variable with a value"))
                    .hint("write NAME=VALUE, or `--pass-env NAME` for one that is set here"));
            }
            check_variable_name(name)?;
            env.insert(name.to_owned(), value.to_owned());
        }
        Ok(Settled {
            python: interpreter.map(Path::to_owned).or(file.python),
            engines: if self.engines.is_empty() { engines } else { self.engines.clone() },
            env,
            memory: self.memory.or(file.memory),
            cores: self.cores.or(file.cores),
            network: self.network || file.network,
            read_only: self.read_only || file.read_only,
            run_seconds: self.run_seconds.or(file.run_seconds),
            notes,
        })
    }
}

/// Refuses invalid names of variables.
fn check_variable_name(name: &str) -> Result<(), Fault> {
    if is_variable(name) {
        return Ok(());
    }
    Err(Fault::input(format!("{name:?} is not the name of a variable"))
        .hint("names are not empty and contain no `=`"))
}

impl Settled {
    /// Returns whether tests may not write to the project, not even to a copy.
    pub(super) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Returns the runner configuration, with scratch folders in `scratch`.
    pub fn config(&self, scratch: &Path) -> Config {
        let mut config = Config {
            scratch: scratch.to_owned(),
            read_only: self.read_only,
            env: self.env.clone(),
            limits: Limits { cores: self.cores, network: self.network, ..Limits::default() },
            raised_by: RAISED_BY_SETTINGS,
            ..Config::from_environment()
        };
        if let Some(memory) = self.memory {
            config.limits.memory_bytes = memory << 20;
        }
        if let Some(seconds) = self.run_seconds {
            config.run_timeout = Duration::from_secs(seconds.max(1));
        }
        config
    }
}
