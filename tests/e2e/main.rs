//! End-to-end tests of the binary: few, strict, each in its own folder and home.

mod bad_input;
mod crash;
mod editor;
mod editor_model;
mod edits;
mod faults;
mod grow;
mod inspect;
mod keys;
mod live;
mod localize;
mod look;
mod lsp;
mod methods;
mod mock;
mod models;
mod no_model;
mod people;
mod providers;
mod regression;
mod runs;
mod sandbox;
mod symbols;
mod tidy;
mod world;
mod write_tests;
