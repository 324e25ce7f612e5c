//! Batches of definitions, and their requests.

use std::collections::BTreeMap;

use super::Undescribed;
use super::replies::MOST_CHARACTERS;
use crate::prompt::template::DESCRIBE;
use crate::prompt::{Prompt, python, rank};
use crate::prompt_budget::{Section, cut_middle};
use crate::routing::simple;
use crate::vocabulary::{ModelRequest, Stage};

/// Largest number of definitions of a batch: their docstrings fit in one reply.
const MOST: usize = 20;
/// Largest source of a batch, in bytes: about 6,000 tokens.
const MOST_BYTES: usize = 24_000;
/// Largest source of one definition, in bytes; the middle of a longer one is left out.
const LONGEST: usize = 6_000;

/// Definitions of one file that are asked for together.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub(super) path: String,
    pub(super) definitions: Vec<Undescribed>,
    /// Problems of the last reply; empty for a first request.
    pub(super) problems: Vec<String>,
}

impl Batch {
    /// Returns a batch of the definitions whose docstrings were wrong, with their problems.
    pub(super) fn again(mut self, wrong: &BTreeMap<String, String>) -> Batch {
        self.definitions.retain(|it| wrong.contains_key(&it.id));
        let problem = |it: &Undescribed| format!("`{}`: {}", it.name, wrong[&it.id]);
        self.problems = self.definitions.iter().map(problem).collect();
        self
    }

    fn bytes(&self) -> usize {
        self.definitions.iter().map(|it| it.source.len()).sum()
    }
}

/// Divides definitions into batches.
pub(super) fn batches(all: Vec<Undescribed>) -> Vec<Batch> {
    let mut out: Vec<Batch> = Vec::new();
    for mut it in all {
        it.source = cut_middle(&it.source, LONGEST);
        let has_room = |last: &&mut Batch| {
            let fits = last.bytes() + it.source.len() <= MOST_BYTES;
            last.path == it.path && last.definitions.len() < MOST && fits
        };
        match out.last_mut().filter(has_room) {
            Some(last) => last.definitions.push(it),
            None => out.push(Batch {
                path: it.path.clone(),
                definitions: vec![it],
                problems: Vec::new(),
            }),
        }
    }
    out
}

pub(super) fn request(batch: &Batch, attempt: u32) -> ModelRequest {
    let names: Vec<String> = batch.definitions.iter().map(|it| format!("`{}`", it.name)).collect();
    let code: String = batch
        .definitions
        .iter()
        .map(|it| format!("`{}`:\n{}", it.name, python(&it.source)))
        .collect();
    let example = batch.definitions.first().map_or("name", |it| it.name.as_str());
    let most = MOST_CHARACTERS.to_string();
    let values = [
        ("path", batch.path.as_str()),
        ("names", &names.join(", ")),
        ("most", &most),
        ("example", example),
    ];
    let mut sections = vec![Section::new(rank::CORE, format!("Code of `{}`", batch.path), code)];
    if !batch.problems.is_empty() {
        let why: String = batch.problems.iter().map(|it| format!("- {it}\n")).collect();
        let text = DESCRIBE.say("sent back", &[("why", why.trim_end())]);
        sections.push(Section::new(rank::CORE, "Your last answer was sent back", text));
    }
    sections.push(Section::new(rank::TASK, "Task", DESCRIBE.say("task", &values)));
    let route = simple("simple model: a docstring describes what is written");
    ModelRequest {
        stage: Stage::Describe,
        attempt,
        temperature: 0.0,
        prompt: Prompt::new(&DESCRIBE, sections),
        prompt_version: DESCRIBE.version(),
        tier: route.tier,
        why: route.why,
        tools: false,
    }
}
