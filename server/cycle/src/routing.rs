//! Which model is asked: a simple one where the work is small, a strong one where it is not or where it went
//! wrong before (M4).

use crate::item::{Item, ItemKind};

/// How much of a model a question wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The cheaper one.
    Simple,
    /// The better one.
    Strong,
}

impl Tier {
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::Simple => "simple",
            Tier::Strong => "strong",
        }
    }
}

/// A tier, and why it was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) tier: Tier,
    pub(crate) why: &'static str,
}

const fn simple(why: &'static str) -> Route {
    Route { tier: Tier::Simple, why }
}

const fn strong(why: &'static str) -> Route {
    Route { tier: Tier::Strong, why }
}

/// Every number that decides. They are chosen, not measured: a run with live models is what could judge them.
struct Weights {
    /// Bytes of docstring, examples and signature that make one point: about a paragraph, which as a rule is one
    /// rule to follow.
    specification_bytes: usize,
    /// Dependencies, direct or not, that make one point. Most of those far away are never called.
    dependencies: usize,
    /// Points of a class (state, and several methods that share it), a method (somebody else's state), a function.
    class: usize,
    method: usize,
    function: usize,
    /// Points from which on an item is complex: six paragraphs, or a class with four.
    complex: usize,
    /// Failures of an item after which it is no longer taken for a slip: the first may be one.
    failures: u32,
    /// Parts of the longest flow from which on its integration tests are hard: values have to be followed by head
    /// through all of them.
    parts: usize,
}

const WEIGHTS: Weights = Weights {
    specification_bytes: 400,
    dependencies: 4,
    class: 2,
    method: 1,
    function: 0,
    complex: 6,
    failures: 2,
    parts: 5,
};

/// A judge who is not sure says so, and others are asked.
pub(crate) const VOTE: Route = simple("simple model: an opinion on a failure");

/// Tests that a diagnosis called wrong: whoever wrote them misread the specification.
pub(crate) const REGENERATED: Route = strong("strong model: its tests were judged wrong");

/// A question about an item that failed so often before.
pub(crate) fn of_item(item: &Item, failures: u32) -> Route {
    if failures >= WEIGHTS.failures {
        return strong("strong model: two attempts failed");
    }
    let text = item.docstring.len()
        + item.examples.iter().map(String::len).sum::<usize>()
        + item.signature.as_ref().map_or(0, |it| it.header().len());
    let specification = text / WEIGHTS.specification_bytes;
    let dependencies = item.dependencies.len() / WEIGHTS.dependencies;
    let kind = match item.kind {
        ItemKind::Class => WEIGHTS.class,
        ItemKind::Method => WEIGHTS.method,
        ItemKind::Function => WEIGHTS.function,
    };
    match specification + dependencies + kind {
        points if points < WEIGHTS.complex => {
            simple("simple model: small function, method or class")
        }
        _ if specification >= dependencies => strong("strong model: long specification"),
        _ => strong("strong model: many dependencies"),
    }
}

/// Integration tests of flows, the longest of which has so many parts.
pub(crate) fn of_flows(parts: usize) -> Route {
    if parts >= WEIGHTS.parts {
        strong("strong model: long data flow")
    } else {
        simple("simple model: short data flows")
    }
}
