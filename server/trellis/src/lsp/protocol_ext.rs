//! What Trellis adds to the protocol: its own methods and the shapes of their messages.
//!
//! These structs are the wire and nothing else; who uses them makes them of the engine's types, or the engine's
//! types of them. Names are in camelCase; what is marked optional is left out where there is nothing to say.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tower_lsp::ls_types::notification::Notification;
use tower_lsp::ls_types::request::Request;

/// `trellis/askModel`, a request to the client: one question to a model of the editor's.
///
/// The result is an [`AskModelResult`]; it is taken as any JSON here, since nothing in it is trusted. An error whose
/// data is an [`AskModelErrorData`] says why there is none. A client that does not know the method offers no models.
pub(super) enum AskModel {}

impl Request for AskModel {
    type Params = AskModelParams;
    type Result = Value;
    const METHOD: &'static str = "trellis/askModel";
}

/// `trellis/cancelModel`, a notification to the client: nobody waits for the answer any more.
pub(super) enum CancelModel {}

impl Notification for CancelModel {
    type Params = CancelModelParams;
    const METHOD: &'static str = "trellis/cancelModel";
}

/// `trellis/tryModel`, a request of the client: one tiny question to each model that work would be done with. The
/// result is `null` and comes at once; each model's outcome is a [`ModelTried`].
pub(super) const TRY_MODEL: &str = "trellis/tryModel";

/// `trellis/modelTried`, a notification to the client: what became of the tiny question.
pub(super) enum ModelTried {}

impl Notification for ModelTried {
    type Params = ModelTriedParams;
    const METHOD: &'static str = "trellis/modelTried";
}

/// `trellis/event`, a notification to the client: something happened.
pub(super) enum HappenedNotification {}

impl Notification for HappenedNotification {
    type Params = crate::event_bus::Event;
    const METHOD: &'static str = "trellis/event";
}

/// One question, with the place in the run it belongs to.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AskModelParams {
    /// What [`CancelModelParams`] names; never the same twice from one server.
    pub(super) id: u64,
    /// The model's name after `editor:`; empty where the editor may choose.
    pub(super) model: String,
    /// Node, task or issue that the question is about; `doctor` for a trial.
    pub(super) node: String,
    /// Stage of the work on it, such as `implementation`.
    pub(super) stage: String,
    /// Counted from 0 within that stage of that node.
    pub(super) attempt: u32,
    /// The conversation, oldest first.
    pub(super) messages: Vec<ModelMessage>,
    /// What the model may call; often nothing.
    pub(super) tools: Vec<ModelTool>,
    /// Sampling temperature, usually 0 to 1.
    pub(super) temperature: f64,
    /// Upper limit of the reply in tokens; left out where the model's own holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_output_tokens: Option<u32>,
}

/// One turn of a conversation.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelMessage {
    pub(super) role: ModelRole,
    /// What is said; may be empty beside calls or results.
    pub(super) text: String,
    /// Tools that the assistant wanted called; of an assistant only.
    pub(super) tool_calls: Vec<ModelToolCall>,
    /// What the calls of the message before came to, in their order; of a user only.
    pub(super) tool_results: Vec<ModelToolResult>,
}

/// Who speaks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ModelRole {
    /// Standing instructions.
    System,
    /// The engine's question.
    User,
    /// An earlier reply of the model.
    Assistant,
}

/// Something the model may call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelTool {
    /// Letters, digits and `_`, at most 64.
    pub(super) name: String,
    /// What it does and when it is of use, for the model.
    pub(super) description: String,
    /// A JSON schema of type `object`.
    pub(super) parameters: Value,
}

/// A tool the model wants called.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelToolCall {
    /// Tells the calls of one conversation apart; not empty.
    pub(super) id: String,
    /// Name of the tool, as the model wrote it; not empty.
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
}

/// What a tool call came to.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelToolResult {
    /// The call's id.
    pub(super) id: String,
    /// The called tool.
    pub(super) name: String,
    /// What the model is to be shown.
    pub(super) text: String,
    /// Whether the call failed; the text says why.
    pub(super) is_error: bool,
}

/// What the model said: at least a text that is not blank, or one call. At most 16 MiB as JSON, and 128 calls.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AskModelResult {
    pub(super) text: String,
    /// In the model's order; no two with one id.
    pub(super) tool_calls: Vec<ModelToolCall>,
    /// Left out where the editor does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<ModelUsage>,
    /// The model that answered, in the editor's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
}

/// Tokens spent on one question.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelUsage {
    /// Tokens of the question.
    pub(super) input_tokens: u32,
    /// Tokens of the reply, thoughts included.
    pub(super) output_tokens: u32,
}

/// What stands in `data` of an error that answers `trellis/askModel`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AskModelErrorData {
    /// `unavailable`: no such model, or the person does not allow its use; `tooLong`: the question does not fit into
    /// the model's context; `unusable`: the model declined or said nothing that could be passed on. Anything else is
    /// a failure that may pass, after which the question is put again.
    pub(super) kind: String,
}

/// Whose answer nobody waits for; an id that is not being answered means nothing.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CancelModelParams {
    /// That of the [`AskModelParams`].
    pub(super) id: u64,
}

/// Which model to try.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TryModelParams {
    /// Such as `editor` or `openai:MODEL`, not empty; else what environment and files name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
}

/// What became of a tiny question to one model.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelTriedParams {
    /// As it was named, such as `openai:MODEL`; left out where no name was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    /// Whether it answered; if not, `error` and mostly `hint` say more.
    pub(super) ok: bool,
    /// The start of what it said, on one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reply: Option<String>,
    /// Who answered, in the provider's words; left out for a recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answered_by: Option<String>,
    /// From the question to the answer or the end of trying.
    pub(super) milliseconds: u64,
    /// Tokens of the question, where they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input_tokens: Option<u64>,
    /// Tokens of the reply, where they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_tokens: Option<u64>,
    /// US dollars, where a price is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usd: Option<f64>,
    /// What went wrong and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
}
