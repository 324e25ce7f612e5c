//! Embeddings of texts, for comparison with queries. Those of remote services are stored on disk,
//! since each costs time or money.
//!
//! The built-in embedder needs no store: it embeds thousands of texts in the time that it takes to
//! read a file of them. A store belongs to one embedder at one address. A damaged, truncated or
//! foreign store counts as empty. It is replaced as a whole, so that processes that write at once
//! do not disturb each other.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use trellis_llm::{Embedder, Settings, Vectors};
use trellis_plan::EmbeddingText;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::fault::Fault;
use trellis_store::disk::cache_folder;

const MAGIC: &[u8; 8] = b"trellisV";

/// Length of the header: magic, checksum, and numbers per vector.
const HEAD: usize = 8 + 8 + 4;

/// Maximum size of a store in bytes; a larger one is begun anew.
const LARGEST: usize = 256 << 20;

/// Documents with their vectors, for comparison with queries.
pub struct Index {
    embedder: Embedder,
    facets: EmbeddingText,
    vectors: Vectors,
}

impl Index {
    /// Opens the embedder and embeds the documents' texts, except for those in the store.
    pub async fn open(embedder: &str, facets: &EmbeddingText) -> Result<Index, Fault> {
        let opened = trellis_llm::open_embedder(embedder, &Settings::default(), |variable| {
            std::env::var(variable).ok()
        });
        let embedder = opened.map_err(|error| Fault::unavailable(&error).hint(error.hint()))?;
        let vectors = if embedder.is_built_in() {
            embed(&embedder, facets.texts()).await?
        } else {
            stored(&embedder, facets.texts(), &store(&embedder)?).await?
        };
        Ok(Index { embedder, facets: facets.clone(), vectors })
    }

    /// Returns the similarity of each document to a query, from -1 to 1, in their order.
    pub async fn similarities(&mut self, query: &str) -> Result<Vec<f32>, Fault> {
        let query = embed(&self.embedder, &[trellis_plan::spoken(query)]).await?;
        let query = query.rows().next().unwrap_or_default();
        if let Some(found) = self.vectors.similarities(query) {
            return Ok(self.facets.similarities(&found));
        }
        // The name belongs to another model by now.
        let texts = self.facets.texts();
        self.vectors = embed(&self.embedder, texts).await?;
        save(&store(&self.embedder)?, texts, &self.vectors);
        let found = self.vectors.similarities(query).ok_or_else(|| {
            Fault::unavailable(format!(
                "{} gives vectors of different lengths",
                self.embedder.name()
            ))
            .hint("use each model name for one model only")
        })?;
        Ok(self.facets.similarities(&found))
    }
}

async fn embed(embedder: &Embedder, texts: &[String]) -> Result<Vectors, Fault> {
    let found = embedder.embed(texts).await;
    found.map_err(|error| Fault::unavailable(&error).hint(error.hint()))
}

fn store(embedder: &Embedder) -> Result<PathBuf, Fault> {
    let name = format!("{:032x}", xxh3_128(embedder.identity().as_bytes()));
    Ok(cache_folder()?.join("vectors").join(name))
}

/// Returns the vectors of texts, from the store if possible, and adds missing ones to it.
async fn stored(embedder: &Embedder, texts: &[String], path: &Path) -> Result<Vectors, Fault> {
    let known = load(path).unwrap_or_default();
    let has = |text: &&String| known.rows.contains_key(&xxh3_128(text.as_bytes()));
    let (_, missing): (Vec<&String>, Vec<&String>) = texts.iter().partition(has);
    let missing: Vec<String> = missing.into_iter().cloned().collect();
    let made = embed(embedder, &missing).await?;
    let fits = made.is_empty() || known.rows.is_empty() || made.dimensions() == known.dimensions;
    if !fits {
        let all = embed(embedder, texts).await?;
        save(path, texts, &all);
        return Ok(all);
    }
    let dimensions = if made.is_empty() { known.dimensions } else { made.dimensions() };
    let mut rows = known.rows;
    rows.extend(missing.iter().map(hash).zip(made.rows().map(<[f32]>::to_vec)));
    let numbers = texts.iter().filter_map(|text| rows.get(&hash(text))).flatten().copied();
    let vectors = Vectors::new(dimensions, numbers.collect());
    let vectors = vectors.filter(|it| it.len() == texts.len());
    let vectors = vectors.ok_or_else(|| Fault::internal("the number of vectors is wrong"))?;
    match missing.is_empty() {
        true => {}
        false if rows.len() * row_bytes(dimensions) > LARGEST => save(path, texts, &vectors),
        false => write_or_say(path, dimensions, &rows),
    }
    Ok(vectors)
}

fn hash(text: &String) -> u128 {
    xxh3_128(text.as_bytes())
}

/// Vectors by the hash of their text.
#[derive(Default)]
struct Cached {
    dimensions: usize,
    rows: FxHashMap<u128, Vec<f32>>,
}

/// Loads a store; `None` if it is missing or damaged.
fn load(path: &Path) -> Option<Cached> {
    let bytes = trellis_os::files::read(path).ok()?;
    let (head, payload) = bytes.split_at_checked(HEAD)?;
    let dimensions = u32::from_le_bytes(head[16..].try_into().ok()?) as usize;
    let sound = head == header(dimensions, payload)
        && dimensions > 0
        && payload.len().is_multiple_of(row_bytes(dimensions));
    let row = |bytes: &[u8]| {
        let (hash, numbers) = bytes.split_first_chunk::<16>()?;
        let numbers = numbers.as_chunks::<4>().0.iter().map(|it| f32::from_le_bytes(*it));
        Some((u128::from_le_bytes(*hash), numbers.collect()))
    };
    let rows = sound.then(|| payload.chunks_exact(row_bytes(dimensions)).filter_map(row).collect());
    Some(Cached { dimensions, rows: rows? })
}

fn row_bytes(dimensions: usize) -> usize {
    size_of::<u128>() + dimensions * size_of::<f32>()
}

fn header(dimensions: usize, payload: &[u8]) -> Vec<u8> {
    [&MAGIC[..], &xxh3_64(payload).to_le_bytes(), &(dimensions as u32).to_le_bytes()].concat()
}

/// Replaces the store by exactly these vectors.
fn save(path: &Path, texts: &[String], vectors: &Vectors) {
    let rows = texts.iter().map(hash).zip(vectors.rows().map(<[f32]>::to_vec)).collect();
    write_or_say(path, vectors.dimensions(), &rows);
}

/// Writes the store. The result does not depend on it, so a failure is only reported.
fn write_or_say(path: &Path, dimensions: usize, rows: &FxHashMap<u128, Vec<f32>>) {
    if let Err(error) = write(path, dimensions, rows) {
        let shown = path.display();
        tracing::warn!("{shown}: vectors cannot be kept ({error})");
    }
}

fn write(path: &Path, dimensions: usize, rows: &FxHashMap<u128, Vec<f32>>) -> io::Result<()> {
    let mut payload = Vec::with_capacity(rows.len() * row_bytes(dimensions));
    for (hash, row) in rows {
        payload.extend(hash.to_le_bytes());
        row.iter().for_each(|number| payload.extend(number.to_le_bytes()));
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix("vectors-").tempfile_in(folder)?;
    file.write_all(&header(dimensions, &payload))?;
    file.write_all(&payload)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> FxHashMap<u128, Vec<f32>> {
        FxHashMap::from_iter([(1, vec![0.5, -1.0]), (u128::MAX, vec![0.0, 3.25])])
    }

    #[test]
    fn a_store_gives_back_what_it_was_given() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new/store");
        write(&path, 2, &rows()).expect("written");
        let known = load(&path).expect("sound");
        assert_eq!((known.dimensions, known.rows), (2, rows()));
    }

    #[test]
    fn a_store_with_any_byte_changed_or_missing_is_as_good_as_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store");
        assert!(load(&path).is_none(), "missing");
        write(&path, 2, &rows()).expect("written");
        let bytes = fs::read(&path).expect("bytes");
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1;
            fs::write(&path, damaged).expect("damaged");
            assert!(load(&path).is_none(), "byte {place}");
            fs::write(&path, &bytes[..place]).expect("cut");
            assert!(load(&path).is_none(), "cut at {place}");
        }
    }
}
