//! Reviews of a change before its merge.

use tokio_util::sync::CancellationToken;
use trellis_engine::approval::{CRITICAL, Mode, is_critical};
use trellis_engine::{Decision, EditedFiles};

use crate::fault::Fault;
use crate::repair::Terminal;
use crate::reporter::Reporter;

/// The reviewer of a change.
pub enum Reviewer {
    /// No reviewer: the change waits on its branch.
    Nobody,
    Terminal(Terminal),
    /// A decision that a person made earlier about a change they had seen.
    Decided {
        /// The commit that the person reviewed.
        tip: String,
        decision: Decision,
    },
}

/// The change to review.
pub(super) struct ReviewRequest<'a> {
    pub(super) diff: &'a str,
    /// Returns whether a reviewed commit has the same files as the change.
    pub(super) is_same: &'a (dyn Fn(&str) -> bool + Sync),
    /// Folder of the files.
    pub(super) folder: &'a str,
    pub(super) branch: &'a str,
    /// Doubts about the change, and other notes.
    pub(super) notes: &'a [String],
}

/// A choice of a person at a terminal.
enum TerminalChoice {
    Decided(Decision),
    /// The person says that they edited the files.
    Look,
}

const QUESTION: &str =
    "[a]pprove and merge, [e]dited in the worktree, [s]end back, [l]eave on its branch? ";

impl Reviewer {
    /// Asks for a review. `is_edited` checks whether the files have changed meanwhile.
    pub(super) async fn review(
        &self,
        shown: &ReviewRequest<'_>,
        reporter: &Reporter,
        cancel: &CancellationToken,
        is_edited: &(dyn Fn() -> Result<bool, Fault> + Sync),
    ) -> Result<Decision, Fault> {
        match self {
            Reviewer::Nobody => Ok(Decision::NoReviewer),
            Reviewer::Decided { tip, decision } if (shown.is_same)(tip) => Ok(decision.clone()),
            Reviewer::Decided { .. } => {
                reporter.note("the change is not the one you reviewed: review it again");
                Ok(Decision::NoReviewer)
            }
            Reviewer::Terminal(terminal) => {
                reporter.note(report(shown));
                loop {
                    match ask(terminal, shown, reporter, cancel).await? {
                        TerminalChoice::Decided(Decision::Accept { .. }) if is_edited()? => {
                            return Ok(Decision::AcceptEdited(EditedFiles::default()));
                        }
                        TerminalChoice::Decided(decision) => return Ok(decision),
                        TerminalChoice::Look if is_edited()? => {
                            return Ok(Decision::AcceptEdited(EditedFiles::default()));
                        }
                        TerminalChoice::Look => reporter.note(format_args!(
                            "nothing changed in {}: edit the files there first",
                            shown.folder
                        )),
                    }
                }
            }
        }
    }
}

fn accepted() -> Decision {
    Decision::Accept { by: "you".to_owned() }
}

/// Returns the decision to leave the change on its branch.
fn left(shown: &ReviewRequest<'_>) -> Decision {
    Decision::Defer { proposal: shown.branch.to_owned() }
}

fn report(shown: &ReviewRequest<'_>) -> String {
    let notes: String = shown.notes.iter().map(|it| format!("note: {it}\n")).collect();
    format!("\n{}\n{notes}the files are in {}", shown.diff.trim_end(), shown.folder)
}

/// Asks until there is a valid answer; the end of the input leaves the change on its branch.
async fn ask(
    terminal: &Terminal,
    shown: &ReviewRequest<'_>,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<TerminalChoice, Fault> {
    loop {
        let Some(line) = terminal.answer(QUESTION, reporter, cancel).await? else {
            return Ok(TerminalChoice::Decided(left(shown)));
        };
        return Ok(match line.trim().to_lowercase().as_str() {
            "a" | "approve" | "y" | "yes" => TerminalChoice::Decided(accepted()),
            "e" | "edited" => TerminalChoice::Look,
            "s" | "send back" => {
                let why =
                    terminal.answer("why (goes into the next prompt)? ", reporter, cancel).await?;
                TerminalChoice::Decided(Decision::Reject {
                    why: why.unwrap_or_default().trim().to_owned(),
                })
            }
            "l" | "leave" | "q" => TerminalChoice::Decided(left(shown)),
            _ => continue,
        });
    }
}

/// Returns whether a person has to review the change. `loses`: the change removes something that
/// the specification does not mention.
pub(super) fn needs_review(mode: Mode, doubts: &[String], loses: bool) -> bool {
    match mode {
        Mode::Autonomous => loses,
        Mode::Supervised => true,
        Mode::Threshold => !doubts.is_empty(),
    }
}

/// Returns notes on changed files that always need a review.
pub(super) fn critical<'a>(paths: impl Iterator<Item = &'a String>) -> Vec<String> {
    let critical = paths.filter(|it| CRITICAL.iter().any(|pattern| is_critical(it, pattern)));
    critical.map(|it| format!("{it} is changed, and other code depends on it")).collect()
}
