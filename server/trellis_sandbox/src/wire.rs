//! The language between Trellis and a worker inside a sandbox.
//!
//! Orders go in as lines of JSON. What comes out are frames: a byte that names the channel, the
//! length of the payload in four bytes (most significant first), the payload. A worker is started
//! with [`BOOT`] and first reads its own source from its standard input ([`bundle`]), so that
//! nothing of ours lies on the sandbox's disk.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::docker::{ProjectCopy, ORIGINAL};

/// Longer frames are none of the worker's.
const LONGEST_FRAME: usize = 64 << 20;

/// So many names of a folder tell it from others.
const SAMPLE: usize = 20;

/// What the interpreter is started with, after `-c`.
pub(crate) const BOOT: &str = include_str!("worker/boot.py");

macro_rules! modules {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("worker/", $name, ".py")))),*]
    };
}

const MODULES: [(&str, &str); 32] = modules![
    "assertion_cache",
    "channel",
    "child",
    "collected",
    "command_run",
    "deadline",
    "entries",
    "extra_paths",
    "failure",
    "folders",
    "fresh_interpreter",
    "import_preload",
    "integrity",
    "kernel_info",
    "line_coverage",
    "loader",
    "measuring",
    "memory",
    "metadata",
    "mirror",
    "module_shadowing",
    "process_state",
    "processes",
    "program",
    "pytest_config",
    "pytest_run",
    "reporter",
    "reporting",
    "run_environment",
    "selection",
    "unittest_run",
    "worker",
];

/// The worker's source and settings, as it reads them. `wipe`: folders it empties after each run.
/// `tree`: a folder that it must see as it is here, which an engine on another machine would not
/// show. `copied`: tests get a copy of the tree, which lies elsewhere.
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
    let text = json!({
        "modules": modules,
        "main": "worker",
        "wipe": wipe,
        "tree": { "path": shown.to_string_lossy(), "names": names },
        "added": packages.added.as_deref().map(Path::to_string_lossy),
        "lent": packages.lent.as_deref().map(Path::to_string_lossy),
        "mirror": mirror,
    });
    let text = text.to_string();
    format!("{}\n{text}", text.len()).into_bytes()
}

/// Folders of packages that do not belong to the interpreter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packages {
    /// They are found after all others.
    pub(crate) added: Option<PathBuf>,
    /// coverage.py is taken from there where no other works, and nobody else finds it.
    pub(crate) lent: Option<PathBuf>,
}

impl Packages {
    /// All of them.
    pub(crate) fn folders(&self) -> impl Iterator<Item = PathBuf> + use<> {
        [self.added.clone(), self.lent.clone()].into_iter().flatten()
    }
}

/// What the worker has to make equal, and what of it is equal without.
fn mirror(copied: &ProjectCopy, tree: &Path) -> Value {
    let mounted: Vec<&str> = copied.mounted.iter().map(|it| it.name).collect();
    json!({ "from": ORIGINAL, "to": tree.to_string_lossy(), "mounted": mounted })
}

/// What a worker says of itself before its first run.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Ready {
    /// None: not installed.
    pub(crate) pytest: Option<String>,
    /// Why no coverage.py can be used, where none can.
    pub(crate) unmeasured: Option<String>,
    /// Tests cannot look into the worker's memory.
    pub(crate) hidden: bool,
}

/// How a run ended, from the worker's point of view.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct WorkerRunEnd {
    pub(crate) id: u64,
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// Other processes that were still alive.
    pub(crate) left_behind: usize,
    /// False: the sandbox must not be used again.
    pub(crate) clean: bool,
    pub(crate) why: Option<String>,
    /// Why the file that the run was told to write was not passed on, if there is something like it.
    pub(crate) uncollected: Option<String>,
    pub(crate) memory_kill: bool,
}

/// A message on the control channel.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Control {
    Ready(Ready),
    Ended(WorkerRunEnd),
    /// The copy of the project is equal to it, unless a sentence says why not.
    Laid(Option<String>),
    /// The worker cannot work at all.
    Failed(String),
}

/// One frame.
#[derive(Debug)]
pub(crate) enum Frame<'a> {
    Control(Control),
    Events(&'a [u8]),
    Output(&'a [u8]),
    Errors(&'a [u8]),
    Stack(&'a [u8]),
    /// Of the file that the run was told to write.
    File(&'a [u8]),
}

/// Takes frames from a stream.
pub(crate) struct Frames {
    source: Box<dyn AsyncRead + Send + Unpin>,
    buffer: Vec<u8>,
    /// Bytes at the start of `buffer` that have been given out.
    used: usize,
}

const HEADER: usize = 5;

impl Frames {
    pub(crate) fn new(source: Box<dyn AsyncRead + Send + Unpin>) -> Frames {
        Frames { source, buffer: Vec::new(), used: 0 }
    }

    /// The next frame; None at the end of the stream. Nothing is lost when the future is dropped.
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
