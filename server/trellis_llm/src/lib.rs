//! Requests to language models, whatever the provider, and embeddings of texts.
//!
//! [`open`] turns a name such as `openai:MODEL` or `recorded:FILE` into a [`Model`]; [`Model::ask`]
//! sends one [`ChatRequest`], with timeouts, retries and, on request, a recording of the answers.
//! No other crate sends requests to model providers. This crate does not depend on graphs, Python
//! or prompts, reads no environment variable itself (except for the HTTP client's proxy settings,
//! never used on loopback), and judges no reply: a reply is untrusted text.
//!
//! [`open_embedder`] opens an [`Embedder`], which turns texts into vectors: the more similar the
//! meaning, the closer the vectors. The built-in one needs no network and no key.
//!
//! [`JsonClient`] sends requests to services other than models, such as a forge, and protects its
//! token in the same way.
//!
//! Keys live in [`Secret`]; no error, `Debug` output or recording shows one.

mod chat;
mod connection;
mod editor;
mod embedding;
mod endpoint;
mod error;
mod error_body;
mod http_model;
mod json_client;
mod json_error;
mod model;
mod model_list;
mod open;
mod open_error;
mod prices;
mod providers;
mod rate_limit;
mod recording;
mod reply_reader;
mod retry;
mod secret;
mod service;
mod settings;
mod stream_events;
mod unsupported_params;
mod wire;

pub use chat::{ChatReply, ChatRequest, Message, Role, Tool, ToolCall, ToolResult, Usage};
pub use editor::{Editor, EditorError};
pub use embedding::{EMBEDDERS, Embedder, Vectors, open_embedder};
pub use endpoint::BaseUrlError;
pub use error::{ModelError, RecordError, TransientError};
pub use json_client::{HttpMethod, JsonClient, JsonResponse};
pub use json_error::{JsonOpenError, JsonRequestError};
pub use model::Model;
pub use model_list::{ListError, ListedModel, known_models, list_models, reachable_providers};
pub use open::open;
pub use open_error::OpenError;
pub use prices::{ModelInfo, Prices};
pub use providers::{DefaultModel, FORMS as PROVIDERS, choice};
pub use rate_limit::{RateLimiters, RateLimits};
pub use recording::{LineError, STAGES};
pub use reply_reader::{ReadReplyError, read_stream};
pub use retry::RetryPolicy;
pub use secret::Secret;
pub use settings::{Settings, Timeouts};
