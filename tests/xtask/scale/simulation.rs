//! Simulation of a generation on many engines: runs wait for Trellis and then for a worker, both
//! first come, first served.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A graph of equal nodes in chains, as [`crate::chains`] writes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub(super) nodes: usize,
    /// Number of nodes in a chain.
    pub(super) depth: usize,
    /// Number of test runs of a node.
    pub(super) runs: usize,
}

/// Costs of one run in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// Processor time of Trellis.
    pub(super) trellis: f64,
    /// Time of a worker.
    pub(super) worker: f64,
}

/// Machines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machines {
    /// Number of processors of Trellis.
    pub(super) processors: usize,
    /// Number of workers on all engines.
    pub(super) workers: usize,
}

/// Result of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Simulated {
    pub(super) seconds: f64,
    /// Share of time in which a processor of Trellis works, 0 to 1.
    pub(super) trellis_busy: f64,
    /// Share of time in which a worker works, 0 to 1.
    pub(super) workers_busy: f64,
}

/// A place where runs are served and wait.
struct Station {
    servers: usize,
    busy: usize,
    waiting: VecDeque<Run>,
    /// Time of one run, in microseconds.
    time: u64,
    /// Time of all runs together, in microseconds.
    served: u64,
}

/// A node's run: the chain, the node's place in it, and the number of the run.
type Run = (usize, usize, usize);

/// The end of a run at a station, earliest first: time, station, run.
type End = Reverse<(u64, usize, Run)>;

impl Station {
    fn new(servers: usize, seconds: f64) -> Station {
        let time = (seconds * 1e6).round() as u64;
        Station { servers, busy: 0, waiting: VecDeque::new(), time, served: 0 }
    }

    /// Starts waiting runs as far as servers are free.
    fn start(&mut self, station: usize, now: u64, ends: &mut BinaryHeap<End>) {
        while self.busy < self.servers {
            let Some(run) = self.waiting.pop_front() else { return };
            self.busy += 1;
            self.served += self.time;
            ends.push(Reverse((now + self.time, station, run)));
        }
    }

    fn busy_share(&self, end: u64) -> f64 {
        self.served as f64 / (self.servers as u64 * end).max(1) as f64
    }
}

/// Simulates the work; every chain begins at once.
pub(super) fn simulate(work: Work, costs: Costs, machines: Machines) -> Simulated {
    let mut stations = [
        Station::new(machines.processors, costs.trellis),
        Station::new(machines.workers, costs.worker),
    ];
    let chains = work.nodes.div_ceil(work.depth);
    stations[0].waiting.extend((0..chains).map(|chain| (chain, 0, 0)));
    let (mut ends, mut now) = (BinaryHeap::new(), 0);
    stations[0].start(0, now, &mut ends);
    while let Some(Reverse((time, station, run))) = ends.pop() {
        now = time;
        stations[station].busy -= 1;
        let next = if station == 0 { Some(run) } else { following(work, run) };
        stations[1 - station].waiting.extend(next);
        stations.iter_mut().enumerate().for_each(|(at, it)| it.start(at, now, &mut ends));
    }
    let [trellis, workers] = stations.map(|it| it.busy_share(now));
    Simulated { seconds: now as f64 / 1e6, trellis_busy: trellis, workers_busy: workers }
}

/// Returns the run after a run: of the same node, or of the next one in its chain.
fn following(work: Work, (chain, node, run): Run) -> Option<Run> {
    if run + 1 < work.runs {
        return Some((chain, node, run + 1));
    }
    let is_there = node + 1 < work.depth && chain * work.depth + node + 1 < work.nodes;
    is_there.then_some((chain, node + 1, 0))
}

#[cfg(test)]
mod tests {
    use super::{Costs, Machines, Simulated, Work, simulate};

    const COSTS: Costs = Costs { trellis: 0.01, worker: 1.0 };

    fn with(work: Work, workers: usize) -> Simulated {
        simulate(work, COSTS, Machines { processors: 1, workers })
    }

    #[test]
    fn one_worker_takes_all_runs_one_after_the_other() {
        let found = with(Work { nodes: 7, depth: 3, runs: 2 }, 1);
        assert!((found.seconds - 14.01).abs() < 1e-6, "{found:?}");
        assert!(found.workers_busy > 0.99, "{found:?}");
    }

    #[test]
    fn the_longest_chain_and_trellis_are_limits() {
        let chain = with(Work { nodes: 5, depth: 5, runs: 1 }, 100);
        assert!((chain.seconds - 5.05).abs() < 1e-6, "{chain:?}");
        let wide = Work { nodes: 10_000, depth: 1, runs: 1 };
        let found = with(wide, 1000);
        assert!(found.trellis_busy > 0.95 && found.workers_busy < 0.2, "{found:?}");
        assert!((found.seconds - 101.0).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn twice_the_workers_take_half_the_time_until_trellis_is_the_limit() {
        let work = Work { nodes: 4000, depth: 4, runs: 1 };
        let ratio = with(work, 10).seconds / with(work, 20).seconds;
        assert!((1.9..2.1).contains(&ratio), "{ratio}");
    }
}
