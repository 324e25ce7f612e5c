//! The journal's file. Several processes append lines to the file at once; each line carries the
//! hash of the lines above.
//!
//! A process appends only while it holds the file's lock. So a last line without a line end can
//! only come from a crash, and is cut off.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::disk::{self, hex};
use crate::fault_point;
use crate::format::{LINE_START, refuse_newer_line};
use crate::hash_chain::{SUFFIX, carried, seal};
use crate::journal::VERSION;

/// Bytes read at once.
const BLOCK: usize = 16 << 10;

/// The open journal file.
#[derive(Debug)]
pub(crate) struct AppendLog {
    path: PathBuf,
    file: File,
    /// End of the file after this process's last write; `None` if unknown.
    end: Option<Tail>,
}

/// End of the file: its length and the chain value there.
#[derive(Debug)]
struct Tail {
    /// File length in bytes.
    length: u64,
    /// Chain value that the next line continues.
    chain: String,
}

impl AppendLog {
    /// Opens or creates the file, and cuts off a last line that a crash left incomplete.
    pub(crate) fn open(path: &Path) -> io::Result<AppendLog> {
        let mut it = AppendLog { path: path.to_owned(), file: open(path)?, end: None };
        it.locked(|it| {
            it.end = Some(it.tail()?);
            Ok(())
        })?;
        Ok(it)
    }

    /// Appends lines in one write. `lines` creates them under the lock, without chain and line end.
    /// A partial write is undone, so that no later line joins it.
    pub(crate) fn append(
        &mut self,
        sync: bool,
        lines: impl FnOnce() -> io::Result<Vec<Vec<u8>>>,
    ) -> io::Result<()> {
        self.locked(|it| {
            let end = it.known_end()?;
            let (mut bytes, mut chain) = (Vec::new(), end.chain.clone());
            for mut line in lines()? {
                chain = seal(&mut line, &chain);
                bytes.append(&mut line);
                bytes.push(b'\n');
            }
            let written = match sync {
                true => fault_point::write(&mut it.file, &bytes),
                false => fault_point::pass().and_then(|()| it.file.write_all(&bytes)),
            };
            let written = written.and_then(|()| if sync { it.file.sync_data() } else { Ok(()) });
            if written.is_err() {
                it.file.set_len(end.length)?;
                it.end = Some(end);
            } else {
                it.end = Some(Tail { length: end.length + bytes.len() as u64, chain });
            }
            written
        })
    }

    /// Returns the end of the file: the remembered one if no other process has changed the length.
    fn known_end(&mut self) -> io::Result<Tail> {
        let length = self.file.metadata()?.len();
        match self.end.take() {
            Some(end) if end.length == length => Ok(end),
            _ => self.tail(),
        }
    }

    /// Finds the end of the file, unless a newer Trellis wrote it.
    fn tail(&self) -> io::Result<Tail> {
        let found = self.file.metadata()?.len();
        let length = whole_lines(&self.file, found)?;
        refuse_newer(&self.path, &self.file, length)?;
        Tail::of(&self.file, found, length)
    }

    /// Refuses a file whose last line has a newer format; a missing one has no lines.
    pub(crate) fn refuse_newer(path: &Path) -> io::Result<()> {
        let file = match trellis_os::files::open(path) {
            Ok(file) => file.into_inner(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let length = whole_lines(&file, file.metadata()?.len())?;
        refuse_newer(path, &file, length)
    }

    fn locked<T>(&mut self, work: impl FnOnce(&mut Self) -> io::Result<T>) -> io::Result<T> {
        self.file.lock()?;
        let done = self.follow().and_then(|()| work(self));
        // Closing the file would release the lock as well, but the file may stay open for hours.
        let unlocked = self.file.unlock();
        done.and_then(|done| unlocked.map(|()| done))
    }

    /// Reopens and locks the file at the path if the path now names another file.
    fn follow(&mut self) -> io::Result<()> {
        while !self.is_at_its_path()? {
            let file = open(&self.path)?;
            file.lock()?;
            (self.file, self.end) = (file, None);
        }
        Ok(())
    }

    fn is_at_its_path(&self) -> io::Result<bool> {
        let there = match fs::metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let why = "it was removed while it was in use";
                return Err(io::Error::new(ErrorKind::NotFound, why));
            }
            there => there?,
        };
        let own = self.file.metadata()?;
        Ok((own.dev(), own.ino()) == (there.dev(), there.ino()))
    }
}

impl Tail {
    /// Cuts off the bytes of a file after its complete lines, of the given length.
    fn of(file: &File, found: u64, length: u64) -> io::Result<Tail> {
        if length < found {
            file.set_len(length)?;
        }
        Ok(Tail { length, chain: chain_at(file, length)? })
    }
}

/// Returns the length of the complete lines among the first `end` bytes.
fn whole_lines(file: &File, mut end: u64) -> io::Result<u64> {
    let mut block = [0; BLOCK];
    while end > 0 {
        let start = end.saturating_sub(BLOCK as u64);
        let read = &mut block[..(end - start) as usize];
        file.read_exact_at(read, start)?;
        if let Some(at) = read.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// Refuses a file whose last complete line, which ends at `end`, has a newer format.
fn refuse_newer(path: &Path, file: &File, end: u64) -> io::Result<()> {
    let start = whole_lines(file, end.saturating_sub(1))?;
    let mut line = [0; LINE_START];
    let line = &mut line[..(end - start).min(LINE_START as u64) as usize];
    file.read_exact_at(line, start)?;
    Ok(refuse_newer_line(path.display(), line, VERSION)?)
}

/// Returns the chain value that a line after the first `length` bytes (complete lines) continues.
fn chain_at(file: &File, length: u64) -> io::Result<String> {
    let mut suffix = [0; SUFFIX];
    if let Some(start) = length.checked_sub(SUFFIX as u64 + 1) {
        file.read_exact_at(&mut suffix, start)?;
    }
    match carried(&suffix) {
        Some(chain) => Ok(chain.to_owned()),
        None => hash_of(file, length),
    }
}

fn hash_of(file: &File, length: u64) -> io::Result<String> {
    let (mut all, mut block, mut start) = (Sha256::new(), [0; BLOCK], 0);
    while start < length {
        let read = &mut block[..(length - start).min(BLOCK as u64) as usize];
        file.read_exact_at(read, start)?;
        all.update(&*read);
        start += read.len() as u64;
    }
    Ok(hex(&all.finalize()))
}

fn open(path: &Path) -> io::Result<File> {
    disk::open_own(path, OpenOptions::new().create(true).append(true).read(true))
}
