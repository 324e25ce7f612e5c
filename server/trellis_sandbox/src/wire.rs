//! The protocol between Trellis and a worker inside a sandbox.
//!
//! Commands are lines of JSON. Replies are frames: a byte that names the channel, the length of the
//! payload in four bytes (most significant first), and the payload. A worker is started with
//! [`BOOT`] and first reads its own source from standard input ([`bundle`]), so that no file of
//! Trellis lies on the sandbox's disk.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::docker::{ORIGINAL, ProjectCopy, STORE};

/// Maximum payload in bytes; a worker sends no longer frames.
const LONGEST_FRAME: usize = 64 << 20;

/// Number of file names that suffice to recognize a folder.
const SAMPLE: usize = 20;

/// The program that the interpreter runs, after `-c`.
pub(crate) const BOOT: &str = include_str!("worker/boot.py");

macro_rules! modules {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("worker/", $name, ".py")))),*]
    };
}

const MODULES: [(&str, &str); 45] = modules![
    "assertion_cache",
    "channel",
    "child",
    "collected",
    "command_run",
    "deadline",
    "entries",
    "execution_record",
    "execution_trace",
    "extra_paths",
    "failure",
    "folders",
    "fresh_interpreter",
    "import_level",
    "import_preload",
    "integrity",
    "kernel_info",
    "line_coverage",
    "loaded_code",
    "loader",
    "measuring",
    "memory",
    "metadata",
    "mirror",
    "module_shadowing",
    "option_paths",
    "process_state",
    "processes",
    "program",
    "pytest_config",
    "pytest_run",
    "recording",
    "reporter",
    "reporting",
    "run_environment",
    "selection",
    "sent",
    "shared_imports",
    "source_units",
    "subtests",
    "trial_batch",
    "trial_fork",
    "trials",
    "unittest_run",
    "worker",
];

/// Returns the worker's source and settings in the form it reads. `wipe`: folders that the worker
/// empties after each run. `tree`: a folder whose file names the worker compares, since an engine
/// on another machine would not show it; not for a tree that is sent there. `copied`: the copy of
/// the tree that tests get instead.
pub(crate) fn bundle(
    wipe: &[PathBuf],
    tree: &Path,
    packages: &Packages,
    copied: Option<&ProjectCopy>,
) -> Vec<u8> {
    let modules: Map<String, Value> =
        MODULES.iter().map(|(name, text)| ((*name).to_owned(), json!(text))).collect();
    let wipe: Vec<_> = wipe.iter().map(|it| it.to_string_lossy()).collect();
    let entries = fs::read_dir(tree).into_iter().flatten().flatten();
    let mut names: Vec<_> =
        entries.map(|it| it.file_name().to_string_lossy().into_owned()).take(SAMPLE).collect();
    names.retain(|it| !it.contains('\u{fffd}'));
    let mirror = copied.map(|it| mirror(it, tree));
    let shown = copied.map_or(tree, |_| Path::new(ORIGINAL));
    let is_sent = copied.is_some_and(|it| it.sent);
    let shown = (!is_sent).then(|| json!({ "path": shown.to_string_lossy(), "names": names }));
    let text = json!({
        "modules": modules,
        "main": "worker",
        "wipe": wipe,
        "tree": shown,
        "added": packages.added.as_deref().map(Path::to_string_lossy),
        "lent": packages.provided.as_deref().map(Path::to_string_lossy),
        "mirror": mirror,
    });
    let text = text.to_string();
    format!("{}\n{text}", text.len()).into_bytes()
}

/// Folders of packages that do not belong to the interpreter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packages {
    /// A folder searched after all others.
    pub(crate) added: Option<PathBuf>,
    /// The folder with coverage.py, used if no other works; no other code can import from it.
    pub(crate) provided: Option<PathBuf>,
}

impl Packages {
    /// Returns the folders that are set.
    pub(crate) fn folders(&self) -> impl Iterator<Item = PathBuf> + use<> {
        [self.added.clone(), self.provided.clone()].into_iter().flatten()
    }
}

/// Describes the copy that the worker keeps equal to the project, and the parts that are mounted
/// and need no copy.
fn mirror(copied: &ProjectCopy, tree: &Path) -> Value {
    let mounted: Vec<&str> = copied.mounted.iter().map(|it| it.name).collect();
    let source = if copied.sent { ("store", STORE) } else { ("from", ORIGINAL) };
    json!({ source.0: source.1, "to": tree.to_string_lossy(), "mounted": mounted })
}

/// The worker's first message, sent before its first run.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Ready {
    /// The version of pytest; `None` if it is not installed.
    pub(crate) pytest: Option<String>,
    /// True if tests cannot read the worker's memory.
    pub(crate) hidden: bool,
}

/// The end of a run, from the worker's point of view.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct WorkerRunEnd {
    pub(crate) id: u64,
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// Number of other processes that were still alive.
    pub(crate) left_behind: usize,
    /// False if the sandbox must not be used again.
    pub(crate) clean: bool,
    pub(crate) why: Option<String>,
    /// The reason the report file of the run was not passed on, if something exists in its place.
    pub(crate) uncollected: Option<String>,
    pub(crate) memory_kill: bool,
}

/// A message on the control channel.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Control {
    Ready(Ready),
    Ended(WorkerRunEnd),
    /// The copy of the project is up to date, unless the sentence gives the reason it is not.
    Laid(Option<String>),
    /// The worker has looked for coverage.py: the reason none can be used, if none can.
    Measuring(Option<String>),
    /// Digests of contents that the worker needs for the copy of the project.
    Missing(Vec<String>),
    /// The worker cannot work at all.
    Failed(String),
}

/// One frame from the worker.
#[derive(Debug)]
pub(crate) enum Frame<'a> {
    Control(Control),
    Events(&'a [u8]),
    Output(&'a [u8]),
    Errors(&'a [u8]),
    Stack(&'a [u8]),
    /// Part of the report file of the run.
    File(&'a [u8]),
}

/// A reader of frames.
pub(crate) struct Frames {
    source: Box<dyn AsyncRead + Send + Unpin>,
    buffer: Vec<u8>,
    /// Number of bytes at the start of `buffer` that have been returned.
    used: usize,
}

const HEADER: usize = 5;

impl Frames {
    pub(crate) fn new(source: Box<dyn AsyncRead + Send + Unpin>) -> Frames {
        Frames { source, buffer: Vec::new(), used: 0 }
    }

    /// Returns the next frame; `None` at the end of the stream. Dropping the future loses no data.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Frame<'_>>> {
        self.buffer.drain(..std::mem::take(&mut self.used));
        while !self.is_whole()? {
            self.buffer.reserve(64 << 10);
            if self.source.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
        let length = HEADER + self.length();
        self.used = length;
        frame(self.buffer[0], &self.buffer[HEADER..length]).map(Some)
    }

    fn length(&self) -> usize {
        self.buffer[1..HEADER].iter().fold(0, |length, byte| length << 8 | usize::from(*byte))
    }

    fn is_whole(&self) -> io::Result<bool> {
        if self.buffer.len() < HEADER {
            return Ok(false);
        }
        let length = self.length();
        if length > LONGEST_FRAME {
            return Err(io::Error::other(format!("a frame of {length} bytes")));
        }
        Ok(self.buffer.len() >= HEADER + length)
    }
}

fn frame(channel: u8, payload: &[u8]) -> io::Result<Frame<'_>> {
    Ok(match channel {
        b'C' => Frame::Control(serde_json::from_slice(payload).map_err(io::Error::other)?),
        b'E' => Frame::Events(payload),
        b'O' => Frame::Output(payload),
        b'R' => Frame::Errors(payload),
        b'S' => Frame::Stack(payload),
        b'F' => Frame::File(payload),
        other => return Err(io::Error::other(format!("a frame on channel {other}"))),
    })
}
