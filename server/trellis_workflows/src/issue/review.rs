//! Reviews of a change before its merge.

use std::collections::BTreeSet;

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
        review: Review,
        /// The decision is about the person's edits since then as well.
        with_edits: bool,
    },
}

/// A decision about a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    pub decision: Decision,
    /// Changed files that are not merged.
    pub leave_out: BTreeSet<String>,
}

impl Review {
    /// Returns a decision about all files.
    pub fn of(decision: Decision) -> Review {
        Review { decision, leave_out: BTreeSet::new() }
    }
}

/// The change to review.
pub(super) struct ReviewRequest<'a> {
    pub(super) diff: &'a str,
    /// Returns whether a reviewed commit has the same files as the change.
    pub(super) is_same: &'a (dyn Fn(&str) -> bool + Sync),
    /// Returns whether the change is a reviewed commit and a person's edits since then.
    pub(super) is_edited_from: &'a (dyn Fn(&str) -> bool + Sync),
    /// Folder of the files.
    pub(super) folder: &'a str,
    pub(super) branch: &'a str,
    /// Doubts about the change, and other notes.
    pub(super) notes: &'a [String],
}

/// A choice of a person at a terminal.
enum TerminalChoice {
    Decided(Review),
    /// The person says that they edited the files.
    Look,
}

const QUESTION: &str = "[a]pprove and merge, merge [w]ithout some files, [e]dited in the worktree, \
                        [s]end back, [l]eave on its branch? ";

impl Reviewer {
    /// Asks for a review. `is_edited` checks whether the files have changed meanwhile.
    pub(super) async fn review(
        &self,
        shown: &ReviewRequest<'_>,
        reporter: &Reporter,
        cancel: &CancellationToken,
        is_edited: &(dyn Fn() -> Result<bool, Fault> + Sync),
    ) -> Result<Review, Fault> {
        match self {
            Reviewer::Nobody => Ok(Review::of(Decision::NoReviewer)),
            Reviewer::Decided { tip, review, with_edits }
                if (shown.is_same)(tip) || (*with_edits && (shown.is_edited_from)(tip)) =>
            {
                Ok(review.clone())
            }
            Reviewer::Decided { .. } => {
                reporter.note("the change is not the one you reviewed: review it again");
                Ok(Review::of(Decision::NoReviewer))
            }
            Reviewer::Terminal(terminal) => {
                reporter.note(report(shown));
                loop {
                    match ask(terminal, shown, reporter, cancel).await? {
                        TerminalChoice::Decided(Review {
                            decision: Decision::Accept { .. },
                            leave_out,
                        }) if leave_out.is_empty() && is_edited()? => return Ok(edited()),
                        TerminalChoice::Decided(review) => return Ok(review),
                        TerminalChoice::Look if is_edited()? => return Ok(edited()),
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

fn edited() -> Review {
    Review::of(Decision::AcceptEdited(EditedFiles::default()))
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
            return Ok(TerminalChoice::Decided(Review::of(left(shown))));
        };
        let decision = match line.trim().to_lowercase().as_str() {
            "a" | "approve" | "y" | "yes" => accepted(),
            "w" | "without" => {
                let question = "which files stay out (paths, separated by spaces)? ";
                let paths = terminal.answer(question, reporter, cancel).await?;
                let paths = paths.unwrap_or_default();
                let leave_out: BTreeSet<String> =
                    paths.split_whitespace().map(str::to_owned).collect();
                if leave_out.is_empty() {
                    continue;
                }
                let review = Review { decision: accepted(), leave_out };
                return Ok(TerminalChoice::Decided(review));
            }
            "e" | "edited" => return Ok(TerminalChoice::Look),
            "s" | "send back" => {
                let why =
                    terminal.answer("why (goes into the next prompt)? ", reporter, cancel).await?;
                Decision::Reject { why: why.unwrap_or_default().trim().to_owned() }
            }
            "l" | "leave" | "q" => left(shown),
            _ => continue,
        };
        return Ok(TerminalChoice::Decided(Review::of(decision)));
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
