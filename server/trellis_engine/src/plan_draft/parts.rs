//! The parts of a draft that are there: read from replies, checked, and kept with their problems.

use std::collections::{BTreeMap, BTreeSet};

use super::json_reply::json_reply;
use super::questions::MOST_QUESTIONS;
use super::{
    Draft, Features, Interface, Layout, Part, PlannedFile, Problem, Review, Sentences, Surroundings,
};
use crate::reply;

/// Greatest number of definitions in one question of the review, unless a file has more.
const REVIEWED_AT_ONCE: usize = 40;

/// Problems of a text that cannot be used.
pub(super) struct Rejected(pub(super) Vec<String>);

impl From<String> for Rejected {
    fn from(problem: String) -> Rejected {
        Rejected(vec![problem])
    }
}

/// The parts of a draft.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) sentences: Sentences,
    pub(super) features: Option<Features>,
    pub(super) layout: Option<Layout>,
    pub(super) interfaces: BTreeMap<String, Interface>,
    /// The last answer of the review.
    review: Review,
    /// Problems that are left, by part.
    problems: BTreeMap<Part, Vec<String>>,
}

impl Parts {
    pub(super) fn new(sentences: Sentences) -> Parts {
        Parts {
            sentences,
            features: None,
            layout: None,
            interfaces: BTreeMap::new(),
            review: Review::default(),
            problems: BTreeMap::new(),
        }
    }

    /// Returns the finished draft; `None` while a part is missing.
    pub(super) fn draft(&self) -> Option<Draft> {
        let interfaces = self.order().into_iter().map(|it| self.interfaces.get(&it.path).cloned());
        Some(Draft {
            features: self.features.clone()?,
            layout: self.layout.clone()?,
            interfaces: interfaces.collect::<Option<_>>()?,
            problems: self.left(),
        })
    }

    /// Returns the problems that are left.
    fn left(&self) -> Vec<Problem> {
        let all = self.problems.iter();
        all.flat_map(|(part, problems)| {
            problems.iter().map(|it| Problem { part: part.clone(), text: it.clone() })
        })
        .collect()
    }

    /// Returns the files so that each comes after those that it uses.
    pub(super) fn order(&self) -> Vec<&PlannedFile> {
        self.layout.as_ref().and_then(Layout::in_order).unwrap_or_default()
    }

    /// Returns the paths of the files in groups that are small enough for one question of the
    /// review.
    pub(super) fn review_groups(&self) -> Vec<Vec<String>> {
        let mut out: Vec<Vec<String>> = Vec::new();
        let mut room = 0;
        for file in self.order() {
            let count = self.interfaces.get(&file.path).map_or(0, |it| it.definitions.len());
            match out.last_mut().filter(|_| count <= room) {
                Some(group) => group.push(file.path.clone()),
                None => {
                    out.push(vec![file.path.clone()]);
                    room = REVIEWED_AT_ONCE;
                }
            }
            room = room.saturating_sub(count);
        }
        out
    }

    /// Returns the interfaces of the files that a file uses: those that it names, then those behind
    /// them.
    pub(super) fn usable(&self, path: &str) -> Vec<&Interface> {
        let Some(layout) = &self.layout else { return Vec::new() };
        let mut paths: Vec<&str> = vec![path];
        let mut at = 0;
        while let Some(file) = paths.get(at).and_then(|it| layout.file(it)) {
            for used in &file.uses {
                if !paths.contains(&used.as_str()) {
                    paths.push(used);
                }
            }
            at += 1;
        }
        paths.iter().skip(1).filter_map(|it| self.interfaces.get(*it)).collect()
    }

    /// Reads a reply, keeps what it has, and returns its problems.
    pub(super) fn take(&mut self, part: &Part, text: &str) -> Result<Vec<String>, Rejected> {
        match part {
            Part::Features => self.take_features(json_reply(text)?),
            Part::Layout => self.take_layout(json_reply(text)?),
            Part::Interface(path) => {
                let reply = reply::divide(text)?;
                let code = reply.whole_code()?.ok_or("there is no Python block".to_owned())?;
                self.take_interface(path, code)
            }
            Part::Review => self.take_review(json_reply(text)?),
        }
    }

    fn take_features(&mut self, mut features: Features) -> Result<Vec<String>, Rejected> {
        features.questions.truncate(MOST_QUESTIONS);
        let is_suitable = features.why_unsuitable().is_none();
        let problems = if is_suitable { features.problems(&self.sentences) } else { Vec::new() };
        if is_suitable && !features.is_usable() {
            return Err(Rejected(problems));
        }
        self.features = Some(features);
        Ok(self.keep(Part::Features, problems))
    }

    fn take_layout(&mut self, layout: Layout) -> Result<Vec<String>, Rejected> {
        let Some(features) = &self.features else { return Ok(Vec::new()) };
        let problems = layout.problems(features);
        if !layout.is_usable() {
            return Err(Rejected(problems));
        }
        self.layout = Some(layout);
        Ok(self.keep(Part::Layout, problems))
    }

    /// Reads a file's interface from its text.
    pub(super) fn take_interface(
        &mut self,
        path: &str,
        text: &str,
    ) -> Result<Vec<String>, Rejected> {
        let interface = Interface::read(path, text)?;
        let problems = self.problems_of(&interface);
        if !interface.is_usable() {
            return Err(Rejected(problems));
        }
        self.interfaces.insert(path.to_owned(), interface);
        Ok(self.keep(Part::Interface(path.to_owned()), problems))
    }

    fn take_review(&mut self, review: Review) -> Result<Vec<String>, Rejected> {
        let Some(layout) = &self.layout else { return Ok(Vec::new()) };
        let problems = review.problems(layout);
        self.review = review;
        Ok(problems)
    }

    /// Returns the findings of the last review by file, and keeps what only a person can decide.
    pub(super) fn take_findings(&mut self) -> BTreeMap<String, Vec<String>> {
        let review = std::mem::take(&mut self.review);
        self.problems.entry(Part::Review).or_default().extend(review.for_person());
        let by_file = review.by_file().into_iter();
        let known = by_file.filter(|(path, _)| self.interfaces.contains_key(*path));
        known.map(|(path, all)| (path.to_owned(), all)).collect()
    }

    /// Remembers the problems of a part, and returns them.
    pub(super) fn keep(&mut self, part: Part, problems: Vec<String>) -> Vec<String> {
        self.problems.insert(part, problems.clone());
        problems
    }

    /// Adds a problem of a part.
    pub(super) fn add_problem(&mut self, part: Part, problem: String) {
        self.problems.entry(part).or_default().push(problem);
    }

    /// Returns the problems of a part that are left.
    pub(super) fn problems(&self, part: &Part) -> Vec<String> {
        self.problems.get(part).cloned().unwrap_or_default()
    }

    /// Checks a file's interface again, since files that it uses may have changed. Keeps its
    /// problems, and returns those that are new.
    pub(super) fn recheck(&mut self, path: &str) -> Vec<String> {
        let Some(interface) = self.interfaces.get(path) else { return Vec::new() };
        let (part, found) = (Part::Interface(path.to_owned()), self.problems_of(interface));
        let known = self.problems(&part);
        let found = self.keep(part, found);
        found.into_iter().filter(|it| !known.contains(it)).collect()
    }

    fn problems_of(&self, interface: &Interface) -> Vec<String> {
        let (Some(features), Some(layout)) = (&self.features, &self.layout) else {
            return Vec::new();
        };
        let mut out = interface.problems(&Surroundings {
            package: &features.package,
            sentences: &self.sentences,
            libraries: &layout.libraries,
            others: &self.usable(&interface.path),
        });
        let asked = layout.file(&interface.path).map(|it| features.sentences_of(&it.features));
        let is_served =
            |it: &usize| interface.definitions.iter().any(|one| one.serves.contains(it));
        let unserved = asked.into_iter().flatten().filter(|it| !is_served(it));
        out.extend(unserved.map(|it| format!("no definition serves sentence {it}")));
        out
    }

    /// Returns the sentences that files were planned for, and those that their definitions serve.
    pub(super) fn sentences_of(&self, paths: &[String]) -> BTreeSet<usize> {
        let (Some(features), Some(layout)) = (&self.features, &self.layout) else {
            return BTreeSet::new();
        };
        let files = paths.iter().filter_map(|it| layout.file(it));
        let planned = files.flat_map(|it| features.sentences_of(&it.features));
        let interfaces = paths.iter().filter_map(|it| self.interfaces.get(it));
        let served = interfaces.flat_map(|it| &it.definitions).flat_map(|it| it.serves.clone());
        planned.chain(served).collect()
    }

    /// Returns whether there is a usable text of a part.
    pub(super) fn has(&self, part: &Part) -> bool {
        match part {
            Part::Features => self.features.is_some(),
            Part::Layout => self.layout.is_some(),
            Part::Interface(path) => self.interfaces.contains_key(path),
            Part::Review => true,
        }
    }

    /// Returns a part as a person edits it: JSON, or Python for an interface.
    pub(super) fn text(&self, part: &Part) -> String {
        let shown = match part {
            Part::Features => serde_json::to_string_pretty(&self.features),
            Part::Layout => serde_json::to_string_pretty(&self.layout),
            Part::Interface(path) => {
                return self.interfaces.get(path).map(|it| it.text.clone()).unwrap_or_default();
            }
            Part::Review => return String::new(),
        };
        // Both are structs of strings and lists, which always serialize.
        shown.unwrap_or_default()
    }
}
