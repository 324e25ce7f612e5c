//! Lists of models, in the format of each service.

use std::cmp::Reverse;

use serde_json::Value;

use super::{count, list, text};
use crate::model_list::ListedModel;

/// Parts of the names of models that write no text. `OpenAI` lists them without saying so.
const NO_CHAT: [&str; 12] = [
    "embedding",
    "embed-",
    "whisper",
    "tts",
    "dall-e",
    "moderation",
    "-image",
    "-audio",
    "realtime",
    "transcribe",
    "sora",
    "guard",
];

/// Fields in which services give the size of the context.
const CONTEXTS: [&str; 4] =
    ["context_length", "context_window", "max_context_length", "max_model_len"];

/// Number of tokens that a price refers to.
const MILLION: f64 = 1e6;

/// Reads the format of `OpenAI`, with the fields that other services add. The newest come first.
pub(super) fn openai(answer: &Value) -> Option<Vec<ListedModel>> {
    answer.get("data")?.as_array()?;
    let mut models: Vec<&Value> =
        list(answer, "data").iter().filter(|it| writes_text(it)).collect();
    models.sort_by_key(|it| Reverse(count(it, "created")));
    Some(models.into_iter().filter_map(openai_model).collect())
}

fn openai_model(model: &Value) -> Option<ListedModel> {
    let name = text(model, "id")?;
    Some(ListedModel {
        name: name.to_owned(),
        label: label(model, "name", name),
        price: price(model),
        context: CONTEXTS.iter().find_map(|it| count(model, it)),
    })
}

/// Returns whether a model replies with text.
fn writes_text(model: &Value) -> bool {
    let modalities = model.get("architecture").map(|it| list(it, "output_modalities"));
    match modalities {
        Some(all) if !all.is_empty() => all.iter().any(|it| it == "text"),
        _ => text(model, "id").is_some_and(|name| !NO_CHAT.iter().any(|it| name.contains(it))),
    }
}

/// Returns the prices per million tokens. OpenRouter has dollars per token, as texts; models that
/// choose another one have negative prices.
fn price(model: &Value) -> Option<(f64, f64)> {
    let pricing = model.get("pricing")?;
    let of = |name: &str| -> Option<f64> {
        let price: f64 = text(pricing, name)?.parse().ok()?;
        (price.is_finite() && price >= 0.0).then_some(price * MILLION)
    };
    Some((of("prompt")?, of("completion")?))
}

/// Reads the format of Anthropic.
pub(super) fn anthropic(answer: &Value) -> Option<Vec<ListedModel>> {
    answer.get("data")?.as_array()?;
    let model = |it: &Value| {
        let name = text(it, "id")?;
        let label = label(it, "display_name", name);
        Some(ListedModel { name: name.to_owned(), label, ..ListedModel::default() })
    };
    Some(list(answer, "data").iter().filter_map(model).collect())
}

/// Reads the format of Gemini, without models that generate no content.
pub(super) fn gemini(answer: &Value) -> Option<Vec<ListedModel>> {
    answer.get("models")?.as_array()?;
    let generates = |it: &&Value| {
        list(it, "supportedGenerationMethods").iter().any(|it| it == "generateContent")
    };
    let model = |it: &Value| {
        let name = text(it, "name")?.trim_start_matches("models/");
        Some(ListedModel {
            name: name.to_owned(),
            label: label(it, "displayName", name),
            price: None,
            context: count(it, "inputTokenLimit"),
        })
    };
    Some(list(answer, "models").iter().filter(generates).filter_map(model).collect())
}

/// Reads the format of Ollama.
pub(super) fn ollama(answer: &Value) -> Option<Vec<ListedModel>> {
    answer.get("models")?.as_array()?;
    let model = |it: &Value| {
        let name = text(it, "name").filter(|name| !NO_CHAT.iter().any(|it| name.contains(it)))?;
        Some(ListedModel { name: name.to_owned(), ..ListedModel::default() })
    };
    Some(list(answer, "models").iter().filter_map(model).collect())
}

/// Returns the name for people, if it differs from the one in requests.
fn label(model: &Value, field: &str, name: &str) -> Option<String> {
    text(model, field).filter(|it| *it != name && !it.is_empty()).map(str::to_owned)
}
