//! A conversation with tools through the LLM client, which budgets and journals every request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use trellis_engine::{EditedFiles, ModelRequest, Reply};
use trellis_llm::{Message, Role};

use crate::convert::{self, Files};
use crate::llm_client::{CallContext, CallError, CallMeta, Completion, LlmClient};
use crate::tools::{CallRecord, Changes, Limits, StopReason, ToolSet, Transcript, converse};
use trellis_store::cost::StageCost;
use trellis_store::journal::Event;

/// Lets a model search and edit with the tools until it is done. Asks again after an unusable
/// reply, up to `reasks` times. Adds the cost of everything to `cost`.
pub async fn run(
    llm: &LlmClient,
    call: CallContext<'_>,
    ask: &ModelRequest,
    toolbox: &mut ToolSet,
    reasks: u32,
    cost: &mut StageCost,
) -> Result<Reply, CallError> {
    let limits = toolbox.limits;
    let before = toolbox.before();
    let opened = llm.models.of(ask.tier);
    let first = convert::ask(call.id, ask, llm.tokens(opened));
    let purpose = CallMeta { prompt_version: ask.prompt_version, why: ask.why, tools: true };
    let spent = Mutex::new(StageCost::default());
    let put = async |mut question: trellis_llm::ChatRequest| {
        let mut left = reasks;
        loop {
            let mut once = StageCost::default();
            let answer = llm.send(call, opened, question.clone(), purpose, &mut once).await;
            *spent.lock().unwrap_or_else(PoisonError::into_inner) += once;
            match answer.map_err(AgentError::Halt)? {
                Completion::Reply(reply) => return Ok(reply),
                // The reason is usually a tool call that cannot be parsed.
                Completion::Unusable(why) if left > 0 => {
                    left -= 1;
                    let why = format!("Your last answer could not be used: {why}");
                    question.messages.push(Message::new(Role::User, why));
                }
                other => return Err(AgentError::Answer(other)),
            }
        }
    };
    let talk = converse(put, first, toolbox).await;
    *cost += spent.into_inner().unwrap_or_else(PoisonError::into_inner);
    match talk {
        Ok(talk) => {
            journaled(call, &talk, &limits).map_err(CallError::Journal)?;
            Ok(observed(talk, &before))
        }
        Err(AgentError::Halt(halt)) => Err(halt),
        Err(AgentError::Answer(answer)) => Ok(broken_off(answer, &toolbox.changes(), &before)),
    }
}

/// Reason that the model returned nothing more.
enum AgentError {
    Halt(CallError),
    /// This request had no usable reply.
    Answer(Completion),
}

fn journaled(call: CallContext<'_>, talk: &Transcript, limits: &Limits) -> std::io::Result<()> {
    let node = || call.id.to_owned();
    for CallRecord { name, arguments, bytes, is_error, microseconds } in &talk.calls {
        call.journal.log(Event::ToolCall {
            node: node(),
            name: name.clone(),
            arguments: arguments.clone(),
            bytes: *bytes,
            is_error: *is_error,
            microseconds: *microseconds,
        })?;
    }
    let text = format!("{} ({} prompts)", talk.ending.report(limits), talk.asks);
    call.journal.log(Event::Note { node: node(), what: "tools".to_owned(), text })
}

/// Converts a finished conversation into a reply. A model that never used a tool may have
/// replied as it would without tools.
fn observed(talk: Transcript, before: &Files) -> Reply {
    match talk.ending {
        StopReason::Silent { said } if talk.changes.is_empty() => Reply::Text(said),
        _ => edited(&talk.changes, before),
    }
}

/// Converts an interrupted conversation into a reply. Changes count; the reason matters only
/// if there are none.
fn broken_off(answer: Completion, changes: &Changes, before: &Files) -> Reply {
    if !changes.is_empty() {
        return edited(changes, before);
    }
    answer.into_reply()
}

fn edited(changes: &Changes, before: &Files) -> Reply {
    let text = |it: &Option<Arc<str>>| it.as_deref().unwrap_or_default().to_owned();
    let files: BTreeMap<String, String> =
        changes.iter().map(|(path, it)| (path.clone(), text(it))).collect();
    let known = |path: &String| Some((path.clone(), before.get(path)?.to_string()));
    let before = files.keys().filter_map(known).collect();
    Reply::Edited(EditedFiles { files, before })
}
