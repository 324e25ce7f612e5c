//! Failures with files and folders.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

/// A file or folder that could not be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {source}{}", .path.display(), .action.remedy())]
pub struct FileError {
    /// The operation.
    pub action: FileAction,
    /// The file or folder.
    pub path: PathBuf,
    /// The system's error.
    pub source: io::Error,
}

impl FileError {
    /// Returns the conversion of the system's error of `action` on `path`.
    pub(crate) fn of(action: FileAction, path: &Path) -> impl FnOnce(io::Error) -> FileError {
        move |source| FileError { action, path: path.to_owned(), source }
    }
}

/// Operations on a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAction {
    /// Opening it.
    Open,
    /// Opening the folder with the project and its tests.
    OpenTested,
    /// Reading it.
    Read,
    /// Writing it.
    Write,
    /// Writing files into it.
    WriteInto,
    /// Creating it.
    Create,
    /// Creating a sandbox's folder in it.
    CreateFolderIn,
    /// Creating a scratch folder in it.
    CreateScratchIn,
    /// Copying it.
    Copy,
    /// Removing it, a scratch folder.
    RemoveScratch,
    /// Locking it, a file of the cache.
    Lock,
}

impl fmt::Display for FileAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileAction::Open => "open",
            FileAction::OpenTested => "open the folder under test,",
            FileAction::Read => "read",
            FileAction::Write => "write",
            FileAction::WriteInto => "write to",
            FileAction::Create => "create",
            FileAction::CreateFolderIn => "create a folder in",
            FileAction::CreateScratchIn => "create a scratch folder in",
            FileAction::Copy => "copy",
            FileAction::RemoveScratch => "remove the scratch folder",
            FileAction::Lock => "lock",
        })
    }
}

impl FileAction {
    /// Returns the end of a message, with the remedy if there is one.
    fn remedy(self) -> &'static str {
        match self {
            FileAction::CreateFolderIn | FileAction::CreateScratchIn => "; choose another one",
            FileAction::RemoveScratch => "; remove it yourself",
            FileAction::Lock => "; choose another cache folder or free some space",
            _ => "",
        }
    }
}
