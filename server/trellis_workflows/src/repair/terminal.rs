//! A person at a terminal who sees the change and decides about it.

use std::io::{BufRead, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::Command;

use tokio_util::sync::CancellationToken;
use trellis_engine::{Decision, EditedFiles};
use trellis_os::terminal::escape;

use super::cancelled;
use crate::fault::Fault;
use crate::proposals::{ConfidenceReport, Proposal, ProposedFile};
use crate::reporter::Reporter;

/// Standard input and standard error, both of which are terminals.
pub struct Terminal(());

impl Terminal {
    /// Returns the terminal if the process has one.
    pub fn here() -> Option<Terminal> {
        let is_there = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        is_there.then_some(Terminal(()))
    }

    pub(super) async fn decide(
        &self,
        proposal: Proposal,
        why: &str,
        reporter: &Reporter,
        cancel: &CancellationToken,
    ) -> Result<Decision, Fault> {
        reporter.note(shown(&proposal, why));
        let _prompt = reporter.prompt();
        let (answered, answer) = tokio::sync::oneshot::channel();
        // A detached thread: a question that is never answered must not delay exit.
        std::thread::spawn(move || answered.send(ask(&proposal)).is_ok());
        tokio::select! {
            () = cancel.cancelled() => Err(cancelled()),
            answer = answer => answer
                .unwrap_or_else(|error| Err(Fault::internal(format!("the prompt failed: {error}")))),
        }
    }
}

impl Terminal {
    /// Asks for a line; `None` at the end of the input.
    pub async fn answer(
        &self,
        question: impl Into<String>,
        reporter: &Reporter,
        cancel: &CancellationToken,
    ) -> Result<Option<String>, Fault> {
        let _prompt = reporter.prompt();
        let question = question.into();
        let (answered, answer) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            say(&question);
            answered.send(line()).is_ok()
        });
        tokio::select! {
            () = cancel.cancelled() => Err(cancelled()),
            answer = answer => answer
                .unwrap_or_else(|error| Err(Fault::internal(format!("the prompt failed: {error}")))),
        }
    }
}

/// Returns the text of a review: the change, its reason, the reason for the review, and the
/// confidence.
fn shown(proposal: &Proposal, why: &str) -> String {
    let (diff, reason) = (proposal.diff(), &proposal.reason);
    let confidence = ConfidenceReport::of(&proposal.confidence).breakdown();
    format!("\n{diff}\n{reason}\nneeds your review because {why}\nconfidence {confidence}")
}

const QUESTION: &str = "[a]ccept, [e]dit, [r]eject, [s]kip these tests, [q] stop? ";

/// Asks until there is a valid answer; the end of the input means stop.
fn ask(proposal: &Proposal) -> Result<Decision, Fault> {
    loop {
        say(QUESTION);
        let Some(line) = line()? else { return Ok(Decision::Stop) };
        match line.trim().to_lowercase().as_str() {
            "a" | "accept" | "y" | "yes" => return Ok(Decision::Accept { by: "you".to_owned() }),
            "e" | "edit" => match edited(&proposal.files) {
                Ok(edit) => return Ok(Decision::AcceptEdited(edit)),
                Err(why) => say(&format!("{why}\n")),
            },
            "r" | "reject" | "n" | "no" => {
                say("Why not? The model reads it; press Enter for no reason: ");
                return Ok(Decision::Reject { why: line_or_nothing()? });
            }
            "s" | "skip" => return Ok(Decision::Skip),
            "q" | "quit" | "stop" => return Ok(Decision::Stop),
            _ => say("type one of a, e, r, s, q\n"),
        }
    }
}

fn say(text: &str) {
    let mut err = std::io::stderr().lock();
    // If the question cannot be written, no answer can be expected either.
    let _ = err.write_all(escape(text).as_bytes()).and_then(|()| err.flush());
}

/// Reads a line; `None` at the end of the input.
fn line() -> Result<Option<String>, Fault> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    let read = read.map_err(|error| {
        Fault::internal(format!("cannot read the answer: {error}"))
            .hint("run with --approve autonomous, or decide in the editor")
    })?;
    Ok((read > 0).then_some(line))
}

fn line_or_nothing() -> Result<String, Fault> {
    Ok(line()?.unwrap_or_default().trim().to_owned())
}

/// Opens the files in the person's editor and returns them as edited.
fn edited(files: &[ProposedFile]) -> Result<EditedFiles, String> {
    let program = ["VISUAL", "EDITOR"].into_iter().find_map(|it| std::env::var(it).ok());
    let program = program.filter(|it| !it.trim().is_empty());
    let program = program.ok_or("set VISUAL or EDITOR to your editor, or choose another answer")?;
    let mut words = program.split_whitespace();
    let first = words.next().unwrap_or_default();
    let folder =
        tempfile::tempdir().map_err(|error| format!("cannot create a scratch folder: {error}"))?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let name = file.path.rsplit('/').next().unwrap_or("file.py");
        let place = folder.path().join(number.to_string());
        let path = place.join(name);
        let made = std::fs::create_dir(&place).and_then(|()| std::fs::write(&path, &file.proposed));
        made.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        paths.push(path);
    }
    let ended = Command::new(first).args(words).args(&paths).status();
    match ended {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(format!("{program} ended with {status}; your edit was not used")),
        Err(error) => return Err(format!("cannot start {program}: {error}")),
    }
    let mut edit = EditedFiles::default();
    for (file, path) in files.iter().zip(&paths) {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        edit.before.insert(file.path.clone(), file.proposed.clone());
        edit.files.insert(file.path.clone(), text);
    }
    Ok(edit)
}
