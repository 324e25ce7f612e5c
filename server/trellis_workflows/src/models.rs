//! The models of a run: opens the configured ones and keeps their known properties.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_engine::Tier;
use trellis_llm::{
    ChatRequest, DefaultModel, Editor, Message, Model, ModelError, ModelInfo, OpenError,
    RateLimiters, Role, Usage,
};

use crate::config::{BudgetLimits, Config};
use crate::fault::{Fault, FaultKind};

/// Default maximum of tokens in a reply.
const OUTPUT_TOKENS: u32 = 8192;
/// Tokens kept free in a model's context, since counts are not exact.
const MARGIN: u64 = 1024;

/// Maximum tokens of the reply to a probe; models that think first need some.
const TRIAL_TOKENS: u32 = 512;

/// Options of every command that asks models.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelArgs {
    /// Model, as `provider:name` or `recorded:FILE` [default: TRELLIS_MODEL, then `model` in trellis.toml].
    #[arg(long, help_heading = "Model")]
    pub model: Option<String>,
    /// Model for simple work [default: `simple_model` in trellis.toml, then the model].
    #[arg(long, help_heading = "Model", value_name = "MODEL")]
    simple_model: Option<String>,
    /// Model for hard work, and for fixes after two failed ones [default: `strong_model` in trellis.toml, then the model].
    #[arg(long, help_heading = "Model", value_name = "MODEL")]
    strong_model: Option<String>,
    /// Spending limit in US dollars. Earlier starts of the same run count.
    #[arg(long, help_heading = "Budget", value_name = "USD", value_parser = amount)]
    budget_usd: Option<f64>,
    /// Limit in tokens. Earlier starts of the same run count.
    #[arg(long, help_heading = "Budget", value_name = "TOKENS")]
    budget_tokens: Option<u64>,
    /// Send no request to the model after this many minutes.
    #[arg(long, help_heading = "Budget", value_name = "MINUTES", value_parser = amount)]
    budget_minutes: Option<f64>,
    /// Write every reply of the model to this file, for `--model recorded:FILE`.
    #[arg(long, help_heading = "Model", value_name = "FILE")]
    record: Option<PathBuf>,
    /// Wait as long as the recorded model did.
    #[arg(long, hide = true)]
    replay_latency: bool,
    /// Number of retries, if it differs from the provider's table.
    #[arg(skip)]
    #[serde(skip)]
    pub retries: Option<u32>,
    /// The editor that serves `editor` models; `None` on a command line.
    #[arg(skip)]
    #[serde(skip)]
    editor: Option<Arc<dyn Editor>>,
}

/// Parses a number that is not negative.
fn amount(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if number.is_finite() && number >= 0.0 { Ok(number) } else { Err("not from 0".to_owned()) }
}

/// An open model with its known properties.
#[derive(Debug)]
pub struct ModelHandle {
    pub model: Model,
    /// Price and limits; `None` if unknown.
    pub card: Option<ModelInfo>,
    /// Maximum number of tokens in a reply.
    pub output: u32,
    /// Maximum number of tokens in a request, if the context size is known.
    longest: Option<usize>,
}

/// The models of a run.
#[derive(Debug)]
pub struct Models {
    simple: Arc<ModelHandle>,
    strong: Arc<ModelHandle>,
    /// Approximate number of tokens of a request.
    context_tokens: Option<usize>,
}

impl Models {
    /// Opens the models that options, environment and files name.
    pub fn open(args: &ModelArgs, config: &Config, env: Env<'_>) -> Result<Models, Fault> {
        let named = args.model.clone();
        let named = named.or_else(|| env("TRELLIS_MODEL").filter(|it| !it.trim().is_empty()));
        let base = named.clone().or_else(|| config.model.clone());
        // A model named by option or variable replaces all models that the files name.
        let of_file = |own: &Option<String>| own.clone().filter(|_| named.is_none());
        let simple = args.simple_model.clone().or_else(|| of_file(&config.simple_model));
        let strong = args.strong_model.clone().or_else(|| of_file(&config.strong_model));
        let base = match base.or_else(|| strong.clone().and(simple.clone())) {
            Some(base) => base,
            None => by_key(env)?,
        };
        let (simple, strong) =
            (simple.unwrap_or_else(|| base.clone()), strong.unwrap_or_else(|| base.clone()));
        let gates = RateLimiters::default();
        let open = |spec: &str| open(spec, args, config, &gates, env).map(Arc::new);
        let first = open(&simple)?;
        let strong = if strong == simple { first.clone() } else { open(&strong)? };
        let models = Models { simple: first, strong, context_tokens: config.context_tokens };
        Ok(models)
    }

    /// Returns the model for work of this difficulty.
    pub fn of(&self, tier: Tier) -> &ModelHandle {
        match tier {
            Tier::Simple => &self.simple,
            Tier::Strong => &self.strong,
        }
    }

    /// Returns each distinct model once.
    pub fn all(&self) -> Vec<&ModelHandle> {
        let is_one = Arc::ptr_eq(&self.simple, &self.strong);
        let strong = Some(self.strong.as_ref()).filter(|_| !is_one);
        [Some(self.simple.as_ref()), strong].into_iter().flatten().collect()
    }

    /// Returns the models' names, as the run reports them.
    pub fn name(&self) -> String {
        let (simple, strong) = (self.simple.model.name(), self.strong.model.name());
        if simple == strong { simple.to_owned() } else { format!("{simple} and {strong}") }
    }

    /// Returns the number of tokens of a request to this model, where `usual` is the default.
    pub fn context_tokens(&self, opened: &ModelHandle, usual: usize) -> usize {
        let wanted = self.context_tokens.unwrap_or(usual);
        opened.longest.map_or(wanted, |longest| wanted.min(longest))
    }

    /// Refuses a budget in dollars if a model's price is unknown.
    pub fn require_prices(&self, budget: BudgetLimits) -> Result<(), Fault> {
        let unknown = [&self.simple, &self.strong].into_iter().find(|it| it.card.is_none());
        match unknown.filter(|_| budget.usd.is_some()) {
            Some(it) => {
                let name = it.model.name();
                let message =
                    format!("the budget is in dollars, but the price of {name} is unknown");
                Err(Fault::input(message).hint(format!(
                    "add [prices.\"{name}\"] with input and output, in dollars per million tokens, to trellis.toml; or use --budget-tokens"
                )))
            }
            None => Ok(()),
        }
    }
}

impl ModelArgs {
    /// Creates options for a single quick reply: the given model, else that of environment and
    /// files, with one retry.
    pub fn single_retry(model: Option<String>) -> ModelArgs {
        ModelArgs { model, retries: Some(1), ..ModelArgs::default() }
    }

    /// Sets the number of retries after temporary errors, for work that nobody waits for.
    pub fn with_retries(self, retries: u32) -> ModelArgs {
        ModelArgs { retries: Some(retries), ..self }
    }

    /// Resolves relative paths of recordings against `root`.
    pub fn resolve_recordings(mut self, root: &Path) -> ModelArgs {
        for model in [&mut self.model, &mut self.simple_model, &mut self.strong_model] {
            if let Some(file) = model.as_deref().and_then(|it| it.strip_prefix("recorded:")) {
                *model = Some(format!("recorded:{}", root.join(file).display()));
            }
        }
        self.record = self.record.map(|it| root.join(it));
        self
    }

    /// Adds an editor that provides models.
    pub fn with_editor(self, editor: Arc<dyn Editor>) -> ModelArgs {
        ModelArgs { editor: Some(editor), ..self }
    }

    /// Returns the path of the recording to write.
    pub fn record(&self) -> Option<&Path> {
        self.record.as_deref()
    }

    /// Returns the tightest limits of the options and the files.
    pub fn budget(&self, config: &Config) -> BudgetLimits {
        let own = BudgetLimits {
            usd: self.budget_usd,
            tokens: self.budget_tokens,
            minutes: self.budget_minutes,
        };
        own.tightest(config.budget)
    }
}

/// A lookup of environment variables.
pub type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Looks up a variable of the process.
pub fn env(variable: &str) -> Option<String> {
    std::env::var(variable).ok()
}

/// Returns the fault kind of a missing model or key, for programs that can ask a person for it.
pub(crate) fn fault_kind(error: &OpenError) -> Option<FaultKind> {
    match error {
        OpenError::UnknownProvider { .. } | OpenError::NoModelName { .. } => {
            Some(FaultKind::NoModel)
        }
        OpenError::NoKey { .. } | OpenError::BadKey { .. } => Some(FaultKind::NoKey),
        _ => None,
    }
}

/// Returns the fault of a model that cannot be opened: the exit code, by the kind of error.
fn open_fault(error: &OpenError, config: &Config) -> Fault {
    let fault = match error {
        OpenError::Malformed { .. } => Fault::input(error),
        OpenError::Unreadable { path, reason } => {
            let shown = format_args!("the recording {}", path.display());
            Fault::unavailable(trellis_os::wording::cannot_read(shown, reason))
        }
        _ => Fault::unavailable(error),
    };
    let fault = match fault_kind(error) {
        Some(kind) => fault.kind(kind),
        None => fault,
    };
    match error {
        OpenError::UnknownProvider { .. } if !config.own_providers().is_empty() => {
            let own = config.own_providers().join(", ");
            fault.hint(format!("{}; your own providers are {own}", error.hint()))
        }
        _ => fault.hint(error.hint()),
    }
}

/// Loads the configuration for work in a folder.
pub fn config(folder: &Path) -> Result<Config, Fault> {
    Config::load(folder, env)
}

fn open(
    spec: &str,
    args: &ModelArgs,
    config: &Config,
    gates: &RateLimiters,
    env: Env<'_>,
) -> Result<ModelHandle, Fault> {
    let mut settings = config.settings(spec);
    settings.replay_latency = args.replay_latency;
    settings.record.clone_from(&args.record);
    settings.gates = gates.clone();
    settings.editor.clone_from(&args.editor);
    settings.retry.retries = args.retries.unwrap_or(settings.retry.retries);
    let model = trellis_llm::open(spec, &settings, env);
    let model = model.map_err(|error| open_fault(&error, config))?;
    let card = config.prices.of(spec);
    let longest_reply = card.and_then(|it| it.longest_reply);
    let output = config.max_output_tokens.unwrap_or(OUTPUT_TOKENS);
    let output = longest_reply.map_or(output, |most| output.min(most.min(u32::MAX.into()) as u32));
    let context = card.and_then(|it| it.context);
    let longest = context.map(|it| it.saturating_sub(u64::from(output) + MARGIN) as usize);
    Ok(ModelHandle { model, card, output, longest })
}

/// Result of a probe.
#[derive(Debug)]
pub struct ProbeResult {
    pub name: String,
    /// The model's name in the provider's words; `None` for a recording.
    pub answered_by: Option<String>,
    pub reply: String,
    pub milliseconds: u128,
    pub usage: Option<Usage>,
    /// Cost in US dollars; `None` if no price is known.
    pub usd: Option<f64>,
    pub context: Option<u64>,
}

/// Sends one tiny request to test a model. A recording is only read, since it replies to nothing
/// but recorded requests.
pub async fn probe(opened: &ModelHandle) -> Result<ProbeResult, Fault> {
    let mut tried = ProbeResult {
        name: opened.model.name().to_owned(),
        answered_by: None,
        reply: "the recording can be read".to_owned(),
        milliseconds: 0,
        usage: None,
        usd: opened.card.map(|_| 0.0),
        context: opened.card.and_then(|it| it.context),
    };
    if opened.model.is_recorded() {
        return Ok(tried);
    }
    let ask = ChatRequest {
        node: "doctor".to_owned(),
        stage: "review".to_owned(),
        attempt: 0,
        messages: vec![Message::new(Role::User, "Answer with the one word: ready")],
        tools: Arc::from([]),
        temperature: 0.0,
        max_output_tokens: Some(TRIAL_TOKENS),
    };
    let since = Instant::now();
    match opened.model.ask(&ask).await {
        Ok(reply) => {
            tried.reply = reply.text.split_whitespace().collect::<Vec<_>>().join(" ");
            (tried.answered_by, tried.usage) = (Some(reply.model), reply.usage);
        }
        // A model that thinks aloud may need more tokens; the probe only tests that it replies.
        Err(ModelError::Truncated { partial, usage, .. }) => {
            tried.reply = format!("(cut off after {TRIAL_TOKENS} tokens) {}", partial.trim());
            tried.usage = usage;
        }
        Err(error) => return Err(Fault::unavailable(&error).hint(error.hint())),
    }
    tried.milliseconds = since.elapsed().as_millis();
    tried.usd = opened.card.map(|card| card.cost(tried.usage.unwrap_or_default()));
    Ok(tried)
}

/// Returns the name of the model for work in this folder, or the reason that there is none. Sends
/// nothing.
pub fn default_model_name(folder: &Path) -> Result<String, String> {
    let models = config(folder)
        .and_then(|config| Models::open(&ModelArgs::default(), &config, &env))
        .map_err(|fault| fault.message)?;
    Ok(format!("{} (not tested; `doctor --model` tests it)", models.name()))
}

/// Chooses a default model by the keys that are set, if none is named.
fn by_key(env: Env<'_>) -> Result<String, Fault> {
    let (message, way) = match trellis_llm::choice(env) {
        DefaultModel::Default(spec) => return Ok(spec.to_owned()),
        DefaultModel::Unclear(keys) if keys.len() == 1 => (
            format!(
                "no model is configured; {} is set, but not which of its models to use",
                keys[0]
            ),
            "",
        ),
        DefaultModel::Unclear(keys) => {
            (format!("no model is configured, and several keys are set: {}", keys.join(", ")), "")
        }
        DefaultModel::None => (
            "no model is configured".to_owned(),
            ". `trellis demo` needs no model: it generates an example from a recording",
        ),
    };
    Err(Fault::unavailable(message).kind(FaultKind::NoModel).hint(format!(
        "give --model, set TRELLIS_MODEL, or write `model = \"…\"` into trellis.toml; known \
         providers: {}{way}",
        trellis_llm::PROVIDERS.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_to_be_given_is_reported_to_programs() {
        let table = [
            (None, None, FaultKind::NoModel),
            (Some("nobody:model"), None, FaultKind::NoModel),
            (Some("openai:"), None, FaultKind::NoModel),
            (Some("openai:gpt-5-mini"), None, FaultKind::NoKey),
            (Some("openai:gpt-5-mini"), Some("broken\nkey"), FaultKind::NoKey),
        ];
        for (named, key, expected) in table {
            let args = ModelArgs::single_retry(named.map(str::to_owned));
            let env = |name: &str| key.filter(|_| name == "OPENAI_API_KEY").map(str::to_owned);
            let fault = Models::open(&args, &Config::default(), &env).unwrap_err();
            assert_eq!(fault.kind, Some(expected), "{named:?}: {}", fault.message);
        }
    }

    #[test]
    fn recordings_count_from_the_folder_and_models_do_not() {
        let table = [
            ("recorded:a/replies.jsonl", "recorded:/w/a/replies.jsonl"),
            ("recorded:/else/replies.jsonl", "recorded:/else/replies.jsonl"),
            ("ollama:a/b", "ollama:a/b"),
        ];
        for (given, expected) in table {
            let args = ModelArgs {
                record: Some("out.jsonl".into()),
                ..ModelArgs::single_retry(Some(given.into()))
            };
            let args = args.resolve_recordings(Path::new("/w"));
            assert_eq!(args.model.as_deref(), Some(expected));
            assert_eq!(args.record(), Some(Path::new("/w/out.jsonl")));
        }
    }
}
