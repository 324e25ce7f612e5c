//! Choice of the model tier: simple for small work, strong for large work or after failures (M4).

use crate::item::{Item, ItemKind};

/// Tiers of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The cheaper model.
    Simple,
    /// The better model.
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

/// A tier, and the reason for the choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) tier: Tier,
    pub(crate) why: &'static str,
}

pub(crate) const fn simple(why: &'static str) -> Route {
    Route { tier: Tier::Simple, why }
}

pub(crate) const fn strong(why: &'static str) -> Route {
    Route { tier: Tier::Strong, why }
}

/// The parameters of the choice. They are estimates; only runs with live models could validate
/// them.
struct Weights {
    /// Bytes of docstring, examples and signature per point: about a paragraph, which usually
    /// states one rule.
    specification_bytes: usize,
    /// Dependencies, direct or not, per point. Most of the indirect ones are never called.
    dependencies: usize,
    /// Points of a class (state, and several methods that share it), a method (state of its class),
    /// a function.
    class: usize,
    method: usize,
    function: usize,
    /// Minimum points of a complex item: six paragraphs, or a class with four.
    complex: usize,
    /// Number of failures from which an item needs the strong model: a single failure may be
    /// chance.
    failures: u32,
    /// Number of items in the longest flow, or of a feature, from which on its tests are hard: the
    /// values have to be traced through all of them.
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

/// The route of votes. A simple model that is unsure says so, and more votes follow.
pub(crate) const VOTE: Route = simple("simple model: an opinion on a failure");

/// The route of tests that replace wrong ones: the model that wrote those misread the
/// specification.
pub(crate) const REGENERATED: Route = strong("strong model: its tests were judged wrong");

/// Returns the route of a request about an item after a number of failures.
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

/// Returns the route of acceptance tests. `parts`: number of items that serve the feature.
pub(crate) fn of_feature(parts: usize) -> Route {
    if parts >= WEIGHTS.parts {
        strong("strong model: a feature of many parts")
    } else {
        simple("simple model: a feature of few parts")
    }
}

/// Returns the route of integration tests. `parts`: number of items in the longest flow.
pub(crate) fn of_flows(parts: usize) -> Route {
    if parts >= WEIGHTS.parts {
        strong("strong model: long data flow")
    } else {
        simple("simple model: short data flows")
    }
}
