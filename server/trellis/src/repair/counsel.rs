//! Whoever is asked for an opinion or a fix: a model, at a desk with a budget, and the journal that is told of it.

use std::collections::HashMap;

use cycle::{Ask, Observation, Policy};
use tokio_util::sync::CancellationToken;

use super::{Order, cancelled};
use crate::desk::{Answer, Desk, Halt, Slip};
use crate::error::{Exit, Fault};
use crate::ledger::{Ledger, Spent};
use crate::models::{self, Models};
use crate::talk::talk;
use crate::tools::Toolbox;
use crate::workspace::cost::StageCost;
use crate::workspace::journal::{Event, Journal};

pub(super) struct Counsel {
    desk: Desk,
    journal: Journal,
    cost: StageCost,
}

impl Counsel {
    pub(super) fn open(order: &Order) -> Result<Counsel, Fault> {
        let config = models::config(&order.home)?;
        let models = Models::open(&order.model, &config, &models::env)?;
        let budget = order.model.budget(&config);
        models.know_prices(budget)?;
        let ledger = Ledger::new(budget, Spent::default());
        let tokens = Policy::generate().context_tokens;
        let journal = Journal::join(&order.home).map_err(no_journal)?;
        let desk = Desk::new(models, ledger, HashMap::new(), tokens);
        Ok(Counsel { desk, journal, cost: StageCost::default() })
    }

    /// The model's.
    pub(super) fn name(&self) -> String {
        self.desk.models.name()
    }

    pub(super) fn spent(&self) -> Spent {
        self.desk.ledger.spent()
    }

    /// Keeps a note of a group.
    pub(super) fn note(&self, group: &str, text: String) -> Result<(), Fault> {
        let event = Event::Note { node: group.to_owned(), what: "repair".to_owned(), text };
        self.journal.log(event).map_err(no_journal)
    }

    /// One question about a group, one answer.
    pub(super) async fn ask(
        &mut self,
        group: &str,
        ask: &Ask,
        cancel: &CancellationToken,
    ) -> Result<Observation, Fault> {
        let slip = Slip { id: group, journal: &self.journal, cancel };
        Ok(match self.desk.ask(slip, ask, &mut self.cost).await.map_err(stopped)? {
            Answer::Said(reply) => Observation::Reply(reply.text),
            Answer::CutOff { partial } => Observation::Reply(partial),
            Answer::Unusable(why) => Observation::Unusable { why },
            Answer::TooLong(reason) | Answer::None(reason) => Observation::NoReply { reason },
        })
    }

    /// The model works with tools until it is done.
    pub(super) async fn work(
        &mut self,
        group: &str,
        ask: &Ask,
        toolbox: &mut Toolbox,
        cancel: &CancellationToken,
    ) -> Result<Observation, Fault> {
        let slip = Slip { id: group, journal: &self.journal, cancel };
        let reasks = Policy::generate().malformed_reasks;
        let seen = talk(&self.desk, slip, ask, toolbox, reasks, &mut self.cost).await;
        seen.map_err(stopped)
    }
}

fn stopped(halt: Halt) -> Fault {
    match halt {
        Halt::Cancelled => cancelled(),
        Halt::Fault(fault) => fault,
        Halt::Budget(exhausted) => exhausted.into(),
        Halt::Journal(error) => no_journal(error),
    }
}

pub(super) fn no_journal(error: std::io::Error) -> Fault {
    Fault::new(Exit::Internal, format!("cannot write the journal: {error}"))
        .hint("make `.trellis` writable, and room on the disk; what was kept stays")
}
