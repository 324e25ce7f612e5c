//! Proposals on disk, and the lock for deciding about them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::decide::recover_all;
use super::proposal::{Proposal, VERSION};
use crate::fault::{Fault, FaultKind};
use crate::llm_session::no_journal;
use trellis_project::edits;
use trellis_store::disk;
use trellis_store::format::{NewerFormat, refuse_newer};
use trellis_store::journal::{Event, Journal};
use trellis_store::lock::{Lock, LockError};
use trellis_store::origin::{Origin, Workflow};

/// Interval of checks for decisions of other processes.
pub const LOOK: Duration = Duration::from_millis(500);

/// Stored proposals, and problems with unreadable ones.
pub struct Listed {
    /// Proposals, oldest first.
    pub proposals: Vec<Proposal>,
    /// Problems as sentences.
    pub problems: Vec<String>,
}

/// The proposals of a project.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

/// Reason that a file contains no proposal.
enum Unreadable {
    Missing,
    Damaged(String),
    Newer(NewerFormat),
}

impl Store {
    /// Returns the store of the project in `root`; nothing is created until something is stored.
    pub fn of(root: &Path) -> Store {
        Store { root: root.to_owned() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    fn folder(&self) -> PathBuf {
        self.root.join(".trellis/proposals")
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder().join(format!("{id}.json"))
    }

    /// Lists all proposals. Damaged ones are left in place and reported.
    pub fn list(&self) -> Result<Listed, Fault> {
        let mut listed = Listed { proposals: Vec::new(), problems: Vec::new() };
        for number in self.numbers()? {
            let id = name(number);
            match self.read(&id) {
                Ok(proposal) => listed.proposals.push(proposal),
                Err(Unreadable::Missing) => {}
                Err(Unreadable::Newer(why)) => {
                    listed.problems.push(format!("{id} is skipped: {why}"));
                }
                Err(Unreadable::Damaged(why)) => {
                    listed.problems.push(format!("{} is skipped: {why}", self.path(&id).display()));
                }
            }
        }
        Ok(listed)
    }

    /// Lists all proposals as they are now, also those that an ended process has written and not
    /// recorded. Nothing is stored.
    pub fn list_now(&self) -> Result<Listed, Fault> {
        let mut listed = self.list()?;
        listed.proposals.iter_mut().try_for_each(|it| self.complete(it))?;
        Ok(listed)
    }

    /// Returns one proposal as it is now, as [`Store::list_now`] does.
    pub fn get_now(&self, id: &str) -> Result<Proposal, Fault> {
        let mut proposal = self.get(id)?;
        self.complete(&mut proposal).map(|()| proposal)
    }

    fn complete(&self, proposal: &mut Proposal) -> Result<(), Fault> {
        if let Some(writing) = &proposal.writing
            && let Some(edit) = edits::find(&self.root, &writing.name)?
        {
            let _ = proposal.complete_write(edit);
        }
        Ok(())
    }

    /// Returns one proposal.
    pub fn get(&self, id: &str) -> Result<Proposal, Fault> {
        match self.read(id) {
            Ok(proposal) => Ok(proposal),
            Err(Unreadable::Missing) => {
                let root = self.root.display();
                Err(Fault::input(format!("there is no proposed fix {id:?} in {root}"))
                    .hint("`trellis fixes list` (`trellis/listFixes` for programs) lists them"))
            }
            Err(Unreadable::Newer(why)) => Err(why.into()),
            Err(Unreadable::Damaged(why)) => {
                Err(Fault::input(format!("{} is damaged: {why}", self.path(id).display()))
                    .kind(FaultKind::Damaged)
                    .hint(
                        "fix the file, or move it away and request a new proposal; nothing was \
                         changed",
                    ))
            }
        }
    }

    fn read(&self, id: &str) -> Result<Proposal, Unreadable> {
        // Trellis makes the ids; a path in place of an id is never followed.
        let number = id.strip_prefix("fix-").and_then(|it| it.parse::<u64>().ok());
        let path = match number {
            Some(number) if name(number) == id => self.path(id),
            _ => return Err(Unreadable::Missing),
        };
        let bytes = trellis_os::files::read(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Unreadable::Missing,
            _ => Unreadable::Damaged(error.to_string()),
        })?;
        refuse_newer(path.display(), &bytes, VERSION).map_err(Unreadable::Newer)?;
        let damaged = |why: String| Err(Unreadable::Damaged(why));
        match serde_json::from_slice::<Proposal>(&bytes) {
            Ok(it) if it.version != VERSION => {
                damaged(format!("version {} is unknown", it.version))
            }
            Ok(it) if it.id != id => damaged(format!("its id in the file is {}", it.id)),
            Ok(it) => Ok(it),
            Err(error) => damaged(error.to_string()),
        }
    }

    fn numbers(&self) -> Result<Vec<u64>, Fault> {
        let entries = match fs::read_dir(self.folder()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.cannot("read", &error)),
        };
        let number = |entry: io::Result<fs::DirEntry>| -> Option<u64> {
            let name = entry.ok()?.file_name();
            name.to_str()?.strip_prefix("fix-")?.strip_suffix(".json")?.parse().ok()
        };
        let mut numbers: Vec<u64> = entries.filter_map(number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn cannot(&self, what: &str, error: &io::Error) -> Fault {
        Fault::internal(format!("cannot {what} {}: {error}", self.folder().display())).hint(
            "make the folder writable and free some space on the disk, then do the same again",
        )
    }

    /// Locks the store for a decision. If another process holds the lock, the error names it.
    pub(super) fn lock(&self) -> Result<Lock, Fault> {
        let cannot = |error: io::Error| self.cannot("use", &error);
        Journal::refuse_newer(&self.root).map_err(no_journal)?;
        let folder = disk::create(&self.root, "proposals").map_err(cannot)?;
        Lock::of_file(&folder.join("lock")).map_err(|why| match why {
            LockError::Failed(error) => cannot(error),
            LockError::Held(owner) => {
                let root = self.root.display();
                Fault::input(format!("{owner} is deciding about a fix in {root}"))
                    .kind(FaultKind::Busy)
                    .hint("its tests are running; try again when they are done")
            }
        })
    }

    /// Stores a new proposal under the next free id.
    pub(super) fn add(&self, proposal: &mut Proposal, lock: &Lock) -> Result<(), Fault> {
        let number = self.numbers()?.last().map_or(1, |last| last + 1);
        proposal.id = name(number);
        self.save(proposal, lock)?;
        let files: Vec<&str> = proposal.files.iter().map(|it| it.path.as_str()).collect();
        self.journal(proposal, &format!("proposed: {}", files.join(", ")))
    }

    /// Stores a new proposal, as soon as no other process is deciding.
    pub async fn put(&self, proposal: &mut Proposal) -> Result<(), Fault> {
        let lock = self.lock_soon().await?;
        self.add(proposal, &lock)
    }

    /// Completes what ended processes have left unfinished, as soon as no other process is deciding.
    pub async fn recover(&self) -> Result<(), Fault> {
        if !self.folder().is_dir() {
            return Ok(());
        }
        let lock = self.lock_soon().await?;
        recover_all(self, &lock)
    }

    /// Waits for the lock while another process is deciding.
    pub(super) async fn lock_soon(&self) -> Result<Lock, Fault> {
        loop {
            match self.lock() {
                Err(fault) if fault.kind == Some(FaultKind::Busy) => tokio::time::sleep(LOOK).await,
                other => return other,
            }
        }
    }

    /// Writes a proposal completely or not at all.
    pub(super) fn save(&self, proposal: &Proposal, _: &Lock) -> Result<(), Fault> {
        let text = serde_json::to_string_pretty(proposal).map_err(|error| {
            Fault::internal(format!("a proposal cannot be written as JSON: {error}"))
        })?;
        let path = format!(".trellis/proposals/{}.json", proposal.id);
        disk::write(&self.root, &path, &text).map_err(|error| self.cannot("write to", &error))
    }

    /// Records a decision or a write in the project's journal.
    pub(super) fn journal(&self, proposal: &Proposal, answer: &str) -> Result<(), Fault> {
        let question =
            format!("{}, revision {}: {}", proposal.id, proposal.revision, proposal.reason);
        let node = proposal.run.as_ref().map_or(&proposal.test.id, |it| &it.node).clone();
        let event = Event::Approval { node, question, answer: answer.to_owned() };
        let written = Journal::join(&self.root, Origin::create(Workflow::Fixes))
            .and_then(|journal| journal.commit(event));
        written.map_err(|error| {
            let path = Journal::path(&self.root);
            Fault::internal(format!("cannot write {}: {error}", path.display()))
                .hint("make it writable and free some space on the disk")
        })
    }
}

fn name(number: u64) -> String {
    format!("fix-{number}")
}
