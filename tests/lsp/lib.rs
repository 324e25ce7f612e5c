//! A small client of the Language Server Protocol over stdio, for tests and measurements.
//!
//! Threads and channels, no runtime: one thread writes, one reads and answers what the server asks, one keeps the
//! server's last words. Whoever holds the [`Client`] waits with a deadline, never for ever. Contents are JSON values.

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
