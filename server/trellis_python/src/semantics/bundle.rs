//! Bundles stubs of builtins, of the standard library's most used modules and of pytest into the
//! binary.
//!
//! The stubs are short and written for Trellis: enough to follow a value through containers,
//! context managers and decorators, not to check types. Modules without a stub are outside, and
//! nothing is guessed about them.

use std::sync::{LazyLock, OnceLock};

use rustc_hash::FxHashMap;

use super::ir::Module;
use super::lower::lower;
use crate::index::FileId;

macro_rules! stubs {
    ($($path:literal),* $(,)?) => {
        /// Paths below the bundle, and texts.
        static STUBS: &[(&str, &str)] = &[$(($path, include_str!(concat!("../stubs/", $path)))),*];
    };
}

stubs! {
    "abc.pyi",
    "argparse.pyi",
    "ast.pyi",
    "asyncio/__init__.pyi",
    "asyncio/subprocess.pyi",
    "bisect.pyi",
    "builtins.pyi",
    "cmd.pyi",
    "collections/__init__.pyi",
    "collections/abc.pyi",
    "concurrent/__init__.pyi",
    "concurrent/futures.pyi",
    "configparser.pyi",
    "contextlib.pyi",
    "contextvars.pyi",
    "copy.pyi",
    "csv.pyi",
    "dataclasses.pyi",
    "datetime.pyi",
    "decimal.pyi",
    "enum.pyi",
    "fractions.pyi",
    "functools.pyi",
    "hashlib.pyi",
    "heapq.pyi",
    "html/__init__.pyi",
    "html/parser.pyi",
    "http/__init__.pyi",
    "http/server.pyi",
    "importlib/__init__.pyi",
    "inspect.pyi",
    "io.pyi",
    "itertools.pyi",
    "json.pyi",
    "logging.pyi",
    "math.pyi",
    "multiprocessing/__init__.pyi",
    "numbers.pyi",
    "operator.pyi",
    "os/__init__.pyi",
    "os/path.pyi",
    "pathlib.pyi",
    "pytest.pyi",
    "pytest_fixtures.pyi",
    "queue.pyi",
    "random.pyi",
    "re.pyi",
    "shutil.pyi",
    "socket.pyi",
    "socketserver.pyi",
    "sqlite3.pyi",
    "statistics.pyi",
    "string.pyi",
    "struct.pyi",
    "subprocess.pyi",
    "sys.pyi",
    "tempfile.pyi",
    "textwrap.pyi",
    "threading.pyi",
    "time.pyi",
    "traceback.pyi",
    "types.pyi",
    "typing.pyi",
    "typing_extensions.pyi",
    "unittest/__init__.pyi",
    "unittest/mock.pyi",
    "urllib/__init__.pyi",
    "urllib/parse.pyi",
    "uuid.pyi",
    "warnings.pyi",
    "weakref.pyi",
}

static MODULES: LazyLock<Vec<OnceLock<Module>>> =
    LazyLock::new(|| STUBS.iter().map(|_| OnceLock::new()).collect());

/// Modules by their path without extension.
static FILES: LazyLock<FxHashMap<&str, FileId>> = LazyLock::new(|| {
    let bare = |path: &'static str| {
        let bare = path.trim_end_matches(".pyi");
        bare.strip_suffix("/__init__").unwrap_or(bare)
    };
    STUBS.iter().enumerate().map(|(number, (path, _))| (bare(path), id(number))).collect()
});

/// Returns the identifier of a stub. Numbers of stubs count down from the largest.
fn id(number: usize) -> FileId {
    FileId(u32::MAX - number as u32)
}

/// Returns the number of a file's stub; `None` if the file is not one.
pub(crate) fn number(file: FileId) -> Option<usize> {
    let number = (u32::MAX - file.0) as usize;
    (number < STUBS.len()).then_some(number)
}

pub(crate) fn path(number: usize) -> &'static str {
    STUBS[number].0
}

pub(crate) fn module(number: usize) -> &'static Module {
    MODULES[number].get_or_init(|| lower(STUBS[number].1))
}

/// Returns the stub of a module, given as `collections/abc`.
pub(crate) fn file(module: &str) -> Option<FileId> {
    FILES.get(module).copied()
}
