//! Points at which a test can make a step fail: before each step that changes what a later start
//! finds.
//!
//! A debug build counts the steps. At the step whose number, from 1, is in `TRELLIS_FAULT_POINT`,
//! the fault named in `TRELLIS_FAULT` happens: a kill where no fault is named. Tests enumerate all
//! steps instead of sampling moments: the file in `TRELLIS_FAULT_POINTS` gets one line per
//! step, with its place in the code. Journal lines that a crash may lose are not steps; the
//! `recovery` tests try every prefix of a journal. Release builds contain none of this.

use std::io::{self, Write};

#[cfg(not(debug_assertions))]
pub use release::{pass, reach};

#[cfg(debug_assertions)]
pub use injected::{pass, reach};

/// Writes bytes to a file as one step. A fault may leave a part of them there.
#[cfg_attr(debug_assertions, track_caller)]
pub fn write(file: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    #[cfg(debug_assertions)]
    injected::tear(file, bytes)?;
    reach()?;
    file.write_all(bytes)
}

#[cfg(not(debug_assertions))]
mod release {
    use std::io;

    /// Does nothing in a release build.
    pub fn reach() -> io::Result<()> {
        Ok(())
    }

    /// Does nothing in a release build.
    pub fn pass() -> io::Result<()> {
        Ok(())
    }
}

#[cfg(debug_assertions)]
mod injected {
    use std::fs::File;
    use std::io::{self, ErrorKind, Write};
    use std::panic::Location;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    /// Environment variable with the number of the step that fails.
    const POINT: &str = "TRELLIS_FAULT_POINT";

    /// Environment variable with the name of the fault.
    const FAULT: &str = "TRELLIS_FAULT";

    /// Environment variable with the path of a file that grows by one line per step.
    const COUNTED: &str = "TRELLIS_FAULT_POINTS";

    /// Duration of a slow step.
    const SLOW: Duration = Duration::from_millis(300);

    #[derive(Clone, Copy, PartialEq)]
    enum Fault {
        /// The process is killed before the step.
        Kill,
        /// The process is killed in the middle of a write; before a step without one.
        Torn,
        /// The disk is full from this step to the end of the process.
        Full,
        /// The disk reports an error, once.
        Broken,
        /// The step is not permitted, once.
        Refused,
        /// The step takes long.
        Slow,
    }

    impl Fault {
        fn named(name: &str) -> Fault {
            match name {
                "torn" => Fault::Torn,
                "full" => Fault::Full,
                "broken" => Fault::Broken,
                "refused" => Fault::Refused,
                "slow" => Fault::Slow,
                _ => Fault::Kill,
            }
        }

        fn happen(self) -> io::Result<()> {
            match self {
                Fault::Kill | Fault::Torn => kill(),
                Fault::Full => return Err(ErrorKind::StorageFull.into()),
                Fault::Broken => return Err(rustix::io::Errno::IO.into()),
                Fault::Refused => return Err(rustix::io::Errno::ACCESS.into()),
                Fault::Slow => std::thread::sleep(SLOW),
            }
            Ok(())
        }
    }

    static WANTED: LazyLock<Option<(u64, Fault)>> = LazyLock::new(|| {
        let point = std::env::var(POINT).ok()?.parse().ok()?;
        Some((point, Fault::named(&std::env::var(FAULT).unwrap_or_default())))
    });
    static COUNT: LazyLock<Option<File>> = LazyLock::new(|| {
        File::options().create(true).append(true).open(std::env::var_os(COUNTED)?).ok()
    });
    static REACHED: AtomicU64 = AtomicU64::new(0);

    /// Counts a step that changes the disk.
    ///
    /// # Errors
    ///
    /// The fault of this step.
    #[track_caller]
    pub fn reach() -> io::Result<()> {
        if let Some(mut file) = COUNT.as_ref() {
            let _ = file.write_all(format!("{}\n", Location::caller()).as_bytes());
        }
        let Some((point, fault)) = *WANTED else { return Ok(()) };
        match (REACHED.fetch_add(1, Ordering::SeqCst) + 1).cmp(&point) {
            std::cmp::Ordering::Less => Ok(()),
            std::cmp::Ordering::Equal => fault.happen(),
            std::cmp::Ordering::Greater => pass(),
        }
    }

    /// Fails if the disk is full by now, for writes that are not steps.
    ///
    /// # Errors
    ///
    /// The disk is full.
    pub fn pass() -> io::Result<()> {
        match *WANTED {
            Some((point, Fault::Full)) if REACHED.load(Ordering::SeqCst) >= point => {
                Fault::Full.happen()
            }
            _ => Ok(()),
        }
    }

    /// Writes half of the bytes and kills the process, if the next step is to be torn.
    pub(super) fn tear(file: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
        let next = REACHED.load(Ordering::SeqCst) + 1;
        if *WANTED == Some((next, Fault::Torn)) {
            file.write_all(&bytes[..bytes.len() / 2])?;
            kill();
        }
        Ok(())
    }

    /// Ends the process like a crash: no destructor, no handler, no last output.
    fn kill() {
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}
