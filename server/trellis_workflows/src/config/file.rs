//! The content of `trellis.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::fault::Fault;
use crate::sandbox::{LEAST_MEMORY, MOST_MEMORY};
use trellis_git::forge::ForgeSettings;

/// Name of the file, in a project and in the user's folder.
pub(super) const NAME: &str = "trellis.toml";

/// Maximum size of the file, in bytes.
const LARGEST: u64 = 256 << 10;
/// Smallest useful reply limit, in tokens; a function needs at least this.
const LEAST_OUTPUT: u64 = 256;
/// Smallest useful request size, in tokens.
const LEAST_CONTEXT: u64 = 1500;

/// Everything that the file may contain.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// Model for everything, as `provider:name`.
    pub model: Option<String>,
    /// Model for simple work.
    pub simple_model: Option<String>,
    /// Model for hard work.
    pub strong_model: Option<String>,
    /// Approximate number of tokens of one request.
    pub context_tokens: Option<usize>,
    /// Maximum number of tokens of one reply.
    pub max_output_tokens: Option<u32>,
    /// Folder for generated tests, below the project's root.
    pub tests_dir: Option<String>,
    /// Coding conventions of the project, included in every prompt.
    #[serde(default)]
    pub conventions: Vec<String>,
    #[serde(default)]
    pub budget: BudgetLimits,
    #[serde(default)]
    pub providers: BTreeMap<String, Provider>,
    #[serde(default)]
    pub prices: BTreeMap<String, Price>,
    #[serde(default)]
    pub forge: ForgeSettings,
    /// Permissions for tests; only the user's own file may contain them.
    pub sandbox: Option<Sandbox>,
    /// Docker engines for tests; only the user's own file may contain them.
    #[serde(default)]
    pub engines: Vec<Engine>,
}

/// A Docker engine that runs tests.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Engine {
    /// The engine's address, or the name of a Docker context.
    pub host: String,
}

/// Permissions of tests beyond those of every sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sandbox {
    /// An environment's folder, or an interpreter.
    pub python: Option<PathBuf>,
    pub env: BTreeMap<String, String>,
    /// Names of variables whose current values are passed to tests.
    pub pass_env: Vec<String>,
    /// Memory limit in MiB.
    pub memory: Option<u64>,
    pub cores: Option<u32>,
    pub network: bool,
    /// Tests must not write to the project's folder.
    pub read_only: bool,
    /// Limit for all tests of a run, in seconds.
    pub run_seconds: Option<u64>,
}

/// Spending limits of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetLimits {
    pub usd: Option<f64>,
    pub tokens: Option<u64>,
    pub minutes: Option<f64>,
}

/// Settings of one provider, or the definition of one that the user adds.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The known provider with the same API format, for a provider that the user adds.
    pub like: Option<String>,
    pub base_url: Option<String>,
    /// The environment variable with the API key.
    pub key_variable: Option<String>,
    pub stream: Option<bool>,
    pub connect_seconds: Option<f64>,
    pub idle_seconds: Option<f64>,
    pub total_seconds: Option<f64>,
    pub retries: Option<u32>,
    pub retry_seconds: Option<f64>,
    pub concurrency: Option<usize>,
    pub requests_per_minute: Option<u32>,
}

/// US dollars per million tokens, and lengths in tokens.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Price {
    pub input: f64,
    pub output: f64,
    pub cached: Option<f64>,
    pub context: Option<u64>,
    pub longest_reply: Option<u64>,
}

impl File {
    /// Reads a file. `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns the fault and its line.
    pub(super) fn read(path: &Path) -> Result<Option<File>, Fault> {
        let text = match read(path) {
            Ok(text) => text,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(None);
            }
            Err(error) => {
                return Err(Fault::input(trellis_os::wording::cannot_read(path.display(), &error))
                    .hint("make it readable, or move it away"));
            }
        };
        toml::from_str(&text).map(Some).map_err(|error| wrong(path, &text, &error))
    }

    /// Refuses values that make no sense.
    ///
    /// # Errors
    ///
    /// Returns the value and the permitted range.
    pub(super) fn check(&self, path: &Path) -> Result<(), Fault> {
        let refuse = |what: String| {
            Err(Fault::input(format!("{}: {what}", path.display())).hint("fix the value"))
        };
        let budget = [("usd", self.budget.usd), ("minutes", self.budget.minutes)];
        let spent = budget.map(|(name, value)| (format!("budget.{name}"), value));
        let waits = self.providers.iter().flat_map(|(provider, it)| {
            let seconds = [
                ("connect_seconds", it.connect_seconds),
                ("idle_seconds", it.idle_seconds),
                ("total_seconds", it.total_seconds),
                ("retry_seconds", it.retry_seconds),
            ];
            seconds.map(|(name, value)| (format!("providers.{provider}.{name}"), value))
        });
        let prices = self.prices.iter().flat_map(|(model, it)| {
            let all =
                [("input", Some(it.input)), ("output", Some(it.output)), ("cached", it.cached)];
            all.map(|(name, value)| (format!("prices.\"{model}\".{name}"), value))
        });
        self.sandbox.as_ref().map_or(Ok(()), |it| it.check(path))?;
        let least = [
            ("max_output_tokens".to_owned(), self.max_output_tokens.map(u64::from), LEAST_OUTPUT),
            ("context_tokens".to_owned(), self.context_tokens.map(|it| it as u64), LEAST_CONTEXT),
        ];
        let shares = self.providers.iter().flat_map(|(provider, it)| {
            let counts = [
                ("concurrency", it.concurrency.map(|it| it as u64)),
                ("requests_per_minute", it.requests_per_minute.map(u64::from)),
            ];
            counts.map(|(name, value)| (format!("providers.{provider}.{name}"), value, 1))
        });
        for (name, value, least) in least.into_iter().chain(shares) {
            if value.is_some_and(|it| it < least) {
                return refuse(format!("`{name}` must be at least {least}"));
            }
        }
        for (name, it) in &self.providers {
            let like = it.like.as_deref();
            let known =
                trellis_llm::PROVIDERS.map(|it| it.split([':', '[']).next().unwrap_or_default());
            if !known.contains(&like.unwrap_or(name)) {
                let what = match like {
                    Some(like) => {
                        format!(
                            "`providers.{name}.like` is `{like}`, which is not a known provider"
                        )
                    }
                    None => format!(
                        "`providers.{name}` is not a known provider; set `like` to the \
                         provider with the same API"
                    ),
                };
                return refuse(format!("{what}; known providers: {}", known.join(", ")));
            }
            if like.is_some() && it.base_url.is_none() {
                return refuse(format!("`providers.{name}` has no `base_url`"));
            }
        }
        let is_web = |it: &String| it.starts_with("https://") || it.starts_with("http://");
        if !self.forge.url.iter().all(is_web) {
            return refuse("`forge.url` must begin with https:// or http://".to_owned());
        }
        for (name, value) in spent.into_iter().chain(waits).chain(prices) {
            if value.is_some_and(|it| !(it.is_finite() && (0.0..1e9).contains(&it))) {
                return refuse(format!("`{name}` must be a number from 0"));
            }
        }
        Ok(())
    }

    /// Refuses settings that a project must not make: those that decide who receives the user's
    /// keys.
    ///
    /// # Errors
    ///
    /// Returns the setting that has to move to the user's own file.
    pub(super) fn refuse_unsafe(&self, path: &Path, own: &Path) -> Result<(), Fault> {
        let refuse = |field: &str, goes: &str| {
            let message = format!(
                "{}: a project cannot set `{field}`, because your {goes} would go where it says",
                path.display()
            );
            Err(Fault::input(message)
                .hint(format!("if you want this, move it to {}", own.display())))
        };
        if self.forge.url.is_some() {
            return refuse("forge.url", "token");
        }
        if self.sandbox.is_some() {
            let message = format!(
                "{}: a project cannot set `[sandbox]`: only you decide what its tests may use",
                path.display()
            );
            let hint = format!("if you want this, move it to {}, or use flags", own.display());
            return Err(Fault::input(message).hint(hint));
        }
        if !self.engines.is_empty() {
            return refuse("engines", "code");
        }
        for (name, it) in &self.providers {
            let moved = [
                ("like", it.like.is_some()),
                ("base_url", it.base_url.is_some()),
                ("key_variable", it.key_variable.is_some()),
            ];
            if let Some((field, _)) = moved.iter().find(|(_, is_set)| *is_set) {
                return refuse(&format!("providers.{name}.{field}"), "keys and code");
            }
        }
        Ok(())
    }
}

impl Sandbox {
    fn check(&self, path: &Path) -> Result<(), Fault> {
        let refuse = |what: String| {
            let message = format!("{}: `sandbox.{what}", path.display());
            Err(Fault::input(message).hint("fix the value"))
        };
        let least = |value: Option<u64>, least: u64| value.is_some_and(|it| it < least);
        if let Some(name) = self.env.keys().chain(&self.pass_env).find(|it| !is_variable(it)) {
            return refuse(format!(
                "env` and `sandbox.pass_env` contain variable names: {name:?} is not one"
            ));
        }
        if least(self.memory, LEAST_MEMORY) || self.memory.is_some_and(|it| it > MOST_MEMORY) {
            return refuse(format!("memory` is in MiB, from {LEAST_MEMORY}"));
        }
        if least(self.cores.map(u64::from), 1) || least(self.run_seconds, 1) {
            return refuse("cores` and `sandbox.run_seconds` must be at least 1".to_owned());
        }
        Ok(())
    }
}

/// Returns whether `name` is a valid name of an environment variable.
pub fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

/// Reads a file's text. Refuses anything but regular files, since reading may never end, and files
/// that are too large to be settings.
fn read(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        let what = format!("it is larger than {} KiB, or not a file", LARGEST >> 10);
        return Err(io::Error::new(ErrorKind::InvalidInput, what));
    }
    trellis_os::files::read_text(path)
}

/// Converts a parser's error into a fault on one line.
fn wrong(path: &Path, text: &str, error: &toml::de::Error) -> Fault {
    let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
    let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
    let what: Vec<&str> = error.message().split_whitespace().collect();
    Fault::input(format!("{}{line}: {}", path.display(), what.join(" ")))
        .hint("fix the line; the page `configuration` lists all settings")
}
