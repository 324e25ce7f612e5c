//! Resolves files that two tasks changed in the same place: the model merges them one by one, and
//! the tests of both sides check the result.

use std::collections::BTreeMap;

use trellis_engine::Reply;
use trellis_engine::issue::{
    Conflict, GateResult, MergeFacts, ask_merge, check_no_regressions, parse_resolution,
};

use super::RESOLVED_TRAILER;
use super::merge::{MergeTester, first_line, passed};
use super::step_error::StepError;
use crate::fault::Fault;
use crate::issue::{ReadyToMerge, Services, is_test};
use crate::llm_session::LlmSession;
use trellis_git::conflict::{ConflictError, ConflictSides, MergeConflict};
use trellis_git::merge::MergeCommit;

/// Number of further rounds after the tests rejected a resolution.
const ROUNDS: usize = 2;
/// Number of further requests for one file after an unusable reply.
const REASKS: usize = 2;

/// Returns a merge that passes both sides' tests.
pub(super) async fn resolve(
    made: &ReadyToMerge,
    conflict: &MergeConflict,
    verifier: MergeTester<'_>,
) -> Result<MergeCommit, StepError> {
    let sides = match made.work.sides(conflict) {
        Ok(sides) => sides,
        Err(ConflictError::Git(error)) => return Err(error.into()),
        Err(why) => return Err(StepError::refused(why.to_string())),
    };
    let conflicts: Vec<Conflict> = sides.into_iter().map(from_sides).collect();
    if let Some(it) = conflicts.iter().find(|it| it.is_test && !it.path.ends_with(".py")) {
        let why = format!("{} contains tests; merge them yourself", it.path);
        return Err(StepError::Refused(why));
    }
    let tools = verifier.tools;
    let mut wanted = verifier.passing(&made.work, &conflict.old).await?;
    wanted.extend(made.passed.iter().cloned());
    let merged = made.work.merged_meanwhile()?;
    let session = tools.session.fork();
    let mut talk = ConflictResolver { made, merged, tools, session, attempt: 0 };
    let mut last = String::new();
    for _ in 0..=ROUNDS {
        let texts = talk.all(&conflicts, Some(&last).filter(|it| !it.is_empty())).await?;
        let candidate = made.work.settled(conflict, &texts, &message(made, conflict))?;
        let run = verifier.run(&made.work, &candidate.commit).await?;
        match check_no_regressions(&run, &wanted) {
            GateResult::Open => {
                verifier.known.learn(&candidate.commit, passed(&run));
                return Ok(candidate);
            }
            GateResult::Shut(why) => last = format!("merged this way, {why}"),
        }
    }
    Err(StepError::Refused(first_line(&last)))
}

/// Requests for the resolution of one merge.
struct ConflictResolver<'a> {
    made: &'a ReadyToMerge,
    /// Messages of the commits that the branch received meanwhile.
    merged: Vec<String>,
    tools: Services<'a>,
    session: LlmSession,
    /// Number of requests so far.
    attempt: u32,
}

impl ConflictResolver<'_> {
    /// Resolves all files one after the other.
    async fn all(
        &mut self,
        conflicts: &[Conflict],
        complaint: Option<&String>,
    ) -> Result<BTreeMap<String, String>, StepError> {
        let mut out = BTreeMap::new();
        for conflict in conflicts {
            let text = self.one(conflict, complaint.cloned()).await?;
            out.insert(conflict.path.clone(), text);
        }
        Ok(out)
    }

    async fn one(
        &mut self,
        conflict: &Conflict,
        mut complaint: Option<String>,
    ) -> Result<String, StepError> {
        let mut last = String::new();
        for _ in 0..=REASKS {
            match self.ask(conflict, complaint.as_deref()).await? {
                Reply::Text(text) => match parse_resolution(&text, conflict) {
                    Ok(text) => return Ok(text),
                    Err(why) => last = why,
                },
                Reply::Unusable { why } => last = why,
                Reply::Failed { reason } => return Err(StepError::Refused(reason)),
                Reply::Edited(_) => {
                    last = "files were edited where a text was asked for".to_owned()
                }
            }
            complaint = Some(last.clone());
        }
        Err(StepError::Refused(last))
    }

    async fn ask(&mut self, conflict: &Conflict, complaint: Option<&str>) -> Result<Reply, Fault> {
        let ReadyToMerge { title, specification, .. } = self.made;
        let task = MergeFacts { title, specification, merged: &self.merged };
        let ask = ask_merge(task, conflict, self.attempt, complaint);
        self.attempt += 1;
        self.session.complete(&self.made.id, &ask, &self.tools.control.cancel).await
    }
}

fn from_sides(it: ConflictSides) -> Conflict {
    let ConflictSides { path, base, ours, theirs, marked } = it;
    Conflict { is_test: is_test(&path), path, base, ours, theirs, marked }
}

/// Returns the commit message, with a line for each file that the model resolved.
fn message(made: &ReadyToMerge, conflict: &MergeConflict) -> String {
    let settled: String =
        conflict.paths().iter().map(|it| format!("{RESOLVED_TRAILER}{it}\n")).collect();
    let text = made.message.trim_end();
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
    format!("{before}\n{settled}{last}\n")
}
