//! Configuration, in order of precedence: command line (or editor), environment, the project's
//! `trellis.toml`, the user's.
//!
//! The smallest of several budgets applies. A project's file may come from a stranger: it can
//! neither send keys elsewhere nor make a model look cheaper than it is.

mod file;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trellis_llm::{ModelInfo, Prices, Settings};

use trellis_git::forge::ForgeSettings;

use crate::fault::Fault;
pub use file::{BudgetLimits, Provider, Sandbox, is_variable};
use file::{File, NAME};

/// All settings from files.
#[derive(Debug, Default)]
pub struct Config {
    pub model: Option<String>,
    pub simple_model: Option<String>,
    pub strong_model: Option<String>,
    pub context_tokens: Option<usize>,
    pub max_output_tokens: Option<u32>,
    pub tests_dir: Option<String>,
    pub conventions: Vec<String>,
    pub budget: BudgetLimits,
    pub prices: Prices,
    pub forge: ForgeSettings,
    pub sandbox: Sandbox,
    /// Docker engines that run tests, by address or context.
    pub engines: Vec<String>,
    providers: BTreeMap<String, Provider>,
    /// The files that were read, the project's first.
    pub sources: Vec<PathBuf>,
}

impl Config {
    /// Loads the settings for work in `folder`, which need not exist yet: the nearest file in it or
    /// above it, else in the current folder or above that, and the user's file.
    pub fn load(folder: &Path, env: impl Fn(&str) -> Option<String>) -> Result<Config, Fault> {
        let own = users(env);
        let mut config = Config::default();
        let (mut cards, mut files) = ([BTreeMap::new(), BTreeMap::new()], Vec::new());
        if let Some((path, file)) = nearest(folder, own.as_deref())? {
            let place =
                own.clone().unwrap_or_else(|| PathBuf::from("~/.config/trellis").join(NAME));
            file.refuse_unsafe(&path, &place)?;
            files.push((path, file, 1));
        }
        if let Some(own) = own
            && let Some(file) = File::read(&own)?
        {
            files.push((own, file, 0));
        }
        for (path, file, whose) in files {
            file.check(&path)?;
            config.sources.push(path);
            config.add(file, &mut cards[whose]);
        }
        let [own, others] = cards;
        config.prices = Prices::new(own, others);
        Ok(config)
    }

    /// Adds the settings of a file with lower precedence.
    fn add(&mut self, file: File, cards: &mut BTreeMap<String, ModelInfo>) {
        self.model = self.model.take().or(file.model);
        self.simple_model = self.simple_model.take().or(file.simple_model);
        self.strong_model = self.strong_model.take().or(file.strong_model);
        self.context_tokens = self.context_tokens.or(file.context_tokens);
        self.max_output_tokens = self.max_output_tokens.or(file.max_output_tokens);
        self.tests_dir = self.tests_dir.take().or(file.tests_dir);
        self.conventions.extend(file.conventions);
        self.budget = self.budget.tightest(file.budget);
        self.forge.url = self.forge.url.take().or(file.forge.url);
        self.forge.kind = self.forge.kind.or(file.forge.kind);
        self.engines.extend(file.engines.into_iter().map(|it| it.host));
        if let Some(sandbox) = file.sandbox {
            self.sandbox = sandbox;
        }
        for (name, price) in file.prices {
            let card = ModelInfo {
                input: price.input,
                output: price.output,
                cached: price.cached,
                context: price.context,
                longest_reply: price.longest_reply,
            };
            cards.entry(name).or_insert(card);
        }
        for (name, provider) in file.providers {
            let known = self.providers.entry(name).or_default();
            *known = std::mem::take(known).over(provider);
        }
    }

    /// Returns the names of providers that the user added.
    pub fn own_providers(&self) -> Vec<&str> {
        let own = self.providers.iter().filter(|(_, it)| it.like.is_some());
        own.map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the provider settings for a model of this name.
    pub fn settings(&self, spec: &str) -> Settings {
        let name = spec.split(':').next().unwrap_or_default();
        let mut settings = Settings::default();
        if let Some(provider) = self.providers.get(name) {
            provider.apply(&mut settings);
        }
        settings
    }
}

impl BudgetLimits {
    /// Returns the smaller limit of each kind.
    pub fn tightest(self, other: BudgetLimits) -> BudgetLimits {
        let least = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            _ => a.or(b),
        };
        let tokens = [self.tokens, other.tokens].into_iter().flatten().min();
        BudgetLimits {
            usd: least(self.usd, other.usd),
            tokens,
            minutes: least(self.minutes, other.minutes),
        }
    }
}

impl Provider {
    /// Returns these settings, with those of `other` where a value is missing.
    fn over(self, other: Provider) -> Provider {
        Provider {
            like: self.like.or(other.like),
            base_url: self.base_url.or(other.base_url),
            key_variable: self.key_variable.or(other.key_variable),
            stream: self.stream.or(other.stream),
            connect_seconds: self.connect_seconds.or(other.connect_seconds),
            idle_seconds: self.idle_seconds.or(other.idle_seconds),
            total_seconds: self.total_seconds.or(other.total_seconds),
            retries: self.retries.or(other.retries),
            retry_seconds: self.retry_seconds.or(other.retry_seconds),
            concurrency: self.concurrency.or(other.concurrency),
            requests_per_minute: self.requests_per_minute.or(other.requests_per_minute),
        }
    }

    fn apply(&self, settings: &mut Settings) {
        settings.like.clone_from(&self.like);
        settings.base_url.clone_from(&self.base_url);
        settings.key_variable.clone_from(&self.key_variable);
        settings.stream = self.stream.unwrap_or(settings.stream);
        settings.timeouts.idle = self.idle_seconds.map(Duration::from_secs_f64);
        settings.timeouts.total = self.total_seconds.map(Duration::from_secs_f64);
        if let Some(seconds) = self.connect_seconds {
            settings.timeouts.connect = Duration::from_secs_f64(seconds);
        }
        settings.retry.retries = self.retries.unwrap_or(settings.retry.retries);
        if let Some(seconds) = self.retry_seconds {
            settings.retry.first_wait = Duration::from_secs_f64(seconds);
        }
        settings.pace.concurrency = self.concurrency.unwrap_or(settings.pace.concurrency);
        settings.pace.requests_per_minute = self.requests_per_minute;
    }
}

/// Returns the folder of the user's own `trellis.toml`. `None` if neither variable names a folder.
pub fn own_folder(env: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    users(env)?.parent().map(Path::to_owned)
}

/// Returns the path of the user's own file. `None` if neither `XDG_CONFIG_HOME` nor `HOME` names an
/// absolute folder.
fn users(env: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let folder = env("XDG_CONFIG_HOME").map(PathBuf::from).filter(absolute);
    let home = || env("HOME").map(|home| PathBuf::from(home).join(".config")).filter(absolute);
    Some(folder.or_else(home)?.join("trellis").join(NAME))
}

/// Returns the nearest file in the folder or above it, else in the current folder or above that;
/// never the user's own.
fn nearest(folder: &Path, own: Option<&Path>) -> Result<Option<(PathBuf, File)>, Fault> {
    let cannot = |error| Fault::internal(format!("cannot find the current folder: {error}"));
    let folder = std::path::absolute(folder).map_err(cannot)?;
    let here = std::path::absolute(".").map_err(cannot)?;
    for folder in folder.ancestors().chain(here.ancestors()) {
        let path = folder.join(NAME);
        if Some(path.as_path()) == own {
            continue;
        }
        if let Some(file) = File::read(&path)? {
            return Ok(Some((path, file)));
        }
    }
    Ok(None)
}
