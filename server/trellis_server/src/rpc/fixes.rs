//! Methods for proposals, and the workflows whose changes a person approves.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::catalog::blocking;
use super::context::Context;
use super::table::{Effect, Table};
use crate::api::implement::{ImplementArgs, ImplementResult};
use crate::api::proposals::{
    DecideFixParams, GetFixParams, KnownTests, ListFixesParams, ProposeFixParams, UndoFixParams,
    decide_fix, get_fix, list_fixes, propose_fix, undo_fix,
};
use crate::api::repair::{RepairArgs, RepairResult};
use crate::api::reviews::{ListReviewsParams, ReviewBaseParams, list_reviews, review_base};
use crate::api::tasks::{TasksArgs, TasksResult};
use crate::event_bus::Event;
use crate::session::positions;
use trellis_workflows::fault::Fault;
use trellis_workflows::issue::{IssueReport, Reviewer, implement, plan};
use trellis_workflows::proposals::{OpenTexts, State, Store, VerifyMode};
use trellis_workflows::repair::{Approver, repair};
use trellis_workflows::tasks::tasks;
use trellis_workflows::write_tests::registry;

pub(super) fn register(table: &mut Table) {
    fix(table);
    register_decisions(table);
    reviews(table);
    work_through(table);
    table.call("trellis/listFixes", Effect::Reads, |context, params: ListFixesParams| async move {
        let store = store(&context, params.root.as_deref()).await;
        blocking(move || list_fixes(&store, &params)).await
    });
    table.call("trellis/getFix", Effect::Reads, |context, params: GetFixParams| async move {
        let store = store(&context, params.root.as_deref()).await;
        blocking(move || get_fix(&store, &params)).await
    });
    table.call("trellis/undoFix", Effect::Writes, |context, params: UndoFixParams| async move {
        let store = store(&context, params.root.as_deref()).await;
        let open = open_texts(&context, store.root()).await?;
        let (of, fix) = (store.clone(), params.fix.clone());
        let undone = blocking(move || undo_fix(&of, &fix, &open)).await?;
        publish(&context, &store, undone.summary.state, &params.fix);
        Ok(undone)
    });
    table.work(
        "trellis/proposeFix",
        Effect::Runs,
        |params: &ProposeFixParams| format!("a fix of {}", params.test),
        |context, params: ProposeFixParams, duty| async move {
            let store = store(&context, params.root.as_deref()).await;
            let editor = context.editor.clone();
            let folder = context.root(None).await;
            let (reporter, control) = (&duty.reporter, &duty.control);
            let known = known(&context, store.root());
            let revised = params.revise.clone();
            let problem = params.problem(store.root(), &folder, known, editor)?;
            let fix = propose_fix(problem, reporter, control).await?;
            publish(&context, &store, fix.summary.state, &fix.summary.fix);
            if let Some(fix) = revised {
                let now = store.get(&fix).map(|it| it.state);
                now.into_iter().for_each(|state| publish(&context, &store, state, &fix));
            }
            Ok(fix)
        },
    );
    table.work(
        "trellis/decideFix",
        Effect::Writes,
        |params: &DecideFixParams| format!("decision about {}", params.fix),
        |context, params: DecideFixParams, duty| async move {
            let store = store(&context, params.root.as_deref()).await;
            let reporter = &duty.reporter;
            let testing = match params.runs_tests() {
                false => None,
                true => {
                    context.may_run()?;
                    let cancel = duty.control.cancel.clone();
                    Some(VerifyMode {
                        sandbox: params.sandbox.clone(),
                        reporter,
                        times: params.times()?,
                        cancel,
                    })
                }
            };
            let fix = params.fix.clone();
            let open = open_now(&context, store.root());
            let decided = decide_fix(&store, params, &open, testing).await;
            // A refusal may have made the proposal stale.
            let now = store.get(&fix).map(|it| it.state);
            now.into_iter().for_each(|state| publish(&context, &store, state, &fix));
            let rebased = decided.iter().flat_map(|it| &it.rebased);
            rebased.for_each(|fix| publish(&context, &store, State::Waiting, fix));
            decided
        },
    );
}

fn fix(table: &mut Table) {
    let title = |params: &RepairArgs| match &params.tests[..] {
        [] => "repair of failing tests".to_owned(),
        [one] => format!("repair of {one}"),
        [first, rest @ ..] => format!("repair of {first} and {} more", rest.len()),
    };
    table.work(
        "trellis/repair",
        Effect::Runs,
        title,
        |context, mut params: RepairArgs, duty| async move {
            let folder = context.root(None).await;
            params.model = params.model.resolve_recordings(&folder);
            if let Some(editor) = context.editor.clone() {
                params.model = params.model.with_editor(editor);
            }
            let wait = params.wait;
            let mut order = params.order(&folder)?;
            order.also = known(&context, &order.root).files;
            let store = Store::of(&order.root);
            let report = |state: State, fix: &str| publish(&context, &store, state, fix);
            let open = open_now(&context, store.root());
            let person = Approver::Editor { open: &open, report: &report, wait };
            let report = repair(&order, &person, &duty.reporter, &duty.control).await?;
            Ok(RepairResult::from(report))
        },
    );
}

fn register_decisions(table: &mut Table) {
    table.work(
        "trellis/implement",
        Effect::Runs,
        |it: &ImplementArgs| format!("issue {}", it.issue),
        |context, mut params: ImplementArgs, duty| async move {
            let folder = context.root(None).await;
            params.model = params.model.resolve_recordings(&folder);
            if let Some(editor) = context.editor.clone() {
                params.model = params.model.with_editor(editor);
            }
            let (decision, dry_run) = (params.decision.take(), params.dry_run);
            let (order, given) = params.order(&folder)?;
            if dry_run {
                return blocking(move || {
                    let report = IssueReport::planned(&order, plan(&order, &given)?);
                    Ok(ImplementResult::from(report))
                })
                .await;
            }
            let reviewer = decision.map_or(Reviewer::Nobody, Reviewer::from);
            let work = implement(&order, &given, &reviewer, &duty.reporter, &duty.control);
            Ok(ImplementResult::from(work.await?))
        },
    );
}

fn reviews(table: &mut Table) {
    table.call(
        "trellis/listReviews",
        Effect::Reads,
        |context, params: ListReviewsParams| async move {
            let store = store(&context, params.root.as_deref()).await;
            blocking(move || list_reviews(store.root())).await
        },
    );
    table.call(
        "trellis/reviewBase",
        Effect::Reads,
        |context, params: ReviewBaseParams| async move {
            let store = store(&context, params.root.as_deref()).await;
            blocking(move || review_base(store.root(), &params)).await
        },
    );
}

fn work_through(table: &mut Table) {
    table.work(
        "trellis/tasks",
        Effect::Runs,
        |it: &TasksArgs| format!("tasks of {}", it.file.display()),
        |context, mut params: TasksArgs, duty| async move {
            let folder = context.root(None).await;
            params.model = params.model.resolve_recordings(&folder);
            if let Some(editor) = context.editor.clone() {
                params.model = params.model.with_editor(editor);
            }
            let report = tasks(&params.order(&folder), &duty.reporter, &duty.control).await?;
            Ok(TasksResult::from(report))
        },
    );
}

/// Returns the known tests of a project: generated ones and those with results.
fn known(context: &Context, root: &Path) -> KnownTests {
    let generated = registry::test_files(root).into_iter();
    let files: BTreeSet<String> = generated.chain(context.results.files(root)).collect();
    let failing: BTreeSet<String> =
        context.results.failures_in(root).into_iter().map(|it| it.test).collect();
    let failing = failing.into_iter().collect();
    KnownTests { files: files.into_iter().collect(), failing }
}

/// Returns a function that fetches the open texts at each call.
fn open_now(
    context: &Arc<Context>,
    root: &Path,
) -> impl Fn() -> BoxFuture<'static, Result<OpenTexts, Fault>> + Send + Sync + use<> {
    let (shared, root) = (context.clone(), root.to_owned());
    move || {
        let (context, root) = (shared.clone(), root.clone());
        async move { open_texts(&context, &root).await }.boxed()
    }
}

async fn store(context: &Context, root: Option<&Path>) -> Store {
    let root = context.root(root).await;
    // A missing project has no proposals, which is reported later.
    Store::of(&root.canonicalize().unwrap_or(root))
}

fn publish(context: &Context, store: &Store, state: State, fix: &str) {
    context.events.publish(&Event::of_proposal(store.root(), fix, state));
}

/// Returns the texts that the client has open below a folder.
async fn open_texts(context: &Arc<Context>, root: &Path) -> Result<OpenTexts, Fault> {
    let root = root.to_owned();
    let asking = context.asker.ask(move |view| {
        let open = view.documents.values().filter_map(|document| {
            let path = positions::path(&document.uri)?;
            let path = path.canonicalize().unwrap_or(path);
            let name = path.strip_prefix(&root).ok()?.to_str()?.to_owned();
            Some((name, document.text.clone()))
        });
        open.collect::<OpenTexts>()
    });
    Ok(asking.await?)
}
