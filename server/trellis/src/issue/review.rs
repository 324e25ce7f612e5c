//! Who looks at the change before it is merged, and what comes of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use trellis_engine::approval::{CRITICAL, Mode, is_critical};
use trellis_engine::issue::Review;

use crate::error::Fault;
use crate::output::Output;
use crate::repair::Terminal;

/// Somebody, or nobody.
pub(crate) enum Reviewer {
    /// The change waits on its branch.
    Nobody,
    Terminal(Terminal),
    /// Somebody who has seen it before, and says now what is to become of it.
    Decided(Decision),
}

/// Your decision about a change that needs a review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Decision {
    pub(crate) answer: Answer,
    /// The commit you reviewed, from the result; if the files have changed since then, nothing is decided.
    pub(crate) tip: String,
    /// With `sendBack`: the reason, for the model.
    #[serde(default)]
    pub(crate) words: Option<String>,
}

/// In a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Answer {
    Approve,
    /// The model gets the reason and tries again.
    SendBack,
    /// It stays on its branch.
    Leave,
}

/// What is looked at.
pub(super) struct ReviewRequest<'a> {
    pub(super) diff: &'a str,
    /// Whether a commit that was looked at has the same files.
    pub(super) is_same: &'a (dyn Fn(&str) -> bool + Sync),
    /// Where the files are.
    pub(super) folder: &'a str,
    /// What speaks against it, and what else there is to say.
    pub(super) notes: &'a [String],
}

/// What a person at a terminal wants.
enum TerminalChoice {
    Review(Review),
    /// The files were edited, they say.
    Look,
}

const QUESTION: &str =
    "[a]pprove and merge, [e]dited in the worktree, [s]end back, [l]eave on its branch? ";

impl Reviewer {
    /// Asks; `is_edited` looks whether the files are others by now.
    pub(super) async fn review(
        &self,
        shown: &ReviewRequest<'_>,
        (output, cancel): (&Output, &CancellationToken),
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
                output.note("the change is not the one you reviewed: review it again");
                Ok(Review::Nobody)
            }
            Reviewer::Terminal(terminal) => {
                output.note(report(shown));
                loop {
                    match ask(terminal, cancel).await? {
                        TerminalChoice::Review(Review::Approve) if is_edited()? => {
                            return Ok(Review::Edited);
                        }
                        TerminalChoice::Review(review) => return Ok(review),
                        TerminalChoice::Look if is_edited()? => return Ok(Review::Edited),
                        TerminalChoice::Look => output.note(format_args!(
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

/// Asks until it is answered; the end of the input leaves the change where it is.
async fn ask(terminal: &Terminal, cancel: &CancellationToken) -> Result<TerminalChoice, Fault> {
    loop {
        let Some(line) = terminal.answer(QUESTION, cancel).await? else {
            return Ok(TerminalChoice::Review(Review::Leave));
        };
        return Ok(match line.trim().to_lowercase().as_str() {
            "a" | "approve" | "y" | "yes" => TerminalChoice::Review(Review::Approve),
            "e" | "edited" => TerminalChoice::Look,
            "s" | "send back" => {
                let why = terminal.answer("why (goes into the next prompt)? ", cancel).await?;
                TerminalChoice::Review(Review::SendBack(why.unwrap_or_default().trim().to_owned()))
            }
            "l" | "leave" | "q" => TerminalChoice::Review(Review::Leave),
            _ => continue,
        });
    }
}

/// Whether somebody has to look. `loses`: the change takes something away that nobody wanted away.
pub(super) fn is_asked(mode: Mode, doubts: &[String], loses: bool) -> bool {
    match mode {
        Mode::Autonomous => loses,
        Mode::Supervised => true,
        Mode::Threshold => !doubts.is_empty(),
    }
}

/// Changed files that a person has to see.
pub(super) fn critical<'a>(paths: impl Iterator<Item = &'a String>) -> Vec<String> {
    let critical = paths.filter(|it| CRITICAL.iter().any(|pattern| is_critical(it, pattern)));
    critical.map(|it| format!("{it} is changed, and other code depends on it")).collect()
}
