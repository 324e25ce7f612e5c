//! The age of lines, from git, if the folder is in a repository.
//!
//! This code reads only stored blobs (`git cat-file`). Commands that compare or blame working files
//! would run filters and drivers that the project's own configuration names.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use trellis_engine::localize::Evidence;
use trellis_python::{Index, changed_lines};

use trellis_git::{git, repo_config_guard};

/// Maximum number of files to look at.
const FILES: usize = 40;
/// Suspicion of lines that the last commit changed; that of uncommitted lines is 1.
const LAST_COMMIT: f64 = 0.6;
/// A change of more than this share of a file says nothing about its lines.
const MOST_OF_A_FILE: f64 = 0.5;
/// Time limit for git, for all files together.
const PATIENCE: Duration = Duration::from_secs(5);

/// Adds the recency of changes to the files that failing tests executed. Returns notes on what
/// could not be found out. Without a repository or a commit, there is no recency.
pub(super) async fn add(folder: &Path, index: &Index, evidence: &mut Evidence) -> Vec<String> {
    let executed = evidence.tests.iter().filter(|it| it.failed).flat_map(|it| it.lines.keys());
    let mut files: Vec<usize> = executed.copied().collect();
    files.sort_unstable();
    files.dedup();
    files.retain(|file| !evidence.files[*file].path.contains('\n'));
    let mut notes = Vec::new();
    if files.len() > FILES {
        notes.push(format!("the git history covers {FILES} of {} files", files.len()));
        files.truncate(FILES);
    }
    let ask = |revision: &str| -> String {
        files.iter().map(|it| format!("{revision}:./{}\n", evidence.files[*it].path)).collect()
    };
    let questions = ask("HEAD") + &ask("HEAD~1");
    let Some(answer) = blobs(folder, &questions).await else { return notes };
    let blobs = git::blobs_of(&answer).into_iter();
    let mut texts: Vec<Option<&str>> = blobs.map(|it| str::from_utf8(it?).ok()).collect();
    texts.resize(files.len() * 2, None);
    let (last, before) = texts.split_at(files.len());
    for ((number, last), before) in files.iter().zip(last).zip(before) {
        let file = &mut evidence.files[*number];
        let present = index.file(&file.path).and_then(|id| index.text(id));
        let (Some(present), Some(last)) = (present, last) else { continue };
        let most = present.lines().count() as f64 * MOST_OF_A_FILE;
        let mut mark = |old: &str, recency: f64| {
            let lines = changed_lines(old, &present);
            if lines.len() as f64 <= most {
                for line in lines {
                    file.changed.entry(line).or_insert(recency);
                }
            }
        };
        mark(last, 1.0);
        before.iter().for_each(|before| mark(before, LAST_COMMIT));
    }
    notes
}

/// Returns git's output for these object names. `None` if git fails, takes too long or is not
/// installed.
async fn blobs(folder: &Path, questions: &str) -> Option<Vec<u8>> {
    let mut child = Command::new(git::find("git")?)
        .env_clear()
        .envs(trellis_os::environment::offline_environment())
        .args(repo_config_guard::SETTINGS.iter().flat_map(|it| ["-c", it]))
        .args(["--no-pager", "cat-file", "--batch"])
        .current_dir(folder)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .envs(repo_config_guard::ALONE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    let questions = questions.to_owned();
    // Writes and reads at the same time, since both pipes may fill up.
    let writing = async move {
        let _ = stdin.write_all(questions.as_bytes()).await;
    };
    let both = async { tokio::join!(writing, child.wait_with_output()).1 };
    let output = tokio::time::timeout(PATIENCE, both).await.ok()?.ok()?;
    output.status.success().then_some(output.stdout)
}
