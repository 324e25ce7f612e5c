//! Finds documents by words: BM25 over weighted fields, tolerant of typing mistakes, combined with
//! external similarities.
//!
//! A score has a whole part and a fraction. The whole part tells how well the query matches the
//! name: 2 if the query is the name, 1 if it nearly is or mentions it, else 0. So name matches come
//! first, whatever else is known. The fraction combines words and meaning.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::name_match::Name;
use super::words::{Word, compact, words};
use crate::did_you_mean::distance;

/// A searchable item with a name, such as a function or a node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Document<'a> {
    pub name: &'a str,
    /// Path of the document; empty if it has no meaning.
    pub path: &'a str,
    pub text: &'a str,
}

/// Basis of the order of the hits. Similarities are cosines from -1 to 1, one per document, in the
/// order of documents.
#[derive(Clone, Copy, Debug)]
pub enum Evidence<'a> {
    /// Words alone.
    Words,
    /// Similarities alone; names are ignored.
    Meaning(&'a [f32]),
    /// Similarities, with words as a tie-breaker and names above all.
    Both(&'a [f32]),
}

/// A found document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Index of the document.
    pub document: usize,
    /// Score from 0 to 3, in steps of 0.0001; 2 and more if the query is the name, 1 and more if it
    /// nearly is.
    pub score: f32,
}

/// Documents prepared for search. Their texts are not kept.
#[derive(Clone, Debug, Default)]
pub struct SearchIndex {
    names: Vec<Name>,
    /// Number of each word's stem, and the stems by number.
    words: FxHashMap<Box<str>, u32>,
    stems: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, u32>,
    /// For each stem, the documents that have it, with its frequency there, weighted by fields.
    postings: Vec<Vec<(u32, f32)>>,
}

/// Weight of a word in each field: name, path, text.
const WEIGHTS: [f32; FIELDS] = [3.0, 1.0, 1.0];
const FIELDS: usize = 3;
/// The usual constants of BM25: saturation of repetitions, and penalty for long fields.
const K: f32 = 1.2;
const B: f32 = 0.6;
/// Share of words beside similarities. Values far above 0.2 hurt queries in other words than the
/// document's.
const WORDS_BESIDE_MEANING: f32 = 0.15;
/// Weight of a word that is not in the documents but resembles one that is.
const RESEMBLING: f32 = 0.7;

/// Words of the documents in order, and the number of words by field.
#[derive(Default)]
struct TokenizedDocuments {
    /// Document, field, stem.
    words: Vec<(u32, u8, u32)>,
    lengths: Vec<[f32; FIELDS]>,
}

impl TokenizedDocuments {
    /// Returns the mean length of each field, at least one word.
    fn average(&self) -> [f32; FIELDS] {
        let count = self.lengths.len().max(1) as f32;
        let mut sums = [0.0; FIELDS];
        self.lengths.iter().for_each(|of| (0..FIELDS).for_each(|it| sums[it] += of[it]));
        sums.map(|sum| f32::max(sum / count, 1.0))
    }
}

impl SearchIndex {
    /// Indexes documents; they are numbered from 0.
    pub fn new<'a>(documents: impl IntoIterator<Item = Document<'a>>) -> SearchIndex {
        let mut index = SearchIndex::default();
        let mut read = TokenizedDocuments::default();
        documents.into_iter().for_each(|document| index.read(document, &mut read));
        index.postings.resize(index.stems.len(), Vec::new());
        let average = read.average();
        for &(document, field, stem) in &read.words {
            let relative =
                read.lengths[document as usize][field as usize] / average[field as usize];
            let weight = WEIGHTS[field as usize] / (1.0 - B + B * relative);
            let postings = &mut index.postings[stem as usize];
            match postings.last_mut() {
                Some((last, frequency)) if *last == document => *frequency += weight,
                _ => postings.push((document, weight)),
            }
        }
        index
    }

    fn read(&mut self, document: Document<'_>, read: &mut TokenizedDocuments) {
        let number = self.names.len() as u32;
        self.names.push(Name::of(document.name));
        let mut lengths = [0.0; FIELDS];
        for (field, text) in [document.name, document.path, document.text].into_iter().enumerate() {
            for word in words(text) {
                lengths[field] += 1.0;
                read.words.push((number, field as u8, self.number(word)));
            }
        }
        read.lengths.push(lengths);
    }

    /// Returns the number of a word's stem, assigning one to a new stem.
    fn number(&mut self, word: Word) -> u32 {
        if let Some(number) = self.words.get(word.folded.as_str()) {
            return *number;
        }
        let next = self.stems.len() as u32;
        let number = *self.numbers.entry(word.stem.as_str().into()).or_insert(next);
        if number == next {
            self.stems.push(word.stem.into());
        }
        self.words.insert(word.folded.into(), number);
        number
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Parses a typed query. `None` if it has no words.
    pub fn query(&self, text: &str) -> Option<Query> {
        let all = words(text);
        let telling: Vec<&Word> = all.iter().filter(|it| !it.is_stop_word()).collect();
        let telling = if telling.is_empty() { all.iter().collect() } else { telling };
        let mut terms: Vec<Term> = Vec::new();
        let mut seen = FxHashSet::default();
        for word in telling.iter().filter(|it| seen.insert(it.stem.as_str())) {
            let known = self.numbers.contains_key(word.stem.as_str());
            let stems =
                if known { vec![word.stem.clone()] } else { self.similar_stems(&word.folded) };
            terms.push(Term { word: word.folded.clone(), stems, known });
        }
        (!terms.is_empty()).then(|| Query { compact: compact(text), tokens: tokens(text), terms })
    }

    /// Returns the best `top` documents among the `wanted`, best first, equal ones in order of
    /// documents, and all others whose score equals that of the last one. Documents without a score
    /// above 0 are left out.
    ///
    /// # Panics
    ///
    /// Panics if there is not one similarity per document.
    pub fn search(
        &self,
        query: &Query,
        evidence: Evidence<'_>,
        wanted: impl Fn(usize) -> bool,
        top: usize,
    ) -> Vec<Hit> {
        if let Evidence::Meaning(similarities) | Evidence::Both(similarities) = evidence {
            assert_eq!(similarities.len(), self.len(), "one similarity a document");
        }
        let by_words = self.word_scores(query);
        let name = |document: usize| f32::from(self.names[document].met_by(query) as u8);
        let score = |document: usize| match evidence {
            Evidence::Words => name(document) + fraction(by_words[document]),
            Evidence::Meaning(alike) => fraction(alike[document]),
            Evidence::Both(alike) => {
                name(document) + fraction(joined(alike[document], by_words[document]))
            }
        };
        let all = (0..self.len()).filter(|it| wanted(*it));
        let scored = all.map(|document| Hit { document, score: rounded(score(document)) });
        cut(scored.filter(|hit| hit.score > 0.0).collect(), top)
    }

    /// Returns the BM25 score of every document, as a share of the score of a document that has all
    /// the words in plenty, multiplied by the share of words that the document has: one matching
    /// word of many is no evidence.
    fn word_scores(&self, query: &Query) -> Vec<f32> {
        let mut scores = vec![(0.0, 0); self.len()];
        let mut most = f32::MIN_POSITIVE;
        for term in &query.terms {
            let having = self.documents_with(term);
            let rarity = self.rarity(having.len());
            most += rarity;
            let share = if term.known { 1.0 } else { RESEMBLING };
            for (document, frequency) in having {
                let (score, count) = &mut scores[document as usize];
                *score += rarity * share * frequency / (K + frequency);
                *count += 1;
            }
        }
        let terms = query.terms.len() as f32;
        scores.into_iter().map(|(score, count)| score / most * count as f32 / terms).collect()
    }

    /// Returns the documents that have a word, with the frequency of its most frequent stem.
    fn documents_with(&self, term: &Term) -> FxHashMap<u32, f32> {
        let numbers = term.stems.iter().filter_map(|stem| self.numbers.get(stem.as_str()));
        let mut having: FxHashMap<u32, f32> = FxHashMap::default();
        for (document, frequency) in numbers.flat_map(|it| &self.postings[*it as usize]) {
            let best = having.entry(*document).or_default();
            *best = best.max(*frequency);
        }
        having
    }

    fn rarity(&self, documents: usize) -> f32 {
        let (all, those) = (self.len() as f32, documents as f32);
        (1.0 + (all - those + 0.5) / (those + 0.5)).ln()
    }

    /// Returns stems that an unknown word may mean: those with the fewest typing mistakes, else
    /// those that it begins.
    fn similar_stems(&self, word: &str) -> Vec<String> {
        let near = |far| self.stems_of(move |it| distance(word, it, far).is_some());
        let found = (1..=mistakes(word.len())).map(near).find(|it| !it.is_empty());
        found.unwrap_or_else(|| self.stems_of(|it| word.len() > 2 && it.starts_with(word)))
    }

    fn stems_of(&self, fits: impl Fn(&str) -> bool) -> Vec<String> {
        let fitting = self.words.iter().filter(|(word, _)| fits(word));
        let mut stems: Vec<String> =
            fitting.map(|(_, number)| self.stems[*number as usize].to_string()).collect();
        stems.sort();
        stems.dedup();
        stems
    }
}

/// Returns the number of typing mistakes allowed in a word of `length` bytes.
pub(super) fn mistakes(length: usize) -> usize {
    match length {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    }
}

/// Returns the tokens of a text that may be names, in lowercase.
fn tokens(text: &str) -> FxHashSet<String> {
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !in_name(c)).filter(|it| !it.is_empty()).map(str::to_lowercase).collect()
}

fn joined(similarity: f32, of_words: f32) -> f32 {
    (similarity.max(0.0) + WORDS_BESIDE_MEANING * of_words) / (1.0 + WORDS_BESIDE_MEANING)
}

/// Limits a score to below 1, because the whole part is reserved for the name match.
fn fraction(score: f32) -> f32 {
    score.clamp(0.0, 0.9999)
}

fn rounded(score: f32) -> f32 {
    (score * 10_000.0).round() / 10_000.0
}

/// Returns the first hits, and those that are as good as the last of them.
fn cut(mut hits: Vec<Hit>, top: usize) -> Vec<Hit> {
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.document.cmp(&b.document)));
    let last = top.checked_sub(1).and_then(|it| hits.get(it)).map(|it| it.score);
    let kept = match last {
        Some(last) => hits.partition_point(|hit| hit.score >= last),
        None => hits.len().min(top),
    };
    hits.truncate(kept);
    hits
}

/// A typed query, interpreted with the words of an index.
#[derive(Clone, Debug)]
pub struct Query {
    pub(super) compact: String,
    /// Tokens that may be names, in lowercase.
    pub(super) tokens: FxHashSet<String>,
    terms: Vec<Term>,
}

/// A word of a query, as one of several stems.
#[derive(Clone, Debug)]
struct Term {
    /// The word as typed, in lowercase.
    word: String,
    stems: Vec<String>,
    /// True if the documents contain the word as typed.
    known: bool,
}

impl Query {
    /// Returns the byte ranges of the words of a text that match the query, in order.
    pub fn matches(&self, text: &str) -> Vec<Range<usize>> {
        let found = words(text).into_iter().filter(|word| self.asks_for(&word.stem));
        found.map(|word| word.range).collect()
    }

    fn asks_for(&self, stem: &str) -> bool {
        self.terms.iter().any(|term| term.stems.iter().any(|it| it == stem))
    }

    /// Returns the words of the query that are in no document and so may be mistyped.
    pub(super) fn unknown(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().filter(|term| !term.known).map(|term| &*term.word)
    }

    /// Returns whether the words of the query are exactly these.
    pub(super) fn is_made_of(&self, stems: &[String]) -> bool {
        let asked = |stem: &String| self.asks_for(stem);
        let has = |term: &Term| stems.iter().any(|it| term.stems.contains(it));
        self.terms.iter().all(|term| term.known && has(term)) && stems.iter().all(asked)
    }
}
