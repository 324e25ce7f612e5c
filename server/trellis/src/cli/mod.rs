//! The command line: one file a command, each with its arguments, its help and one `run`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::error::{Exit, Fault};
use crate::output::Output;

mod doctor;
mod generate;
mod implement;
mod localize;
mod log;
mod lsp;
mod mcp;
mod plan;
mod repair;
mod results;
mod rollback;
mod serve;
mod stacks;
mod status;
mod symbols;
mod tasks;
mod test;
mod view;
mod write_tests;

/// Grow a tested Python repository along a planning graph.
#[derive(Parser)]
#[command(name = "trellis", version, about, max_term_width = 100)]
struct Cli {
    /// Print the result as one JSON object.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Generate(Box<crate::methods::generate::GenerateArgs>),
    /// Look at a planning graph: its problems, order, tree and dependencies; search it.
    Plan(plan::PlanArgs),
    /// Look at generated code by file or node.
    Code(view::CodeArgs),
    Test(test::TestArgs),
    WriteTests(Box<write_tests::WriteTestsArgs>),
    Repair(Box<crate::methods::repair::RepairArgs>),
    Implement(Box<crate::methods::implement::ImplementArgs>),
    Tasks(Box<crate::methods::tasks::TasksArgs>),
    Localize(localize::LocalizeArgs),
    Status(status::StatusArgs),
    Report(status::ReportArgs),
    Log(log::LogArgs),
    Rollback(rollback::RollbackArgs),
    Doctor(doctor::DoctorArgs),
    /// What new projects begin with: list and show tech stacks, make a project of one, install its packages.
    Stacks(stacks::StacksArgs),
    Symbols(symbols::SymbolsArgs),
    Lsp(lsp::LspArgs),
    Serve(serve::ServeArgs),
    Mcp(mcp::McpArgs),
}

/// Parses the command line, runs the command and prints what went wrong.
pub(crate) async fn main() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let mut output = Output::new(cli.json);
    dispatch(cli.command, &mut output).await.unwrap_or_else(|fault| {
        output.note(format_args!("error: {fault}"));
        output.failed(&fault);
        fault.exit
    })
}

/// Folders that a server is to answer about, without symbolic links on the way.
fn served(folders: &[PathBuf]) -> Result<Vec<PathBuf>, Fault> {
    let real = |folder: &PathBuf| match folder.canonicalize() {
        Ok(real) if real.is_dir() => Ok(real),
        Ok(_) => Err(Fault::input(format!("{} is no folder", folder.display()))
            .hint("give the folder that holds it")),
        Err(error) => Err(Fault::input(format!("cannot serve {}: {error}", folder.display()))
            .hint("give folders that are there")),
    };
    folders.iter().map(real).collect()
}

/// `--help` and `--version` arrive as errors too; only they succeed.
fn usage(error: &clap::Error) -> Exit {
    // Nothing can be said if the terminal is gone.
    let _ = error.print();
    if error.use_stderr() { Exit::Usage } else { Exit::Done }
}

async fn dispatch(command: Command, output: &mut Output) -> Result<Exit, Fault> {
    match command {
        Command::Generate(args) => generate::run(*args, output).await,
        Command::Plan(args) => plan::run(args, output).await,
        Command::Code(args) => view::run(&args, output),
        Command::Test(args) => test::run(args, output).await,
        Command::WriteTests(args) => write_tests::run(*args, output).await,
        Command::Repair(args) => repair::run(*args, output).await,
        Command::Implement(args) => implement::run(*args, output).await,
        Command::Tasks(args) => tasks::run(*args, output).await,
        Command::Localize(args) => localize::run(args, output).await,
        Command::Status(args) => status::run(&args, output),
        Command::Report(args) => status::report(&args, output),
        Command::Log(args) => log::run(&args, output),
        Command::Rollback(args) => rollback::run(&args, output),
        Command::Doctor(args) => doctor::run(&args, output).await,
        Command::Stacks(args) => stacks::run(args, output).await,
        Command::Symbols(args) => symbols::run(&args, output),
        Command::Lsp(args) => lsp::run(&args).await,
        Command::Serve(args) => serve::run(args, output).await,
        Command::Mcp(args) => mcp::run(&args).await,
    }
}
