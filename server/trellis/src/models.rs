//! The models of a run: which are asked for, opened, and what is known of them.

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
use crate::error::Fault;

/// Tokens of a reply where nothing else is said.
const OUTPUT_TOKENS: u32 = 8192;
/// Tokens kept free in a model's context for what is not counted exactly.
const MARGIN: u64 = 1024;

/// Tokens of the reply to a tiny question; models that think first need some.
const TRIAL_TOKENS: u32 = 512;

/// Options of every command that asks models.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ModelArgs {
    /// Model, as `provider:name` or `recorded:FILE` [default: TRELLIS_MODEL, then `model` in trellis.toml].
    #[arg(long, help_heading = "Model")]
    pub(crate) model: Option<String>,
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
    /// How often a question is put again, where it is not what the provider's table says.
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) retries: Option<u32>,
    /// Who answers for `editor`; nobody on a command line.
    #[arg(skip)]
    #[serde(skip)]
    editor: Option<Arc<dyn Editor>>,
}

/// A number from 0.
fn amount(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if number.is_finite() && number >= 0.0 { Ok(number) } else { Err("not from 0".to_owned()) }
}

/// One model, open, with what is known of it.
#[derive(Debug)]
pub(crate) struct ModelHandle {
    pub(crate) model: Model,
    /// What it costs; nothing where nobody knows.
    pub(crate) card: Option<ModelInfo>,
    /// Tokens of a reply at most.
    pub(crate) output: u32,
    /// Tokens of a question at most, where its context is known.
    longest: Option<usize>,
}

/// The models of a run.
#[derive(Debug)]
pub(crate) struct Models {
    simple: Arc<ModelHandle>,
    strong: Arc<ModelHandle>,
    /// Tokens of a question, about.
    context_tokens: Option<usize>,
}

impl Models {
    /// Opens what options, environment and files name.
    pub(crate) fn open(args: &ModelArgs, config: &Config, env: Env<'_>) -> Result<Models, Fault> {
        let named = args.model.clone();
        let named = named.or_else(|| env("TRELLIS_MODEL").filter(|it| !it.trim().is_empty()));
        let base = named.clone().or_else(|| config.model.clone());
        // Who names a model there means it for everything that is not named there as well.
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

    /// The model for work of this difficulty.
    pub(crate) fn of(&self, tier: Tier) -> &ModelHandle {
        match tier {
            Tier::Simple => &self.simple,
            Tier::Strong => &self.strong,
        }
    }

    /// Each of them once.
    pub(crate) fn all(&self) -> Vec<&ModelHandle> {
        let is_one = Arc::ptr_eq(&self.simple, &self.strong);
        let strong = Some(self.strong.as_ref()).filter(|_| !is_one);
        [Some(self.simple.as_ref()), strong].into_iter().flatten().collect()
    }

    /// What the run says it was made with.
    pub(crate) fn name(&self) -> String {
        let (simple, strong) = (self.simple.model.name(), self.strong.model.name());
        if simple == strong { simple.to_owned() } else { format!("{simple} and {strong}") }
    }

    /// Tokens of a question to this model, where `usual` is what a question may have.
    pub(crate) fn context_tokens(&self, opened: &ModelHandle, usual: usize) -> usize {
        let wanted = self.context_tokens.unwrap_or(usual);
        opened.longest.map_or(wanted, |longest| wanted.min(longest))
    }

    /// A bound in dollars is of no use where nobody knows what is spent.
    pub(crate) fn know_prices(&self, budget: BudgetLimits) -> Result<(), Fault> {
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
    /// For somebody who waits for one answer: the model named, else that of environment and files.
    pub(crate) fn impatient(model: Option<String>) -> ModelArgs {
        ModelArgs { model, retries: Some(1), ..ModelArgs::default() }
    }

    /// The same, for work that nobody waits for: a question is put again so often where its failure may pass.
    pub(crate) fn patient(self, retries: u32) -> ModelArgs {
        ModelArgs { retries: Some(retries), ..self }
    }

    /// The same, with recordings that are named by paths from this folder on.
    pub(crate) fn within(mut self, root: &Path) -> ModelArgs {
        for model in [&mut self.model, &mut self.simple_model, &mut self.strong_model] {
            if let Some(file) = model.as_deref().and_then(|it| it.strip_prefix("recorded:")) {
                *model = Some(format!("recorded:{}", root.join(file).display()));
            }
        }
        self.record = self.record.map(|it| root.join(it));
        self
    }

    /// The same, started from an editor that has models.
    pub(crate) fn with_editor(self, editor: Arc<dyn Editor>) -> ModelArgs {
        ModelArgs { editor: Some(editor), ..self }
    }

    /// The recording to be made.
    pub(crate) fn record(&self) -> Option<&Path> {
        self.record.as_deref()
    }

    /// The tightest of what the options and the files say.
    pub(crate) fn budget(&self, config: &Config) -> BudgetLimits {
        let own = BudgetLimits {
            usd: self.budget_usd,
            tokens: self.budget_tokens,
            minutes: self.budget_minutes,
        };
        own.tightest(config.budget)
    }
}

/// How environment variables are looked up.
pub(crate) type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The process's own variables.
pub(crate) fn env(variable: &str) -> Option<String> {
    std::env::var(variable).ok()
}

/// No model is named, or none that is known.
const NO_MODEL: &str = "noModel";
/// The model that is named wants a key, and there is none that can be sent.
const NO_KEY: &str = "noKey";

/// What whoever asks has to give, for programs that know how to ask a person for it.
fn also_incomplete(error: &OpenError) -> Option<&'static str> {
    match error {
        OpenError::UnknownProvider { .. } | OpenError::NoModelName { .. } => Some(NO_MODEL),
        OpenError::NoKey { .. } | OpenError::BadKey { .. } => Some(NO_KEY),
        _ => None,
    }
}

/// What holds for work in a folder.
pub(crate) fn config(folder: &Path) -> Result<Config, Fault> {
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
    let model = trellis_llm::open(spec, &settings, env).map_err(|error| {
        let fault = match &error {
            OpenError::Malformed { .. } => Fault::input(&error),
            OpenError::Unreadable { path, reason } => {
                let shown = format_args!("the recording {}", path.display());
                Fault::unavailable(trellis_sandbox::wording::cannot_read(shown, reason))
            }
            _ => Fault::unavailable(&error),
        };
        let fault = match also_incomplete(&error) {
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
    })?;
    let card = config.prices.of(spec);
    let longest_reply = card.and_then(|it| it.longest_reply);
    let output = config.max_output_tokens.unwrap_or(OUTPUT_TOKENS);
    let output = longest_reply.map_or(output, |most| output.min(most.min(u32::MAX.into()) as u32));
    let context = card.and_then(|it| it.context);
    let longest = context.map(|it| it.saturating_sub(u64::from(output) + MARGIN) as usize);
    Ok(ModelHandle { model, card, output, longest })
}

/// What one tiny question came to.
#[derive(Debug)]
pub(crate) struct ProbeResult {
    pub(crate) name: String,
    /// Who answered, in the provider's words; nobody for a recording.
    pub(crate) answered_by: Option<String>,
    pub(crate) reply: String,
    pub(crate) milliseconds: u128,
    pub(crate) usage: Option<Usage>,
    /// US dollars; none where no price is known.
    pub(crate) usd: Option<f64>,
    pub(crate) context: Option<u64>,
}

/// Puts one tiny question. A recording is read and not asked: it answers what was recorded, and nothing else.
pub(crate) async fn probe(opened: &ModelHandle) -> Result<ProbeResult, Fault> {
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
        // A model that thinks aloud may need more than that; it is there, which is what was asked.
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

/// The model that work in this folder would be done with, or why there is none; nothing is sent.
pub(crate) fn would_use(folder: &Path) -> Result<String, String> {
    let models = config(folder)
        .and_then(|config| Models::open(&ModelArgs::default(), &config, &env))
        .map_err(|fault| fault.message)?;
    Ok(format!("{} (not tested; `doctor --model` tests it)", models.name()))
}

/// Nobody named a model: the keys that are there may do.
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
    Err(Fault::unavailable(message).kind(NO_MODEL).hint(format!(
        "give --model, set TRELLIS_MODEL, or write `model = \"…\"` into trellis.toml; known \
         providers: {}{way}",
        trellis_llm::PROVIDERS.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_to_be_given_is_told_to_programs() {
        let table = [
            (None, None, NO_MODEL),
            (Some("nobody:model"), None, NO_MODEL),
            (Some("openai:"), None, NO_MODEL),
            (Some("openai:gpt-5-mini"), None, NO_KEY),
            (Some("openai:gpt-5-mini"), Some("broken\nkey"), NO_KEY),
        ];
        for (named, key, expected) in table {
            let args = ModelArgs::impatient(named.map(str::to_owned));
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
                ..ModelArgs::impatient(Some(given.into()))
            };
            let args = args.within(Path::new("/w"));
            assert_eq!(args.model.as_deref(), Some(expected));
            assert_eq!(args.record(), Some(Path::new("/w/out.jsonl")));
        }
    }
}
