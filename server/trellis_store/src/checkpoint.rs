//! `docs/generation_checkpoint.json`: appendix B's object, node ids at the top level.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cost::Cost;
use crate::{disk, fault_point};

pub const PATH: &str = "docs/generation_checkpoint.json";

/// Appendix B's `test_results`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestResults {
    pub passed: usize,
    pub failed: usize,
}

/// One node, as appendix B has it; `subgraph`, `coverage`, `tests`, `flaky` and `model` are ours.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub status: String,
    pub timestamp: String,
    #[serde(default)]
    pub test_results: TestResults,
    #[serde(default)]
    pub retry_count: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subgraph: Option<String>,
    /// Percent of its statements that the whole suite executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<u32>,
    /// pytest's ids of its tests, including test classes, as in the files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// Tests that failed once and passed unchanged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<String>,
    /// Its prompts and their cost; left out if no model counts tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelCost>,
}

/// The cost of a node's prompts, in its last attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelCost {
    pub calls: usize,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// US dollars.
    pub usd: f64,
}

impl ModelCost {
    pub fn of(cost: &Cost) -> Option<ModelCost> {
        let all = cost.all();
        (all.tokens() > 0).then(|| ModelCost {
            calls: all.calls,
            input_tokens: all.input_tokens,
            output_tokens: all.output_tokens,
            usd: all.usd(),
        })
    }
}

pub type Checkpoint = BTreeMap<String, Entry>;

/// Result of reading a checkpoint.
pub enum Found {
    None,
    Good(Checkpoint),
    /// The checkpoint was unreadable and was moved to this path.
    Corrupt(PathBuf),
}

pub fn read(root: &Path) -> io::Result<Found> {
    let path = root.join(PATH);
    let bytes = match trellis_os::files::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Found::None),
        Err(e) => return Err(e),
    };
    match serde_json::from_slice::<Checkpoint>(&bytes) {
        Ok(checkpoint) => Ok(Found::Good(checkpoint)),
        Err(_) => {
            let aside = free_name(&path);
            fault_point::reach()?;
            fs::rename(&path, &aside)?;
            Ok(Found::Corrupt(aside))
        }
    }
}

fn free_name(path: &Path) -> PathBuf {
    let named = |n: u32| path.with_extension(format!("corrupt-{n}.json"));
    (1..).map(named).find(|candidate| !candidate.exists()).unwrap_or_else(|| named(0))
}

pub fn write(root: &Path, checkpoint: &Checkpoint) -> io::Result<()> {
    let text = serde_json::to_string_pretty(checkpoint)? + "\n";
    disk::write(root, PATH, &text)
}
