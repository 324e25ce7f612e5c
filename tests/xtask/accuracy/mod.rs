//! `cargo xtask bench accuracy`: references and renames of hand-marked cases, for any language
//! server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::Args;
use lsp::{Encoding, Place};

use crate::{Outcome, setup};

pub(crate) mod ask;
mod cases;
pub(crate) mod edits;
pub(crate) mod trial;

use ask::{Asker, Verdict};
use cases::{Case, Wanted};

#[derive(Args)]
pub(crate) struct AccuracyArgs {
    /// A server's command line, split at blanks; several times for several servers. A debug build of `trellis lsp`
    /// if there is none.
    #[arg(long, value_name = "COMMAND")]
    server: Vec<String>,
    /// Projects are the folders beside this file.
    #[arg(long, value_name = "FILE", default_value = "fixtures/python/cases.json")]
    cases: PathBuf,
    /// Only cases whose id holds this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Units of columns.
    #[arg(long, default_value = "utf-16", value_parser = ["utf-8", "utf-16", "utf-32"])]
    encoding: String,
    /// For how long the first answer has to stay the same before the questions begin, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    settle: u64,
    /// Do not try out with each project's check.py whether a rename that is not exact breaks the project.
    #[arg(long)]
    no_trial: bool,
    /// Sums only.
    #[arg(long)]
    brief: bool,
    /// End with an error if any answer is not exact.
    #[arg(long)]
    strict: bool,
}

/// Counts of right answers and of queries, by kind of query.
type Sums = BTreeMap<String, (usize, usize)>;

pub(crate) fn run(args: &AccuracyArgs) -> Outcome {
    let file = setup::root().join(&args.cases);
    let mut cases = cases::read(&file)?;
    cases.retain(|it| it.id.contains(&args.only));
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut servers = args.server.clone();
    if servers.is_empty() {
        servers.push(format!("{} lsp", setup::trellis()?.display()));
    }
    let mut perfect = true;
    for server in &servers {
        println!("{server}");
        let sums = score(args, server, folder, &cases)?;
        for (sort, (right, all)) in &sums {
            println!("  {sort}: {right} of {all}");
        }
        perfect &= sums.values().all(|(right, all)| right == all);
    }
    let missed = "not every answer is exact; the lines above say which";
    if perfect || !args.strict { Ok(()) } else { Err(missed.to_owned()) }
}

/// Runs all queries, project by project.
fn score(args: &AccuracyArgs, server: &str, folder: &Path, cases: &[Case]) -> Result<Sums, String> {
    let mut sums = Sums::new();
    let projects: BTreeSet<&str> = cases.iter().map(|it| it.project.as_str()).collect();
    for project in projects {
        let cases: Vec<&Case> = cases.iter().filter(|it| it.project == project).collect();
        for sort in cases.iter().flat_map(|it| questions(it, !args.no_trial)) {
            sums.entry(sort).or_default().1 += 1;
        }
        // Files that a server writes beside the sources go into a copy; renames are tried in a
        // second one.
        let copies = [copy(&folder.join(project))?, copy(&folder.join(project))?];
        let roots = [copies[0].path().join(project), copies[1].path().join(project)];
        if let Err(failure) = ask(args, server, &roots, &cases, &mut sums) {
            println!("  {project}: no more answers: {failure}");
        }
    }
    Ok(sums)
}

/// Returns a temporary folder with a copy of a project.
fn copy(project: &Path) -> Result<tempfile::TempDir, String> {
    let folder = setup::temporary_folder()?;
    setup::run(Command::new("cp").arg("-R").arg(project).arg(folder.path()))?;
    Ok(folder)
}

/// Returns the kinds of queries of a case, with or without the trial.
fn questions(case: &Case, trial: bool) -> impl Iterator<Item = String> {
    let references = case.references.is_some().then(|| REFERENCES.to_owned());
    let rename = case.rename.as_ref().map(|it| sort(&it.wanted));
    let trial = (trial && case.rename.is_some()).then(|| WHOLE.to_owned());
    references.into_iter().chain(rename).chain(trial)
}

const REFERENCES: &str = "references exact";
const WHOLE: &str = "renames that leave the project whole";

fn sort(wanted: &Wanted) -> String {
    match wanted {
        Wanted::Edits { .. } => "renames exact".to_owned(),
        Wanted::Refusal(reason) => format!("renames refused: {reason}"),
    }
}

/// Runs the queries of a project; `roots` are the workspace and the copy for trying renames.
fn ask(
    args: &AccuracyArgs,
    server: &str,
    roots: &[PathBuf; 2],
    cases: &[&Case],
    sums: &mut Sums,
) -> Result<(), lsp::Failure> {
    let mut words = server.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).env_remove("VIRTUAL_ENV").env_remove("PYTHONPATH");
    let encoding = Encoding::named(Some(&args.encoding)).unwrap_or(Encoding::Utf16);
    let settle = Duration::from_millis(args.settle);
    let mut asker = Asker::start(command, &roots[0], encoding, &cases[0].at, settle)?;
    let mut count = |sort: String, case: &Case, verdict: &Verdict| {
        if matches!(verdict, Verdict::Right) {
            sums.entry(sort).or_default().0 += 1;
        } else if !args.brief {
            show(&sort, case, verdict);
        }
    };
    for case in cases {
        if let Some(wanted) = &case.references {
            let verdict = asker.refer(case, wanted)?;
            count(REFERENCES.to_owned(), case, &verdict);
        }
        if let Some(rename) = &case.rename {
            let verdict = asker.rename(case, rename)?;
            count(sort(&rename.wanted), case, &verdict);
            if !args.no_trial {
                let verdict = tried(&roots[1], verdict)?;
                count(WHOLE.to_owned(), case, &verdict);
            }
        }
    }
    asker.end()
}

/// Returns the verdict on an inexact rename after its trial.
fn tried(root: &Path, verdict: Verdict) -> Result<Verdict, lsp::Failure> {
    let Verdict::Wrong { texts, .. } = &verdict else { return Ok(verdict) };
    if texts.is_empty() {
        return Ok(Verdict::Right);
    }
    let failed = |error| lsp::Failure::File { file: root.to_owned(), error };
    let broken = trial::breaks(root, texts).map_err(failed)?;
    Ok(if broken == Some(true) { verdict } else { Verdict::Right })
}

fn show(sort: &str, case: &Case, verdict: &Verdict) {
    let Verdict::Wrong { missing, surplus, why, .. } = verdict else { return };
    println!("  {}: not {sort}: {why} ({})", case.id, case.covers);
    for (word, places) in [("missing", missing), ("surplus", surplus)] {
        if !places.is_empty() {
            let shown: Vec<String> = places.iter().map(place).collect();
            println!("    {word}: {}", shown.join(" "));
        }
    }
}

fn place(place: &Place) -> String {
    format!("{}:{}:{}", place.file.display(), place.line + 1, place.column + 1)
}
