//! Faults at single steps of a workflow, with the fault points of a debug build
//! (`trellis_store::fault_point`).

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use super::Workflow;
use crate::world::World;

/// Environment variable with the number of the step that fails.
pub(crate) const POINT: &str = "TRELLIS_FAULT_POINT";

/// Environment variable with the name of the fault.
const FAULT: &str = "TRELLIS_FAULT";

/// Environment variable with the path of a file that gets one line per step.
const COUNTED: &str = "TRELLIS_FAULT_POINTS";

/// Faults that end the process.
pub(crate) const KILLS: [&str; 2] = ["kill", "torn"];

/// Faults that the process must report: a disk that is full from then on, one error of the disk,
/// and a step that is not permitted.
pub(crate) const ERRORS: [&str; 3] = ["full", "broken", "refused"];

/// A step of a workflow, from 1, and what happens there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) point: u64,
    pub(crate) name: &'static str,
}

impl Fault {
    /// Has the fault happen in a process of this command.
    pub(crate) fn happens_in(self, command: &mut Command) {
        command.env(POINT, self.point.to_string()).env(FAULT, self.name);
    }
}

/// Runs the work of one round undisturbed; returns the place in the code of each of its steps.
pub(crate) fn steps(workflow: &impl Workflow, round: u64) -> Vec<String> {
    let world = workflow.world(round);
    let count = world.root().join("count");
    let status = workflow.command(&world, round).env(COUNTED, &count).status();
    assert_eq!(status.expect("trellis starts").code(), Some(workflow.exit_code()));
    let steps = std::fs::read_to_string(&count).expect("a build for tests has fault points");
    steps.lines().map(str::to_owned).collect()
}

/// Runs the work with a fault; returns whether the fault ended it early. An error ends the process
/// in words.
pub(crate) fn is_ended_by(
    workflow: &impl Workflow,
    world: &World,
    fault: Fault,
    round: u64,
) -> bool {
    let mut command = workflow.command(world, round);
    fault.happens_in(&mut command);
    let output = command.stderr(Stdio::piped()).output().expect("trellis starts");
    let (status, said) = (output.status, String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains("panicked"), "{fault:?}: {said}");
    said.lines().filter(|it| it.contains("error: ")).for_each(|it| eprintln!("{fault:?}: {it}"));
    match status.signal() {
        Some(signal) => assert!(signal == 9 && KILLS.contains(&fault.name), "{fault:?}: {said}"),
        None if status.success() => return false,
        None => assert!(said.contains("error: "), "{fault:?}, {status}: {said}"),
    }
    true
}
