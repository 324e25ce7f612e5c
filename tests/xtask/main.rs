//! `cargo xtask`: development tasks of the repository.

#![allow(
    clippy::print_stdout,
    reason = "a command-line tool of the repository; its results go to the terminal"
)]

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod accuracy;
mod audit;
mod bench;
mod big_graph;
mod chains;
mod demo;
mod editor;
mod engine;
mod fidelity;
mod flaky;
mod fuzz;
mod live;
mod localize;
mod mock;
mod models;
mod peers;
mod phases;
mod release;
mod rename;
mod repair;
mod scale;
mod search;
mod setup;
mod sidecar;
mod soak;
mod symbols;
mod tasks;
mod test;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Set up, demonstrate, test and measure Trellis")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Grow the master fixture into a folder and show the report.
    Demo(demo::DemoArgs),
    /// Run every test that shows whether a change is right.
    Test(test::TestArgs),
    /// Run the long tests, over many rounds.
    Soak(soak::SoakArgs),
    /// Grow a few functions with a small real model, on this machine.
    Live(live::LiveArgs),
    /// Measure, as ratios from one run.
    Bench(bench::BenchArgs),
    /// Check whose code is used: licences, duplicates, sources, and known advisories where they can be reached.
    Audit,
    /// Build the binary as it is delivered, and print its checksum.
    Release(release::ReleaseArgs),
}

/// Result of a task, with an error for the terminal.
pub(crate) type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Demo(args) => demo::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Soak(args) => soak::run(&args),
        Command::Live(args) => live::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Audit => audit::run(),
        Command::Release(args) => release::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
