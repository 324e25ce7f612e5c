//! `trellis stacks`: manages templates of new projects.

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use tokio_util::sync::CancellationToken;

use crate::output::Output;
use trellis_server::api::stacks::{
    InstallPackagesParams, InstalledBy, ListStacksParams, NewProjectParams, ShowStackParams,
    StackShown, install, list, new_project, show,
};
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::signals::cancel_on_signal;

#[derive(Args)]
pub(crate) struct StacksArgs {
    #[command(subcommand)]
    command: StacksCommand,
}

#[derive(Subcommand)]
enum StacksCommand {
    /// List the templates: built in, yours and the project's.
    List,
    /// Show a template with all its files.
    Show {
        /// Name of the template.
        #[arg(value_name = "TEMPLATE")]
        name: String,
    },
    /// Create a project with a passing test in a new or empty folder.
    New {
        /// Name of the template.
        #[arg(value_name = "TEMPLATE")]
        stack: String,
        /// Folder of the project.
        #[arg(value_name = "PROJECT")]
        dir: PathBuf,
        /// Name of the project [default: the folder's name].
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Install a project's packages (uses the network).
    Install {
        /// Folder of the project.
        #[arg(value_name = "PROJECT")]
        dir: PathBuf,
    },
}

pub(crate) async fn run(args: StacksArgs, output: &mut Output) -> Result<Exit, Fault> {
    match args.command {
        StacksCommand::List => list_all(output)?,
        StacksCommand::Show { name } => show_one(name, output)?,
        StacksCommand::New { stack, dir, name } => {
            create_project(
                &NewProjectParams { stack, out: dir, project_name: name, root: None },
                output,
            )?;
        }
        StacksCommand::Install { dir } => packages(dir, output).await?,
    }
    Ok(Exit::Done)
}

fn list_all(output: &mut Output) -> Result<(), Fault> {
    let result = list(&ListStacksParams::default())?;
    if output.is_json() {
        return output.json(&result);
    }
    output.stream(|out| {
        result.stacks.iter().try_for_each(|it| {
            let file = it.file.as_deref().map(|it| format!("  ({})", it.display()));
            let (name, category, file) = (&it.name, &it.category, file.unwrap_or_default());
            writeln!(out, "{name:<12} {category:<9} {}{file}", it.description)
        })
    })
}

fn show_one(stack: String, output: &mut Output) -> Result<(), Fault> {
    let result = show(&ShowStackParams { stack, root: None })?;
    if output.is_json() { output.json(&result) } else { output.text(yaml(&result).trim_end()) }
}

/// Returns a stack in the format of stack files, so that it can serve as a template.
fn yaml(stack: &StackShown) -> String {
    let mut out = String::new();
    let lines = [
        ("name", &stack.name),
        ("display_name", &stack.display_name),
        ("description", &stack.description),
        ("category", &stack.category),
        ("src_dir", &stack.src_dir),
        ("test_dir", &stack.test_dir),
        ("test_command", &stack.test_command),
    ];
    for (field, text) in lines {
        // Any JSON string is also a YAML string.
        out += &format!("{field}: {}\n", serde_json::json!(text));
    }
    out += &format!("install: {}\n", stack.install.name());
    for (field, files) in
        [("config_files", &stack.config_files), ("hello_world", &stack.hello_world)]
    {
        out += &format!("{field}:\n");
        for (path, text) in files {
            out += &format!("  {}: {}", serde_json::json!(path), block(text, "    "));
        }
    }
    out + &format!("conventions: {}", block(&stack.conventions, "  "))
}

/// Returns a text as YAML: as a block if that reproduces the text, else as a quoted string.
fn block(text: &str, indent: &str) -> String {
    let odd = |c: char| c.is_control() && c != '\n';
    if !text.ends_with('\n')
        || text.ends_with("\n\n")
        || text.starts_with([' ', '\n'])
        || text.contains(odd)
    {
        return format!("{}\n", serde_json::json!(text));
    }
    let lines = text.lines();
    let lines =
        lines.map(|it| if it.is_empty() { "\n".to_owned() } else { format!("{indent}{it}\n") });
    format!("|\n{}", lines.collect::<String>())
}

fn create_project(params: &NewProjectParams, output: &mut Output) -> Result<(), Fault> {
    let result = new_project(params)?;
    if output.is_json() {
        return output.json(&result);
    }
    let (name, out, count) = (&result.project_name, result.out.display(), result.files.len());
    output.text(format!("{name}: {count} files of {} in {out}", result.stack))?;
    output.note(format_args!(
        "next: `trellis stacks install {out}`, then there `{}`",
        result.test_command
    ));
    Ok(())
}

async fn packages(dir: PathBuf, output: &mut Output) -> Result<(), Fault> {
    let cancel = CancellationToken::new();
    cancel_on_signal(cancel.clone())?;
    let result =
        install(&InstallPackagesParams { root: Some(dir) }, output.reporter(), &cancel).await?;
    if output.is_json() {
        return output.json(&result);
    }
    output.stream(|out| result.installed.iter().try_for_each(|it| writeln!(out, "{}", line(it))))
}

fn line(it: &InstalledBy) -> String {
    let lock = it.lock_file.map(|file| format!("; versions are in {file}, keep it"));
    let python = it.interpreter.as_deref().map(|it| format!("; run {} -m pytest", it.display()));
    let (lock, python) = (lock.unwrap_or_default(), python.unwrap_or_default());
    format!("{}: installed{lock}{python}", it.installer.name())
}
