//! A fix made with tools: a conversation about a copy of what the tests see.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use cycle::{Ask, Observation};
use model::{Message, Role};

use crate::convert::{self, Files};
use crate::desk::{Answer, Halt, Purpose, Slip};
use crate::grow::worker::ask::stopped;
use crate::grow::worker::{Shop, Stop, Worker};
use crate::tools::{
    CallRecord, Changes, Conversation, Ending, Limits, PlanSearch, Planned, Toolbox, converse,
};
use crate::workspace::cost::StageCost;
use crate::workspace::journal::Event;

/// Nodes one search of the plan brings.
const TOP: usize = 5;

/// Why the model said nothing more.
enum Silence {
    Halt(Halt),
    /// This question came to nothing.
    Answer(Answer),
}

impl Worker {
    /// Has the model look around and edit, until it is done.
    pub(super) async fn ask_with_tools(&mut self, ask: &Ask) -> Result<Observation, Stop> {
        let shop = self.shop.clone();
        let before = shop.tree(&self.assemble(&self.draft)?.files);
        let limits = Limits::default();
        let mut toolbox = Toolbox::new(&before, self.fence(), limits)
            .with_suspects(self.suspects.clone())
            .with_plan(plan_search(&shop));
        let opened = shop.desk.models.of(ask.tier);
        let first = convert::ask(&self.id(), ask, shop.desk.tokens(opened));
        let purpose = Purpose { prompt_version: ask.prompt_version, why: ask.why, tools: true };
        let id = self.id();
        let slip = Slip { id: &id, journal: &shop.journal, cancel: &shop.cancel };
        let cost = Mutex::new(StageCost::default());
        let put = async |mut question: model::Ask| {
            let mut left = shop.policy.malformed_reasks;
            loop {
                let mut spent = StageCost::default();
                let asked = question.clone();
                let answer = shop.desk.put(slip, opened, asked, purpose, &mut spent).await;
                *cost.lock().unwrap_or_else(PoisonError::into_inner) += spent;
                match answer.map_err(Silence::Halt)? {
                    Answer::Said(reply) => return Ok(reply),
                    // A call that cannot be read, for the most part.
                    Answer::Unusable(why) if left > 0 => {
                        left -= 1;
                        let why = format!("Your last answer could not be used: {why}");
                        question.messages.push(Message::new(Role::User, why));
                    }
                    other => return Err(Silence::Answer(other)),
                }
            }
        };
        let talk = converse(put, first, &mut toolbox).await;
        let cost = cost.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.cost.model_calls += cost.calls;
        self.cost.asked(ask.stage.as_str(), cost);
        match talk {
            Ok(talk) => {
                self.keep_calls(&talk, &limits)?;
                Ok(observed(talk, &before))
            }
            Err(Silence::Halt(halt)) => Err(stopped(halt, Some(self.node))),
            Err(Silence::Answer(answer)) => Ok(broken_off(answer, &toolbox.changes(), &before)),
        }
    }

    /// What may be changed: the node's own file, and those of suspects that passed before.
    fn fence(&self) -> impl Fn(&str) -> Option<&'static str> + Send + Sync + use<> {
        let own = self.shop.work.items[&self.node].path.clone();
        let open: BTreeSet<String> = self.amendable.iter().cloned().chain([own]).collect();
        move |path| match path {
            _ if open.contains(path) => None,
            _ if path.starts_with("tests/") => {
                Some("tests are read-only while the implementation is fixed")
            }
            _ => Some("it belongs to other nodes"),
        }
    }

    fn keep_calls(&self, talk: &Conversation, limits: &Limits) -> Result<(), Stop> {
        for CallRecord { name, arguments, bytes, is_error, microseconds } in &talk.calls {
            self.log(Event::ToolCall {
                node: self.id(),
                name: name.clone(),
                arguments: arguments.clone(),
                bytes: *bytes,
                is_error: *is_error,
                microseconds: *microseconds,
            })?;
        }
        let text = format!("{} ({} questions)", talk.ending.told(limits), talk.asks);
        self.log(Event::Note { node: self.id(), what: "tools".to_owned(), text })
    }
}

fn plan_search(shop: &Arc<Shop>) -> Arc<PlanSearch> {
    let (shop, runtime) = (shop.clone(), tokio::runtime::Handle::current());
    Arc::new(move |words| {
        let wanted = runtime.block_on(shop.graph.wanted(vec![words.to_owned()]));
        let Some(wanted) = wanted.first() else { return Ok(Vec::new()) };
        let nodes = shop.graph.find(&shop.work.plan, wanted, None, TOP)?;
        let items = nodes.iter().filter_map(|ix| shop.work.items.get(ix));
        let planned = items.map(|item| Planned {
            id: item.id.clone(),
            path: item.path.clone(),
            symbol: item.qualified_name(),
            docstring: item.docstring.clone(),
        });
        Ok(planned.collect())
    })
}

/// A model that never touched a tool may have answered as it would have without.
fn observed(talk: Conversation, before: &Files) -> Observation {
    match talk.ending {
        Ending::Silent { said } if talk.changes.is_empty() => Observation::Reply(said),
        _ => edited(&talk.changes, before),
    }
}

/// What was changed counts; only where nothing was, the reason does.
fn broken_off(answer: Answer, changes: &Changes, before: &Files) -> Observation {
    if !changes.is_empty() {
        return edited(changes, before);
    }
    match answer {
        Answer::Said(reply) => Observation::Reply(reply.text),
        Answer::CutOff { partial } => Observation::Reply(partial),
        Answer::Unusable(why) => Observation::Unusable { why },
        Answer::TooLong(reason) | Answer::None(reason) => Observation::NoReply { reason },
    }
}

fn edited(changes: &Changes, before: &Files) -> Observation {
    let text = |it: &Option<Arc<str>>| it.as_deref().unwrap_or_default().to_owned();
    let files: BTreeMap<String, String> =
        changes.iter().map(|(path, it)| (path.clone(), text(it))).collect();
    let known = |path: &String| Some((path.clone(), before.get(path)?.to_string()));
    let before = files.keys().filter_map(known).collect();
    Observation::Edited { files, before }
}
