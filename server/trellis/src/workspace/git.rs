//! git, through its command with explicit arguments: no shell, no hooks, no user's environment.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use crate::error::Fault;
use crate::workspace::journal::{Event, Journal};
use crate::workspace::{crash_point, repo_config_guard, stale_locks};

/// A repository in the output folder, when git is there.
#[derive(Debug)]
pub(crate) struct Git {
    root: PathBuf,
    program: PathBuf,
    identity: Vec<String>,
    /// In place of the repository's own index.
    index: Option<PathBuf>,
    /// A bare repository of ours, which is not looked for.
    bare: Option<PathBuf>,
    /// Set once the repository was looked at ([`guard`]): nothing else is asked of it before.
    is_harmless: OnceLock<()>,
}

/// Why a step of git did not happen.
#[derive(Debug, thiserror::Error)]
#[error("git {step} failed: {why}")]
pub(crate) struct GitError {
    pub(crate) step: String,
    pub(crate) why: String,
    /// Git was not started: the repository is not as it may be.
    pub(crate) is_refused: bool,
}

impl Git {
    /// Finds git and makes the folder a repository if it is none; `Ok(None)` when git is not installed.
    pub(crate) fn open(root: &Path, journal: &Journal) -> Result<Option<Git>, GitError> {
        let Some(program) = find("git") else { return Ok(None) };
        let mut git = Git::new(root, program);
        // One that was killed while it made the repository has left something that is none.
        let own = root.join(".git");
        let is_whole = || git.run(&["rev-parse", "--git-dir"]).is_ok_and(|it| it.trim() == ".git");
        if !own.exists() || (own.is_dir() && !is_whole()) {
            git.step(journal, &["init", "--quiet", "--initial-branch=main"], "")?;
        }
        // A crash of ours may have left locks; a person's git keeps its.
        stale_locks::wait_for_orphaned_git(&git)
            .and_then(|()| stale_locks::own_locks(&git, journal))
            .map_err(|fault| GitError {
                step: "lock".to_owned(),
                why: fault.message,
                is_refused: false,
            })?;
        git.know_identity();
        Ok(Some(git))
    }

    /// The repository that a folder is in, if it is in one that has a commit and git is installed.
    pub(crate) fn around(root: &Path) -> Result<Option<Git>, GitError> {
        let Some(program) = find("git") else { return Ok(None) };
        let mut git = Git::new(root, program);
        match git.run(&["rev-parse", "--verify", "--quiet", "HEAD"]) {
            Err(refused) if refused.is_refused => return Err(refused),
            Err(_) => return Ok(None),
            Ok(_) => git.know_identity(),
        }
        Ok(Some(git))
    }

    fn new(root: &Path, program: PathBuf) -> Git {
        Git {
            root: root.to_owned(),
            program,
            identity: Vec::new(),
            index: None,
            bare: None,
            is_harmless: OnceLock::new(),
        }
    }

    /// A bare repository that we make.
    pub(crate) fn bare(&self, folder: &Path) -> Git {
        Git { bare: Some(folder.to_owned()), ..Git::new(folder, self.program.clone()) }
    }

    /// The same repository, with another index.
    pub(crate) fn with_index(&self, index: &Path) -> Git {
        let identity = self.identity.clone();
        Git {
            index: Some(index.to_owned()),
            identity,
            ..Git::new(&self.root, self.program.clone())
        }
    }

    /// The same repository, asked in another folder of it, or in a worktree.
    pub(crate) fn at(&self, folder: &Path) -> Git {
        Git { identity: self.identity.clone(), ..Git::new(folder, self.program.clone()) }
    }

    /// Where it is asked.
    pub(crate) fn root(&self) -> &Path {
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

    /// Commits exactly these paths, those that are gone as removed. A milestone is committed even when
    /// nothing changed since the one before; else false says that there was nothing to commit.
    pub(crate) fn commit(
        &self,
        journal: &Journal,
        paths: &[String],
        message: &str,
        milestone: bool,
    ) -> Result<bool, GitError> {
        let known = self.run(&["ls-files", "-z"])?;
        let known: BTreeSet<&str> = known.split('\0').collect();
        let there = |path: &&String| known.contains(path.as_str()) || self.root.join(path).exists();
        let list: String =
            paths.iter().filter(there).map(|path| format!(":(literal){path}\0")).collect();
        if list.is_empty() {
            return Ok(false);
        }
        let from = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        self.step(journal, &["add", "--all", "--force", from[0], from[1]], &list)?;
        if !milestone && self.run(&["diff", "--cached", "--quiet", "--no-ext-diff"]).is_ok() {
            return Ok(false);
        }
        let commit = [
            "commit",
            "--quiet",
            "--allow-empty",
            "--no-verify",
            "--message",
            message,
            "--only",
            from[0],
            from[1],
        ];
        self.step(journal, &commit, &list)?;
        Ok(true)
    }

    /// Sets a tag, moving it when a resumed run completes the same subgraph again.
    pub(crate) fn tag(&self, journal: &Journal, name: &str) -> Result<(), GitError> {
        self.step(journal, &["tag", "--force", name], "").map(drop)
    }

    /// Files of a commit with their texts.
    pub(crate) fn files_at(&self, commit: &str) -> Result<BTreeMap<String, String>, GitError> {
        let names = self.run(&["ls-tree", "-r", "-z", "--name-only", commit])?;
        let names = names.split('\0').filter(|name| !name.is_empty());
        names
            .map(|name| Ok((name.to_owned(), self.run(&["show", &format!("{commit}:{name}")])?)))
            .collect()
    }

    /// Files below the folder that git knows, sorted.
    pub(crate) fn tracked(&self) -> Result<Vec<String>, GitError> {
        let said = self.run(&["ls-files", "-z"])?;
        Ok(said.split('\0').filter(|it| !it.is_empty()).map(str::to_owned).collect())
    }

    /// Subjects of the commits, newest last.
    pub(crate) fn log(&self) -> Vec<String> {
        let log = self.run(&["log", "--reverse", "--format=%s"]).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// A privileged step: it stands in the journal.
    pub(crate) fn step(
        &self,
        journal: &Journal,
        arguments: &[&str],
        input: &str,
    ) -> Result<String, GitError> {
        let result = self.run_with(arguments, input);
        let outcome = result.as_ref().map_or_else(|e| e.why.clone(), |_| "done".to_owned());
        let shown = arguments.iter().map(ToString::to_string).collect();
        journal
            .log(Event::Git { arguments: shown, outcome })
            .map_err(|e| failed(&["journal"], e.to_string()))?;
        result
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Result<String, GitError> {
        self.run_with(arguments, "")
    }

    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Result<String, GitError> {
        let output = self.output(arguments, input)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(failed(arguments, why))
    }

    /// Exit code and standard output, for commands that answer by the former.
    pub(crate) fn answer(&self, arguments: &[&str]) -> Result<(i32, String), GitError> {
        let output = self.output(arguments, "")?;
        let code = output.status.code();
        let code = code.ok_or_else(|| failed(arguments, output.status.to_string()))?;
        Ok((code, String::from_utf8_lossy(&output.stdout).into_owned()))
    }

    fn output(&self, arguments: &[&str], input: &str) -> Result<Output, GitError> {
        self.look(arguments)?;
        let output = self.start(arguments, input)?;
        let command = arguments.first().copied().unwrap_or_default();
        tracing::debug!(command, status = %output.status, root = %self.root.display(), "git ran");
        Ok(output)
    }

    /// Looks at the repository before anything is asked of it, once there is one.
    fn look(&self, arguments: &[&str]) -> Result<(), GitError> {
        if self.bare.is_some() || self.is_harmless.get().is_some() {
            return Ok(());
        }
        let refused = |why| GitError { is_refused: true, ..failed(arguments, why) };
        let Some(place) = repo_config_guard::place(&self.root).map_err(refused)? else {
            return Ok(());
        };
        let settings = self.start(&["config", "--list", "-z", "--show-scope"], "")?;
        if settings.status.success() {
            place.may_say(&String::from_utf8_lossy(&settings.stdout)).map_err(refused)?;
            let _ = self.is_harmless.set(());
            return Ok(());
        }
        Err(refused(String::from_utf8_lossy(&settings.stderr).trim().to_owned()))
    }

    fn start(&self, arguments: &[&str], input: &str) -> Result<Output, GitError> {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.root).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        // GIT_DIR and its kin would point elsewhere, and keys are nobody's business.
        command
            .env_clear()
            .envs(trellis_sandbox::offline_environment())
            .env("LC_ALL", "C")
            .envs(repo_config_guard::ALONE);
        command.env(stale_locks::OWNER, &*stale_locks::SELF);
        command.envs(self.index.iter().map(|it| ("GIT_INDEX_FILE", it)));
        command.envs(self.bare.iter().map(|it| ("GIT_DIR", it)));
        command.args(repo_config_guard::SETTINGS.iter().flat_map(|it| ["-c", it]));
        command.args(&self.identity).args(arguments);
        if CHANGING.iter().any(|it| arguments.first() == Some(it)) && self.index.is_none() {
            crash_point::reach();
        }
        with_input(&mut command, input).map_err(|error| failed(arguments, error.to_string()))
    }
}

/// Commands after which a later start finds something else; those that only add objects are none of them.
const CHANGING: [&str; 12] = [
    "add",
    "apply",
    "branch",
    "checkout-index",
    "commit",
    "init",
    "push",
    "read-tree",
    "reset",
    "tag",
    "update-ref",
    "worktree",
];

fn failed(arguments: &[&str], why: String) -> GitError {
    let step = arguments.first().copied().unwrap_or_default().to_owned();
    GitError { step, why, is_refused: false }
}

fn with_input(command: &mut Command, input: &str) -> std::io::Result<Output> {
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(input.as_bytes()) {
            // It ended without reading; its status says why.
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => {}
            other => other?,
        }
    }
    child.wait_with_output()
}

/// An executable on PATH. Folders there that count from the current one may be a project's.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders = std::env::split_paths(&path).filter(|it| it.is_absolute());
    folders.map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// git did not do a step: nothing is lost by that.
pub(crate) fn broken(error: GitError) -> Fault {
    if error.is_refused {
        return Fault::input(format!("git was not started: {}", error.why)).kind("untrusted").hint(
            "check the repository's `.git`: git did not write the part named above; nothing \
                 was changed",
        );
    }
    Fault::internal(error.to_string()).hint("fix what git reports, and run again; nothing is lost")
}
