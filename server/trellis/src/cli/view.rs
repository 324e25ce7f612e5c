//! `trellis code view`: code by file or by node, whole or in signatures.

use std::path::{Component, Path, PathBuf};

use clap::{Args, Subcommand};
use code::NamePath;
use plan::{NodeIx, Plan, Status};
use serde_json::{Value, json};

use crate::error::{Exit, Fault};
use crate::look::{Entry, NotSeen, View, code_view};
use crate::output::Output;
use crate::plan_file;
use crate::sources::Workspace;
use crate::statuses::Statuses;

/// How many names of similar nodes or symbols an error offers.
const NEAR: usize = 10;

/// Where a grown repository has its plan.
const PLAN: &str = "docs/rpg.json";

#[derive(Args)]
pub(crate) struct CodeArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    View(ViewArgs),
}

/// Show a file, or what was generated for a node: the source, or signatures with the first line of each docstring.
#[derive(Args)]
struct ViewArgs {
    /// A Python file, or the id of a node.
    what: String,
    /// Only this definition: `name`, `Class/name`, `name[1]` for the second of that name.
    #[arg(long, value_name = "NAME_PATH")]
    symbol: Option<String>,
    /// Signatures only, one line each.
    #[arg(long)]
    signatures: bool,
    /// The planning graph that knows the node [default: docs/rpg.json below the root, if it is there].
    #[arg(long, value_name = "RPG")]
    plan: Option<PathBuf>,
    /// The project's folder.
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
}

/// What is to be looked at.
struct Target {
    /// As it is shown; below the root unless a file outside was named.
    path: String,
    file: PathBuf,
    symbol: Option<NamePath>,
    /// The id of the node and where it stands.
    node: Option<(String, Option<Status>)>,
}

pub(crate) fn run(args: &CodeArgs, output: &mut Output) -> Result<Exit, Fault> {
    let What::View(args) = &args.what;
    let target = target(args)?;
    let view = view(&target, args.symbol.is_some())?;
    if output.is_json() {
        output.json(&shape(&target, view.as_ref(), args.signatures))?;
        return Ok(Exit::Done);
    }
    if let Some((id, Some(status))) = &target.node {
        let mark = if *status == Status::Failed { ": possible root cause" } else { "" };
        output.note(format_args!("{id} [{status}{mark}]"));
    }
    match &view {
        None => output.text(format_args!("{}: not yet generated", shown(&target)))?,
        Some(view) if args.signatures => output.text(lines(&target, view).join("\n"))?,
        Some(view) => output.text(view.source.trim_end_matches('\n'))?,
    }
    for error in view.iter().flat_map(|it| &it.errors) {
        output.note(format_args!("warning: {}: {error}", target.path));
    }
    Ok(Exit::Done)
}

/// A file that is there, else a node, else a file that a node is planned in.
fn target(args: &ViewArgs) -> Result<Target, Fault> {
    let symbol = args.symbol.as_deref().map(NamePath::parse).transpose();
    let symbol = symbol.map_err(|e| Fault::new(Exit::Usage, e))?;
    let inside = args.root.join(&args.what);
    let place = [inside, PathBuf::from(&args.what)].into_iter().find(|it| it.is_file());
    if let Some(file) = place {
        return Ok(Target { path: args.what.clone(), file, symbol, node: None });
    }
    let nothing = || {
        Fault::input(format!("there is neither a file nor a node `{}`", args.what))
            .hint(format!(
                "files are looked for below {root} (--root), node ids in {root}/{PLAN} or the graph given with --plan",
                root = args.root.display()
            ))
    };
    let known = args.root.join(PLAN);
    let rpg = args.plan.clone().or_else(|| known.is_file().then_some(known)).ok_or_else(nothing)?;
    let plan = plan_file::read(&rpg, None)?;
    if let Some(node) = plan.find(&args.what) {
        let status = Statuses::beside(&rpg)?.of(&plan, node);
        return of_node(&plan, node, status, symbol, &args.root);
    }
    let planned = |it: &plan::Node| it.file_path.as_deref() == Some(&*args.what);
    if plan.nodes().iter().any(planned) {
        let file = below(&args.root, &args.what)?;
        return Ok(Target { path: args.what.clone(), file, symbol, node: None });
    }
    let near: Vec<&str> = plan.near(&args.what, NEAR).into_iter().map(|ix| plan.id(ix)).collect();
    let fault = nothing();
    Err(if near.is_empty() {
        fault
    } else {
        fault.hint(format!("did you mean {}?", near.join(", ")))
    })
}

/// The definition of a leaf, or the file of what groups others; `symbol` is looked for in it.
fn of_node(
    plan: &Plan,
    node: NodeIx,
    status: Option<Status>,
    symbol: Option<NamePath>,
    root: &Path,
) -> Result<Target, Fault> {
    let it = plan.node(node);
    let path = it.file_path.as_deref().filter(|path| it.is_leaf() || path.ends_with(".py"));
    let Some(path) = path else {
        let below: Vec<&str> = plan.children(node).iter().map(|&ix| plan.id(ix)).collect();
        let fault = Fault::input(format!("the node `{}` has no file of its own", it.id));
        return Err(match below.is_empty() {
            true => fault.hint("`trellis plan show` lists the nodes with their files"),
            false => fault.hint(format!("look at one of {}", below.join(", "))),
        });
    };
    let own = || {
        let name = format!("/{}", plan.qualified_name(node).replace('.', "/"));
        NamePath::parse(&name).map_err(|e| Fault::input(format!("the node `{}`: {e}", it.id)))
    };
    let symbol = match symbol {
        Some(symbol) => Some(symbol),
        None if it.is_leaf() => Some(own()?),
        None => None,
    };
    let file = below(root, path)?;
    Ok(Target { path: path.to_owned(), file, symbol, node: Some((it.id.to_string(), status)) })
}

/// A planned path in the project's folder, which it may not leave.
fn below(root: &Path, path: &str) -> Result<PathBuf, Fault> {
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if Path::new(path).components().all(inside) {
        return Ok(root.join(path));
    }
    Err(Fault::input(format!("the planned path {path} leaves the project"))
        .hint("`trellis plan check` lists what is wrong with a graph"))
}

/// `None` where there is no file, or not the definition of the node.
fn view(target: &Target, must_be_there: bool) -> Result<Option<View>, Fault> {
    if !target.file.is_file() {
        return Ok(None);
    }
    let mut workspace = Workspace::open(&target.file)?;
    let name = target.file.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    let seen = workspace.ask(|index| match index.file(name) {
        Some(file) => code_view(index, file, target.symbol.as_ref()),
        None => Err(NotSeen::Unreadable),
    });
    let hint = match seen {
        Ok(view) => return Ok(Some(view)),
        Err(NotSeen::Missing { .. }) if !must_be_there => return Ok(None),
        Err(NotSeen::Missing { ref there, .. }) if there.is_empty() => {
            "the file defines nothing".to_owned()
        }
        Err(NotSeen::Missing { ref there, .. }) => {
            let some: Vec<&str> = there.iter().take(NEAR).map(String::as_str).collect();
            let more = if there.len() > NEAR { ", …" } else { "" };
            format!("it defines {}{more}", some.join(", "))
        }
        Err(NotSeen::Ambiguous { .. }) => "give more of the path".to_owned(),
        Err(NotSeen::Unreadable) => {
            let problems = workspace.problems().join("; ");
            if problems.is_empty() { "give a Python file".to_owned() } else { problems }
        }
    };
    let what = seen.err().map_or_else(String::new, |it| it.to_string());
    Err(Fault::input(format!("{}: {what}", target.path)).hint(hint))
}

/// `{path, node?, status?, generated, source?, symbols: [{name, kind, line, endLine, signature, preview}]}`; no source where
/// only signatures were asked for or nothing is there, `preview` is null without a docstring.
fn shape(target: &Target, view: Option<&View>, signatures: bool) -> Value {
    let entry = |it: &Entry| {
        json!({
            "name": it.name, "kind": it.kind, "line": it.line, "endLine": it.end_line,
            "signature": it.signature, "preview": it.preview,
        })
    };
    let symbols: Vec<Value> = view.iter().flat_map(|it| &it.symbols).map(entry).collect();
    let mut shape = json!({ "path": target.path, "generated": view.is_some(), "symbols": symbols });
    if let Some((id, status)) = &target.node {
        shape["node"] = json!(id);
        shape["status"] = json!(status.map(Status::name));
    }
    if let Some(view) = view.filter(|_| !signatures) {
        shape["source"] = json!(view.source);
    }
    shape
}

fn shown(target: &Target) -> String {
    match &target.node {
        Some((id, _)) => format!("{id} in {}", target.path),
        None => target.path.clone(),
    }
}

/// The path, and a line for each definition, indented below its class.
fn lines(target: &Target, view: &View) -> Vec<String> {
    let least = view.symbols.iter().map(|it| it.depth).min().unwrap_or_default();
    let line = |it: &Entry| {
        let preview = it.preview.as_ref().map_or_else(String::new, |text| format!("  # {text}"));
        let margin = 4 * (it.depth - least);
        format!("{:>5}  {:margin$}{}{preview}", it.line, "", it.signature)
    };
    std::iter::once(target.path.clone()).chain(view.symbols.iter().map(line)).collect()
}
