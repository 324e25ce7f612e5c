//! Tests of the table of faults.

use std::io;

use trellis_git::error::{CommandCause, CommandError, GitError, GuardError};
use trellis_project::error::{EditError, Rollback};
use trellis_store::error::StoreError;
use trellis_store::lock::LockOwner;

use super::{Exit, Fault, FaultKind, cannot};

/// Number of the system error for a full disk.
const ENOSPC: i32 = 28;

fn refused(cause: CommandCause) -> Fault {
    Fault::from(CommandError { step: "add".to_owned(), cause })
}

#[test]
fn a_repository_that_is_not_trusted_differs_from_a_git_that_fails() {
    let fault = refused(CommandCause::Refused(GuardError::SymbolicLink { path: "x".into() }));
    assert_eq!(fault.message, "git was not started: x is a symbolic link");
    assert_eq!((fault.exit, fault.kind), (Exit::BadInput, Some(FaultKind::Untrusted)));
    let fault = refused(CommandCause::Stderr { code: 128, words: "fatal: no".to_owned() });
    assert_eq!(fault.message, "git add failed: fatal: no");
    assert_eq!((fault.exit, fault.kind), (Exit::Internal, None));
}

#[test]
fn a_folder_in_use_is_busy_through_every_layer() {
    let busy = || StoreError::Busy { owner: LockOwner::Unknown, root: "p".into() };
    for fault in
        [Fault::from(busy()), GitError::from(busy()).into(), EditError::from(busy()).into()]
    {
        assert_eq!(fault.message, "another trellis is running in p");
        assert_eq!((fault.exit, fault.kind), (Exit::BadInput, Some(FaultKind::Busy)));
    }
}

#[test]
fn a_full_disk_has_its_own_hint_and_no_number() {
    let full = io::Error::from_raw_os_error(ENOSPC);
    let fault = cannot("write a", &full);
    assert_eq!(fault.message, "cannot write a: No space left on device");
    assert!(fault.hint.is_some_and(|it| it.contains("the disk is full")));
}

#[test]
fn a_failed_edit_says_how_its_files_are() {
    let source = || io::Error::other("stopped");
    let failed = Rollback::Failed { folder: "e".into(), source: source() };
    for (rollback, hint) in
        [(Rollback::Complete, "all files are unchanged"), (failed, "old texts are in e")]
    {
        let fault = Fault::from(EditError::NotMade { source: source(), rollback });
        assert_eq!(fault.message, "the edit could not be made: stopped");
        assert!(fault.hint.is_some_and(|it| it.contains(hint)));
    }
}
