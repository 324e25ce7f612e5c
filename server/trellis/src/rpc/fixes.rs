//! The methods about proposed fixes.

use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt as _;

use super::catalog::blocking;
use super::context::Context;
use super::table::{Effect, Table};
use crate::error::Fault;
use crate::methods::fixes::{
    DecideFixParams, GetFixParams, ListFixesParams, ProposeFixParams, UndoFixParams, decide_fix,
    get_fix, list_fixes, propose_fix, undo_fix,
};
use crate::proposals::{OpenTexts, State, Store, Testing};
use crate::sandbox::SandboxArgs;
use crate::state::positions;

pub(super) fn register(table: &mut Table) {
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
        tell(&context, &store, undone.summary.state, &params.fix);
        Ok(undone)
    });
    table.work(
        "trellis/proposeFix",
        Effect::Runs,
        |params: &ProposeFixParams| format!("a fix of {}", params.test),
        |context, params: ProposeFixParams, duty| async move {
            let store = store(&context, params.root.as_deref()).await;
            let (editor, cancel) = (context.editor.clone(), duty.control.cancel.clone());
            let fix = propose_fix(&store, params, editor, &duty.output, cancel).await?;
            tell(&context, &store, fix.summary.state, &fix.summary.fix);
            Ok(fix)
        },
    );
    table.work(
        "trellis/decideFix",
        Effect::Writes,
        |params: &DecideFixParams| format!("decision about {}", params.fix),
        |context, params: DecideFixParams, duty| async move {
            let store = store(&context, params.root.as_deref()).await;
            let args = SandboxArgs { sandbox: params.sandbox, image: params.image.clone() };
            let testing = match params.runs_tests() {
                false => None,
                true => {
                    context.may_run()?;
                    let cancel = duty.control.cancel.clone();
                    Some(Testing { sandbox: args, output: &duty.output, cancel })
                }
            };
            let fix = params.fix.clone();
            let (shared, root) = (context.clone(), store.root().to_owned());
            let open = move || {
                let (context, root) = (shared.clone(), root.clone());
                async move { open_texts(&context, &root).await }.boxed()
            };
            let decided = decide_fix(&store, params, &open, testing).await;
            // A refusal may have made it stale.
            let now = store.get(&fix).map(|it| it.state);
            now.into_iter().for_each(|state| tell(&context, &store, state, &fix));
            decided
        },
    );
}

async fn store(context: &Context, root: Option<&Path>) -> Store {
    let root = context.root(root).await;
    // One that is not there has no fixes, which is said then.
    Store::of(&root.canonicalize().unwrap_or(root))
}

fn tell(context: &Context, store: &Store, state: State, fix: &str) {
    context.events.tell(&state.event(store.root(), fix));
}

/// What the client has open below a folder.
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
