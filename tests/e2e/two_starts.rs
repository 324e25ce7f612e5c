//! Two processes that start on one project at once: one works, the other is refused with the name
//! of the one that works, and nothing is lost or paid for twice.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ::lsp::Client;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};

use crate::commits::milestones;
use crate::crash::issues::Implement;
use crate::crash::workflows::Tasks;
use crate::crash::{Workflow, nothing_accepted_runs_again};
use crate::random::Random;
use crate::repair::{self, both, mended};
use crate::runs::{editor, ended, start};
use crate::tasks::Task;
use crate::world::{Plot, World, assert_same};

/// Work on one project that any process can start.
pub(crate) trait SharedWork {
    fn world(&self) -> World;

    /// Returns the command line that begins or resumes the work.
    fn command(&self, world: &World) -> Command;

    /// Returns the method of a sidecar that does the same, with its parameters.
    fn request(&self, world: &World) -> (&'static str, Value);

    /// Returns whether the work is complete, so that another start would be new work.
    fn is_over(&self, _world: &World) -> bool {
        false
    }

    /// Asserts the result of one undisturbed run. If `once`, nothing was killed: every request to
    /// the model was sent once.
    fn assert_end(&self, world: &World, once: bool, when: &str);
}

/// A process that can start work.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Starter {
    CommandLine,
    /// A window of an editor, with a sidecar of its own.
    Window,
}

use Starter::{CommandLine, Window};

pub(crate) const PAIRS: [[Starter; 2]; 4] =
    [[CommandLine, CommandLine], [CommandLine, Window], [Window, CommandLine], [Window, Window]];

/// A process before or after its start of the work.
enum Worker {
    Prepared(Command),
    Running(Child),
    Open(Client),
    Busy(Client, String),
    Killed,
}

impl Worker {
    fn new(starter: Starter, work: &impl SharedWork, world: &World) -> Worker {
        match starter {
            CommandLine => Worker::Prepared(work.command(world)),
            Window => Worker::Open(editor(world, Value::Null)),
        }
    }

    fn start(self, request: &(&'static str, Value)) -> Worker {
        match self {
            Worker::Prepared(mut command) => {
                command.process_group(0).stdout(Stdio::null()).stderr(Stdio::piped());
                Worker::Running(command.spawn().expect("trellis starts"))
            }
            Worker::Open(mut client) => {
                let job = start(&mut client, request.0, request.1.clone());
                Worker::Busy(client, job)
            }
            started => started,
        }
    }

    fn process(&self) -> u32 {
        match self {
            Worker::Running(child) => child.id(),
            Worker::Open(client) | Worker::Busy(client, _) => client.process_id(),
            Worker::Prepared(_) | Worker::Killed => 0,
        }
    }

    /// Kills the process alone, as when memory runs out, or with its children.
    fn kill(self, alone: bool) -> Worker {
        let number = i32::try_from(self.process()).ok().and_then(Pid::from_raw).expect("a process");
        let kill = if alone { kill_process } else { kill_process_group };
        // The process may have ended by itself.
        let _ = kill(number, Signal::KILL);
        if let Worker::Running(mut child) = self {
            child.wait().expect("it ended");
        }
        Worker::Killed
    }

    /// Waits for the end; returns the line of the error if the work was refused.
    fn end(self) -> Option<String> {
        match self {
            Worker::Running(mut child) => {
                let mut lines = String::new();
                let mut errors = child.stderr.take().expect("piped");
                errors.read_to_string(&mut lines).expect("text");
                let code = child.wait().expect("it ended").code();
                (code != Some(0)).then(|| format!("{code:?}: {lines}"))
            }
            Worker::Busy(mut client, job) => {
                let events = ended(&mut client, &job);
                let last = events.last().expect("an event").clone();
                assert!(client.shutdown().expect("an end").success());
                (last["state"] != "done").then(|| last["error"].to_string())
            }
            Worker::Prepared(_) | Worker::Open(_) | Worker::Killed => None,
        }
    }
}

/// The disturbance of a round.
pub(crate) struct Disturbance {
    /// Time between the two starts.
    pub(crate) between: Duration,
    /// The killed process, 0 or 1, with the time of its kill and whether it dies alone.
    pub(crate) kill: Option<(usize, Duration, bool)>,
}

/// Starts two processes on one project, and asserts that one worked and that the other named it.
pub(crate) fn two_starts(
    work: &impl SharedWork,
    pair: [Starter; 2],
    disturbance: &Disturbance,
    round: u64,
) {
    let when = format!("round {round}, {pair:?}, {:?}", disturbance.kill);
    eprintln!("{when}");
    let world = work.world();
    let request = work.request(&world);
    let [first, second] = pair.map(|it| Worker::new(it, work, &world));
    let first = first.start(&request);
    // The moments are the point of the test; the assertions do not depend on them.
    std::thread::sleep(disturbance.between);
    let mut workers = [first, second.start(&request)];
    let processes = [0, 1].map(|it: usize| workers[it].process());
    if let Some((killed, after, alone)) = disturbance.kill {
        std::thread::sleep(after);
        workers =
            workers.map(|it| if it.process() == processes[killed] { it.kill(alone) } else { it });
    }
    let refusals = workers.map(Worker::end);
    for (own, refusal) in refusals.iter().enumerate() {
        let Some(line) = refusal else { continue };
        let other = format!("another trellis (process {}, since ", processes[1 - own]);
        // Between its lock and its name, a process is known to work, and not which one.
        let is_named = line.contains(&other) || line.contains("another trellis is ");
        assert!(is_named, "{when}: {line}");
    }
    if disturbance.kill.is_none() {
        let refused = refusals.iter().flatten().count();
        assert!(refused < 2, "{when}: nobody worked: {refusals:?}");
    } else if !work.is_over(&world) {
        let output = work.command(&world).output().expect("trellis starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{when}: {errors}");
    }
    work.assert_end(&world, disturbance.kill.is_none(), &when);
}

/// Starts each pair at once, and kills one of the two in every second round.
fn at_once(work: &impl SharedWork) {
    let mut random = Random(20_261_128);
    for (round, pair) in (0..).zip(PAIRS) {
        let (killed, alone) = (random.below(2) as usize, random.below(2) == 0);
        let after = Duration::from_millis(random.below(1000));
        let kill = (round % 2 == 1).then_some((killed, after, alone));
        two_starts(work, pair, &Disturbance { between: Duration::ZERO, kill }, round);
    }
}

/// A planning graph.
pub(crate) struct Generate {
    plot: Plot,
    undisturbed: World,
}

impl Generate {
    pub(crate) fn new(plot: Plot) -> Generate {
        let undisturbed = World::new();
        let _ = undisturbed.grow(&plot, &["--sandbox=local"]).exits(0);
        Generate { plot, undisturbed }
    }
}

impl SharedWork for Generate {
    fn world(&self) -> World {
        let world = World::new();
        world.plant(&self.plot);
        world
    }

    fn command(&self, world: &World) -> Command {
        let mut arguments = world.plant(&self.plot);
        arguments.push("--sandbox=local".to_owned());
        world.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn request(&self, world: &World) -> (&'static str, Value) {
        let model = format!("recorded:{}", world.root().join("replies.jsonl").display());
        let params =
            json!({ "graph": "rpg.json", "out": "out", "model": model, "sandbox": "local" });
        ("generate", params)
    }

    fn assert_end(&self, world: &World, once: bool, when: &str) {
        assert_same(&world.tree(), &self.undisturbed.tree());
        assert_eq!(milestones(world), milestones(&self.undisturbed), "{when}");
        nothing_accepted_runs_again(world, self.plot.nodes.len(), 0);
        if once {
            let calls = |world: &World| world.journal("model_call").len();
            assert_eq!(calls(world), calls(&self.undisturbed), "{when}: paid twice");
        }
        let _ = world.trellis(&["log", "out", "--verify"]).exits(0);
        assert_eq!(world.git(&["worktree", "list"]).lines().count(), 1, "{when}");
        assert_eq!(world.git(&["status", "--short"]), "", "{when}");
    }
}

/// Two failing tests.
pub(crate) struct Repair {
    calls: usize,
}

impl Repair {
    pub(crate) fn new() -> Repair {
        let undisturbed = both();
        let _ = repair::repair(&undisturbed, &["--approve", "autonomous"]).exits(0);
        Repair { calls: calls(&undisturbed) }
    }
}

/// Returns the number of requests to the model that were answered.
fn calls(world: &World) -> usize {
    let journal = world.read("p/.trellis/journal.jsonl");
    let lines = journal.lines().map(|it| serde_json::from_str::<Value>(it).expect("a whole line"));
    let calls = lines.filter(|it| it["event"]["kind"] == "model_call");
    calls.filter(|it| it["event"]["error"].is_null()).count()
}

impl SharedWork for Repair {
    fn world(&self) -> World {
        both()
    }

    fn command(&self, world: &World) -> Command {
        world.command(&[&repair::ARGUMENTS[..], &["--approve", "autonomous"]].concat())
    }

    fn request(&self, world: &World) -> (&'static str, Value) {
        let model = format!("recorded:{}", world.root().join("replies.jsonl").display());
        let params = json!({ "root": "p", "model": model, "approve": "autonomous", "sandbox": "local", "trials": 0, "background": true });
        ("repair", params)
    }

    fn assert_end(&self, world: &World, once: bool, when: &str) {
        assert_eq!(world.read("p/calculator.py"), mended(), "{when}");
        if once {
            assert_eq!(calls(world), self.calls, "{when}: paid twice");
        }
        let _ = world.trellis(&["log", "p", "--verify"]).exits(0);
        let listed = world.trellis(&["fixes", "list", "--project", "p"]).exits(0).stdout;
        assert_eq!(listed, "no fix needs your review\n", "{when}");
        let files: Vec<String> = repair::files(world).into_keys().collect();
        let expected: Vec<String> = repair::files(&both()).into_keys().collect();
        assert_eq!(files, expected, "{when}");
    }
}

/// Work that can also be killed alone, with the method that does it and its parameters without the
/// model.
pub(crate) struct Also<W> {
    workflow: W,
    request: (&'static str, Value),
}

impl Also<Implement> {
    pub(crate) fn implement() -> Also<Implement> {
        let params =
            json!({ "root": "p", "issue": "42", "lld": "p/docs/lld.md", "approve": "autonomous" });
        Also { workflow: Implement, request: ("implement", params) }
    }
}

impl Also<Tasks> {
    pub(crate) fn tasks(tasks: &[Task]) -> Also<Tasks> {
        let params = json!({ "file": "tasks.json", "stack": "plain-python", "out": "out" });
        Also { workflow: Tasks::new(tasks), request: ("tasks", params) }
    }
}

impl<W: Workflow> SharedWork for Also<W> {
    fn world(&self) -> World {
        self.workflow.world(0)
    }

    fn command(&self, world: &World) -> Command {
        self.workflow.command(world, 0)
    }

    fn request(&self, world: &World) -> (&'static str, Value) {
        let (method, mut params) = self.request.clone();
        let model = format!("recorded:{}", world.root().join("replies.jsonl").display());
        let more = json!({ "model": model, "sandbox": "local", "background": true });
        let more = more.as_object().expect("an object").clone();
        params.as_object_mut().expect("an object").extend(more);
        (method, params)
    }

    fn is_over(&self, world: &World) -> bool {
        self.workflow.is_over(world)
    }

    fn assert_end(&self, world: &World, _once: bool, _when: &str) {
        self.workflow.end(world, 0);
    }
}

#[test]
fn of_two_generations_one_works_and_the_other_names_it() {
    at_once(&Generate::new(Plot::three()));
}

#[test]
fn of_two_repairs_one_works_and_the_other_names_it() {
    at_once(&Repair::new());
}

/// Starts a window and then a command line at once, without a kill.
fn a_window_and_a_command_line(work: &impl SharedWork) {
    let disturbance = Disturbance { between: Duration::ZERO, kill: None };
    two_starts(work, [Window, CommandLine], &disturbance, 0);
}

#[test]
fn of_two_starts_on_an_issue_one_works_and_the_other_names_it() {
    a_window_and_a_command_line(&Also::implement());
}

#[test]
fn of_two_starts_on_tasks_one_works_and_the_other_names_it() {
    a_window_and_a_command_line(&Also::tasks(&[("base", &[], 0), ("left", &["base"], 1)]));
}
