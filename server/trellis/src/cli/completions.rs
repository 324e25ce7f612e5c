//! `trellis completions` and `trellis man`: files for shells and for `man`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use clap_complete::Shell;
use clap_mangen::Man;

use super::{help, serve};
use crate::output::Output;
use trellis_server::rpc;
use trellis_workflows::fault::{Exit, Fault};

/// Print the completion script of a shell.
#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// Shell that reads it.
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the man page, or write one for each command.
#[derive(Args)]
pub(crate) struct ManArgs {
    /// Write the pages of all commands to this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Print a reference page of the documentation as Markdown.
#[derive(Args)]
pub(crate) struct ReferenceArgs {
    /// Page to print.
    #[arg(value_enum)]
    page: Page,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Page {
    Cli,
    Methods,
}

pub(super) fn run(args: &CompletionsArgs, output: &mut Output) -> Result<Exit, Fault> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut help::shown_command(), "trellis", &mut script);
    output.stream(|out| out.write_all(&script))?;
    Ok(Exit::Done)
}

pub(super) fn man(args: &ManArgs, output: &mut Output) -> Result<Exit, Fault> {
    let Some(folder) = &args.out else {
        let mut page = Vec::new();
        let made = Man::new(help::command()).render(&mut page);
        made.map_err(|error| Fault::internal(format!("cannot make the man page: {error}")))?;
        output.stream(|out| out.write_all(&page))?;
        return Ok(Exit::Done);
    };
    let written =
        fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(help::command(), folder));
    written.map_err(|error| unwritable(folder, &error))?;
    output.text(format_args!("man pages are in {}", folder.display()))?;
    Ok(Exit::Done)
}

fn unwritable(folder: &Path, error: &std::io::Error) -> Fault {
    Fault::input(format!("cannot write man pages to {}: {error}", folder.display()))
        .hint("give a folder that you may write to")
}

pub(super) async fn reference(args: &ReferenceArgs, output: &mut Output) -> Result<Exit, Fault> {
    let page = match args.page {
        Page::Cli => help::reference(),
        Page::Methods => rpc::reference(&serve::document().await?),
    };
    output.text(page.trim_end())?;
    Ok(Exit::Done)
}
