//! The configuration that all runs of a runner share.

use std::{collections::BTreeMap, env, ffi::OsString, path::PathBuf, time::Duration};

use crate::{
    local::Isolation,
    python::CoverageProvider,
    request::{Limits, RUN_TIMEOUT, RaisedBy},
};

/// Variables passed from the caller's environment to test code, besides those whose name starts
/// with `LC_`.
const ALLOWED: [&str; 4] = ["PATH", "LANG", "LANGUAGE", "TZ"];

/// The configuration that all runs of a [`Runner`](crate::Runner) share.
#[derive(Clone, Debug)]
pub struct Config {
    /// The folder for scratch folders.
    pub scratch: PathBuf,
    /// Variables passed to test code. All other variables it sees are made for the run.
    pub variables: BTreeMap<OsString, OsString>,
    /// The home folder, which holds packages of other languages that tests may read: the modules of
    /// go.
    pub home: Option<PathBuf>,
    /// The isolation to use; `None` for the strongest one this machine allows.
    pub isolation: Option<Isolation>,
    /// Tests may not write to the project, even where all such writes would be discarded.
    pub read_only: bool,
    /// Variables that the user sets for tests; they override all others.
    pub env: BTreeMap<String, String>,
    /// Limits of requests made by [`Runner::request`](crate::Runner::request).
    pub limits: Limits,
    /// Wall time of a whole run, for the same requests.
    pub run_timeout: Duration,
    /// The settings that messages name as raising the time limits, for the same requests.
    pub raised_by: RaisedBy,
    /// The source of coverage.py for a local environment that has none, used when a run measures
    /// lines; `None` for no source.
    pub coverage_provider: Option<CoverageProvider>,
}

impl Config {
    /// Returns the configuration for this process's environment: scratch folders in the system's
    /// temporary folder; `PATH`, `LANG`, `LANGUAGE`, `LC_*` and `TZ` unchanged, all other variables
    /// left out.
    pub fn from_environment() -> Config {
        let allowed = |name: &OsString| {
            name.to_str().is_some_and(|name| ALLOWED.contains(&name) || name.starts_with("LC_"))
        };
        Config {
            scratch: env::temp_dir(),
            variables: env::vars_os().filter(|(name, _)| allowed(name)).collect(),
            home: env::home_dir(),
            isolation: None,
            read_only: false,
            env: BTreeMap::new(),
            limits: Limits::default(),
            run_timeout: RUN_TIMEOUT,
            raised_by: RaisedBy::default(),
            coverage_provider: None,
        }
    }
}
