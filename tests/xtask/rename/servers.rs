//! The servers that are asked for renames: Trellis, and pyright from the package index of Node.js.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use lsp::{Encoding, Failure};

use super::names::Definition;
use crate::accuracy::ask::Asker;
use crate::accuracy::edits::Edit;
use crate::fidelity::projects::Project;
use crate::setup;
use crate::symbols::server::UNWANTED;

/// The version of pyright that is installed.
const PYRIGHT: &str = "1.1.414";
/// Time for which the first answer has to stay the same before the questions begin.
const SETTLE: Duration = Duration::from_secs(1);

/// A server's program and argument.
pub(crate) struct Server {
    pub(crate) name: &'static str,
    program: PathBuf,
    argument: &'static str,
}

/// Edits of a rename, or why there are none.
pub(crate) type Reply = Result<Vec<Edit>, String>;

impl Server {
    pub(crate) fn trellis(program: &Path) -> Server {
        Server { name: "trellis", program: program.to_owned(), argument: "lsp" }
    }

    /// Returns pyright, installed below the target folder.
    pub(crate) fn pyright() -> Result<Server, String> {
        setup::node()?;
        let home = setup::target().join("bench/rename").join(format!("pyright-{PYRIGHT}"));
        let program = home.join("node_modules/.bin/pyright-langserver");
        if !program.exists() {
            eprintln!("installing pyright {PYRIGHT} into {}", home.display());
            fs::create_dir_all(&home).map_err(|error| format!("{}: {error}", home.display()))?;
            let mut npm = Command::new("npm");
            npm.args(["install", "--silent", "--prefix"]).arg(&home);
            setup::silent(npm.arg(format!("pyright@{PYRIGHT}")))?;
        }
        Ok(Server { name: "pyright", program, argument: "--stdio" })
    }

    /// Returns the server's command with the project's environment in front, where pyright looks
    /// for installed packages.
    fn command(&self, project: &Project) -> Command {
        let mut command = Command::new(&self.program);
        UNWANTED.iter().for_each(|name| {
            command.env_remove(name);
        });
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = [project.environment.join("bin")].into_iter();
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&path)));
        command.arg(self.argument).envs(path.map(|it| ("PATH", it)));
        command
    }

    /// Returns the server's replies to all renames, in order.
    pub(crate) fn replies(
        &self,
        project: &Project,
        names: &[Definition],
    ) -> Result<Vec<Reply>, Failure> {
        let Some(first) = names.first() else { return Ok(Vec::new()) };
        let (command, root) = (self.command(project), &project.folder);
        let mut asker = Asker::start(command, root, Encoding::Utf16, &first.place(), SETTLE)?;
        let mut replies = Vec::new();
        for name in names {
            replies.push(refuse_empty(asker.edits(&name.place(), &name.to())?));
        }
        asker.end()?;
        Ok(replies)
    }
}

/// Makes a rename without edits a refusal.
fn refuse_empty(reply: Reply) -> Reply {
    match reply {
        Ok(edits) if edits.is_empty() => Err("the answer has no edits".to_owned()),
        other => other,
    }
}
