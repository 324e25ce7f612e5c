//! Questions of a node, or of a subgraph.

use cycle::{Ask, Observation};
use futures_util::future::join_all;
use plan::NodeIx;

use crate::desk::{Answer, Halt, Slip};
use crate::grow::worker::{Shop, Stop, Worker};
use crate::workspace::cost::Cost;

impl Worker {
    pub(super) async fn ask(&mut self, ask: &Ask) -> Result<Observation, Stop> {
        let mut cost = std::mem::take(&mut self.cost);
        let answer = put(&self.shop, &self.id(), Some(self.node), ask, &mut cost).await;
        self.cost = cost;
        Ok(match answer? {
            Answer::Said(reply) => Observation::Reply(reply.text),
            // What there is may do; the cycle sees what is wrong with it.
            Answer::CutOff { partial } => Observation::Reply(partial),
            Answer::Unusable(why) => Observation::Unusable { why },
            Answer::TooLong(reason) | Answer::None(reason) => Observation::NoReply { reason },
        })
    }

    /// All questions at once; the slowest answer is waited for, not their sum.
    pub(super) async fn vote(&mut self, asks: &[Ask]) -> Result<Observation, Stop> {
        let (shop, id, node) = (self.shop.clone(), self.id(), Some(self.node));
        let votes = asks.iter().map(async |ask| {
            let mut cost = Cost::default();
            let answer = put(&shop, &id, node, ask, &mut cost).await;
            (answer, cost)
        });
        let mut replies = Vec::new();
        for (answer, cost) in join_all(votes).await {
            self.cost += &cost;
            replies.push(match answer? {
                Answer::Said(reply) => Ok(reply.text),
                Answer::CutOff { partial } => Ok(partial),
                // A vote cast for nothing.
                Answer::Unusable(_) => Ok(String::new()),
                Answer::TooLong(reason) | Answer::None(reason) => Err(reason),
            });
        }
        Ok(Observation::Votes(replies))
    }
}

/// Puts a question of a node, or of a subgraph, and books what it cost.
pub(crate) async fn put(
    shop: &Shop,
    id: &str,
    node: Option<NodeIx>,
    ask: &Ask,
    cost: &mut Cost,
) -> Result<Answer, Stop> {
    let slip = Slip { id, journal: &shop.journal, cancel: &shop.cancel };
    let mut stage = Default::default();
    let answer = shop.desk.ask(slip, ask, &mut stage).await;
    cost.model_calls += stage.calls;
    cost.asked(ask.stage.as_str(), stage);
    answer.map_err(|halt| stopped(halt, node))
}

/// Why no question is put any more, as a run knows it.
pub(super) fn stopped(halt: Halt, node: Option<NodeIx>) -> Stop {
    match halt {
        Halt::Cancelled => Stop::Cancelled,
        Halt::Fault(fault) => Stop::Fault(fault),
        Halt::Budget(exhausted) => Stop::Budget(exhausted),
        Halt::Journal(error) => Stop::Journal { node, error },
    }
}
