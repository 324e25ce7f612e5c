//! Access token: a random text in a file that only this user can read.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::process::{Pid, geteuid, test_kill_process};

use trellis_store::disk::cache_folder;
use trellis_workflows::fault::Fault;

/// Random bytes of a token.
const BYTES: usize = 32;
/// Mode of the token's folder: access for its owner only.
const PRIVATE: u32 = 0o700;

/// A token and its file, which is removed when dropped.
pub(super) struct Token {
    text: String,
    path: PathBuf,
}

impl Token {
    /// Creates a token in `$XDG_RUNTIME_DIR/trellis`, or in the cache folder without that variable.
    pub(super) fn new() -> Result<Token, Fault> {
        let folder = match std::env::var_os("XDG_RUNTIME_DIR").filter(|it| !it.is_empty()) {
            Some(folder) => PathBuf::from(folder).join("trellis"),
            None => cache_folder()?.join("serve"),
        };
        Token::below(&folder).map_err(|error| {
            Fault::unavailable(format!("cannot store the token in {}: {error}", folder.display()))
                .hint("set XDG_RUNTIME_DIR or TRELLIS_CACHE to a folder of your own")
        })
    }

    fn below(folder: &Path) -> io::Result<Token> {
        make_private(folder)?;
        sweep(folder)?;
        let mut bytes = [0; BYTES];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        let text: String = bytes.iter().map(|it| format!("{it:02x}")).collect();
        let path = folder.join(format!("serve-{}.token", std::process::id()));
        // The file is private from the start, and gets its name only when complete.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(&path)?;
        Ok(Token { text, path })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        // A leftover token is invalid; the next start removes it.
        let _ = fs::remove_file(&self.path);
    }
}

fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(PRIVATE).create(folder)?;
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() || found.uid() != geteuid().as_raw() {
        return Err(io::Error::other("the folder does not belong to you"));
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(folder, Permissions::from_mode(PRIVATE))?;
    }
    Ok(())
}

/// Removes token files of killed servers.
fn sweep(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        let number = name.strip_prefix("serve-").and_then(|it| it.strip_suffix(".token"));
        let process = number.and_then(|it| it.parse().ok()).and_then(Pid::from_raw);
        if process.is_some_and(|it| test_kill_process(it) == Err(rustix::io::Errno::SRCH)) {
            // Another server may have removed it meanwhile.
            let _ = fs::remove_file(path);
        }
    }
    Ok(())
}
