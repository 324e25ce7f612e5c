//! Prepares the texts of documents for an embedding model.
//!
//! Name, text and path are embedded separately: a name is short and most significant, and would be
//! lost in the vector of a long text. `fixtures/search/choosing.json` led to this choice.

use rustc_hash::FxHashMap;

use super::index::Document;
use super::words::spoken;

/// Weights of the similarities of the name, of the text and of the path.
const WEIGHTS: [f32; 3] = [1.0, 1.0, 0.35];

/// The distinct texts to embed, and the texts of each document.
#[derive(Clone, Debug, Default)]
pub struct EmbeddingText {
    texts: Vec<String>,
    /// Indexes of the name's, the text's and the path's entry; `None` if there are no words.
    of: Vec<[Option<u32>; 3]>,
}

impl EmbeddingText {
    /// Converts names, the first paragraph of texts, and the parts of paths that are not common to
    /// all, to spoken words.
    pub fn of<'a>(documents: impl Iterator<Item = Document<'a>> + Clone) -> EmbeddingText {
        let common = common_folders(documents.clone().map(|it| it.path));
        let mut facets = EmbeddingText::default();
        let mut places = FxHashMap::default();
        for document in documents {
            let summary = document.text.trim().split("\n\n").next().unwrap_or_default();
            let texts = [spoken(document.name), spoken(summary), place(document.path, common)];
            let texts = texts.map(|text| facets.add(text, &mut places));
            facets.of.push(texts);
        }
        facets
    }

    fn add(&mut self, text: String, places: &mut FxHashMap<String, u32>) -> Option<u32> {
        if !text.contains(char::is_alphanumeric) {
            return None;
        }
        let next = self.texts.len() as u32;
        let place = *places.entry(text.clone()).or_insert(next);
        if place == next {
            self.texts.push(text);
        }
        Some(place)
    }

    /// Returns the texts to embed.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Returns the similarity of a query to each document, from its similarity to each of the
    /// [texts](Self::texts).
    ///
    /// # Panics
    ///
    /// Panics if there is not one similarity per text.
    pub fn similarities(&self, of_texts: &[f32]) -> Vec<f32> {
        assert_eq!(of_texts.len(), self.texts.len(), "one likeness a text");
        let of_document = |places: &[Option<u32>; 3]| {
            let there = places.iter().zip(WEIGHTS).filter_map(|(place, weight)| {
                place.map(|place| (of_texts[place as usize] * weight, weight))
            });
            let (sum, weights) =
                there.fold((0.0, 0.0), |(a, b): (f32, f32), (c, d)| (a + c, b + d));
            if weights > 0.0 { sum / weights } else { 0.0 }
        };
        self.of.iter().map(of_document).collect()
    }
}

/// Returns a path as words, without the first folders and the extension.
fn place(path: &str, folders: usize) -> String {
    let words: Vec<&str> = path.split('/').skip(folders).collect();
    let words = words.join(" ");
    spoken(words.rsplit_once('.').map_or(&*words, |(stem, _)| stem))
}

/// Returns the number of folders with which all paths begin.
fn common_folders<'a>(mut paths: impl Iterator<Item = &'a str>) -> usize {
    let folders = |path: &'a str| path.split('/').rev().skip(1).collect::<Vec<_>>();
    let Some(mut common) = paths.next().map(folders) else { return 0 };
    for path in paths {
        let other = folders(path);
        let same = common.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
        common.drain(..common.len() - same);
    }
    common.len()
}
