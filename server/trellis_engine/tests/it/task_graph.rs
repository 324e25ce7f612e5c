//! Tests of the task graph: lists of tasks, completed in any order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trellis_engine::task_graph::{Action, Event, Phase, Progress, TaskGraphMachine};
use trellis_engine::{Machine as _, Outcome};
use trellis_plan::{Dialect, NodeIx, Plan};

/// Parses a line `id: needs…` for each task.
fn tasks(lines: &str) -> Arc<Plan> {
    let task = |line: &str| {
        let (id, needs) = line.split_once(':').expect("a colon");
        let needs: Vec<String> = needs.split_whitespace().map(|it| format!("{it:?}")).collect();
        let id = id.trim();
        format!(
            "{{\"id\": {id:?}, \"description\": \"Do {id}.\", \"depends_on\": [{}]}}",
            needs.join(", ")
        )
    };
    let all: Vec<String> = lines.lines().filter(|it| !it.trim().is_empty()).map(task).collect();
    let text = format!("{{\"tasks\": [{}]}}", all.join(", "));
    Arc::new(trellis_plan::read(text.as_bytes(), Some(Dialect::Tasks)).expect("tasks"))
}

fn step(machine: &mut TaskGraphMachine, event: Event) -> Vec<Action> {
    machine.step(event).expect("an event in turn")
}

/// A simulated environment that finishes running tasks in random order and lets some tasks fail.
struct World {
    random: u64,
    fails: BTreeSet<&'static str>,
    /// Tasks whose branch cannot be merged.
    conflicts: BTreeSet<&'static str>,
    most: usize,
    batches: Vec<usize>,
}

impl World {
    fn below(&mut self, limit: usize) -> usize {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as usize % limit
    }

    fn play(&mut self, plan: &Arc<Plan>, workers: usize) -> Progress {
        let mut machine =
            TaskGraphMachine::new(plan.clone(), trellis_plan::order(plan), workers, None);
        let mut next = step(&mut machine, Event::Started);
        let (mut working, mut merging): (Vec<NodeIx>, Option<Vec<NodeIx>>) = (Vec::new(), None);
        let mut merged: BTreeSet<NodeIx> = BTreeSet::new();
        loop {
            let mut seen = Vec::new();
            for it in std::mem::take(&mut next) {
                match it {
                    Action::Scaffold => seen.push(Event::Scaffolded(Ok(()))),
                    Action::StartWork(task) => {
                        let missing = plan.needs(task).iter().find(|it| !merged.contains(*it));
                        assert_eq!(
                            missing,
                            None,
                            "{} began before what it needs was merged",
                            plan.id(task)
                        );
                        working.push(task);
                    }
                    Action::Merge(batch) => {
                        assert!(merging.is_none(), "two merges at once");
                        self.batches.push(batch.len());
                        merging = Some(batch);
                    }
                    Action::Integrate => seen.push(Event::Integrated(Ok(()))),
                    Action::Finish(_) => {
                        assert!(working.is_empty() && merging.is_none(), "work is left behind");
                        return machine.progress();
                    }
                }
            }
            assert!(working.len() <= workers);
            self.most = self.most.max(working.len());
            let seen = seen
                .pop()
                .unwrap_or_else(|| self.happens(plan, &mut working, &mut merging, &mut merged));
            next = step(&mut machine, seen);
        }
    }

    fn happens(
        &mut self,
        plan: &Plan,
        working: &mut Vec<NodeIx>,
        merging: &mut Option<Vec<NodeIx>>,
        merged: &mut BTreeSet<NodeIx>,
    ) -> Event {
        let at = self.below(working.len() + usize::from(merging.is_some()));
        if at < working.len() {
            let task = working.swap_remove(at);
            return match self.fails.contains(plan.id(task)) {
                true => Event::Failed(task, "no tests".to_owned()),
                false => Event::Made(task),
            };
        }
        let batch = merging.take().expect("something is under way");
        let (refused, done): (Vec<_>, Vec<_>) =
            batch.into_iter().partition(|it| self.conflicts.contains(plan.id(*it)));
        merged.extend(done.iter().copied());
        Event::Merged {
            done,
            refused: refused.into_iter().map(|it| (it, "a conflict".to_owned())).collect(),
        }
    }
}

fn world(seed: u64, fails: &[&'static str], conflicts: &[&'static str]) -> World {
    World {
        random: seed,
        fails: fails.iter().copied().collect(),
        conflicts: conflicts.iter().copied().collect(),
        most: 0,
        batches: Vec::new(),
    }
}

/// A diamond, a chain next to it, and separate tasks.
const LIST: &str = "
base:
left: base
right: base
top: left right
one:
two: one
three: two
alone:
other:
last: top three
";

/// Tasks that fail, tasks that cannot be merged, the final phase, and the tasks that have failed or
/// are blocked then.
type Row = (
    &'static [&'static str],
    &'static [&'static str],
    Phase,
    &'static [&'static str],
    &'static [&'static str],
);

#[test]
fn any_order_of_events_ends_alike() {
    let plan = tasks(LIST);
    let ids =
        |all: &[&str]| -> BTreeSet<String> { all.iter().map(|it| (*it).to_owned()).collect() };
    let table: [Row; 6] = [
        (&[], &[], Phase::Complete, &[], &[]),
        (&["left"], &[], Phase::Complete, &["left"], &["top", "last"]),
        (&[], &["two"], Phase::Complete, &["two"], &["three", "last"]),
        (&["alone"], &["other"], Phase::Complete, &["alone", "other"], &[]),
        // Half of the tasks is not more than half.
        (&["one", "alone"], &[], Phase::Complete, &["one", "alone"], &["two", "three", "last"]),
        // Six of ten.
        (
            &["base", "three"],
            &[],
            Phase::Failed,
            &["base", "three"],
            &["left", "right", "top", "last"],
        ),
    ];
    for (fails, conflicts, phase, failed, blocked) in table {
        let mut most = 0;
        let mut batches = BTreeMap::new();
        for seed in 0..50 {
            let mut world = world(seed, fails, conflicts);
            let ended = world.play(&plan, 3);
            most = most.max(world.most);
            world.batches.iter().for_each(|it| *batches.entry(*it).or_insert(0) += 1);
            assert_eq!(ended.phase, phase, "{fails:?} {conflicts:?} {seed}");
            if phase == Phase::Complete {
                assert_eq!(
                    ended.failed.keys().cloned().collect::<BTreeSet<_>>(),
                    ids(failed),
                    "{seed}"
                );
                assert_eq!(
                    ended.blocked.keys().cloned().collect::<BTreeSet<_>>(),
                    ids(blocked),
                    "{seed}"
                );
                let settled = ended.completed.len() + ended.failed.len() + ended.blocked.len();
                assert_eq!((settled, ended.total, ended.current.len()), (10, 10, 0), "{seed}");
                assert_eq!(ended.percent as usize, ended.completed.len() * 10, "{seed}");
            }
        }
        assert_eq!(most, 3, "all workers have work at some time");
        assert!(
            batches.keys().any(|it| *it > 1),
            "what waits for its merge goes together: {batches:?}"
        );
    }
}

#[test]
fn more_than_half_blocked_ends_it_and_keeps_what_is_under_way() {
    let plan = tasks("a:\nb: a\nc: a\nd:\n");
    let at = |id: &str| plan.find(id).expect(id);
    let mut machine = TaskGraphMachine::new(plan.clone(), trellis_plan::order(&plan), 2, None);
    let next = step(&mut machine, Event::Started);
    assert_eq!(next, [Action::Scaffold]);
    let started = step(&mut machine, Event::Scaffolded(Ok(())));
    assert_eq!(
        started,
        [Action::StartWork(at("a")), Action::StartWork(at("d"))],
        "the heaviest chain first"
    );
    assert_eq!(step(&mut machine, Event::Failed(at("a"), "no answer".to_owned())), []);
    assert_eq!(step(&mut machine, Event::Made(at("d"))), [Action::Merge(vec![at("d")])]);
    let end = step(&mut machine, Event::Merged { done: vec![at("d")], refused: Vec::new() });
    assert!(matches!(end[..], [Action::Finish(Outcome::Failed { .. })]), "{end:?}");
    let progress = machine.progress();
    assert_eq!((progress.phase.as_str(), progress.percent), ("FAILED", 25));
    assert_eq!(progress.completed, ["d"]);
    assert_eq!(progress.failed["a"], "no answer");
    assert!(progress.blocked["b"].contains('a'), "{:?}", progress.blocked);
}

#[test]
fn what_was_merged_before_is_not_done_again() {
    let plan = tasks("a:\nb: a\nc: b\n");
    let at = |id: &str| plan.find(id).expect(id);
    let merged = [at("a"), at("b")];
    let mut machine =
        TaskGraphMachine::new(plan.clone(), trellis_plan::order(&plan), 3, Some(&merged));
    let next = step(&mut machine, Event::Started);
    assert_eq!(next, [Action::StartWork(at("c"))]);
    assert_eq!(machine.progress().percent, 66);
    step(&mut machine, Event::Made(at("c")));
    assert_eq!(
        step(&mut machine, Event::Merged { done: vec![at("c")], refused: Vec::new() }),
        [Action::Integrate]
    );
    assert_eq!(machine.progress().phase, Phase::Integrating);
    let end = step(&mut machine, Event::Integrated(Err("tests fail".to_owned())));
    assert!(matches!(end[..], [Action::Finish(Outcome::Failed { .. })]), "{end:?}");
    let all = [at("a"), at("b"), at("c")];
    let mut machine =
        TaskGraphMachine::new(plan.clone(), trellis_plan::order(&plan), 3, Some(&all));
    let next = step(&mut machine, Event::Started);
    assert_eq!(next, [Action::Integrate]);
}

#[test]
fn without_a_scaffold_there_is_nothing() {
    let plan = tasks("a:\n");
    let mut machine = TaskGraphMachine::new(plan.clone(), trellis_plan::order(&plan), 3, None);
    step(&mut machine, Event::Started);
    let end = step(&mut machine, Event::Scaffolded(Err("npm is missing".to_owned())));
    assert!(matches!(end[..], [Action::Finish(Outcome::Failed { .. })]), "{end:?}");
}

#[test]
fn an_event_out_of_turn_is_refused_and_changes_nothing() {
    let plan = tasks("a:\nb:\n");
    let at = |id: &str| plan.find(id).expect(id);
    let mut machine = TaskGraphMachine::new(plan.clone(), trellis_plan::order(&plan), 1, None);
    step(&mut machine, Event::Started);
    step(&mut machine, Event::Scaffolded(Ok(())));
    let before = machine.progress();
    let merged = Event::Merged { done: vec![at("a")], refused: Vec::new() };
    for event in [Event::Started, Event::Made(at("b")), merged, Event::Integrated(Ok(()))] {
        assert!(machine.step(event.clone()).is_err(), "{event:?}");
        assert_eq!(machine.progress(), before);
    }
    assert_eq!(step(&mut machine, Event::Made(at("a")))[0], Action::Merge(vec![at("a")]));
}
