//! Long tests: `cargo xtask soak` runs them, `cargo xtask test` leaves them out
//! (`.config/nextest.toml`).

mod faults;
mod kills;
mod languages;
mod orders;
mod providers;
mod sets;
mod two_starts;
