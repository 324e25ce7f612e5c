//! Points at which a test can kill the process: before each step that changes what a later start
//! finds.
//!
//! A debug build counts the steps, and kills its own process before the step whose number, from 1,
//! is in `TRELLIS_CRASH_POINT`. The disk is then as after a crash at that moment. Tests enumerate
//! all steps instead of sampling moments: the file in `TRELLIS_CRASH_POINTS` gets one byte per
//! step. Journal lines that a crash may lose are not steps; the `recovery` tests try every prefix
//! of a journal. Release builds contain none of this.
//! of it.

/// Environment variable with the number of the step before which the process is killed.
#[cfg(debug_assertions)]
const VARIABLE: &str = "TRELLIS_CRASH_POINT";

/// Environment variable with the path of a file that grows by one byte per step.
#[cfg(debug_assertions)]
const COUNTED: &str = "TRELLIS_CRASH_POINTS";

/// Marks that the next operation changes the disk.
#[cfg(debug_assertions)]
pub fn reach() {
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
        // Like a crash: no destructor, no handler, no last output.
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}

/// Does nothing in a release build.
#[cfg(not(debug_assertions))]
pub fn reach() {}
