//! Talking to models: one question, one reply, whoever answers; and texts as vectors.
//!
//! [`open`] turns a name such as `openai:MODEL` or `recorded:FILE` into a [`Model`]; [`Model::ask`]
//! puts one [`Ask`] to it, with time-outs, retries and, where wanted, a recording of what came
//! back. The crate is the only one that speaks to model providers. It knows nothing of graphs,
//! Python or prompts, reads no environment variable itself (except for the HTTP client's proxy
//! settings, never used on loopback), and judges no reply: a reply is untrusted text.
//!
//! [`open_embedder`] does the same for an [`Embedder`], which turns texts into vectors that lie the closer
//! together the more the texts mean the same; the built-in one needs no network and no key.
//!
//! [`Rest`] asks a service that is no model, such as a forge, with the same care for its token.
//!
//! Keys live in [`Secret`]; no error, `Debug` output or recording shows one.

mod ask;
mod complaint;
mod connection;
mod editor;
mod embedding;
mod endpoint;
mod error;
mod frames;
mod gate;
mod live;
mod model;
mod open;
mod open_error;
mod prices;
mod providers;
mod quirks;
mod recording;
mod rest;
mod retry;
mod secret;
mod service;
mod settings;
mod wire;

pub use ask::{Ask, Message, Reply, Role, Tool, ToolCall, ToolResult, Usage};
pub use editor::{Editor, Unanswered};
pub use embedding::{EMBEDDERS, Embedder, Vectors, open_embedder};
pub use error::{ModelError, Outage};
pub use gate::{Gates, Pace};
pub use model::Model;
pub use open::open;
pub use open_error::OpenError;
pub use prices::{Card, Prices};
pub use providers::{Choice, FORMS as PROVIDERS, choice};
pub use recording::STAGES;
pub use rest::{Rest, Said, Verb};
pub use retry::Retry;
pub use secret::Secret;
pub use settings::{Settings, Timeouts};
