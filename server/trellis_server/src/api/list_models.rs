//! `listModels`: models to choose from.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use trellis_workflows::fault::Fault;
use trellis_workflows::model_lists::{self, OfferedModel, ProviderModels};

/// Lists models with prices and context sizes. Services are asked for their lists, for at most 5 seconds; where one does
/// not answer, the models with built-in prices are listed. Costs nothing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListModelsParams {
    /// The folder whose `trellis.toml` applies; default: the first folder of the workspace.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// A provider, such as `openai`; default: all that have a key or need none.
    #[serde(default)]
    pub provider: Option<String>,
}

/// Models by provider.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelList {
    pub providers: Vec<ModelsOfProvider>,
}

/// The models of one provider.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelsOfProvider {
    /// Such as `openai`.
    pub provider: String,
    /// In the order of the service.
    pub models: Vec<ModelChoice>,
    /// Why the service lists no models; the models are then those with built-in prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unlisted: Option<UnlistedReason>,
}

/// Why a service lists no models.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnlistedReason {
    /// A sentence without its full stop.
    pub message: String,
    /// One of the kinds of errors, such as `noKey`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// A model to choose.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelChoice {
    /// Such as `openai:gpt-5-mini`.
    pub model: String,
    /// Name for people, if the service has another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// US dollars per million tokens of a prompt; left out if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_usd: Option<f64>,
    /// US dollars per million tokens of a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_usd: Option<f64>,
    /// Maximum length of a prompt, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
}

impl From<ProviderModels> for ModelsOfProvider {
    fn from(it: ProviderModels) -> ModelsOfProvider {
        let unlisted = it.unlisted.map(|it| UnlistedReason {
            message: it.message,
            kind: it.kind.map(|it| it.as_str().to_owned()),
        });
        let models = it.models.into_iter().map(Into::into).collect();
        ModelsOfProvider { provider: it.provider, models, unlisted }
    }
}

impl From<OfferedModel> for ModelChoice {
    fn from(it: OfferedModel) -> ModelChoice {
        ModelChoice {
            model: it.model,
            label: it.label,
            input_usd: it.price.map(|it| it.0),
            output_usd: it.price.map(|it| it.1),
            context_tokens: it.context,
        }
    }
}

/// Lists the models.
pub async fn list_models(root: &Path, params: &ListModelsParams) -> Result<ModelList, Fault> {
    let listed = model_lists::list(root, params.provider.as_deref()).await?;
    Ok(ModelList { providers: listed.into_iter().map(Into::into).collect() })
}
