//! Reviews of a change before its merge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use trellis_engine::approval::{CRITICAL, Mode, is_critical};
use trellis_engine::issue::Review;

use crate::fault::Fault;
use crate::repair::Terminal;
use crate::reporter::Reporter;

/// The reviewer of a change.
pub enum Reviewer {
    /// No reviewer: the change waits on its branch.
    Nobody,
    Terminal(Terminal),
    /// A decision that a person made earlier about a change they had seen.
    Decided(Decision),
}

/// Your decision about a change that needs a review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Decision {
    pub answer: Answer,
    /// The commit you reviewed, from the result; if the files have changed since then, nothing is decided.
    pub tip: String,
    /// With `sendBack`: the reason, for the model.
    #[serde(default)]
    pub words: Option<String>,
}

/// In a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    Approve,
    /// The model gets the reason and tries again.
    SendBack,
    /// It stays on its branch.
    Leave,
}

/// The change to review.
pub(super) struct ReviewRequest<'a> {
    pub(super) diff: &'a str,
    /// Returns whether a reviewed commit has the same files as the change.
    pub(super) is_same: &'a (dyn Fn(&str) -> bool + Sync),
    /// Folder of the files.
    pub(super) folder: &'a str,
    /// Doubts about the change, and other notes.
    pub(super) notes: &'a [String],
}

/// A choice of a person at a terminal.
enum TerminalChoice {
    Review(Review),
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
        (reporter, cancel): (&Reporter, &CancellationToken),
        is_edited: &(dyn Fn() -> Result<bool, Fault> + Sync),
    ) -> Result<Review, Fault> {
        match self {
            Reviewer::Nobody => Ok(Review::Nobody),
            Reviewer::Decided(it) if (shown.is_same)(&it.tip) => Ok(match it.answer {
                Answer::Approve => Review::Approve,
                Answer::SendBack => Review::SendBack(it.words.clone().unwrap_or_default()),
                Answer::Leave => Review::Leave,
            }),
            Reviewer::Decided(_) => {
                reporter.note("the change is not the one you reviewed: review it again");
                Ok(Review::Nobody)
            }
            Reviewer::Terminal(terminal) => {
                reporter.note(report(shown));
                loop {
                    match ask(terminal, reporter, cancel).await? {
                        TerminalChoice::Review(Review::Approve) if is_edited()? => {
                            return Ok(Review::Edited);
                        }
                        TerminalChoice::Review(review) => return Ok(review),
                        TerminalChoice::Look if is_edited()? => return Ok(Review::Edited),
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

fn report(shown: &ReviewRequest<'_>) -> String {
    let notes: String = shown.notes.iter().map(|it| format!("note: {it}\n")).collect();
    format!("\n{}\n{notes}the files are in {}", shown.diff.trim_end(), shown.folder)
}

/// Asks until there is a valid answer; the end of the input leaves the change on its branch.
async fn ask(
    terminal: &Terminal,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<TerminalChoice, Fault> {
    loop {
        let Some(line) = terminal.answer(QUESTION, reporter, cancel).await? else {
            return Ok(TerminalChoice::Review(Review::Leave));
        };
        return Ok(match line.trim().to_lowercase().as_str() {
            "a" | "approve" | "y" | "yes" => TerminalChoice::Review(Review::Approve),
            "e" | "edited" => TerminalChoice::Look,
            "s" | "send back" => {
                let why =
                    terminal.answer("why (goes into the next prompt)? ", reporter, cancel).await?;
                TerminalChoice::Review(Review::SendBack(why.unwrap_or_default().trim().to_owned()))
            }
            "l" | "leave" | "q" => TerminalChoice::Review(Review::Leave),
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
