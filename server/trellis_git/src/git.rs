//! git, run as a command with explicit arguments: no shell, no hooks, none of the user's
//! environment.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use crate::error::{CommandCause, CommandError, GuardError};
use crate::{raw_diff, repo_config_guard, stale_locks};
use trellis_store::fault_point;
use trellis_store::journal::{Event, Journal};

/// A repository that git commands run in.
#[derive(Debug)]
pub struct Git {
    root: PathBuf,
    program: PathBuf,
    identity: Vec<String>,
    /// Index file used in place of the repository's own.
    index: Option<PathBuf>,
    /// True where all files are checked out, whatever sparse checkout a person has set up.
    is_whole: bool,
    /// Folder of a bare repository that Trellis created; its configuration needs no check.
    bare: Option<PathBuf>,
    /// Set once the repository passed its check ([`repo_config_guard`]); no other command runs
    /// before.
    is_harmless: OnceLock<()>,
}

impl Git {
    /// Finds git, and initializes a repository in the folder if needed; `Ok(None)` if git is not
    /// installed.
    pub fn open(root: &Path, journal: &Journal) -> Result<Option<Git>, CommandError> {
        let Some(program) = find("git") else { return Ok(None) };
        let mut git = Git::new(root, program);
        // A killed `git init` leaves a folder that is no valid repository.
        let own = root.join(".git");
        let is_whole = || git.run(&["rev-parse", "--git-dir"]).is_ok_and(|it| it.trim() == ".git");
        if !own.exists() || (own.is_dir() && !is_whole()) {
            git.step(journal, &["init", "--quiet", "--initial-branch=main"], "")?;
        }
        // A crash of Trellis may have left locks; locks of the user's git stay.
        stale_locks::wait_for_orphaned_git(&git)
            .and_then(|()| stale_locks::own_locks(&git, journal))
            .map_err(|error| failed(&["lock"], CommandCause::Locks(Box::new(error))))?;
        git.know_identity();
        Ok(Some(git))
    }

    /// Returns the repository around a folder; `None` without git, without a repository or without
    /// a commit.
    pub fn around(root: &Path) -> Result<Option<Git>, CommandError> {
        let Some(program) = find("git") else { return Ok(None) };
        let mut git = Git::new(root, program);
        let place = repo_config_guard::place(root);
        let place = place.map_err(|why| failed(&["rev-parse"], CommandCause::Refused(why)))?;
        if place.is_none() || git.resolve("HEAD")?.is_none() {
            return Ok(None);
        }
        git.know_identity();
        Ok(Some(git))
    }

    fn new(root: &Path, program: PathBuf) -> Git {
        Git {
            root: root.to_owned(),
            program,
            identity: Vec::new(),
            index: None,
            is_whole: false,
            bare: None,
            is_harmless: OnceLock::new(),
        }
    }

    /// Returns a bare repository that Trellis creates.
    pub fn bare(&self, folder: &Path) -> Git {
        Git { bare: Some(folder.to_owned()), ..Git::new(folder, self.program.clone()) }
    }

    /// Returns the same repository with another index.
    pub fn with_index(&self, index: &Path) -> Git {
        Git { index: Some(index.to_owned()), ..self.at(&self.root) }
    }

    /// Returns the same repository with commands run in another of its folders, or in a worktree.
    pub fn at(&self, folder: &Path) -> Git {
        let identity = self.identity.clone();
        Git { identity, is_whole: self.is_whole, ..Git::new(folder, self.program.clone()) }
    }

    /// Returns the same repository for worktrees of Trellis, with all files checked out: tests need
    /// more than the part of the project that a person works on.
    pub(crate) fn whole_at(&self, folder: &Path) -> Git {
        Git { is_whole: true, ..self.at(folder) }
    }

    /// Returns the folder in which commands run.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn know_identity(&mut self) {
        if self.run(&["var", "GIT_COMMITTER_IDENT"]).is_err()
            || self.run(&["config", "user.email"]).is_err()
        {
            self.identity = ["-c", "user.name=Trellis", "-c", "user.email=trellis@localhost"]
                .map(str::to_owned)
                .to_vec();
        }
    }

    /// Commits exactly these paths; missing files are committed as removed. A milestone is
    /// committed even without changes since the last commit. Otherwise false means that there was
    /// nothing to commit.
    pub fn commit(
        &self,
        journal: &Journal,
        paths: &[String],
        message: &str,
        milestone: bool,
    ) -> Result<bool, CommandError> {
        let (there, all) = self.pathspecs(paths)?;
        if all.is_empty() {
            return Ok(false);
        }
        let from = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        if !there.is_empty() {
            self.step(journal, &["add", "--all", "--force", from[0], from[1]], &there)?;
        }
        if !milestone && self.run(&["diff", "--cached", "--quiet", "--no-ext-diff"]).is_ok() {
            return Ok(false);
        }
        let said = ["--message", message];
        let commit = ["commit", "--quiet", "--allow-empty", "--no-verify", "--only"];
        self.step(journal, &[&commit[..], &said, &from].concat(), &all)?;
        Ok(true)
    }

    /// Returns the paths of files in the folder or the index, and of all files to commit: also of
    /// those that a killed commit has staged as removed. Separated with zeros.
    fn pathspecs(&self, paths: &[String]) -> Result<(String, String), CommandError> {
        let known = self.run(&["ls-files", "-z"])?;
        let known: BTreeSet<&str> = known.split('\0').collect();
        let removed = raw_diff::names(self, &["--cached", "--relative", "--diff-filter=D"])?;
        let (mut there, mut all) = (String::new(), String::new());
        for path in paths {
            let (file, spec) = (Path::new(path), format!(":(literal){path}\0"));
            let is_there = known.contains(path.as_str()) || self.root.join(file).exists();
            if is_there || removed.contains(file) {
                all += &spec;
            }
            if is_there {
                there += &spec;
            }
        }
        Ok((there, all))
    }

    /// Sets a tag; moves it if a resumed run completes the same subgraph again.
    pub fn tag(&self, journal: &Journal, name: &str) -> Result<(), CommandError> {
        self.step(journal, &["tag", "--force", name], "").map(drop)
    }

    /// Returns the texts that a commit has of files; of a file that it lacks there is none.
    pub fn texts_at(
        &self,
        commit: &str,
        paths: &[String],
    ) -> Result<BTreeMap<String, String>, CommandError> {
        let paths: HashSet<&str> = paths.iter().map(String::as_str).collect();
        let listed = self.run(&["ls-tree", "-r", "-z", commit])?;
        let named = listed.split('\0').filter_map(|it| it.split_once('\t'));
        let (names, objects): (Vec<&str>, Vec<&str>) = (named)
            .filter(|(_, path)| paths.contains(path))
            .filter_map(|(about, path)| Some((path, about.rsplit_once(' ')?.1)))
            .unzip();
        let said = self.bytes(&["cat-file", "--batch"], objects.join("\n").as_bytes())?;
        let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
        let found = names.into_iter().zip(blobs_of(&said));
        Ok(found.filter_map(|(name, it)| Some((name.to_owned(), text(it?)))).collect())
    }

    /// Returns the tracked files below the folder, sorted.
    pub fn tracked(&self) -> Result<Vec<String>, CommandError> {
        let said = self.run(&["ls-files", "-z"])?;
        Ok(said.split('\0').filter(|it| !it.is_empty()).map(str::to_owned).collect())
    }

    /// Returns the subjects of the commits, newest last.
    pub fn log(&self) -> Vec<String> {
        let log = self.run(&["log", "--reverse", "--format=%s"]).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Runs a command that changes the repository, and journals it.
    pub fn step(
        &self,
        journal: &Journal,
        arguments: &[&str],
        input: &str,
    ) -> Result<String, CommandError> {
        let result = self.run_with(arguments, input);
        let outcome = result.as_ref().map_or_else(|e| e.cause.to_string(), |_| "done".to_owned());
        let shown = arguments.iter().map(ToString::to_string).collect();
        journal
            .log(Event::Git { arguments: shown, outcome })
            .map_err(|e| failed(&["journal"], CommandCause::Io(e)))?;
        result
    }

    pub fn run(&self, arguments: &[&str]) -> Result<String, CommandError> {
        self.run_with(arguments, "")
    }

    pub fn run_with(&self, arguments: &[&str], input: &str) -> Result<String, CommandError> {
        Ok(String::from_utf8_lossy(&self.bytes(arguments, input.as_bytes())?).into_owned())
    }

    /// Runs a command and returns its output. Neither that nor the arguments need be text.
    pub(crate) fn bytes(
        &self,
        arguments: &[impl AsRef<OsStr>],
        input: &[u8],
    ) -> Result<Vec<u8>, CommandError> {
        let output = self.output(arguments, input)?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(failed(arguments, cause(&output))),
        }
    }

    /// Returns the trimmed output of a command that looks something up; `None` if git says that
    /// there is no such thing.
    pub fn lookup(&self, arguments: &[&str]) -> Result<Option<String>, CommandError> {
        match self.run(arguments) {
            Ok(found) => Ok(Some(found.trim().to_owned())),
            Err(CommandError { cause: CommandCause::Stderr { code: 1, .. }, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the id of the object that a name stands for; `None` for an unknown name.
    pub fn resolve(&self, name: &str) -> Result<Option<String>, CommandError> {
        self.lookup(&["rev-parse", "--verify", "--quiet", name])
    }

    /// Returns whether one commit equals or precedes another; false if one of them is unknown.
    pub fn is_ancestor(&self, one: &str, other: &str) -> Result<bool, CommandError> {
        for name in [one, other] {
            if self.resolve(&format!("{name}^{{commit}}"))?.is_none() {
                return Ok(false);
            }
        }
        Ok(self.answer(&["merge-base", "--is-ancestor", one, other])?.0 == 0)
    }

    /// Returns exit code and standard output, for commands that answer with their exit code.
    /// [`USAGE`] may be an answer: git does not know the command.
    pub fn answer(&self, arguments: &[&str]) -> Result<(i32, String), CommandError> {
        let output = self.output(arguments, b"")?;
        match output.status.code() {
            Some(code) if code < FATAL || code == USAGE => {
                Ok((code, String::from_utf8_lossy(&output.stdout).into_owned()))
            }
            _ => Err(failed(arguments, cause(&output))),
        }
    }

    fn output(
        &self,
        arguments: &[impl AsRef<OsStr>],
        input: &[u8],
    ) -> Result<Output, CommandError> {
        self.look(arguments)?;
        let output = self.start(arguments, input)?;
        let command = name(arguments);
        tracing::debug!(command, status = %output.status, root = %self.root.display(), "git ran");
        Ok(output)
    }

    /// Checks the repository, once, before the first command in it.
    fn look(&self, arguments: &[impl AsRef<OsStr>]) -> Result<(), CommandError> {
        if self.bare.is_some() || self.is_harmless.get().is_some() {
            return Ok(());
        }
        let refused = |why| failed(arguments, CommandCause::Refused(why));
        let Some(place) = repo_config_guard::place(&self.root).map_err(refused)? else {
            return Ok(());
        };
        let settings = self.start(&["config", "--list", "-z", "--show-scope"], b"")?;
        if settings.status.success() {
            place.may_say(&String::from_utf8_lossy(&settings.stdout)).map_err(refused)?;
            let _ = self.is_harmless.set(());
            return Ok(());
        }
        let why = String::from_utf8_lossy(&settings.stderr).trim().to_owned();
        Err(refused(GuardError::UnreadableSettings(why)))
    }

    fn start(&self, arguments: &[impl AsRef<OsStr>], input: &[u8]) -> Result<Output, CommandError> {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.root).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        // GIT_DIR and similar variables would point elsewhere, and git does not need the user's
        // keys.
        command
            .env_clear()
            .envs(trellis_os::environment::offline_environment())
            .env("LC_ALL", "C")
            .envs(repo_config_guard::ALONE);
        command.env(stale_locks::OWNER, &*stale_locks::SELF);
        command.envs(self.index.iter().map(|it| ("GIT_INDEX_FILE", it)));
        command.envs(self.bare.iter().map(|it| ("GIT_DIR", it)));
        command.args(repo_config_guard::SETTINGS.iter().flat_map(|it| ["-c", it]));
        command.args(self.is_whole.then_some(["-c", "core.sparseCheckout=false"]).iter().flatten());
        command.args(&self.identity).args(arguments);
        if CHANGING.contains(&&*name(arguments)) && self.index.is_none() {
            fault_point::reach().map_err(|error| failed(arguments, CommandCause::Io(error)))?;
        }
        with_input(&mut command, input).map_err(|error| failed(arguments, CommandCause::Io(error)))
    }
}

/// Commands that change what a later start finds; commands that only add objects are not listed.
const CHANGING: [&str; 14] = [
    "add",
    "apply",
    "branch",
    "checkout-index",
    "commit",
    "init",
    "merge",
    "push",
    "read-tree",
    "reset",
    "tag",
    "update-index",
    "update-ref",
    "worktree",
];

/// Exit code of git from which on it could not work.
const FATAL: i32 = 128;
/// Exit code of git for an unknown command or option.
pub(crate) const USAGE: i32 = 129;

/// Returns why git ended without success.
fn cause(output: &Output) -> CommandCause {
    let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    match output.status.code() {
        Some(code) if words.is_empty() => {
            CommandCause::Stderr { code, words: format!("exit code {code}") }
        }
        Some(code) => CommandCause::Stderr { code, words },
        None => CommandCause::Ended(output.status),
    }
}

fn failed(arguments: &[impl AsRef<OsStr>], cause: CommandCause) -> CommandError {
    CommandError { step: name(arguments), cause }
}

/// Returns the name of a command, given with its arguments.
fn name(arguments: &[impl AsRef<OsStr>]) -> String {
    let name = arguments.first().map(|it| it.as_ref().to_string_lossy().into_owned());
    name.unwrap_or_default()
}

fn with_input(command: &mut Command, input: &[u8]) -> std::io::Result<Output> {
    let mut child = command.spawn()?;
    let stdin = child.stdin.take().filter(|_| !input.is_empty());
    // A process that answers each line would wait for its answers to be read.
    std::thread::scope(|scope| {
        let written = scope.spawn(|| stdin.map_or(Ok(()), |mut it| it.write_all(input)));
        let output = child.wait_with_output();
        match written.join() {
            // The process ended without reading its input; its status has the reason.
            Ok(Err(error)) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error),
            _ => output,
        }
    })
}

/// Returns the paths of a list that git has separated with zeros.
pub(crate) fn paths_of(said: &[u8]) -> impl Iterator<Item = PathBuf> {
    let names = said.split(|byte| *byte == 0).filter(|it| !it.is_empty());
    names.map(|it| PathBuf::from(OsStr::from_bytes(it)))
}

/// Returns the contents of blobs as `git cat-file --batch` says them: `<object> blob <size>`, the
/// bytes and a line end; or a line that says what is missing. Of another object there is nothing.
pub fn blobs_of(mut said: &[u8]) -> Vec<Option<&[u8]>> {
    let mut found = Vec::new();
    while let Some(end) = said.iter().position(|byte| *byte == b'\n') {
        let head = String::from_utf8_lossy(&said[..end]);
        said = &said[end + 1..];
        let mut words = head.rsplit(' ');
        let size = words.next().and_then(|it| it.parse::<usize>().ok());
        let size = size.filter(|it| *it < said.len());
        found.push(size.filter(|_| words.next() == Some("blob")).map(|size| &said[..size]));
        said = &said[size.map_or(0, |size| size + 1)..];
    }
    found
}

/// Finds an executable on PATH. Relative folders in PATH are skipped, since they may belong to a
/// project.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders = std::env::split_paths(&path).filter(|it| it.is_absolute());
    folders.map(|folder| folder.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests;
