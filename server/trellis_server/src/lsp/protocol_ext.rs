//! Protocol extensions of Trellis: methods and message types.
//!
//! These structs describe only the wire format; callers convert them to and from internal types.
//! Names are in camelCase; optional fields are left out if there is no value.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tower_lsp::ls_types::notification::Notification;
use tower_lsp::ls_types::request::Request;

/// `trellis/askModel`, a request to the client: one chat request to a model of the editor.
///
/// The result is an [`AskModelResult`]; it is received as untrusted JSON. An error may carry an
/// [`AskModelErrorData`] with its kind. A client that does not know the method offers no models.
pub(super) enum AskModel {}

impl Request for AskModel {
    type Params = AskModelParams;
    type Result = Value;
    const METHOD: &'static str = "trellis/askModel";
}

/// `trellis/cancelModel`, a notification to the client: the reply is no longer needed.
pub(super) enum CancelModel {}

impl Notification for CancelModel {
    type Params = CancelModelParams;
    const METHOD: &'static str = "trellis/cancelModel";
}

/// `trellis/tryModel`, a request of the client: one tiny request to each configured model. The
/// result is `null` and comes at once; each model's outcome is a [`ModelTried`].
pub(super) const TRY_MODEL: &str = "trellis/tryModel";

/// `trellis/modelTried`, a notification to the client: the outcome of a tiny request.
pub(super) enum ModelTried {}

impl Notification for ModelTried {
    type Params = ModelTriedParams;
    const METHOD: &'static str = "trellis/modelTried";
}

/// `trellis/event`, a notification to the client: an event of the event bus.
pub(super) enum HappenedNotification {}

impl Notification for HappenedNotification {
    type Params = crate::event_bus::Event;
    const METHOD: &'static str = "trellis/event";
}

/// A chat request, with its place in the run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AskModelParams {
    /// Id for [`CancelModelParams`]; unique per server.
    pub(super) id: u64,
    /// The model's name after `editor:`; empty if the editor may choose.
    pub(super) model: String,
    /// Node, task or issue of the request; `doctor` for a test request.
    pub(super) node: String,
    /// Stage of the work, such as `implementation`.
    pub(super) stage: String,
    /// Number of the attempt within the node's stage, from 0.
    pub(super) attempt: u32,
    /// The conversation, oldest first.
    pub(super) messages: Vec<ModelMessage>,
    /// Tools that the model may call; often none.
    pub(super) tools: Vec<ModelTool>,
    /// Sampling temperature, usually 0 to 1.
    pub(super) temperature: f64,
    /// Maximum tokens of the reply; left out to use the model's own limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_output_tokens: Option<u32>,
}

/// One message of a conversation.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelMessage {
    pub(super) role: ModelRole,
    /// Text of the message; may be empty beside calls or results.
    pub(super) text: String,
    /// Tool calls requested by the assistant; empty for other roles.
    pub(super) tool_calls: Vec<ModelToolCall>,
    /// Results of the preceding message's calls, in their order; only in user messages.
    pub(super) tool_results: Vec<ModelToolResult>,
}

/// Role of a message's author.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ModelRole {
    /// Standing instructions.
    System,
    /// A message of Trellis.
    User,
    /// An earlier reply of the model.
    Assistant,
}

/// A tool that the model may call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelTool {
    /// Letters, digits and `_`, at most 64.
    pub(super) name: String,
    /// Purpose and use, for the model.
    pub(super) description: String,
    /// A JSON schema of type `object`.
    pub(super) parameters: Value,
}

/// A tool call requested by the model.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelToolCall {
    /// Unique id within one conversation; not empty.
    pub(super) id: String,
    /// Name of the tool, as the model wrote it; not empty.
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
}

/// Result of a tool call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelToolResult {
    /// The call's id.
    pub(super) id: String,
    /// The called tool.
    pub(super) name: String,
    /// Text shown to the model.
    pub(super) text: String,
    /// True if the call failed; the text says why.
    pub(super) is_error: bool,
}

/// A model's reply: at least one call or a text that is not blank. At most 16 MiB as JSON, and 128
/// calls.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AskModelResult {
    pub(super) text: String,
    /// Calls in the model's order, with unique ids.
    pub(super) tool_calls: Vec<ModelToolCall>,
    /// Token usage; left out if the editor does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<ModelUsage>,
    /// The model that replied, as the editor names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
}

/// Tokens spent on one request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelUsage {
    /// Tokens of the request.
    pub(super) input_tokens: u32,
    /// Tokens of the reply, reasoning included.
    pub(super) output_tokens: u32,
}

/// Content of `data` in an error response to `trellis/askModel`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AskModelErrorData {
    /// `unavailable`: no such model, or the user does not allow its use; `tooLong`: the request
    /// exceeds the model's context; `unusable`: the model declined or gave no usable reply. Any
    /// other kind is a temporary failure, after which the request is repeated.
    pub(super) kind: String,
}

/// The request to cancel; unknown ids are ignored.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CancelModelParams {
    /// Id from the [`AskModelParams`].
    pub(super) id: u64,
}

/// The model to try.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TryModelParams {
    /// Model such as `editor` or `openai:MODEL`, not empty; without it, the configured models are
    /// tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
}

/// Outcome of a tiny request to one model.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelTriedParams {
    /// Configured name, such as `openai:MODEL`; left out if no name was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    /// True if the model replied; otherwise `error` and usually `hint` say more.
    pub(super) ok: bool,
    /// The start of the reply, on one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reply: Option<String>,
    /// The model that replied, as the provider names it; left out for a recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answered_by: Option<String>,
    /// Time from the request to the reply or the last attempt.
    pub(super) milliseconds: u64,
    /// Tokens of the request, if counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input_tokens: Option<u64>,
    /// Tokens of the reply, if counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_tokens: Option<u64>,
    /// US dollars, if a price is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usd: Option<f64>,
    /// The problem and its cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    /// A remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
}
