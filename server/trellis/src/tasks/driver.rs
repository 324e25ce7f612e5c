//! Does what the campaign says, several tasks at a time.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use cycle::approval::Mode;
use cycle::campaign::{Campaign, Next, Progress, Seen};
use cycle::feature::{Changes, Context, End, Ending, Limits};
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use plan::{NodeIx, Plan};

use super::board::Board;
use super::merge::{Bench, Known, Merged, merge, one};
use super::{Order, TASK, TOGETHER, ground, told};
use crate::control::Control;
use crate::counsel::{Counsel, no_journal};
use crate::error::{Exit, Fault};
use crate::forge::{Forge, Left};
use crate::implement::{self, Came, Made, Tools, Trials, Words, make, message, with_packages};
use crate::methods::repair::Time;
use crate::methods::tasks::TasksResult;
use crate::output::Output;
use crate::plan_file;
use crate::sandbox::{self, Needs, Opened};
use crate::stacks::{self, Stack};
use crate::workspace::disk;
use crate::workspace::git::Git;
use crate::workspace::journal::Journal;
use crate::workspace::landing::Checkout;
use crate::workspace::lock::Lock;
use crate::workspace::record::{branch, checked_out, full, left};

/// Makes a repository of a list of tasks.
///
/// # Errors
///
/// A list with problems, a folder of somebody else's, no git, no sandbox, no model; what was merged stays, and the next call
/// goes on from there.
pub(crate) async fn tasks(
    order: &Order,
    output: &Output,
    control: &Control,
) -> Result<TasksResult, Fault> {
    let began = Instant::now();
    let plan = Arc::new(plan_file::read_tasks(&order.file)?);
    if plan.nodes().is_empty() {
        return Err(Fault::input(format!("{} has no tasks", order.file.display()))
            .hint("give a list with at least one task; nothing was started"));
    }
    let known = stacks::all(&order.stacks, |name| std::env::var(name).ok())?;
    let stack = stacks::find(known, &order.stack)?;
    let out = ground::folder(order, &stack)?;
    let _lock = Lock::take(&out)?;
    let journal = Journal::join(&out).map_err(no_journal)?;
    let (git, merged) = ground::repository(&out, &journal)?;
    let into = checked_out(&git)?;
    let forge = match &order.push {
        Some(it) => Some(Forge::open(it, &out, git.at(&out), (&journal, output, control))?),
        None => None,
    };
    let observer = output.observer();
    let mut board = Board::new(&out, &plan, (&order.file, stack.name()), &observer)?;
    ground::clear(&out, &git, (&journal, output))?;
    if merged.is_none() {
        board.begin()?;
        ground::install(&out, &stack, output, &control.cancel).await?;
    }
    let opened = open(order, &out, output, control).await?;
    let counsel = Counsel::open(("tasks", cancelled), (&out, output), &order.model)?;
    let tools =
        Tools { output, control, journal: &journal, runner: &opened.runner, counsel: &counsel };
    let all = Arc::new(All {
        order,
        stack: &stack,
        plan: plan.clone(),
        out: &out,
        tools,
        git,
        into,
        forge,
        known: Known::default(),
    });
    let ended = all.follow(merged, &mut board).await;
    if let Ok(campaign) = &ended {
        all.push(&campaign.progress()).await?;
    }
    let notes = opened.runner.close().await;
    let campaign = ended?;
    Ok(TasksResult {
        out: out.display().to_string(),
        usd: counsel.spent().usd,
        tokens: counsel.spent().tokens,
        time: Time::of(began.elapsed(), opened.runner.totals()),
        notes,
        pushed: all.forge.as_ref().map(Forge::said).unwrap_or_default(),
        ..TasksResult::of(&campaign.progress())
    })
}

async fn open(
    order: &Order,
    out: &Path,
    output: &Output,
    control: &Control,
) -> Result<Opened, Fault> {
    let opening = sandbox::open(&order.sandbox, out, Needs::Project, output);
    tokio::select! {
        () = control.cancel.cancelled() => Err(cancelled()),
        opened = opening => opened,
    }
}

/// What all tasks share.
struct All<'a> {
    order: &'a Order,
    stack: &'a Stack,
    plan: Arc<Plan>,
    out: &'a Path,
    tools: Tools<'a>,
    git: Git,
    /// The branch that all is merged into: the one that was checked out in the beginning.
    into: String,
    forge: Option<Forge<'a>>,
    /// Tests that pass on the branch that all is merged into.
    known: Known,
}

/// What ended.
enum Ended {
    Scaffold(Result<(), String>),
    Task(NodeIx, Came),
    Merge(Merged),
    Integration(Result<(), String>),
}

impl All<'_> {
    async fn follow(
        &self,
        merged: Option<Vec<String>>,
        board: &mut Board<'_>,
    ) -> Result<Campaign, Fault> {
        let known = merged.map(|names| self.named(&names));
        let order = plan::order(&self.plan);
        let (mut campaign, mut next) =
            Campaign::new(self.plan.clone(), order, self.order.jobs, known.as_deref());
        let mut under_way: FuturesUnordered<BoxFuture<'_, Result<Ended, Fault>>> =
            FuturesUnordered::new();
        let mut made: HashMap<NodeIx, Made> = HashMap::new();
        loop {
            board.show(&campaign)?;
            for it in std::mem::take(&mut next) {
                if let Next::End(phase) = it {
                    self.state(phase.as_str(), "")?;
                    return Ok(campaign);
                }
                under_way.push(self.begin(it, &campaign, &mut made)?);
            }
            let Some(ended) = under_way.next().await else {
                return Err(Fault::internal("the tasks have no next step"));
            };
            let seen = match ended? {
                Ended::Scaffold(result) => Seen::Scaffolded(result),
                Ended::Integration(result) => Seen::Integrated(result),
                Ended::Merge(Merged { done, refused }) => Seen::Merged { done, refused },
                Ended::Task(task, came) => self.came(task, came, &mut made),
            };
            self.seen(&seen)?;
            next = campaign.step(seen);
        }
    }

    fn begin<'s>(
        &'s self,
        next: Next,
        campaign: &Campaign,
        made: &mut HashMap<NodeIx, Made>,
    ) -> Result<BoxFuture<'s, Result<Ended, Fault>>, Fault> {
        Ok(match next {
            Next::Scaffold => {
                self.state("SCAFFOLDING", self.stack.name())?;
                Box::pin(async { Ok(Ended::Scaffold(self.scaffold().await?)) })
            }
            Next::Start(task) => {
                self.note(self.plan.id(task), "begun")?;
                Box::pin(async move { Ok(Ended::Task(task, self.make(task).await?)) })
            }
            Next::Merge(tasks) => {
                // What an earlier start has merged is in no need of it.
                let (batch, before): (Vec<_>, Vec<_>) = tasks
                    .into_iter()
                    .map(|it| (it, made.remove(&it)))
                    .partition(|it| it.1.is_some());
                let batch =
                    batch.into_iter().filter_map(|(task, made)| Some((task, made?))).collect();
                let before = before.into_iter().map(|it| it.0);
                let before: Vec<NodeIx> = before.collect();
                Box::pin(async move {
                    let order = self.work("tasks", "all tasks", None);
                    let trials = Trials::of(&order, self.tools.runner, &self.tools.control.cancel);
                    let mut merged = merge(batch, self.bench(&trials)).await?;
                    if let Some(forge) = self.forge.as_ref().filter(|_| !merged.done.is_empty()) {
                        forge.target(&self.into).await;
                    }
                    merged.done.extend(before);
                    Ok(Ended::Merge(merged))
                })
            }
            Next::Integrate => {
                self.state("INTEGRATING", "")?;
                let merged = campaign.progress().completed;
                Box::pin(async move { Ok(Ended::Integration(self.integrate(&merged).await?)) })
            }
            Next::End(_) => return Err(Fault::internal("an end is not a step")),
        })
    }

    fn bench<'s>(&'s self, trials: &'s Trials<'s>) -> Bench<'s> {
        Bench { tools: self.tools, trials, known: &self.known }
    }

    /// Pushes what an earlier start or a merge did not, and what is left for a person.
    async fn push(&self, progress: &Progress) -> Result<(), Fault> {
        let Some(forge) = &self.forge else { return Ok(()) };
        let name = |id: &String| format!("task-{}", disk::safe_name(id));
        let done: Vec<String> = progress.completed.iter().map(|it| branch(&name(it))).collect();
        forge.merged(&self.into, &done).await;
        for (id, reason) in &progress.failed {
            if let Some(task) = self.plan.find(id) {
                self.offer(forge, (&self.task(task), &self.words(task)), reason).await?;
            }
        }
        if let Some(reason) = &progress.reason {
            let merged = &progress.completed;
            let work = (&self.together(merged), &self.all_words(merged));
            self.offer(forge, work, reason).await?;
        }
        Ok(())
    }

    /// Pushes the branch of work that ended and waits for a person, if there is any.
    async fn offer(
        &self,
        forge: &Forge<'_>,
        (order, words): (&implement::Order, &Words),
        reason: &str,
    ) -> Result<(), Fault> {
        let Some(into) = left(self.out, &order.name)? else { return Ok(()) };
        let (branch, message) = (branch(&order.name), message(order, words));
        let (branch, into, message) = (&branch, &into, &message);
        forge.left(&Left { branch, into, message, reason, report: "" }).await;
        Ok(())
    }

    /// A project whose first test passes, committed.
    async fn scaffold(&self) -> Result<Result<(), String>, Fault> {
        if let Err(why) = self.tested(self.out).await? {
            return Ok(Err(why));
        }
        ground::commit(&self.git, self.stack, self.tools.journal)?;
        Ok(Ok(()))
    }

    /// Whether all tests pass in a folder.
    async fn tested(&self, root: &Path) -> Result<Result<(), String>, Fault> {
        let order = self.work("tasks", "all tasks", None);
        let trials = Trials::of(&order, self.tools.runner, &self.tools.control.cancel);
        let run = trials.run(root, &Changes::new(), &[]).await?;
        Ok(if run.is_clean() { Ok(()) } else { Err(run.summary()) })
    }

    async fn make(&self, task: NodeIx) -> Result<Came, Fault> {
        match make(&self.task(task), self.words(task), self.tools).await {
            // Such as a person at work in its worktree: nobody else has to stop for that.
            Err(fault) if fault.exit == Exit::NeedsHuman => {
                let ending = Ending::NeedsPerson(fault.to_string());
                Ok(Came::Ended(End { ending, history: Vec::new() }))
            }
            came => came,
        }
    }

    fn task(&self, task: NodeIx) -> implement::Order {
        let id = self.plan.id(task);
        let name = disk::safe_name(id);
        self.work(&format!("task-{name}"), id, Some(format!("{TASK}{name}")))
    }

    /// Tasks by the names that commits have of them: an id may be any text, lines of its own among it.
    fn named(&self, names: &[String]) -> Vec<NodeIx> {
        let tasks = self.plan.nodes().iter().filter_map(|it| self.plan.find(&it.id));
        tasks.filter(|it| names.contains(&disk::safe_name(self.plan.id(*it)))).collect()
    }

    /// The order of one task; of all of them without a trailer.
    fn work(&self, name: &str, id: &str, trailer: Option<String>) -> implement::Order {
        let it = self.order;
        implement::Order {
            home: self.out.to_owned(),
            id: id.to_owned(),
            name: name.to_owned(),
            title: format!("task {}", id.replace(char::is_control, " ")),
            into: Some(self.into.clone()),
            trailer,
            limits: Limits::implement(it.retries),
            tools: Some(it.tools),
            together: false,
            mode: Mode::Autonomous,
            model: it.model.clone(),
            sandbox: it.sandbox.clone(),
            test_timeout: it.test_timeout,
            run_timeout: it.run_timeout,
            // All of them are pushed by who merges them.
            push: None,
        }
    }

    fn words(&self, ix: NodeIx) -> Words {
        let task = self.plan.task(ix);
        let description = self.plan.node(ix).docstring.as_deref().unwrap_or_default().trim();
        let mut specification = format!("# {description}\n");
        let details = task.as_ref().and_then(|it| it.details.as_deref());
        if let Some(details) = details.filter(|it| !it.trim().is_empty()) {
            specification += &format!("\n{}\n", details.trim());
        }
        let keywords = task.map(|it| it.keywords).unwrap_or_default();
        if !keywords.is_empty() {
            specification += &format!("\nKeywords: {}\n", keywords.join(", "));
        }
        let context = self.standards();
        Words { lld: "the list of tasks".to_owned(), specification, context, keywords }
    }

    /// How code of the stack is written.
    fn standards(&self) -> Context {
        let mut context = Context::default();
        let written = &self.stack.written;
        let standards = format!(
            "Code is in `{}`, tests are in `{}`. No packages can be added.\n{}",
            written.src_dir, written.test_dir, written.conventions
        );
        context.add(&format!("{}.md", written.name), standards);
        context
    }

    /// Whether all of it works together: all tests pass, and those that a model writes of several tasks at once, with what it
    /// takes to connect them.
    async fn integrate(&self, merged: &[String]) -> Result<Result<(), String>, Fault> {
        // Whatever a person has checked out meanwhile, or is at work on there.
        let branch = full(&self.into);
        let made = Checkout::of(&self.git, self.tools.journal, &branch)?;
        let made = with_packages(made, self.out)?;
        let passes = self.tested(&made.root).await?;
        if passes.is_err() || !self.order.integrates || merged.len() < 2 {
            return Ok(passes);
        }
        let order = self.together(merged);
        let trailer = order.trailer.as_deref().unwrap_or_default();
        if ground::is_merged(&self.git, &branch, trailer)? {
            return Ok(Ok(()));
        }
        match make(&order, self.all_words(merged), self.tools).await? {
            Came::Merged => Ok(Ok(())),
            Came::Ended(end) => Ok(Err(apart(&why(end.ending)))),
            Came::Made(mut made) => {
                let trials = Trials::of(&order, self.tools.runner, &self.tools.control.cancel);
                let refused = one(&mut made, self.bench(&trials)).await?;
                Ok(refused.map_or(Ok(()), |why| Err(apart(&why))))
            }
        }
    }

    /// Tests of these tasks together; others are another set, and tested anew.
    fn together(&self, merged: &[String]) -> implement::Order {
        let set = disk::hash(merged.join("\n"))[..12].to_owned();
        let (name, trailer) = (format!("integration-{set}"), format!("{TOGETHER}{set}"));
        let title = "all tasks".to_owned();
        implement::Order { together: true, title, ..self.work(&name, "integration", Some(trailer)) }
    }

    /// What all tasks together are to be.
    fn all_words(&self, merged: &[String]) -> Words {
        let mut specification = format!(
            "# The parts work together as one {}\n\nThey are there, each with tests of its own:\n",
            self.stack.written.display_name
        );
        for id in merged {
            let node = self.plan.find(id).map(|it| self.plan.node(it));
            let text = node.and_then(|it| it.docstring.as_deref()).unwrap_or_default();
            specification += &format!("- {id}: {}\n", text.trim());
        }
        let context = self.standards();
        Words { lld: "the list of tasks".to_owned(), specification, context, keywords: Vec::new() }
    }

    /// What a task came to, as the campaign takes it.
    fn came(&self, task: NodeIx, came: Came, made: &mut HashMap<NodeIx, Made>) -> Seen {
        match came {
            Came::Made(it) => {
                made.insert(task, *it);
                Seen::Made(task)
            }
            Came::Merged => Seen::Made(task),
            Came::Ended(end) => Seen::Failed(task, why(end.ending)),
        }
    }

    /// Writes down what was seen.
    fn seen(&self, seen: &Seen) -> Result<(), Fault> {
        let id = |task: &NodeIx| self.plan.id(*task);
        match seen {
            Seen::Scaffolded(Ok(())) => self.state("GENERATING", ""),
            Seen::Scaffolded(Err(why)) => self.state("no project", why),
            Seen::Made(task) => self.note(id(task), "made"),
            Seen::Failed(task, why) => self.said(id(task), "failed", why),
            Seen::Merged { done, refused } => {
                done.iter().try_for_each(|it| self.note(id(it), "merged"))?;
                refused.iter().try_for_each(|(it, why)| self.said(id(it), "not merged", why))
            }
            Seen::Integrated(Ok(())) => Ok(()),
            Seen::Integrated(Err(why)) => self.state("not integrated", why),
        }
    }

    fn state(&self, phase: &str, why: &str) -> Result<(), Fault> {
        self.said("tasks", phase, why)
    }

    fn note(&self, task: &str, what: &str) -> Result<(), Fault> {
        self.said(task, what, "")
    }

    fn said(&self, work: &str, stage: &str, reason: &str) -> Result<(), Fault> {
        told(self.tools, work, stage, reason)
    }
}

/// Why tests of all tasks together are not there.
fn apart(why: &str) -> String {
    format!(
        "every task is merged or has failed, and the integration tests are missing \
         (`--skip-integration` skips them): {why}"
    )
}

/// Why work came to nothing.
fn why(ending: Ending) -> String {
    match ending {
        Ending::NeedsPerson(why) | Ending::Failed(why) => why,
        Ending::Merged | Ending::Left => "it was left on its branch".to_owned(),
    }
}

fn cancelled() -> Fault {
    Fault::new(Exit::Interrupted, "stopped before all tasks were done")
        .hint("run the same command again: it resumes, and merged tasks stay")
}
