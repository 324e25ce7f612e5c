//! `generate` and `retryNode`: runs over a planning graph.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use trellis_engine::approval::Mode;
use trellis_llm::Editor;

use super::run_limits::{mode, test_seconds};
use trellis_store::journal::Journal;
use trellis_workflows::fault::Fault;
use trellis_workflows::generate::GenerateRequest;
use trellis_workflows::models::ModelArgs;
use trellis_workflows::sandbox::SandboxArgs;

/// Generate a tested repository from a planning graph.
///
/// The same command resumes an earlier run in the same folder.
#[derive(Args, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GenerateArgs {
    /// Planning graph, a JSON file. The dialect is detected.
    pub graph: PathBuf,
    /// Folder of the generated repository.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    #[serde(flatten)]
    pub model: ModelArgs,
    /// Generate this many nodes in parallel. The result is the same for any number.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    #[serde(default = "defaults::one_job")]
    pub jobs: u16,
    /// Write to disk after this many nodes.
    #[arg(long, value_name = "N", hide = true, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    #[serde(default = "defaults::batch")]
    pub batch: u16,
    /// Start at this node. Nodes before it that have not passed are skipped.
    #[arg(long, value_name = "ID")]
    #[serde(default)]
    pub start_from_node: Option<String>,
    /// Files that are part of every prompt as project context.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    #[serde(default)]
    pub context: Vec<PathBuf>,
    /// Specification in prose: project name and description if the graph has none.
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub spec: Option<PathBuf>,
    /// Read the graph as rpg, zerorepo, codermind or rpg-encoder.
    #[arg(long)]
    #[serde(default, with = "dialect")]
    #[schemars(with = "Option<String>")]
    pub dialect: Option<trellis_plan::Dialect>,
    /// How the model works on a fix: in one reply, or with tools that search and edit.
    #[arg(long, value_enum, default_value_t = FixWith::Reply, value_name = "MODE", help_heading = "Model")]
    #[serde(default)]
    pub fix_with: FixWith,
    /// Ask for this many opinions on each failure; the majority decides. Default: one, and more while it is unsure.
    #[arg(long, help_heading = "Model", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=15))]
    #[serde(default)]
    pub votes: Option<u32>,
    /// Which fixes need your approval: none (autonomous), all (supervised), or doubtful ones (threshold).
    #[arg(long, value_name = "MODE", default_value = "autonomous", value_parser = mode())]
    #[serde(default = "defaults::autonomous")]
    #[schemars(with = "Option<String>")]
    pub approve: Mode,
    #[command(flatten)]
    #[serde(flatten)]
    pub sandbox: SandboxArgs,
    /// Time limit for one test, in seconds.
    #[arg(long, help_heading = "Sandbox", value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(default = "test_seconds")]
    pub test_timeout: u64,
    /// Continue from files that you edited, instead of stopping.
    #[arg(long)]
    #[serde(default)]
    pub keep_edits: bool,
    /// Remove the code of nodes that are no longer in the graph, instead of stopping.
    #[arg(long)]
    #[serde(default)]
    pub drop_removed: bool,
}

/// How a fix is given.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FixWith {
    #[default]
    /// One reply.
    Reply,
    /// Tools that read, search and edit.
    Tools,
}

impl FixWith {
    pub fn is_tools(self) -> bool {
        matches!(self, FixWith::Tools)
    }

    pub fn tools() -> FixWith {
        FixWith::Tools
    }
}

impl From<FixWith> for trellis_engine::FixWith {
    fn from(it: FixWith) -> trellis_engine::FixWith {
        match it {
            FixWith::Reply => trellis_engine::FixWith::OneReply,
            FixWith::Tools => trellis_engine::FixWith::Tools,
        }
    }
}

mod defaults {
    pub(super) fn autonomous() -> trellis_engine::approval::Mode {
        trellis_engine::approval::Mode::Autonomous
    }
    pub(super) fn one_job() -> u16 {
        1
    }
    pub(super) fn batch() -> u16 {
        5
    }
}

/// Serialization of dialects by name.
mod dialect {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(
        dialect: &Option<trellis_plan::Dialect>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        dialect.map(trellis_plan::Dialect::name).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<trellis_plan::Dialect>, D::Error> {
        let name = Option::<String>::deserialize(from)?;
        name.map(|it| it.parse().map_err(D::Error::custom)).transpose()
    }
}

/// Starts generating a repository from a planning graph as a job, or resumes it. Without `graph`, the earlier run in
/// `out` resumes with its own options; options given here win.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Generate {
    /// The planning graph, RPG JSON; required for a first run.
    #[serde(default)]
    pub graph: Option<PathBuf>,
    /// Folder of the generated repository.
    pub out: PathBuf,
    #[serde(flatten)]
    #[schemars(with = "GenerateOptions")]
    pub options: serde_json::Map<String, Value>,
}

/// Retries one node that failed or was skipped, and the nodes that depend on it, as a job; everything else stays.
/// Options as for `generate`; the graph is that of the earlier run unless you give another.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetryNode {
    /// Id of the node.
    pub node: String,
    #[serde(flatten)]
    pub run: Generate,
}

/// What `generate` takes beside graph and folder.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "the shape alone is of use, for the description of the methods")]
struct GenerateOptions {
    /// Nodes worked on at once, 1 to 256; the result is the same for any number. Default 1.
    jobs: Option<u16>,
    /// Nodes per write to the disk, from 1. Default 5.
    batch: Option<u16>,
    /// Start at this node. Nodes before it that have not passed are skipped.
    start_from_node: Option<String>,
    /// Files that are part of every prompt as project context.
    context: Option<Vec<PathBuf>>,
    /// Specification in prose.
    spec: Option<PathBuf>,
    /// rpg, zerorepo, codermind or rpg-encoder; found out if not given.
    dialect: Option<String>,
    /// How the model gives a fix.
    fix_with: Option<FixWith>,
    /// Votes on the cause of a failure, 1 to 15; if left out, one, and more while the cause is unclear.
    votes: Option<u32>,
    /// Which fixes need your approval: `autonomous` (none), `supervised` (all) or `threshold` (those
    /// after the second, of little confidence, or of critical files). Default `autonomous`.
    approve: Option<String>,
    /// Seconds one test may take, from 1. Default 30.
    test_timeout: Option<u64>,
    /// Continue from files that you edited, instead of stopping.
    keep_edits: Option<bool>,
    /// Remove the code of nodes that are no longer in the graph, instead of stopping.
    drop_removed: Option<bool>,
    #[schemars(flatten)]
    model: ModelArgs,
    #[schemars(flatten)]
    sandbox: SandboxArgs,
}

/// A job was started; `trellis/event` reports its progress, `trellis/job` its result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Started {
    /// Its id.
    pub job: String,
}

impl Generate {
    /// Returns the options of the run: the given ones over those of the last start. Paths are below
    /// `root` unless absolute.
    pub fn resolve(&self, root: &Path) -> Result<GenerateArgs, Fault> {
        let out = root.join(&self.out);
        let before = earlier(&out)?;
        let mut all = before.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
        // The journal may come from a stranger.
        all.remove("allow");
        all.extend(self.options.clone());
        all.insert("out".to_owned(), path(&out));
        if let Some(graph) = &self.graph {
            all.insert("graph".to_owned(), path(&root.join(graph)));
        }
        if !all.contains_key("graph") {
            return Err(Fault::input(format!("no run was started in {} before", out.display()))
                .hint("give the planning graph as `graph`"));
        }
        let mut args: GenerateArgs =
            serde_json::from_value(Value::Object(all)).map_err(|error| {
                Fault::new(
                    trellis_workflows::fault::Exit::Usage,
                    format!("the options are wrong: {error}"),
                )
                .hint("`trellis serve --describe` shows them")
            })?;
        args.check()?;
        args.context.iter_mut().chain(&mut args.spec).for_each(|it| *it = root.join(&*it));
        args.model = args.model.resolve_recordings(root);
        Ok(args)
    }
}

/// Returns the options of the last run in a folder.
fn earlier(out: &Path) -> Result<Option<Value>, Fault> {
    let path = Journal::path(out);
    let text = match trellis_os::files::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(Fault::input(trellis_os::wording::cannot_read(path.display(), &error))
                .hint("make the file readable; the run depends on it"));
        }
    };
    Ok(trellis_store::replay::ReplayedState::read(&trellis_store::journal::text_of(&text)).options)
}

fn path(path: &Path) -> Value {
    Value::String(path.to_string_lossy().into_owned())
}

impl GenerateArgs {
    /// Checks the limits that the argument parser checks on a command line.
    fn check(&self) -> Result<(), Fault> {
        let wrong = |what: &str| Err(Fault::new(trellis_workflows::fault::Exit::Usage, what));
        match self {
            it if it.jobs == 0 || it.jobs > 256 => wrong("`jobs` must be 1 to 256"),
            it if it.batch == 0 => wrong("`batch` must be at least 1"),
            it if it.votes.is_some_and(|it| !(1..=15).contains(&it)) => {
                wrong("`votes` must be 1 to 15")
            }
            it if it.test_timeout == 0 => wrong("`testTimeout` must be at least 1"),
            _ => Ok(()),
        }
    }

    /// Returns the request for the engine; with `editor`, its models may reply.
    pub fn order(self, editor: Option<Arc<dyn Editor>>) -> Result<GenerateRequest, Fault> {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let kept = GenerateArgs { graph: absolute(&self.graph), ..self.clone() };
        let mut options = serde_json::to_value(kept)
            .map_err(|error| Fault::internal(format!("the options are not valid JSON: {error}")))?;
        // The folder of the run determines `out`.
        if let Some(options) = options.as_object_mut() {
            options.remove("out");
        }
        let model = match editor {
            Some(editor) => self.model.with_editor(editor),
            None => self.model,
        };
        Ok(GenerateRequest {
            graph: self.graph,
            out: self.out,
            dialect: self.dialect,
            model,
            sandbox: self.sandbox,
            jobs: usize::from(self.jobs),
            batch: usize::from(self.batch),
            start_from: self.start_from_node,
            only: None,
            context: self.context,
            spec: self.spec,
            keep_edits: self.keep_edits,
            drop_removed: self.drop_removed,
            fix_with: self.fix_with.into(),
            votes: self.votes,
            approve: self.approve,
            test_timeout: Duration::from_secs(self.test_timeout),
            options,
        })
    }
}
