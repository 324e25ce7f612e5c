//! Lists of the models that services offer, with prices where the service has them.

use std::time::Duration;

use serde_json::Value;
use thiserror::Error;

use crate::endpoint::{self, BaseUrlError};
use crate::error::ModelError;
use crate::open_error::OpenError;
use crate::prices::{self, ModelInfo};
use crate::providers::{self, PROVIDERS, Provider};
use crate::retry::AttemptError;
use crate::service::Service;
use crate::settings::Settings;
use crate::wire::ModelList;

/// A model that can be named as `provider:name`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListedModel {
    /// Name in requests.
    pub name: String,
    /// Name for people, if the service has another one.
    pub label: Option<String>,
    /// US dollars per million tokens of a prompt and of a reply, if the service says so.
    pub price: Option<(f64, f64)>,
    /// Maximum length of a prompt, in tokens.
    pub context: Option<u64>,
}

/// Reasons why a service lists no models.
#[derive(Debug, Error)]
pub enum ListError {
    /// The service cannot be reached with these settings: no key, no base URL, an unknown provider.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The provider has no list of the names that requests use.
    #[error("{provider} does not list its models")]
    NotOffered {
        /// Name of the provider.
        provider: String,
    },
    /// No answer, or one without a list.
    #[error(transparent)]
    Failed(#[from] ModelError),
}

/// Lists the models of a provider, such as `openai`. One request, without retries.
///
/// # Errors
///
/// The provider is unknown, has no list, lacks a key, or does not answer within `limit`.
pub async fn list_models(
    provider: &str,
    settings: &Settings,
    env: &(dyn Fn(&str) -> Option<String> + Sync),
    limit: Duration,
) -> Result<Vec<ListedModel>, ListError> {
    let kind = settings.like.as_deref().unwrap_or(provider);
    let found = providers::find(kind).ok_or_else(|| OpenError::UnknownProvider {
        spec: provider.to_owned(),
        known: providers::FORMS.join(", "),
    })?;
    let Some(list) = &found.wire.models else {
        return Err(ListError::NotOffered { provider: provider.to_owned() });
    };
    let service = open(provider, found, list, settings, env, limit)?;
    let answer = service.get().await.map_err(|error| failed(&service, error))?;
    let status = answer.status.as_u16();
    if !answer.status.is_success() {
        return Err(failed(&service, service.refused(status, &answer)).into());
    }
    let value: Option<Value> = serde_json::from_slice(&answer.body).ok();
    let models = value.as_ref().and_then(list.read).unwrap_or_default();
    match models.is_empty() {
        true => {
            Err(failed(&service, service.bad("it has no list of models".to_owned(), None)).into())
        }
        false => Ok(models.into_iter().map(|it| cleaned(&service, it)).collect()),
    }
}

fn open(
    name: &str,
    provider: &Provider,
    list: &ModelList,
    settings: &Settings,
    env: &(dyn Fn(&str) -> Option<String> + Sync),
    limit: Duration,
) -> Result<Service, OpenError> {
    let mut settings = settings.clone();
    settings.timeouts.connect = settings.timeouts.connect.min(limit);
    settings.timeouts.idle = Some(limit);
    settings.timeouts.total = Some(limit);
    let wire = provider.wire;
    Service::open(name, &provider.place, wire.headers, &settings, &|it| env(it), |base| {
        let base = base.or(provider.base).ok_or(BaseUrlError::Missing)?;
        endpoint::below(&(wire.base)(base), wire.home, list.path)
    })
}

fn failed(service: &Service, error: AttemptError) -> ModelError {
    match error {
        AttemptError::Final(error) => error,
        AttemptError::Temporary { outage, .. } => {
            ModelError::Unavailable { model: service.name().to_owned(), outage, tries: 1 }
        }
    }
}

/// Returns a model without the key in its texts.
fn cleaned(service: &Service, model: ListedModel) -> ListedModel {
    ListedModel {
        name: service.clean_reply(&model.name),
        label: model.label.map(|it| service.clean_reply(&it)),
        ..model
    }
}

/// Returns the models of a provider with built-in prices, for a provider that lists none.
pub fn known_models(provider: &str) -> Vec<(String, ModelInfo)> {
    prices::rows(provider).map(|(name, info)| (name.to_owned(), info)).collect()
}

/// Returns the names of all known providers that may be asked for their models: those with a key
/// in the environment, and those that need none.
pub fn reachable_providers(env: &dyn Fn(&str) -> Option<String>) -> Vec<&'static str> {
    let is_set = |name: &str| env(name).is_some_and(|it| !it.trim().is_empty());
    let may_answer = |it: &&Provider| {
        it.place.may_be_open || it.place.keys.iter().any(|key| is_set(key.variable))
    };
    PROVIDERS.iter().filter(may_answer).map(|it| it.name).collect()
}
