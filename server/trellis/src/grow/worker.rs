//! One node through the cycle: performs the actions, feeds back what happened.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cycle::assembly::{Share, sources};
use cycle::{
    Action, Ask, Draft, Localized, Observation, Policy, Query, Run, State, Surroundings, Suspect,
    Verdict, step,
};
use futures_util::future::join_all;
use model::{Model, ModelError, Reply};
use plan::NodeIx;
use run::{Limits, Request, Runner, Tree};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::error::{Exit, Fault};
use crate::grow::convert;
use crate::grow::items::Work;
use crate::grow::recover::defines;
use crate::grow::shelf::Shelf;
use crate::workspace::disk;
use crate::workspace::journal::{Cost, Event, Journal};
use crate::workspace::scratch::ScratchFolder;

/// What all workers share.
pub(crate) struct Shop {
    pub(crate) work: Work,
    pub(crate) policy: Policy,
    pub(crate) model: Model,
    pub(crate) runner: Runner,
    pub(crate) _scratch: ScratchFolder,
    /// The interpreter tests run with, where it is one of this machine.
    pub(crate) interpreter: Option<PathBuf>,
    pub(crate) journal: Journal,
    pub(crate) test_timeout: Duration,
    /// Files of the user that tests may want: `conftest.py`, data.
    pub(crate) user_files: BTreeMap<String, Arc<str>>,
    /// Texts people took over.
    pub(crate) kept: BTreeMap<String, String>,
    pub(crate) context: Vec<(String, String)>,
    pub(crate) slots: Arc<Semaphore>,
    pub(crate) cancel: CancellationToken,
    pub(crate) freed: mpsc::UnboundedSender<()>,
}

/// How a node ended, and what it cost.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) node: NodeIx,
    pub(crate) verdict: Verdict,
    pub(crate) draft: Draft,
    pub(crate) fixes: u32,
    /// Tests that passed only when they were run again.
    pub(crate) flaky: Vec<String>,
    pub(crate) tests_passed: usize,
    pub(crate) tests_failed: usize,
    pub(crate) cost: Cost,
}

/// Why a node was left without an outcome.
pub(crate) enum Stop {
    Cancelled,
    Fault(Fault),
    /// The journal could not be written while the node was worked on.
    Journal {
        node: NodeIx,
        error: std::io::Error,
    },
}

impl Stop {
    /// For places where no node is at work.
    pub(crate) fn into_fault(self) -> Fault {
        match self {
            Stop::Fault(fault) => fault,
            Stop::Cancelled => {
                Fault::new(Exit::Interrupted, "stopped; everything accepted is kept")
                    .hint("run the same command again to go on")
            }
            Stop::Journal { error, .. } => {
                Fault::internal(format!("cannot write the journal: {error}"))
            }
        }
    }
}

/// Works on one node until it ends. `permit` is the job slot; it is given back while the node waits
/// for others.
pub(crate) async fn work_on(
    shop: Arc<Shop>,
    node: NodeIx,
    shelf: watch::Receiver<Shelf>,
    permit: OwnedSemaphorePermit,
) -> Result<Outcome, Stop> {
    let mut worker = Worker {
        node,
        draft: Draft::default(),
        more: BTreeSet::new(),
        shelf,
        permit: Some(permit),
        cost: Cost::default(),
        passed: 0,
        failed: 0,
        shop,
    };
    worker.run().await
}

struct Worker {
    shop: Arc<Shop>,
    node: NodeIx,
    draft: Draft,
    /// Dependencies the code has beyond the planned ones.
    more: BTreeSet<NodeIx>,
    shelf: watch::Receiver<Shelf>,
    permit: Option<OwnedSemaphorePermit>,
    cost: Cost,
    passed: usize,
    failed: usize,
}

impl Worker {
    async fn run(&mut self) -> Result<Outcome, Stop> {
        let shop = self.shop.clone();
        let item = &shop.work.items[&self.node];
        let around = Surroundings { file: self.file_so_far()?, context: shop.context.clone() };
        let by_hand = shop.kept.get(&item.path).is_some_and(|text| defines(text, item));
        let mut state = if by_hand { State::written_by_hand() } else { State::default() };
        let mut observation = Observation::Begin;
        loop {
            let (next, actions) = step(item, &shop.policy, &around, state, observation);
            state = next;
            let mut heard = None;
            for action in actions {
                if let Action::Finish(verdict) = action {
                    return Ok(self.outcome(verdict, &state));
                }
                heard = self.perform(action).await?.or(heard);
            }
            // Every batch that does not finish ends with an action that answers.
            observation = heard.ok_or_else(|| {
                Stop::Fault(Fault::internal(format!("the cycle of {} asked for nothing", item.id)))
            })?;
        }
    }

    fn outcome(&mut self, verdict: Verdict, state: &State) -> Outcome {
        Outcome {
            node: self.node,
            verdict,
            draft: std::mem::take(&mut self.draft),
            fixes: state.fixes(),
            flaky: state.flaky().to_vec(),
            tests_passed: self.passed,
            tests_failed: self.failed,
            cost: self.cost,
        }
    }

    async fn perform(&mut self, action: Action) -> Result<Option<Observation>, Stop> {
        match action {
            Action::AskModel(ask) => self.ask(&ask).await.map(Some),
            Action::Vote(asks) => self.vote(&asks).await.map(Some),
            Action::Edit(draft) => {
                self.draft = draft;
                Ok(None)
            }
            Action::RunTests(run) => self.test(run).await.map(Some),
            Action::Search(query) => self.search(&query).map(Some),
            Action::AskHuman { question } => {
                let answer = "nobody was asked: the run is autonomous".to_owned();
                self.log(Event::Approval { node: self.id(), question, answer })?;
                Ok(Some(Observation::NoHuman))
            }
            Action::Note(note) => {
                let (what, text) = (note.what.to_owned(), note.text);
                self.log(Event::Note { node: self.id(), what, text })?;
                Ok(None)
            }
            Action::Revert => {
                let draft = std::mem::take(&mut self.draft);
                let (tests, implementation) = (source(&draft.tests), source(&draft.implementation));
                self.log(Event::TakenBack { node: self.id(), tests, implementation })?;
                Ok(None)
            }
            // The owner of the workspace accepts the draft with the outcome.
            Action::Commit | Action::Finish(_) => Ok(None),
        }
    }

    fn id(&self) -> String {
        self.shop.work.plan.id(self.node).to_owned()
    }

    fn log(&self, event: Event) -> Result<(), Stop> {
        let node = self.node;
        self.shop.journal.log(event).map_err(|error| Stop::Journal { node, error })
    }

    async fn ask(&mut self, ask: &Ask) -> Result<Observation, Stop> {
        self.cost.model_calls += 1;
        let reply = self.put(ask).await?;
        Ok(match reply {
            Ok(text) => Observation::Reply(text),
            Err(reason) => Observation::NoReply { reason },
        })
    }

    /// All questions at once; the slowest answer is waited for, not their sum.
    async fn vote(&mut self, asks: &[Ask]) -> Result<Observation, Stop> {
        self.cost.model_calls += asks.len();
        let replies = join_all(asks.iter().map(|ask| self.put(ask))).await;
        replies.into_iter().collect::<Result<Vec<_>, Stop>>().map(Observation::Votes)
    }

    /// Puts a question and writes it down: the model's text, or why there is none.
    async fn put(&self, ask: &Ask) -> Result<Result<String, String>, Stop> {
        let question = convert::ask(&self.id(), ask);
        let prompt: String =
            question.messages.iter().map(|message| message.text.as_str()).collect();
        let started = Instant::now();
        let reply = tokio::select! {
            () = self.shop.cancel.cancelled() => return Err(Stop::Cancelled),
            reply = self.shop.model.ask(&question) => reply,
        };
        let usage = reply.as_ref().ok().and_then(|reply| reply.usage);
        self.log(Event::ModelCall {
            node: self.id(),
            stage: ask.stage.as_str().to_owned(),
            attempt: ask.attempt,
            prompt: disk::hash(prompt),
            model: reply.as_ref().map_or(self.shop.model.name(), |reply| &reply.model).to_owned(),
            milliseconds: started.elapsed().as_millis() as u64,
            input_tokens: usage.map(|usage| usage.input_tokens),
            output_tokens: usage.map(|usage| usage.output_tokens),
            error: reply.as_ref().err().map(ToString::to_string),
        })?;
        self.heard(reply)
    }

    fn heard(&self, reply: Result<Reply, ModelError>) -> Result<Result<String, String>, Stop> {
        match reply {
            Ok(reply) => Ok(Ok(reply.text)),
            // What came is no usable answer; the cycle re-asks as for any other malformed one.
            Err(ModelError::Truncated { partial, .. }) => Ok(Ok(partial)),
            Err(ModelError::BadResponse { .. }) => Ok(Ok(String::new())),
            Err(error @ ModelError::NotRecorded { .. }) => {
                Err(Stop::Fault(Fault::internal(&error).hint(error.hint())))
            }
            // A recording says what happened then; a live model that is gone now is gone for every node.
            Err(error)
                if error.is_unavailable() && !self.shop.model.name().starts_with("recorded:") =>
            {
                Err(Stop::Fault(Fault::unavailable(&error).hint(error.hint())))
            }
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    /// The node's file as the nodes before it left it.
    fn file_so_far(&self) -> Result<String, Stop> {
        let path = &self.shop.work.items[&self.node].path;
        let mut files = self.assemble(&Draft::default())?.0;
        Ok(files.remove(path).unwrap_or_default())
    }

    /// The tree the sandbox sees: the view, the draft, the user's files. With the ids of the node's tests.
    fn assemble(&self, draft: &Draft) -> Result<(BTreeMap<String, String>, Vec<String>), Stop> {
        let work = &self.shop.work;
        let item = &work.items[&self.node];
        let shelf = self.shelf.borrow();
        let view = work.view(self.node, &self.more);
        // Tests of other files do not matter to this one.
        let drafts: Vec<(NodeIx, Draft)> = (view.iter())
            .filter_map(|ix| Some((*ix, shelf.draft(*ix)?)))
            .map(|(ix, draft)| {
                let same = work.items[&ix].test_path == item.test_path;
                let tests = draft.tests.clone().filter(|_| same);
                (ix, Draft { tests, implementation: draft.implementation.clone() })
            })
            .collect();
        let mut shares: Vec<Share<'_>> =
            drafts.iter().map(|(ix, draft)| Share { item: &work.items[ix], draft }).collect();
        shares.push(Share { item, draft });
        let built = sources(&work.layout, &shares, &self.shop.kept).map_err(|error| {
            let message = format!("the files of {} do not fit together: {error}", item.id);
            Stop::Fault(Fault::internal(message))
        })?;
        let tests = built.tests.get(&item.id).cloned().unwrap_or_default();
        Ok((built.files, tests))
    }

    async fn test(&mut self, run: Run) -> Result<Observation, Stop> {
        self.await_imported().await?;
        let shop = self.shop.clone();
        let item = &shop.work.items[&self.node];
        let draft = match run {
            Run::Red => {
                Draft { tests: self.draft.tests.clone(), implementation: Some(cycle::stub(item)) }
            }
            Run::Green | Run::Again => self.draft.clone(),
        };
        let (files, targets) = self.assemble(&draft)?;
        let mut tree: BTreeMap<String, Arc<str>> =
            files.into_iter().map(|(path, text)| (path, Arc::from(text))).collect();
        let ini = cycle::assembly::pytest_ini(&self.shop.work.layout);
        tree.insert("pytest.ini".to_owned(), Arc::from(ini));
        for (path, text) in &self.shop.user_files {
            tree.entry(path.clone()).or_insert_with(|| text.clone());
        }
        let targets = if targets.is_empty() { vec![item.test_path.clone()] } else { targets };
        let request = Request {
            targets,
            test_timeout: self.shop.test_timeout,
            limits: Limits::default(),
            // Only a failure is worth the time that measuring takes.
            coverage: run == Run::Again,
            ..Request::new(Tree::Files(tree.clone()))
        };
        let report = self.shop.runner.run(&request, &self.shop.cancel).await;
        self.cost.runs += 1;
        let observed = convert::test_run(&report, &|path| tree.get(path).cloned())?;
        (self.passed, self.failed) = (observed.passed(), observed.failed());
        self.log(Event::TestRun {
            node: self.id(),
            red: run == Run::Red,
            outcome: observed.summary(),
            passed: self.passed,
            failed: self.failed,
            milliseconds: report.duration.as_millis() as u64,
        })?;
        Ok(Observation::Ran(observed))
    }

    /// Code that imports a node the plan did not name as its dependency waits for that node, if it
    /// stands before it in the order; then every number of jobs sees the same.
    async fn await_imported(&mut self) -> Result<(), Stop> {
        let work = &self.shop.work;
        let fragments = self.draft.implementation.iter().chain(&self.draft.tests);
        let imported: BTreeSet<NodeIx> =
            fragments.flat_map(|fragment| work.imported(self.node, fragment)).collect();
        let view: BTreeSet<NodeIx> = work.view(self.node, &self.more).into_iter().collect();
        let new: BTreeSet<NodeIx> = imported.into_iter().filter(|ix| !view.contains(ix)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let ids: Vec<&str> = new.iter().map(|ix| work.plan.id(*ix)).collect();
        let text = format!("uses {} without a planned dependency", ids.join(", "));
        self.log(Event::Note { node: self.id(), what: "unplanned-dependency".to_owned(), text })?;
        self.more.extend(new);
        let needed = work.view(self.node, &self.more);
        if !self.shelf.borrow().has_all(&needed) {
            self.permit = None;
            // The owner may have gone; then the wait below ends by cancellation.
            let _ = self.shop.freed.send(());
            let cancel = self.shop.cancel.clone();
            tokio::select! {
                () = cancel.cancelled() => return Err(Stop::Cancelled),
                all = self.shelf.wait_for(|shelf| shelf.has_all(&needed)) => drop(all.map_err(|_| Stop::Cancelled)?),
            }
            let slot = self.shop.slots.clone().acquire_owned().await;
            self.permit = Some(slot.map_err(|_| Stop::Cancelled)?);
        }
        Ok(())
    }

    /// Localization by traceback: frames in the node's own file, then the node itself.
    fn search(&mut self, query: &Query) -> Result<Observation, Stop> {
        let item = &self.shop.work.items[&self.node];
        let frames = query.failures.iter().flat_map(|failure| &failure.frames).chain(&query.stack);
        let mut suspects: Vec<Suspect> = Vec::new();
        for frame in
            frames.filter(|frame| !frame.path.starts_with("tests/") && !frame.path.starts_with('/'))
        {
            let known =
                suspects.iter().any(|it| it.path == frame.path && it.symbol == frame.function);
            if !known && frame.function != "<module>" {
                suspects.push(Suspect {
                    path: frame.path.clone(),
                    line: frame.line,
                    symbol: frame.function.clone(),
                    why: "in the traceback".to_owned(),
                });
            }
        }
        self.cost.searches += 1;
        self.cost.search_hits += usize::from(!suspects.is_empty());
        if suspects.is_empty() {
            suspects.push(Suspect {
                path: item.path.clone(),
                line: 1,
                symbol: item.qualified_name(),
                why: "the function under test".to_owned(),
            });
        }
        self.log(Event::Localization {
            node: self.id(),
            tool: "traceback".to_owned(),
            query: query.failures.first().map(|it| it.message.clone()).unwrap_or_default(),
            found: suspects.iter().map(|it| it.symbol.clone()).collect(),
        })?;
        Ok(Observation::Found(Localized { suspects }))
    }
}

/// A fragment as text; empty when there is none.
pub(crate) fn source(fragment: &Option<code::Fragment>) -> String {
    fragment.as_ref().map(code::Fragment::to_source).unwrap_or_default()
}
