//! Points at which a test may end the process: before each step that changes what a later start finds.
//!
//! A build for tests counts the steps and kills its own process before the one that `TRELLIS_CRASH_POINT` numbers, from 1:
//! what is on the disk then is what a crash at that moment leaves. Tests number them all, in place of sampling instants: the file
//! `TRELLIS_CRASH_POINTS` gets a byte for each. Lines of the journal that a crash may lose are no steps: `recovery` tests every beginning of a journal. A delivered binary has none
//! of it.

/// Environment variable with the number of the step before which the process is killed.
#[cfg(debug_assertions)]
const VARIABLE: &str = "TRELLIS_CRASH_POINT";

/// Environment variable with the file that grows by a byte for each step.
#[cfg(debug_assertions)]
const COUNTED: &str = "TRELLIS_CRASH_POINTS";

/// Marks that the next thing done changes the disk.
#[cfg(debug_assertions)]
pub(crate) fn reach() {
    use std::fs::File;
    use std::io::Write as _;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static WANTED: LazyLock<Option<u64>> =
        LazyLock::new(|| std::env::var(VARIABLE).ok()?.parse().ok());
    static COUNT: LazyLock<Option<File>> = LazyLock::new(|| {
        File::options().create(true).append(true).open(std::env::var_os(COUNTED)?).ok()
    });
    static REACHED: AtomicU64 = AtomicU64::new(0);

    if let Some(mut file) = COUNT.as_ref() {
        let _ = file.write_all(b".");
    }
    if WANTED.is_some_and(|wanted| REACHED.fetch_add(1, Ordering::SeqCst) + 1 == wanted) {
        // As a crash is: no destructor, no handler, no last line.
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}

/// Does nothing in a delivered binary.
#[cfg(not(debug_assertions))]
pub(crate) fn reach() {}
