//! Pushes commits with git, from a temporary repository that borrows the project's objects. The
//! project's `.git/config` has no effect (programs to start, helpers that would see passwords,
//! other addresses); the user's own settings apply.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use super::address::Address;
use crate::error::GitError;
use crate::git::{self, Git};
use trellis_store::{disk, scratch};

/// Timeout of one exchange with a remote.
const PATIENCE: Duration = Duration::from_secs(5 * 60);

/// Environment variables that lead git to the user's own keys.
const OWN: [&str; 12] = [
    "DBUS_SESSION_BUS_ADDRESS",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_SSH",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GNUPGHOME",
    "KRB5CCNAME",
    "PASSWORD_STORE_DIR",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
];

/// Name of the remote in the temporary repository.
const REMOTE: &str = "trellis";

/// Maximum characters of a reported reason.
const LONGEST: usize = 400;

/// Reason why a push failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PushError {
    Cancelled,
    /// The remote took too long, and is not tried again.
    Silent(Duration),
    /// The remote has commits that are missing here, in the remote's words.
    Behind(String),
    /// git or the remote refused, with this text.
    Refused(String),
}

/// Classifies a refusal by the words that git has for a branch that is behind.
fn refusal(reason: String) -> PushError {
    match ["fetch first", "non-fast-forward"].iter().any(|it| reason.contains(it)) {
        true => PushError::Behind(reason),
        false => PushError::Refused(reason),
    }
}

/// Runs git against one remote.
pub(super) struct Pusher {
    program: PathBuf,
    folder: TempDir,
    /// User name and password of the address, which git may repeat in its output.
    secret: Option<String>,
    ssh: Option<OsString>,
    patience: Duration,
    pub(super) cancel: CancellationToken,
}

impl Pusher {
    /// Creates the temporary repository, without contacting the remote.
    ///
    /// # Errors
    ///
    /// No git, or a failed write.
    pub(super) fn open(
        project: &Git,
        home: &Path,
        address: &Address,
        cancel: &CancellationToken,
    ) -> Result<Pusher, GitError> {
        let program = git::find("git").ok_or(GitError::NotInstalled)?;
        let folder = disk::create(home, "tmp").and_then(|it| scratch::beside(&it));
        let folder = folder.map_err(GitError::io("create a folder for the push"))?;
        borrow(project, folder.path(), address)?;
        let own = project.bare(folder.path());
        let ssh = ssh(&own);
        let (secret, cancel) = (address.secret.clone(), cancel.clone());
        Ok(Pusher { program, folder, secret, ssh, patience: PATIENCE, cancel })
    }

    /// Returns the commits of branches of the remote; missing branches are left out.
    pub(super) async fn tips(
        &self,
        branches: &[&str],
    ) -> Result<BTreeMap<String, String>, PushError> {
        let refs: Vec<String> = branches.iter().map(|it| format!("refs/heads/{it}")).collect();
        let mut arguments = vec!["ls-remote", "--refs", REMOTE];
        arguments.extend(refs.iter().map(String::as_str));
        let output = self.talk(&arguments).await?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines = said.lines().filter_map(|it| it.split_once('\t'));
        // A pattern also matches the end of longer names.
        let wanted = lines.filter(|(_, name)| refs.iter().any(|it| it == name));
        let named = wanted.filter_map(|(id, name)| {
            Some((name.strip_prefix("refs/heads/")?.to_owned(), id.to_owned()))
        });
        Ok(named.collect())
    }

    /// Moves a branch of the remote to a commit, fast-forward only; removes the branch if there is
    /// no commit. With `seen` the branch may move anywhere, as long as the remote has it at that
    /// commit; an empty `seen` means that the remote must not have the branch.
    pub(super) async fn push(
        &self,
        branch: &str,
        commit: Option<&str>,
        seen: Option<&str>,
    ) -> Result<(), PushError> {
        let lease = seen.map(|it| format!("--force-with-lease=refs/heads/{branch}:{it}"));
        let what = format!("{}:refs/heads/{branch}", commit.unwrap_or_default());
        let mut arguments = vec!["push", "--porcelain", "--no-verify", "--no-follow-tags"];
        arguments.extend(["--no-signed", "--recurse-submodules=no"]);
        arguments.extend(lease.as_deref());
        arguments.extend([REMOTE, &what]);
        self.talk(&arguments).await.map(drop)
    }

    async fn talk(&self, arguments: &[&str]) -> Result<Output, PushError> {
        let child = self.command(arguments).spawn();
        let child =
            child.map_err(|error| PushError::Refused(format!("git cannot start: {error}")))?;
        let group = Group(child.id());
        let ended = tokio::select! {
            () = self.cancel.cancelled() => return Err(PushError::Cancelled),
            () = tokio::time::sleep(self.patience) => return Err(PushError::Silent(self.patience)),
            ended = child.wait_with_output() => ended,
        };
        group.forget();
        match ended {
            Ok(output) if output.status.success() => Ok(output),
            Ok(output) => Err(refusal(self.reason(&output))),
            Err(error) => Err(PushError::Refused(error.to_string())),
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(self.folder.path()).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let own = OWN.iter().filter_map(|it| Some((it, std::env::var_os(it)?)));
        command.env_clear().envs(trellis_os::environment::plain_environment()).envs(own);
        // Nobody is present to type a password.
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_ASKPASS", "").env("SSH_ASKPASS", "");
        command.env("GIT_DIR", self.folder.path()).env("LC_ALL", "C");
        command.envs(self.ssh.iter().map(|it| ("GIT_SSH_COMMAND", it)));
        command.args(["-c", "core.hooksPath=/dev/null"]);
        command.args(["-c", "push.gpgSign=false", "-c", "gc.auto=0"]).args(arguments);
        command
    }

    /// Returns the messages of git and the remote, on one line, without a password.
    fn reason(&self, output: &Output) -> String {
        let (said, complained) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let refused = said.lines().filter_map(|it| it.strip_prefix("!\t")?.split('\t').nth(1));
        let words = complained.lines().filter_map(|it| {
            let it = it.strip_prefix("remote:").or(it.strip_prefix("fatal:")).unwrap_or(it);
            let is_said = it.starts_with("hint:") || it.starts_with("error: failed to push");
            (!is_said).then(|| it.trim())
        });
        let all: Vec<&str> = refused.chain(words).filter(|it| !it.is_empty()).take(5).collect();
        let all = match all[..] {
            [] => format!("git ended with {}", output.status),
            _ => all.join("; "),
        };
        let all = self.secret.iter().fold(all, |text, it| text.replace(it, "[redacted]"));
        all.chars().filter(|it| !it.is_control()).take(LONGEST).collect()
    }
}

/// The process group of a git; killed when dropped, unless `forget` is called first.
struct Group(Option<u32>);

impl Group {
    fn forget(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let Some(id) = self.0.and_then(|it| Pid::from_raw(it.cast_signed())) else { return };
        // The group may have ended meanwhile.
        let _ = kill_process_group(id, Signal::KILL);
    }
}

/// Sets up a bare repository with the project's objects and one remote.
fn borrow(project: &Git, folder: &Path, address: &Address) -> Result<(), GitError> {
    let format = project.run(&["rev-parse", "--show-object-format"])?;
    let format = format!("--object-format={}", format.trim());
    let own = project.bare(folder);
    let init = ["init", "--quiet", "--bare", "--template=", "--initial-branch=main", &format];
    own.run(&init)?;
    let place = |name: &str| {
        let place = ["rev-parse", "--path-format=absolute", "--git-path", name];
        project.run(&place).map(|it| PathBuf::from(it.trim_end_matches('\n')))
    };
    let (objects, shallow) = (place("objects")?, place("shallow")?);
    let write = || {
        fs::create_dir_all(folder.join("objects/info"))?;
        fs::write(folder.join("objects/info/alternates"), format!("{}\n", objects.display()))?;
        if shallow.exists() {
            fs::copy(&shallow, folder.join("shallow"))?;
        }
        let url = address.url.replace('\\', "\\\\").replace('"', "\\\"");
        let mut config = OpenOptions::new().append(true).open(folder.join("config"))?;
        // The address goes into a file, since a password in it would be visible among a process's
        // arguments.
        config.write_all(format!("[remote \"{REMOTE}\"]\n\turl = \"{url}\"\n").as_bytes())
    };
    write().map_err(GitError::io("write git's settings for the push"))
}

/// Returns the user's ssh command in batch mode; `None` if the user has set `GIT_SSH` to another
/// program.
fn ssh(own: &Git) -> Option<OsString> {
    let set = std::env::var_os("GIT_SSH_COMMAND").filter(|it| !it.is_empty());
    if set.is_none() && std::env::var_os("GIT_SSH").is_some() {
        return None;
    }
    let configured = || {
        let said = own.run(&["config", "--get", "core.sshCommand"]).ok()?;
        Some(OsString::from(said.trim_end())).filter(|it| !it.is_empty())
    };
    let mut command = set.or_else(configured).unwrap_or_else(|| "ssh".into());
    command.push(" -oBatchMode=yes");
    Some(command)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use trellis_store::journal::Journal;
    use trellis_store::origin::{Origin, Workflow};

    /// Returns a repository with a commit, and a pusher from it to an address.
    fn carrier(home: &Path, url: &str, cancel: &CancellationToken) -> (Git, Pusher) {
        fs::create_dir_all(home.join(".trellis")).expect("a folder");
        let journal = Journal::join(home, Origin::create(Workflow::Implement)).expect("a journal");
        let git = Git::open(home, &journal).expect("git works").expect("git is there");
        fs::write(home.join("a.txt"), "a\n").expect("a file");
        git.commit(&journal, &["a.txt".to_owned()], "a", false).expect("a commit");
        let address = Address::parse(url, home).expect("an address");
        let carrier = Pusher::open(&git, home, &address, cancel).expect("a carrier");
        (git, carrier)
    }

    #[tokio::test]
    async fn a_remote_that_says_nothing_is_left_and_so_is_one_nobody_waits_for() {
        let world = tempfile::tempdir().expect("a folder");
        let cancel = CancellationToken::new();
        let (_, mut carrier) = carrier(world.path(), "ssh://git.example/o/r", &cancel);
        carrier.ssh = Some("sleep 300; true".into());
        carrier.patience = Duration::from_millis(100);
        let began = Instant::now();
        let stopped = carrier.tips(&["main"]).await.expect_err("silence");
        assert_eq!(stopped, PushError::Silent(carrier.patience));
        carrier.patience = PATIENCE;
        cancel.cancel();
        assert_eq!(carrier.tips(&["main"]).await, Err(PushError::Cancelled));
        assert!(began.elapsed() < Duration::from_secs(60));
    }

    #[tokio::test]
    async fn what_the_project_says_of_remotes_takes_no_part() {
        let world = tempfile::tempdir().expect("a folder");
        let (home, remote) = (world.path().join("p"), world.path().join("remote.git"));
        fs::create_dir_all(&home).expect("a folder");
        let shown = remote.display().to_string();
        let (git, carrier) = carrier(&home, &shown, &CancellationToken::new());
        git.run(&["init", "--quiet", "--bare", &shown]).expect("a remote");
        let config = format!(
            "[url \"/nowhere\"]\n\tpushInsteadOf = {shown}\n\tinsteadOf = {shown}\n[remote \"{REMOTE}\"]\n\treceivepack = false\n"
        );
        let path = home.join(".git/config");
        let own = fs::read_to_string(&path).expect("a config");
        fs::write(&path, own + &config).expect("a config");
        let tip = git.run(&["rev-parse", "HEAD"]).expect("a commit").trim().to_owned();
        carrier.push("main", Some(&tip), None).await.expect("it arrives");
        assert_eq!(
            carrier.tips(&["main", "x"]).await,
            Ok(BTreeMap::from([("main".to_owned(), tip)]))
        );
    }

    #[test]
    fn reasons_are_short_and_hold_no_password() {
        use std::os::unix::process::ExitStatusExt as _;
        let world = tempfile::tempdir().expect("a folder");
        let cancel = CancellationToken::new();
        let (_, carrier) = carrier(world.path(), "https://me:hunter2@git.example/o/r", &cancel);
        let output = |stdout: &str, stderr: &str| Output {
            status: std::process::ExitStatus::from_raw(256),
            stdout: stdout.into(),
            stderr: stderr.into(),
        };
        let refused = output(
            "To x\n!\ta:refs/heads/main\t[rejected] (fetch first)\nDone\n",
            "error: failed to push some refs to 'x'\nhint: Updates were rejected\n",
        );
        assert_eq!(carrier.reason(&refused), "[rejected] (fetch first)");
        let denied =
            output("", "fatal: unable to access 'https://me:hunter2@git.example/o/r/': no\n");
        assert_eq!(
            carrier.reason(&denied),
            "unable to access 'https://[redacted]@git.example/o/r/': no"
        );
        assert_eq!(carrier.reason(&output("", "")), "git ended with exit status: 1");
    }
}
