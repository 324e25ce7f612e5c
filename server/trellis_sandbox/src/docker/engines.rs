//! The engines of a runner: each takes a number of runs at a time, and may come and go.

use std::{
    pin::pin,
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep},
};

use super::{Docker, engine::PAUSE, sweep::sweep};
use crate::error::{AbsentEngine, AddressError, SandboxError};

/// Time for which an engine that refused a run gets no other: the cause, such as a full disk, may
/// end at any time.
const REST: Duration = Duration::from_secs(30);

/// All engines of a runner, at least one.
#[derive(Debug)]
pub(crate) struct Engines {
    all: Vec<Arc<Place>>,
    /// Notified when a run ends or an engine comes or goes.
    changed: Arc<Notify>,
}

/// One engine.
#[derive(Debug)]
struct Place {
    docker: Docker,
    state: watch::Sender<PlaceState>,
}

#[derive(Clone, Debug, Default)]
struct PlaceState {
    /// Number of runs in progress.
    busy: usize,
    absence: Option<Absence>,
}

/// The reason an engine gets no runs.
#[derive(Clone, Debug)]
struct Absence {
    reason: String,
    /// The earliest time at which the engine gets runs again, if it answers; `None` for an engine
    /// that gets no runs any more.
    until: Option<Instant>,
    /// True if the engine does not answer, so that its runs are lost as well.
    is_lost: bool,
}

impl Absence {
    /// Returns the absence of an engine that does not answer.
    fn lost(error: &AddressError) -> Absence {
        Absence { reason: error.to_string(), until: Some(Instant::now()), is_lost: true }
    }

    /// Returns whether the engine gets runs again at `now`, if it answers.
    fn is_over(&self, now: Instant) -> bool {
        self.until.is_some_and(|it| it <= now)
    }
}

impl Engines {
    /// Returns the engines, and watches those that projects are sent to. Needs a tokio runtime.
    pub(crate) fn new(all: Vec<Docker>) -> Engines {
        let changed = Arc::new(Notify::new());
        let place = |docker| Arc::new(Place { docker, state: watch::Sender::default() });
        let all: Vec<_> = all.into_iter().map(place).collect();
        for place in all.iter().filter(|it| it.docker.store.is_some()) {
            tokio::spawn(watch_over(Arc::downgrade(place), changed.clone()));
        }
        Engines { all, changed }
    }

    pub(crate) fn first(&self) -> &Docker {
        &self.all[0].docker
    }

    pub(crate) fn get(&self, engine: usize) -> &Docker {
        &self.all[engine].docker
    }

    /// Removes the services of swarms. The errors are sentences for people.
    pub(crate) async fn close(&self) -> Vec<String> {
        let mut errors = Vec::new();
        for swarm in &self.first().swarms {
            errors.extend(swarm.close().await.err().map(|it| it.to_string()));
        }
        errors
    }

    /// Returns the number of engines.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// Returns whether the engine gets no runs at present.
    pub(crate) fn is_absent(&self, engine: usize) -> bool {
        self.all[engine].state.borrow().absence.is_some()
    }

    /// Returns the reason the engine gets no runs, for people; `None` if it gets runs.
    pub(crate) fn reason(&self, engine: usize) -> Option<String> {
        self.all[engine].state.borrow().absence.as_ref().map(|it| it.reason.clone())
    }

    /// Returns whether the engine does not answer.
    pub(crate) fn is_lost(&self, engine: usize) -> bool {
        self.all[engine].state.borrow().absence.as_ref().is_some_and(|it| it.is_lost)
    }

    /// Waits until an engine can take a run. An engine that `has_worker` comes first, then the one
    /// with the smallest part of its work.
    pub(crate) async fn seat(
        &self,
        has_worker: impl Fn(usize) -> bool,
    ) -> Result<Seat, SandboxError> {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(seat) = self.free_seat(&has_worker)? {
                return Ok(seat);
            }
            changed.await;
        }
    }

    fn free_seat(&self, has_worker: &impl Fn(usize) -> bool) -> Result<Option<Seat>, SandboxError> {
        let present: Vec<_> = (0..self.all.len()).filter(|it| !self.is_absent(*it)).collect();
        if present.is_empty() {
            return Err(SandboxError::NoEngines { absent: self.absent() });
        }
        let load = |engine: usize| {
            let place = &self.all[engine];
            place.state.borrow().busy.saturating_mul(1000) / place.docker.slots
        };
        let is_free = |it: &usize| self.all[*it].state.borrow().busy < self.all[*it].docker.slots;
        let free = present.into_iter().filter(is_free);
        let best = free.min_by_key(|it| (!has_worker(*it), load(*it)));
        Ok(best.map(|engine| self.take(engine)))
    }

    fn take(&self, engine: usize) -> Seat {
        let place = self.all[engine].clone();
        place.state.send_modify(|it| it.busy += 1);
        Seat { engine, place, changed: self.changed.clone() }
    }

    fn absent(&self) -> Vec<AbsentEngine> {
        let all = self.all.iter().filter_map(|it| {
            let absence = it.state.borrow().absence.clone()?;
            Some(AbsentEngine { name: it.docker.name.clone(), reason: absence.reason })
        });
        all.collect()
    }

    /// Gives an engine that refused a run no other one: for a while, or not at all any more if the
    /// `reason` `remains`.
    pub(crate) fn set_aside(&self, engine: usize, reason: String, remains: bool) {
        let until = (!remains).then(|| Instant::now() + REST);
        self.all[engine].leave(Absence { reason, until, is_lost: false });
        self.changed.notify_waiters();
    }

    /// Asks an engine on which a sandbox was lost whether it is still there.
    pub(crate) async fn check(&self, engine: usize) {
        let place = &self.all[engine];
        if place.docker.store.is_some()
            && let Err(error) = place.docker.asked().await
        {
            place.leave(Absence::lost(&error));
            self.changed.notify_waiters();
        }
    }
}

impl Place {
    fn leave(&self, absence: Absence) {
        self.state.send_if_modified(|state| {
            let known = state.absence.as_ref();
            let is_new = known.is_none_or(|it| absence.is_lost && !it.is_lost);
            if is_new {
                state.absence = Some(absence);
            }
            is_new
        });
    }
}

/// Asks an engine again and again, while it has work or is absent. An engine that answers again gets
/// runs again, after the removal of stale containers.
async fn watch_over(place: Weak<Place>, changed: Arc<Notify>) {
    loop {
        sleep(PAUSE).await;
        let Some(place) = place.upgrade() else { return };
        let state = place.state.borrow().clone();
        match &state.absence {
            None if state.busy == 0 => continue,
            Some(absence) if state.busy == 0 && !absence.is_over(Instant::now()) => continue,
            _ => {}
        }
        match place.docker.asked().await {
            Err(error) => place.leave(Absence::lost(&error)),
            Ok(()) if state.absence.is_some_and(|it| it.is_over(Instant::now())) => {
                if sweep(&place.docker.engine).await.is_err() {
                    continue;
                }
                place.state.send_modify(|it| it.absence = None);
            }
            Ok(()) => continue,
        }
        changed.notify_waiters();
    }
}

/// The right to one run on an engine, until it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) engine: usize,
    place: Arc<Place>,
    changed: Arc<Notify>,
}

impl Seat {
    /// Waits until the engine does not answer any more; returns the reason. An engine that only gets
    /// no other runs ends those that it has.
    pub(crate) async fn absence(&self) -> String {
        let mut state = self.place.state.subscribe();
        let absent = state.wait_for(|it| it.absence.as_ref().is_some_and(|it| it.is_lost)).await;
        let absence = absent.ok().and_then(|it| it.absence.clone());
        absence.map_or_else(String::new, |it| it.reason)
    }

    /// Returns the engine's name, if the person chose among engines.
    pub(crate) fn name(&self) -> Option<&str> {
        self.place.docker.store.as_ref().map(|_| self.place.docker.name.as_str())
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.place.state.send_modify(|it| it.busy -= 1);
        self.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_that_refused_a_run_gets_others_after_a_rest() {
        let now = Instant::now();
        let absence = |until| Absence { reason: "full".to_owned(), until, is_lost: false };
        assert!(!absence(Some(now + REST)).is_over(now));
        assert!(absence(Some(now + REST)).is_over(now + REST));
        assert!(!absence(None).is_over(now + REST), "the cause remains");
    }
}
