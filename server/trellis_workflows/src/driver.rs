//! The loop that all workflows share: takes the actions of a state machine, lets the workflow
//! perform them, and feeds back the events.

use trellis_engine::{Machine, OutOfTurn};

/// Result of an action.
pub(crate) enum Performed<E, O> {
    /// The action has no event, or none yet.
    Nothing,
    Event(E),
    /// The work has ended.
    Finished(O),
}

/// The part of a workflow that performs the actions of its state machine.
pub(crate) trait Performer<M: Machine> {
    /// Result of the whole work.
    type Output;
    type Error: From<OutOfTurn>;

    /// Performs one action. `machine` is the state after the step that returned the action.
    async fn perform(
        &mut self,
        action: M::Action,
        machine: &M,
    ) -> Result<Performed<M::Event, Self::Output>, Self::Error>;

    /// Waits for the event of an action in progress, after actions that returned no event. A
    /// workflow that performs one action at a time has none.
    async fn next_event(&mut self, _: &M) -> Result<M::Event, Self::Error> {
        Err(OutOfTurn::new("no event", "the result of an action").into())
    }
}

/// Performs the actions of a machine until its work has ended.
///
/// # Errors
///
/// An action fails, or an event does not answer the machine's last action.
pub(crate) async fn drive<M: Machine, P: Performer<M>>(
    machine: &mut M,
    started: M::Event,
    performer: &mut P,
) -> Result<P::Output, P::Error> {
    let mut event = started;
    loop {
        let mut next = None;
        for action in machine.step(event)? {
            match performer.perform(action, machine).await? {
                Performed::Nothing => {}
                Performed::Event(event) => next = Some(event),
                Performed::Finished(output) => return Ok(output),
            }
        }
        event = match next {
            Some(event) => event,
            None => performer.next_event(machine).await?,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{Machine, OutOfTurn, Performed, Performer, drive};

    /// Counts down, and notes each step.
    struct Countdown(u32);

    #[derive(Debug, PartialEq)]
    enum Step {
        Note(u32),
        Wait,
        End,
    }

    impl Machine for Countdown {
        type Event = u32;
        type Action = Step;

        fn step(&mut self, event: u32) -> Result<Vec<Step>, OutOfTurn> {
            if event != self.0 {
                return Err(OutOfTurn::new(format!("{event}"), format!("{}", self.0)));
            }
            let Some(left) = self.0.checked_sub(1) else { return Ok(vec![Step::End]) };
            self.0 = left;
            Ok(vec![Step::Note(left), Step::Wait])
        }
    }

    struct Recorder {
        notes: Vec<u32>,
        /// Amount by which events differ from the expected ones.
        wrong_by: u32,
    }

    impl Performer<Countdown> for Recorder {
        type Output = usize;
        type Error = OutOfTurn;

        async fn perform(
            &mut self,
            action: Step,
            _: &Countdown,
        ) -> Result<Performed<u32, usize>, OutOfTurn> {
            Ok(match action {
                Step::Note(number) => {
                    self.notes.push(number);
                    Performed::Nothing
                }
                Step::Wait => Performed::Nothing,
                Step::End => Performed::Finished(self.notes.len()),
            })
        }

        async fn next_event(&mut self, machine: &Countdown) -> Result<u32, OutOfTurn> {
            Ok(machine.0 + self.wrong_by)
        }
    }

    #[tokio::test]
    async fn actions_are_performed_in_order_until_the_machine_has_ended() {
        let mut recorder = Recorder { notes: Vec::new(), wrong_by: 0 };
        assert_eq!(drive(&mut Countdown(3), 3, &mut recorder).await, Ok(3));
        assert_eq!(recorder.notes, [2, 1, 0]);
    }

    #[tokio::test]
    async fn an_event_out_of_turn_ends_the_work_with_an_error() {
        let mut recorder = Recorder { notes: Vec::new(), wrong_by: 5 };
        let ended = drive(&mut Countdown(3), 3, &mut recorder).await;
        assert_eq!(ended, Err(OutOfTurn::new("7", "2")));
    }
}
