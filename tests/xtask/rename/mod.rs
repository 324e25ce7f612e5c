//! `cargo xtask bench rename`: renames by Trellis and pyright in real projects, judged by the
//! projects' own tests.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use lsp::Texts;

use crate::accuracy::edits;
use crate::fidelity::projects::Project;
use crate::{Outcome, setup};

mod listed;
mod names;
mod projects;
mod report;
mod servers;
mod suite;

use names::Definition;
use report::{RenameOutcome, Trial};
use servers::{Reply, Server};
use suite::Suite;

#[derive(Args)]
pub(crate) struct RenameArgs {
    /// Projects that lie here, each with an environment in `.venv` that runs its tests; they are copied first. Else
    /// projects of the package index.
    folders: Vec<PathBuf>,
    /// Of the projects of the package index only these.
    #[arg(long, value_delimiter = ',', value_parser = projects::names())]
    projects: Vec<String>,
    /// Definitions to rename in each project.
    #[arg(long, value_name = "N", default_value_t = 50)]
    names: usize,
    /// Leave out so many definitions first.
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: usize,
    /// Another choice of definitions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// This binary instead of a debug build of the working tree.
    #[arg(long, value_name = "FILE")]
    trellis: Option<PathBuf>,
    /// Ask Trellis only.
    #[arg(long)]
    no_peer: bool,
    /// Append each result to a file as well, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(crate) fn run(args: &RenameArgs) -> Outcome {
    let trellis = args.trellis.clone().map_or_else(setup::trellis, Ok)?;
    let trellis = trellis.canonicalize().map_err(|e| format!("{}: {e}", trellis.display()))?;
    let mut servers = vec![Server::trellis(&trellis)];
    if !args.no_peer {
        servers.push(Server::pyright()?);
    }
    let mut trials = Vec::new();
    for project in projects::wanted(args) {
        let tried = project.and_then(|it| project_trials(args, &trellis, &servers, &it));
        tried.map_or_else(|why| println!("{why}"), |it| trials.extend(it));
    }
    if trials.is_empty() {
        return Err("no definition was renamed; the lines above say why".to_owned());
    }
    report::print_table(&trials, &servers.iter().map(|it| it.name).collect::<Vec<_>>());
    Ok(())
}

/// Renames the chosen definitions of a project by each server, and prints the broken suites.
fn project_trials(
    args: &RenameArgs,
    trellis: &Path,
    servers: &[Server],
    project: &Project,
) -> Result<Vec<Trial>, String> {
    let suite = Suite::of(projects::copied(project)?)?;
    let copy = &suite.copied().project;
    let chosen = chosen(args, &copy.folder)?;
    let (names, tests, seconds) = (chosen.len(), suite.size(), suite.took.as_secs_f64());
    println!("{}: {names} names, {tests} tests in {seconds:.1} s", copy.name);
    let failed = |error: lsp::Failure| format!("{}: {error}", copy.name);
    let replies = servers.iter().map(|it| it.replies(copy, &chosen)).collect::<Result<Vec<_>, _>>();
    let replies = replies.map_err(failed)?;
    let trier = Trier { args, trellis, servers, suite: &suite };
    let mut trials = Vec::new();
    for (index, renamed) in chosen.iter().enumerate() {
        let replies: Vec<&Reply> = replies.iter().map(|it| &it[index]).collect();
        trials.extend(trier.try_rename(renamed, &replies)?);
    }
    Ok(trials)
}

/// Returns the definitions of a project that are to be renamed.
fn chosen(args: &RenameArgs, root: &Path) -> Result<Vec<Definition>, String> {
    let count = args.skip.saturating_add(args.names);
    let chosen = names::chosen(names::all(root)?, args.seed, count);
    Ok(chosen.into_iter().skip(args.skip).collect())
}

/// A project's suite with the servers whose renames are tried in it.
struct Trier<'a> {
    args: &'a RenameArgs,
    trellis: &'a Path,
    servers: &'a [Server],
    suite: &'a Suite,
}

impl Trier<'_> {
    /// Tries each server's rename of a definition; equal edits are tried once.
    fn try_rename(&self, renamed: &Definition, replies: &[&Reply]) -> Result<Vec<Trial>, String> {
        let mut trials = Vec::new();
        let mut known: Vec<(&Vec<edits::Edit>, Option<suite::BrokenSuite>)> = Vec::new();
        for (server, reply) in self.servers.iter().zip(replies) {
            let outcome = match reply {
                Err(reason) => RenameOutcome::Refused(reason.clone()),
                Ok(edits) => {
                    let found = known.iter().find(|it| it.0 == edits).map(|it| it.1.clone());
                    let broken = found.map_or_else(|| self.broken(renamed, edits), Ok)?;
                    known.push((edits, broken.clone()));
                    self.outcome(server, renamed, edits, broken)?
                }
            };
            trials.push(self.trial(server, renamed, outcome)?);
        }
        Ok(trials)
    }

    fn broken(
        &self,
        renamed: &Definition,
        edits: &[edits::Edit],
    ) -> Result<Option<suite::BrokenSuite>, String> {
        let root = &self.suite.copied().project.folder;
        self.suite.breaks(&edits::applied_below(root, edits, &mut Texts::default()), renamed)
    }

    fn outcome(
        &self,
        server: &Server,
        renamed: &Definition,
        edits: &[edits::Edit],
        broken: Option<suite::BrokenSuite>,
    ) -> Result<RenameOutcome, String> {
        let Some(broken) = broken else { return Ok(RenameOutcome::Whole) };
        let is_ours = server.name == self.servers[0].name;
        let listed = is_ours
            .then(|| listed::judged(self.trellis, self.suite, renamed, edits, &broken))
            .transpose()?;
        Ok(RenameOutcome::Broken { broken, listed })
    }

    /// Returns the result, printed and written to the file of results.
    fn trial(
        &self,
        server: &Server,
        renamed: &Definition,
        outcome: RenameOutcome,
    ) -> Result<Trial, String> {
        let project = &self.suite.copied().project;
        let (server, renamed) = (server.name, renamed.clone());
        let trial = Trial { project: project.name.clone(), server, renamed, outcome };
        trial.print(&project.folder);
        if let Some(file) = &self.args.json {
            append(file, &trial.json(&project.folder))
                .map_err(|error| format!("{}: {error}", file.display()))?;
        }
        Ok(trial)
    }
}

fn append(file: &Path, value: &serde_json::Value) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut file = fs::OpenOptions::new().create(true).append(true).open(file)?;
    writeln!(file, "{value}")
}
