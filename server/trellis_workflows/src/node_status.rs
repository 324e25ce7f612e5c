//! The status of a plan's nodes after the last run.

use std::io;
use std::path::Path;

use trellis_plan::{NodeIx, Plan, Status};

use crate::fault::{Fault, FaultKind};
use crate::tasks;
use trellis_store::checkpoint::{self, Checkpoint};

/// Statuses of nodes; empty before a run.
pub struct NodeStatuses {
    checkpoint: Checkpoint,
}

impl NodeStatuses {
    /// Reads the statuses of a run in `dir`, which must have a checkpoint.
    pub fn of_run(dir: &Path) -> Result<NodeStatuses, Fault> {
        let checkpoint = checkpoint(dir)?.ok_or_else(|| no_run(dir))?;
        Ok(NodeStatuses { checkpoint })
    }

    /// Reads the statuses of the run that exported a plan, if its path is `DIR/docs/rpg.json`.
    pub fn of_exported_plan(rpg: &Path) -> Result<NodeStatuses, Fault> {
        let folder = rpg.canonicalize().ok().and_then(|it| it.parent().map(Path::to_owned));
        let docs = folder.filter(|it| it.ends_with("docs"));
        let run = docs.as_deref().and_then(Path::parent).map(checkpoint).transpose()?;
        Ok(NodeStatuses { checkpoint: run.flatten().unwrap_or_default() })
    }

    /// Returns the checkpoint of the run; empty before a run.
    pub fn into_checkpoint(self) -> Checkpoint {
        self.checkpoint
    }

    /// Returns a node's status, from the checkpoint or else from the plan itself.
    pub fn of(&self, plan: &Plan, node: NodeIx) -> Option<Status> {
        let entry = self.checkpoint.get(plan.id(node)).map(|it| it.status.clone());
        Status::parse(&entry.or_else(|| plan.node(node).extra.text("status"))?)
    }
}

/// Reads the checkpoint of a run, if there is one. An unreadable one stays where it is.
pub fn checkpoint(dir: &Path) -> Result<Option<Checkpoint>, Fault> {
    let path = dir.join(checkpoint::PATH);
    let bytes = match trellis_os::files::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => {
            return Err(Fault::input(trellis_os::wording::cannot_read(path.display(), &e))
                .hint("give the output folder of `trellis generate`"));
        }
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|e| {
        Fault::input(format!("{} is not a checkpoint: {e}", path.display()))
            .hint("run `trellis generate` again; it renames the bad file and starts over")
    })
}

/// Returns the fault of a folder without a checkpoint.
pub fn no_run(dir: &Path) -> Fault {
    let missing = dir.join(checkpoint::PATH);
    let fault = Fault::input(format!(
        "there is no run of `generate` or `tasks` in this folder: {} does not exist",
        missing.display()
    ))
    .kind(FaultKind::NoCheckpoint);
    match tasks::is_there(dir) {
        true => fault.hint(
            "it contains a list of tasks: `trellis status` and `trellis/tasksStatus` show its \
             progress",
        ),
        false => fault.hint("give the output folder of `trellis generate` or `trellis tasks`"),
    }
}
