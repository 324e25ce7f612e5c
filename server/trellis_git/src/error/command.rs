//! Errors of single git commands.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use trellis_os::wording::without_numbers;

use super::GitError;

/// Error of a git command, or of the work around it.
#[derive(Debug, thiserror::Error)]
#[error("git {step} failed: {cause}")]
pub struct CommandError {
    /// First word of the command, or a name of the work.
    pub step: String,
    pub cause: CommandCause,
}

impl CommandError {
    /// Returns whether git was not started because of what the repository's check found.
    pub fn is_refused(&self) -> bool {
        matches!(&self.cause, CommandCause::Refused(why) if !why.is_of_machine())
    }

    /// Returns whether git says that a patch does not apply. Otherwise git did not start, was
    /// killed, or met an error of the machine, and another try may succeed. An unreadable file has
    /// the same exit code as a patch that does not apply.
    pub fn is_verdict(&self) -> bool {
        let of_machine = ["fatal: ", "unable to ", "failed to read"];
        matches!(&self.cause, CommandCause::Stderr { code: 1, words }
            if !of_machine.iter().any(|it| words.contains(it)))
    }
}

/// Cause of a failed git command.
#[derive(Debug, thiserror::Error)]
pub enum CommandCause {
    /// Exit code of git, and its words on standard error.
    #[error("{words}")]
    Stderr { code: i32, words: String },
    /// A git that ended without an exit code.
    #[error("{0}")]
    Ended(ExitStatus),
    /// git or the journal could not be used.
    #[error("{0}")]
    Io(io::Error),
    #[error("cannot {action} {}: {source}", path.display())]
    IoAt { action: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot create a scratch folder: {0}")]
    Scratch(io::Error),
    /// Locks of a killed git could not be removed.
    #[error("{}", without_numbers(&.0.to_string()))]
    Locks(Box<GitError>),
    #[error("{0}")]
    Refused(GuardError),
}

impl GuardError {
    /// Returns whether the repository could not be checked.
    fn is_of_machine(&self) -> bool {
        use GuardError::{Io, IoAt, UnreadableSettings};
        matches!(self, Io(_) | IoAt { .. } | UnreadableSettings(_))
    }
}

/// Reason why git is not started in a repository.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    #[error("{0}")]
    Io(io::Error),
    #[error("{}: {source}", path.display())]
    IoAt { path: PathBuf, source: io::Error },
    #[error("{} is a symbolic link: it may belong to another project", path.display())]
    LinkedRepository { path: PathBuf },
    #[error("{} does not name a folder", path.display())]
    NoFolder { path: PathBuf },
    #[error("{} points to {to}: {source}", path.display())]
    Unreachable { path: PathBuf, to: String, source: io::Error },
    #[error("{} points to {}, which belongs to another folder", path.display(), git.display())]
    OfAnotherFolder { path: PathBuf, git: PathBuf },
    #[error("{} keeps its commits elsewhere", git.display())]
    CommitsElsewhere { git: PathBuf },
    #[error(
        "its own settings make git start a program (`{key}`: `{value}`). If you want that, set the \
         same in your own settings: `git config --global {key} …`"
    )]
    StartsProgram { key: String, value: String },
    #[error(
        "{} points to {}, which does not name this folder in `core.worktree`: it may belong to \
         another project",
        path.display(),
        git.display()
    )]
    NamesNoFolder { path: PathBuf, git: PathBuf },
    #[error("its setting `core.worktree` points to {}", place.display())]
    FilesElsewhere { place: PathBuf },
    #[error("{} is a symbolic link", path.display())]
    SymbolicLink { path: PathBuf },
    /// The words of a git that could not list the settings.
    #[error("{0}")]
    UnreadableSettings(String),
}
