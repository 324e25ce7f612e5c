//! A small client of the Language Server Protocol over stdio, for tests and measurements.
//!
//! It uses threads and channels, no async runtime: one thread writes, one reads and answers
//! requests of the server, one keeps the end of the server's standard error. All waits of the
//! [`Client`] have deadlines. Contents are JSON values.

mod answers;
mod client;
mod documents;
mod handshake;
mod patience;
mod pipes;
mod questions;
mod raw;
mod text;
mod uri;
mod wire;

pub use client::{Answer, Client, Failure};
pub use documents::{FileEvent, Place, Waiting};
pub use patience::patience;
pub use questions::Question;
pub use raw::Raw;
pub use text::{Encoding, Texts, lines, read};
pub use uri::{path_of, uri_of};
pub use wire::frame;
