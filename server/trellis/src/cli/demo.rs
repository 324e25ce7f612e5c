//! `trellis demo`: an example that runs without a model, from recorded replies. The tests run for
//! real.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use include_dir::{Dir, DirEntry, include_dir};

use super::{Cli, dispatch};
use crate::output::Output;
use trellis_workflows::fault::{Exit, Fault};

/// The examples from `fixtures/examples`.
static EXAMPLES: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../fixtures/examples");

/// Run an example without an API key, from recorded replies.
///
/// Copies a small project to a new folder, shows the command for it, and runs that command. The model's replies come from a
/// file; the tests run for real.
#[derive(Args)]
pub(crate) struct DemoArgs {
    /// Example to run.
    #[arg(value_enum, default_value = "repair", value_name = "EXAMPLE")]
    example: Example,
    /// Folder for the example: new, empty, or of an earlier start [default: trellis-demo/EXAMPLE].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Example {
    /// Generate tests for a method.
    WriteTests,
    /// Fix a failing project.
    Repair,
    /// Generate a repository from a plan of eight nodes.
    Generate,
}

impl Example {
    fn folder(self) -> &'static str {
        match self {
            Example::WriteTests => "write-tests",
            Example::Repair => "repair",
            Example::Generate => "generate",
        }
    }

    /// Returns the command line for the example in this folder.
    fn words(self, folder: &str) -> Vec<String> {
        let model = format!("recorded:{folder}/replies.jsonl");
        let words: Vec<String> = match self {
            Example::WriteTests => {
                vec!["write-tests".to_owned(), format!("{folder}/shop/cart.py::Cart.total")]
            }
            Example::Repair => {
                ["repair", folder, "--approve", "autonomous"].map(str::to_owned).to_vec()
            }
            Example::Generate => {
                let (plan, out) = (format!("{folder}/plan.json"), format!("{folder}/library"));
                vec!["generate".to_owned(), plan, "--out".to_owned(), out]
            }
        };
        words.into_iter().chain(["--model".to_owned(), model]).collect()
    }

    /// Returns the advice shown at the end.
    fn next(self, folder: &str) -> String {
        let first = match self {
            Example::WriteTests => format!("the tests are in {folder}/trellis_tests"),
            Example::Repair => format!("`trellis log {folder}` shows every step"),
            Example::Generate => format!("`trellis report {folder}/library` prints the report"),
        };
        let yours = match self {
            Example::WriteTests => "write-tests FILE::FUNCTION",
            Example::Repair => "repair",
            Example::Generate => "generate PLAN --out DIR",
        };
        format!("\nnext: {first}\nwith your own project: trellis {yours} --model PROVIDER:NAME")
    }
}

impl DemoArgs {
    /// Returns whether the example shows no progress of its own.
    pub(super) fn waits(&self) -> bool {
        self.example != Example::Generate
    }
}

pub(super) async fn run(args: DemoArgs, output: &mut Output) -> Result<Exit, Fault> {
    let out = args.out.unwrap_or_else(|| Path::new("trellis-demo").join(args.example.folder()));
    let folder = out.to_string_lossy().into_owned();
    copy(args.example, &out)?;
    let words = args.example.words(&folder);
    output.note(format_args!("running: trellis {}\n", words.join(" ")));
    let cli = Cli::of(std::iter::once("trellis".to_owned()).chain(words))
        .map_err(|error| Fault::internal(format!("the example is wrong: {error}")))?;
    let exit = Box::pin(dispatch(cli.command, output)).await?;
    output.note(args.example.next(&folder));
    Ok(exit)
}

/// Writes the example's files to a folder without any. A folder that has the example already is
/// used as it is.
fn copy(example: Example, out: &Path) -> Result<(), Fault> {
    let cannot = |error: std::io::Error| {
        Fault::input(format!("cannot write the example to {}: {error}", out.display()))
            .hint("give another folder with --out")
    };
    let folder = EXAMPLES.get_dir(example.folder());
    let folder = folder.ok_or_else(|| Fault::internal("this build has no examples"))?;
    fs::create_dir_all(out).map_err(cannot)?;
    if fs::read_dir(out).map_err(cannot)?.next().is_some() {
        let page = folder.get_file(folder.path().join("README.md"));
        let is_ours = page.is_some_and(|it| {
            fs::read(out.join("README.md")).is_ok_and(|text| text == it.contents())
        });
        return if is_ours { Ok(()) } else { Err(not_empty(out)) };
    }
    write(folder, folder.path(), out).map_err(cannot)
}

fn not_empty(out: &Path) -> Fault {
    let shown = out.display();
    Fault::input(format!("{shown} is not empty, and not of this example"))
        .hint(format!("give another folder with --out, or remove {shown}"))
}

fn write(folder: &Dir, top: &Path, out: &Path) -> std::io::Result<()> {
    for entry in folder.entries() {
        let path = out.join(entry.path().strip_prefix(top).unwrap_or(entry.path()));
        match entry {
            DirEntry::Dir(inner) => {
                fs::create_dir(&path)?;
                write(inner, top, out)?;
            }
            DirEntry::File(file) => fs::write(&path, file.contents())?,
        }
    }
    Ok(())
}
