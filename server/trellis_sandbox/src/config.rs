//! What all runs of a runner share.

use std::{collections::BTreeMap, env, ffi::OsString, path::PathBuf, time::Duration};

use crate::{
    local::Isolation,
    python::CoverageProvider,
    request::{Limits, RUN_TIMEOUT, RaisedBy},
};

/// Variables that test code may see when the caller's environment has them, besides those whose
/// name starts with `LC_`.
const ALLOWED: [&str; 4] = ["PATH", "LANG", "LANGUAGE", "TZ"];

/// What all runs of a [`Runner`] share.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where scratch folders are made.
    pub scratch: PathBuf,
    /// Variables handed to test code. Anything else it sees is made up for the run.
    pub variables: BTreeMap<OsString, OsString>,
    /// Where packages of other languages lie that tests may read: go's modules.
    pub home: Option<PathBuf>,
    /// None: the strongest isolation this machine allows.
    pub isolation: Option<Isolation>,
    /// Tests may not write to the project, even where nothing of it would remain.
    pub read_only: bool,
    /// Variables that the person gives to tests, whatever else they would be.
    pub env: BTreeMap<String, String>,
    /// For requests that [`Runner::request`](crate::Runner::request) makes.
    pub limits: Limits,
    /// Likewise: wall time for a whole run.
    pub run_timeout: Duration,
    /// Likewise: what messages say of how limits of time are raised.
    pub raised_by: RaisedBy,
    /// Where coverage.py comes from for a local environment that has none, asked when a run wants it; None: nowhere.
    pub lender: Option<CoverageProvider>,
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
            home: env::home_dir(),
            isolation: None,
            read_only: false,
            env: BTreeMap::new(),
            limits: Limits::default(),
            run_timeout: RUN_TIMEOUT,
            raised_by: RaisedBy::default(),
            lender: None,
        }
    }
}
