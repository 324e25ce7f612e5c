//! End-to-end tests of the binary: few, strict, each in its own folder and home.

mod bad_input;
mod crash;
mod edits;
mod grow;
mod inspect;
mod live;
mod localize;
mod look;
mod lsp;
mod models;
mod people;
mod regression;
mod sandbox;
mod symbols;
mod tidy;
mod world;
