//! The command line: one file per command, each with its arguments, its help and one `run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ColorChoice, FromArgMatches as _, Parser, Subcommand};

use crate::output::{Output, color, log as diagnostics, waiting};
use trellis_workflows::fault::{Exit, Fault};

mod code_view;
mod completions;
mod demo;
mod doctor;
mod examples;
mod fixes;
mod generate;
mod help;
mod implement;
mod localize;
mod log;
mod lsp;
mod mcp;
mod plan;
mod repair;
mod rollback;
mod serve;
mod stacks;
mod status;
mod symbols;
mod tasks;
mod test;
mod test_output;
mod write_tests;

/// Test-driven AI coding for Python: keeps only what real test runs prove.
#[derive(Parser)]
#[command(name = "trellis", version, about, max_term_width = 100, after_help = AFTER)]
struct Cli {
    /// Print the result as one JSON object.
    #[arg(long, global = true, display_order = 900)]
    json: bool,
    /// Color the output: auto, always or never.
    #[arg(
        long,
        global = true,
        display_order = 901,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    color: color::When,
    /// Append a log to this file; RUST_LOG sets the levels.
    #[arg(long, global = true, display_order = 902, value_name = "FILE")]
    log_file: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

/// End of the help.
const AFTER: &str = "Exit codes: 0 done, 1 tests fail, 2 needs your review, 64 wrong usage, 65 bad input, \
                     69 model or sandbox unavailable, 70 internal error, 130 interrupted.";

#[derive(Subcommand)]
enum Command {
    Generate(Box<trellis_server::api::generate::GenerateArgs>),
    /// Check, search and browse a planning graph.
    Plan(plan::PlanArgs),
    /// Browse code by file or by node.
    #[command(visible_alias = "show")]
    Code(code_view::CodeArgs),
    Test(test::TestArgs),
    #[command(visible_alias = "generate-tests")]
    WriteTests(Box<write_tests::WriteTestsArgs>),
    Repair(Box<trellis_server::api::repair::RepairArgs>),
    Implement(Box<trellis_server::api::implement::ImplementArgs>),
    #[command(visible_alias = "build")]
    Tasks(Box<trellis_server::api::tasks::TasksArgs>),
    /// Review proposed fixes: list, show, accept, reject, undo.
    Fixes(Box<fixes::FixesArgs>),
    #[command(visible_alias = "locate")]
    Localize(localize::LocalizeArgs),
    Status(status::StatusArgs),
    Report(status::ReportArgs),
    Log(log::LogArgs),
    Rollback(rollback::RollbackArgs),
    Doctor(doctor::DoctorArgs),
    /// List project templates; create a project from one.
    #[command(visible_alias = "templates")]
    Stacks(stacks::StacksArgs),
    Symbols(symbols::SymbolsArgs),
    Lsp(lsp::LspArgs),
    Serve(serve::ServeArgs),
    Mcp(mcp::McpArgs),
    Demo(demo::DemoArgs),
    Completions(completions::CompletionsArgs),
    Man(completions::ManArgs),
    #[command(hide = true)]
    Reference(completions::ReferenceArgs),
}

/// Parses the command line, runs the command and prints errors.
pub(crate) async fn main() -> Exit {
    let cli = match Cli::of(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    color::choose(cli.color);
    if let (false, Some(name)) = (cli.json, cli.command.waits()) {
        waiting::start(name);
    }
    let mut output = Output::new(cli.json);
    let end = match diagnostics::start(cli.log_file.as_deref()) {
        Ok(()) => dispatch(cli.command, &mut output).await,
        Err(fault) => Err(fault),
    };
    waiting::end();
    end.unwrap_or_else(|fault| {
        output.note(format_args!("error: {fault}"));
        output.failed(&fault);
        fault.exit
    })
}

impl Cli {
    /// Parses the words of a command line, beginning with the program's name.
    fn of<W: Into<OsString> + Clone>(
        words: impl IntoIterator<Item = W>,
    ) -> Result<Cli, clap::Error> {
        let matches = help::command().color(help_color()).try_get_matches_from(words)?;
        Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut help::command()))
    }
}

/// Returns the color choice for help and usage errors, which are printed before anything is parsed.
fn help_color() -> ColorChoice {
    let words: Vec<String> = std::env::args().take_while(|it| it != "--").collect();
    let has = |when: &str| {
        let apart = words.windows(2).any(|it| it[0] == "--color" && it[1] == when);
        apart || words.contains(&format!("--color={when}"))
    };
    match (has("always"), has("never")) {
        (true, _) => ColorChoice::Always,
        (_, true) => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}

impl Command {
    /// Returns the name of a command whose progress line is shown on a terminal. `generate` has a
    /// progress bar of its own; servers print nothing.
    fn waits(&self) -> Option<&'static str> {
        Some(match self {
            Command::Test(_) => "running tests",
            Command::WriteTests(_) => "generating tests",
            Command::Repair(_) => "repairing",
            Command::Fixes(_) => "testing the fix",
            Command::Implement(_) => "implementing",
            Command::Tasks(_) => "building",
            Command::Localize(_) => "locating the cause",
            Command::Plan(_) => "reading the graph",
            Command::Symbols(_) => "reading the code",
            Command::Stacks(_) => "preparing the project",
            Command::Doctor(_) => "checking this machine",
            Command::Log(_) => "reading the journal",
            Command::Rollback(_) => "resetting",
            Command::Demo(args) if args.waits() => "running the example",
            _ => return None,
        })
    }
}

/// Returns the folders for a server, as real paths without symbolic links.
fn served(folders: &[PathBuf]) -> Result<Vec<PathBuf>, Fault> {
    let real = |folder: &PathBuf| match folder.canonicalize() {
        Ok(real) if real.is_dir() => Ok(real),
        Ok(_) => Err(Fault::input(format!("{} is not a folder", folder.display()))
            .hint("give the folder that contains it")),
        Err(error) => Err(Fault::input(trellis_os::wording::cannot_read(folder.display(), &error))
            .hint("give folders that exist")),
    };
    folders.iter().map(real).collect()
}

/// Prints a parser error. `--help` and `--version` arrive as errors too, but succeed.
fn usage(error: &clap::Error) -> Exit {
    // Nothing can be printed if the terminal is gone.
    let _ = error.print();
    if error.use_stderr() { Exit::Usage } else { Exit::Done }
}

async fn dispatch(command: Command, output: &mut Output) -> Result<Exit, Fault> {
    match command {
        Command::Generate(args) => generate::run(*args, output).await,
        Command::Plan(args) => plan::run(args, output).await,
        Command::Code(args) => code_view::run(&args, output),
        Command::Test(args) => test::run(args, output).await,
        Command::WriteTests(args) => write_tests::run(*args, output).await,
        Command::Repair(args) => repair::run(*args, output).await,
        Command::Implement(args) => implement::run(*args, output).await,
        Command::Tasks(args) => tasks::run(*args, output).await,
        Command::Fixes(args) => fixes::run(*args, output).await,
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
        Command::Demo(args) => demo::run(args, output).await,
        Command::Completions(args) => completions::run(&args, output),
        Command::Man(args) => completions::man(&args, output),
        Command::Reference(args) => completions::reference(&args, output).await,
    }
}
