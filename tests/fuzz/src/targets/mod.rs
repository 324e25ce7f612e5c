//! The targets.

mod edits;
mod frames;
mod journals;
mod model_streams;
mod plans;
mod recordings;
mod report_pipe;
mod settings;

use std::path::Path;
use std::sync::LazyLock;

use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// A function with statements on every input.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name, also of the corpus.
    pub name: &'static str,
    /// Panics if a statement does not hold for the input.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 8] = [
    Target { name: "frames", run: frames::run },
    Target { name: "plans", run: plans::run },
    Target { name: "edits", run: edits::run },
    Target { name: "model-streams", run: model_streams::run },
    Target { name: "report-pipe", run: report_pipe::run },
    Target { name: "recordings", run: recordings::run },
    Target { name: "journals", run: journals::run },
    Target { name: "settings", run: settings::run },
];

/// Returns the sizes of pieces in which an input is read, one of them chosen by the input.
fn piece_sizes(input: &[u8]) -> [usize; 3] {
    let sum: usize = input.iter().map(|it| usize::from(*it)).sum();
    [1, 2 + sum % 61, input.len().max(1)]
}

/// Returns a folder for files of one process, in memory where the system has such a place.
fn folder() -> &'static Path {
    static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
        let memory = Path::new("/dev/shm");
        let made = match memory.is_dir() {
            true => tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()),
            false => tempfile::tempdir(),
        };
        made.expect("a temporary folder")
    });
    FOLDER.path()
}

/// Returns the executor of asynchronous calls, on the calling thread.
fn runtime() -> &'static Runtime {
    static RUNTIME: LazyLock<Runtime> =
        LazyLock::new(|| Builder::new_current_thread().enable_time().build().expect("an executor"));
    &RUNTIME
}
