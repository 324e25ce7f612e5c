//! Models to choose from: what services list, else those with known prices.

use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;
use trellis_llm::{ListError, ListedModel, ModelInfo, known_models, reachable_providers};

use crate::config::Config;
use crate::fault::{Fault, FaultKind};
use crate::models;

/// Time for each service to answer.
const LIMIT: Duration = Duration::from_secs(5);

/// The models of one provider.
#[derive(Clone, Debug)]
pub struct ProviderModels {
    /// Name of the provider, such as `openai`.
    pub provider: String,
    pub models: Vec<OfferedModel>,
    /// Reason why the models are not those that the service lists; `None` if they are.
    pub unlisted: Option<Unlisted>,
}

/// Reason why a service lists no models.
#[derive(Clone, Debug)]
pub struct Unlisted {
    /// A sentence without its full stop.
    pub message: String,
    pub kind: Option<FaultKind>,
}

/// A model to choose.
#[derive(Clone, Debug)]
pub struct OfferedModel {
    /// Name such as `openai:gpt-5-mini`.
    pub model: String,
    /// Name for people, if the service has another one.
    pub label: Option<String>,
    /// US dollars per million tokens of a prompt and of a reply.
    pub price: Option<(f64, f64)>,
    /// Maximum length of a prompt, in tokens.
    pub context: Option<u64>,
}

/// Lists the models of a provider, or of all that have a key or need none. Each service is asked
/// once, all at the same time.
///
/// # Errors
///
/// The configuration of the folder cannot be read.
pub async fn list(folder: &Path, provider: Option<&str>) -> Result<Vec<ProviderModels>, Fault> {
    let config = models::config(folder)?;
    let names: Vec<String> = match provider {
        Some(name) => vec![name.to_owned()],
        None => reachable(&config),
    };
    Ok(join_all(names.iter().map(|it| of_provider(it, &config))).await)
}

fn reachable(config: &Config) -> Vec<String> {
    let known = reachable_providers(&models::env);
    let own = config.own_providers();
    known.into_iter().chain(own).map(str::to_owned).collect()
}

async fn of_provider(provider: &str, config: &Config) -> ProviderModels {
    let settings = config.settings(&format!("{provider}:"));
    let listed = trellis_llm::list_models(provider, &settings, &models::env, LIMIT).await;
    let (models, unlisted) = match listed {
        Ok(listed) => (listed.into_iter().map(|it| offered(provider, it, config)).collect(), None),
        Err(error) => (known(provider), Some(unlisted(&error))),
    };
    ProviderModels { provider: provider.to_owned(), models, unlisted }
}

fn offered(provider: &str, listed: ListedModel, config: &Config) -> OfferedModel {
    let model = format!("{provider}:{}", listed.name);
    let card = config.prices.of(&model);
    OfferedModel {
        label: listed.label,
        price: listed.price.or(card.map(|it| (it.input, it.output))),
        context: listed.context.or(card.and_then(|it| it.context)),
        model,
    }
}

/// Returns the models with built-in prices.
fn known(provider: &str) -> Vec<OfferedModel> {
    let offered = |(name, card): (String, ModelInfo)| OfferedModel {
        model: format!("{provider}:{name}"),
        label: None,
        price: Some((card.input, card.output)),
        context: card.context,
    };
    known_models(provider).into_iter().map(offered).collect()
}

fn unlisted(error: &ListError) -> Unlisted {
    let kind = match error {
        ListError::Open(error) => models::fault_kind(error),
        _ => None,
    };
    Unlisted { message: error.to_string(), kind }
}
