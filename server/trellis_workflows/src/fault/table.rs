//! The table of faults: exit code, hint, kind and remedy of each typed error.

use std::fmt::Display;
use std::io;

use trellis_git::error::{CommandError, GitError, RemoteError, TargetUse, WorktreeError};
use trellis_project::error::{EditError, LocateError, PlanFileError, ProjectError, Rollback};
use trellis_store::disk::is_full;
use trellis_store::error::StoreError;
use trellis_store::format::NewerFormat;

use super::{Exit, Fault, FaultKind};

impl From<&NewerFormat> for Fault {
    fn from(error: &NewerFormat) -> Fault {
        Fault::input(error).hint("use that version of Trellis here; nothing was changed")
    }
}

/// Returns the fault of an error that says that a newer Trellis wrote a file.
pub fn of_newer(error: &io::Error) -> Option<Fault> {
    error.get_ref()?.downcast_ref::<NewerFormat>().map(Fault::from)
}

impl From<&StoreError> for Fault {
    fn from(error: &StoreError) -> Fault {
        match error {
            StoreError::NoCacheFolder => Fault::unavailable(error).hint("set TRELLIS_CACHE"),
            StoreError::Lock { .. } | StoreError::Syntax { .. } => Fault::internal(error),
            StoreError::Busy { .. } => Fault::input(error)
                .kind(FaultKind::Busy)
                .hint("wait for it, or stop it; it leaves a checkpoint, and ends with its editor"),
            StoreError::ScratchFolder { .. } => {
                Fault::unavailable(error).hint("set TMPDIR to a folder that you can write to")
            }
            StoreError::Write { .. } => Fault::internal(error)
                .hint("fix this and run again; accepted nodes are in the journal"),
            StoreError::DiskFull { .. } => {
                Fault::internal(error).hint("free some space and run the command again")
            }
            StoreError::UserEdits { paths } => Fault::input(error).hint(keep_edits(paths)),
            StoreError::SymbolicLink { .. } => Fault::input(error).hint(
                "replace the link with a folder; Trellis only writes inside its output folder",
            ),
        }
    }
}

fn keep_edits(paths: &[String]) -> String {
    let it = if paths.len() == 1 { "it" } else { "them" };
    format!(
        "nothing was overwritten. Run again with --keep-edits to build on your version, or restore {it} \
         (`git checkout -- {}`) or move {it} away and run again",
        paths.join(" ")
    )
}

impl From<&GitError> for Fault {
    fn from(error: &GitError) -> Fault {
        match error {
            GitError::Command(_) => {
                Fault::internal(error).hint("fix what git reports, and run again; nothing is lost")
            }
            GitError::Refused(_) => Fault::input(error).kind(FaultKind::Untrusted).hint(
                "check the repository's `.git`: git did not write the part named above; nothing \
                 was changed",
            ),
            GitError::NotInstalled => Fault::unavailable(error),
            GitError::NoRepository { .. } => Fault::input(error)
                .hint("run `git init` and commit your files: Trellis works on a branch of its own"),
            GitError::NoBranch => {
                Fault::input(error).hint("`git switch` to the branch that the work is for")
            }
            GitError::Orphaned { .. } => Fault::input(error)
                .kind(FaultKind::Busy)
                .hint("wait for it, or end it, and run again; nothing is lost"),
            GitError::LockHeld { .. } => Fault::input(error)
                .kind(FaultKind::Busy)
                .hint("wait until it ends, and run again; nothing is lost"),
            GitError::Worktree(error) => of_worktree(error),
            GitError::Remote(error) => of_remote(error),
            GitError::Store(error) => Fault::from(error),
            GitError::Io { source, .. }
            | GitError::IoAt { source, .. }
            | GitError::Move { source, .. } => of_io(error, source),
        }
    }
}

fn of_worktree(error: &WorktreeError) -> Fault {
    match error {
        WorktreeError::Busy { .. } => {
            Fault::input(error).kind(FaultKind::Busy).hint("wait for it, or stop it")
        }
        WorktreeError::BranchOfOther { .. } => Fault::input(error)
            .hint("finish that work first, or give this one another name; nothing was changed"),
        WorktreeError::BranchTaken { .. } | WorktreeError::FolderTaken { .. } => {
            Fault::input(error).hint("rename or remove it: the work needs the name")
        }
        WorktreeError::OtherBranch { branch, .. } => {
            Fault::new(Exit::NeedsHuman, error).hint(format!(
                "`git switch {branch}` there, or move your files elsewhere; nothing was changed"
            ))
        }
        WorktreeError::Unlinked { folder, branch } => Fault::input(error).hint(format!(
            "its commits are on {branch}: move {} away, run again, and copy what you changed back",
            folder.display()
        )),
        WorktreeError::TargetGone { branch, .. } => Fault::new(Exit::NeedsHuman, error)
            .hint(format!("the work is on {branch}; merge it into any branch you like")),
        WorktreeError::AddedTo { branch, folder, .. } => {
            let folder = folder.display();
            Fault::new(Exit::NeedsHuman, error).hint(format!(
                "save what you need from {folder}, then run `git worktree remove --force {folder}` \
                 and `git branch -D {branch}`"
            ))
        }
        WorktreeError::Uncommitted { .. } => Fault::new(Exit::NeedsHuman, error)
            .hint("commit them there or move them elsewhere, then run again; nothing was changed"),
        WorktreeError::Unmerged { .. } => Fault::new(Exit::NeedsHuman, error)
            .hint("resolve them there and `git add` the files, then run again"),
        WorktreeError::MovedMeanwhile { .. } => Fault::new(Exit::NeedsHuman, error)
            .hint("run the same command again: it continues with what is there now"),
        WorktreeError::InTheWay { .. } => Fault::new(Exit::NeedsHuman, error)
            .hint("move it elsewhere, then run again; nothing of it was changed"),
        WorktreeError::TargetInUse { why: TargetUse::AbsentFolder { .. }, .. } => {
            Fault::new(Exit::NeedsHuman, error)
                .hint("bring the folder back or run `git worktree prune`, then run again")
        }
        WorktreeError::TargetInUse { .. } => {
            Fault::new(Exit::NeedsHuman, error).hint("end that first, then run again")
        }
        WorktreeError::OtherTarget { into, .. } => Fault::new(Exit::NeedsHuman, error)
            .hint(format!("`git switch {into}` and run again; nothing was changed")),
        WorktreeError::RecordGone { folder, branch } => {
            let folder = folder.display();
            Fault::input(error).hint(format!(
                "its commits are on {branch}. Commit what you need of {folder} there, then run \
                 `git worktree remove --force {folder}` and `git branch -m {branch} NAME`"
            ))
        }
        WorktreeError::MergeUnsupported => {
            Fault::unavailable(error).hint("install git 2.38 or newer; the work is on its branch")
        }
        WorktreeError::NoJson(_) => Fault::internal(error),
        WorktreeError::DamagedRecord { .. } => Fault::input(error).hint(
            "check the branch it names; if you need nothing of it, remove the file and the branch",
        ),
        WorktreeError::RecordVersion { .. } => {
            Fault::input(error).hint("use the Trellis that wrote it")
        }
        WorktreeError::ForeignRecord { .. } => Fault::input(error).hint("check it, and remove it"),
    }
}

fn of_remote(error: &RemoteError) -> Fault {
    match error {
        RemoteError::Unknown { .. } => Fault::input(error).hint(
            "give a name from `git remote`, an address, or the path of a repository (`./NAME`)",
        ),
        RemoteError::InsideProject { .. } => {
            Fault::input(error).hint("give its path if you want that")
        }
        RemoteError::BadAddress(_) => Fault::input(error)
            .hint("give one such as https://HOST/OWNER/NAME, HOST:OWNER/NAME, or a path"),
        RemoteError::NoJson { .. } => Fault::internal(error),
        RemoteError::RecordVersion { .. } => {
            Fault::input(error).hint("use the Trellis that wrote it")
        }
        RemoteError::DamagedRecord { .. } => Fault::input(error)
            .hint("move it away; Trellis then treats branches pushed earlier as someone else's"),
    }
}

impl From<&ProjectError> for Fault {
    fn from(error: &ProjectError) -> Fault {
        let fault = Fault::input(error);
        match error {
            ProjectError::Targets(LocateError::CurrentFolder(_)) => fault,
            ProjectError::Targets(LocateError::Unreadable { .. }) => {
                fault.hint("give test files, folders or ids such as tests/test_a.py::test_b")
            }
            ProjectError::Root(_) => fault.hint("give an existing file or folder"),
            ProjectError::Sources { .. } => fault.hint("give a folder or a Python file"),
        }
    }
}

impl From<&PlanFileError> for Fault {
    fn from(error: &PlanFileError) -> Fault {
        let fault = Fault::input(error);
        match error {
            PlanFileError::Unreadable { is_task_list, .. } => {
                let kind = if *is_task_list { "list of tasks" } else { "planning graph" };
                fault.hint(format!("give the path of a {kind}, which is a JSON file"))
            }
            PlanFileError::Malformed { source, .. } => {
                fault.hint(source.hint.as_deref().unwrap_or(FIX_THE_FILE))
            }
            PlanFileError::TaskList { .. } => fault.hint(
                "give a graph of functions and classes; `trellis plan levels` shows the tasks",
            ),
            PlanFileError::Problems { .. } => fault.hint(FIX_THE_FILE),
        }
    }
}

const FIX_THE_FILE: &str = "fix the file; nothing was started";

impl From<&EditError> for Fault {
    fn from(error: &EditError) -> Fault {
        let input = |hint: &str| Fault::input(error).hint(hint);
        match error {
            EditError::Unreadable { .. } => input("give a text file"),
            EditError::NotUtf8 { .. } => {
                input("convert it, or edit it with a tool that supports its encoding")
            }
            EditError::OtherEncoding { .. } => input(
                "Trellis reads and writes UTF-8: change the declaration and convert the file first",
            ),
            EditError::Unresolved { .. } => input("nothing was changed"),
            EditError::NoMetadata { .. } => Fault::input(error),
            EditError::NotAFile { .. } => input("give a file"),
            EditError::ReadOnly { .. } => input("run `chmod u+w` on it if you want to edit it"),
            EditError::ReadOnlyFolder { .. } => input("run `chmod u+w` on the folder"),
            EditError::OfGit { .. } | EditError::Outside { .. } => input("edit it by hand"),
            EditError::Changed { .. } => input("read it again and repeat the edit"),
            EditError::ListedTwice { .. } => Fault::internal(error),
            EditError::NoFolder { .. } => Fault::internal(error)
                .hint("nothing was changed; make the folder writable so that edits can be undone"),
            EditError::NotMade { source, rollback } => {
                Fault::internal(error).hint(after_rollback(source, rollback))
            }
            EditError::NotRecovered { source, .. } => of_newer(source).unwrap_or_else(|| {
                let hint = "fix this and try again; the old texts are in that folder";
                Fault::internal(error).hint(hint)
            }),
            EditError::NothingToUndo => {
                input("use --in with a file of the project that was edited")
            }
            EditError::UnknownEdit { .. } => {
                input("give one of these, or use --in with a file of the project that was edited")
            }
            EditError::DamagedRecord { .. } => {
                input("undo the edit by hand; the old texts are in the same folder")
            }
            EditError::NewerRecord(error) => Fault::from(error),
            EditError::ChangedSince { before, .. } => input(&format!(
                "undo later edits of it first, or compare it with the text before the edit, {}",
                before.display()
            )),
            EditError::Store(error) => Fault::from(error),
        }
    }
}

fn after_rollback(source: &io::Error, rollback: &Rollback) -> String {
    match rollback {
        Rollback::Complete if is_full(source) => {
            "all files are unchanged; free some space on the disk and try again".to_owned()
        }
        Rollback::Complete => "all files are unchanged".to_owned(),
        Rollback::Failed { folder, source } => format!(
            "some files could not be restored ({source}); the old texts are in {}, and the next \
             edit tries again",
            folder.display()
        ),
    }
}

/// Returns the fault of a failed read or write. No work is lost by it.
pub fn cannot(what: &str, error: &io::Error) -> Fault {
    of_io(format_args!("cannot {what}: {error}"), error)
}

fn of_io(message: impl Display, error: &io::Error) -> Fault {
    if let Some(fault) = of_newer(error) {
        return fault;
    }
    let fault = Fault::internal(message);
    match is_full(error) {
        true => fault.hint("the disk is full: free some space and run again; nothing is lost"),
        false => fault.hint("make `.trellis` writable, and run again; nothing is lost"),
    }
}

/// Returns an error of git and its hint in one line.
pub fn explained(error: &GitError) -> String {
    let fault = Fault::from(error);
    let hint = fault.hint.map(|it| format!(": {it}")).unwrap_or_default();
    format!("{}{hint}", fault.message)
}

impl From<CommandError> for Fault {
    fn from(error: CommandError) -> Fault {
        Fault::from(&GitError::from(error))
    }
}

/// Converts errors by value as by reference.
macro_rules! by_value {
    ($($error:ty),+) => {$(
        impl From<$error> for Fault {
            fn from(error: $error) -> Fault {
                Fault::from(&error)
            }
        }
    )+};
}

by_value!(NewerFormat, StoreError, GitError, ProjectError, PlanFileError, EditError);
