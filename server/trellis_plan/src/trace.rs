//! Follows the sentences of a specification to the nodes that serve them.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::node::NodeIx;
use crate::plan::Plan;
use crate::spec::{Sentence, SentenceChange, SentenceKind, SpecError};

/// Kind of a gap between a specification and a plan; its code is stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceProblemKind {
    /// No leaf serves a sentence.
    UnservedSentence,
    /// A leaf serves no sentence.
    UntracedNode,
    /// A node serves a number that no sentence has.
    UnknownSentence,
    /// `serves` is not a list of numbers.
    MalformedServes,
    /// A sentence has another text than the plan was made from.
    ChangedSentence,
    /// The plan was made before the specification had a sentence.
    AddedSentence,
    /// The specification does not have a sentence any more.
    RemovedSentence,
}

impl TraceProblemKind {
    /// Returns the stable code, in kebab-case.
    pub fn code(self) -> &'static str {
        match self {
            TraceProblemKind::UnservedSentence => "unserved-sentence",
            TraceProblemKind::UntracedNode => "untraced-node",
            TraceProblemKind::UnknownSentence => "unknown-sentence",
            TraceProblemKind::MalformedServes => "malformed-serves",
            TraceProblemKind::ChangedSentence => "changed-sentence",
            TraceProblemKind::AddedSentence => "added-sentence",
            TraceProblemKind::RemovedSentence => "removed-sentence",
        }
    }
}

impl fmt::Display for TraceProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

/// A gap between a specification and a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceProblem {
    pub kind: TraceProblemKind,
    /// Number of the sentence, if the problem has one.
    pub sentence: Option<usize>,
    /// Nodes to look at.
    pub nodes: Vec<NodeIx>,
    /// Description, as a lowercase fragment.
    pub message: String,
    /// Instruction for closing the gap.
    pub hint: String,
}

/// The sentences of a specification with the nodes that serve them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Leaves by the sentence that they serve, for each sentence in its order.
    pub nodes: Vec<Vec<NodeIx>>,
    /// Sorted by kind, then by sentence or position in the file.
    pub problems: Vec<TraceProblem>,
}

/// Follows sentences to the leaves that serve them. Headings, and sentences whose numbers are in
/// `background`, need no leaf. `changes` are those of the specification since the plan was made.
pub fn trace(
    plan: &Plan,
    sentences: &[Sentence],
    background: &[usize],
    changes: &[SentenceChange],
) -> Trace {
    let mut problems = Vec::new();
    let served = served(plan, sentences, &mut problems);
    let leaves = |it: &Sentence| served.get(&it.number).cloned().unwrap_or_default();
    let nodes: Vec<Vec<NodeIx>> = sentences.iter().map(leaves).collect();
    let background: FxHashSet<usize> = background.iter().copied().collect();
    let is_needed =
        |it: &Sentence| it.kind != SentenceKind::Heading && !background.contains(&it.number);
    let lacking =
        sentences.iter().zip(&nodes).filter(|(it, nodes)| is_needed(it) && nodes.is_empty());
    let lacking: Vec<&Sentence> = lacking.map(|(it, _)| it).collect();
    let untraced = plan.indices().filter(|&ix| is_untraced(plan, ix));
    let untraced: Vec<NodeIx> = untraced.collect();
    if served.is_empty() && untraced.len() > 1 {
        problems.push(untouched(untraced, lacking.len()));
    } else {
        problems.extend(lacking.into_iter().map(unserved));
        problems.extend(untraced.into_iter().map(|ix| untraced_node(plan, ix)));
    }
    problems.extend(changes.iter().map(|it| changed(plan, it, &served)));
    problems.sort_by_key(|it| it.kind);
    Trace { nodes, problems }
}

/// Returns whether a leaf serves nothing.
fn is_untraced(plan: &Plan, ix: NodeIx) -> bool {
    let node = plan.node(ix);
    node.is_leaf() && node.serves().is_ok_and(|it| it.is_empty())
}

/// Returns the one problem of a plan that was made without a specification.
fn untouched(nodes: Vec<NodeIx>, sentences: usize) -> TraceProblem {
    TraceProblem {
        kind: TraceProblemKind::UntracedNode,
        sentence: None,
        message: format!(
            "none of the {} nodes serves one of the {sentences} sentences",
            nodes.len()
        ),
        nodes,
        hint: "give each node the numbers of its sentences, as in `\"serves\": [1, 4]`".to_owned(),
    }
}

/// Returns the leaves that serve each number.
fn served(
    plan: &Plan,
    sentences: &[Sentence],
    problems: &mut Vec<TraceProblem>,
) -> FxHashMap<usize, Vec<NodeIx>> {
    let known: FxHashSet<usize> = sentences.iter().map(|it| it.number).collect();
    let mut served: FxHashMap<usize, Vec<NodeIx>> = FxHashMap::default();
    for ix in plan.indices() {
        let node = plan.node(ix);
        let numbers = match node.serves() {
            Ok(numbers) => numbers,
            Err(error) => {
                problems.push(malformed(plan, ix, &error));
                continue;
            }
        };
        for number in numbers {
            if !known.contains(&number) {
                problems.push(unknown(plan, ix, number));
            } else if node.is_leaf() {
                served.entry(number).or_default().push(ix);
            }
        }
    }
    served
}

fn unserved(it: &Sentence) -> TraceProblem {
    TraceProblem {
        kind: TraceProblemKind::UnservedSentence,
        sentence: Some(it.number),
        nodes: Vec::new(),
        message: format!("no node serves sentence {}: {}", it.number, quoted(&it.text)),
        hint: "add its number to `serves` of a node, add a node, or add the number to \
               `metadata.spec.background` if it describes nothing to build"
            .to_owned(),
    }
}

fn untraced_node(plan: &Plan, ix: NodeIx) -> TraceProblem {
    TraceProblem {
        kind: TraceProblemKind::UntracedNode,
        sentence: None,
        nodes: vec![ix],
        message: format!("`{}` serves no sentence", plan.id(ix)),
        hint: "name the sentences in its `serves`, or remove the node".to_owned(),
    }
}

fn unknown(plan: &Plan, ix: NodeIx, number: usize) -> TraceProblem {
    TraceProblem {
        kind: TraceProblemKind::UnknownSentence,
        sentence: Some(number),
        nodes: vec![ix],
        message: format!("`{}` serves sentence {number}, which does not exist", plan.id(ix)),
        hint: "correct the number in its `serves`".to_owned(),
    }
}

fn malformed(plan: &Plan, ix: NodeIx, error: &SpecError) -> TraceProblem {
    TraceProblem {
        kind: TraceProblemKind::MalformedServes,
        sentence: None,
        nodes: vec![ix],
        message: format!("`{}`: {error}", plan.id(ix)),
        hint: "write the numbers as in `\"serves\": [1, 4]`".to_owned(),
    }
}

fn changed(
    plan: &Plan,
    change: &SentenceChange,
    served: &FxHashMap<usize, Vec<NodeIx>>,
) -> TraceProblem {
    let (kind, it, message, hint) = match change {
        SentenceChange::Changed { old, new } => (
            TraceProblemKind::ChangedSentence,
            old,
            format!(
                "sentence {} was {} and is {}",
                old.number,
                quoted(&old.text),
                quoted(&new.text)
            ),
            "check the nodes that serve it, then update the text in `metadata.spec`",
        ),
        SentenceChange::Added(it) => (
            TraceProblemKind::AddedSentence,
            it,
            format!("the specification has a new sentence: {}", quoted(&it.text)),
            "plan nodes for it, then add the sentence to `metadata.spec`",
        ),
        SentenceChange::Removed(it) => (
            TraceProblemKind::RemovedSentence,
            it,
            format!(
                "the specification has no sentence {} any more: {}",
                it.number,
                quoted(&it.text)
            ),
            "check the nodes that serve it, then remove the sentence from `metadata.spec`",
        ),
    };
    // The number of a new sentence is one of the specification, not of the plan.
    let sentence = (kind != TraceProblemKind::AddedSentence).then_some(it.number);
    let nodes = sentence.and_then(|it| served.get(&it).cloned()).unwrap_or_default();
    let ids: Vec<&str> = nodes.iter().map(|&ix| plan.id(ix)).collect();
    let by =
        if ids.is_empty() { String::new() } else { format!(" (served by {})", ids.join(", ")) };
    TraceProblem { kind, sentence, nodes, message: message + &by, hint: hint.to_owned() }
}

/// Returns a sentence in quotation marks, shortened and in one line.
fn quoted(text: &str) -> String {
    const LONGEST: usize = 80;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown: String = line.chars().take(LONGEST).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    format!("\"{shown}\"")
}
