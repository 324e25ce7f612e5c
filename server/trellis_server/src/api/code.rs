//! Views code by file or by node, in full or as signatures.

use std::path::{Component, Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_engine::assembly::Layout;
use trellis_plan::{NodeIx, Plan, Status};
use trellis_python::NamePath;

use trellis_project::code_view::{self, Entry, View, ViewError};
use trellis_project::plan_file;
use trellis_project::sources::Workspace;
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::node_status::NodeStatuses;

/// Maximum number of similar names in an error.
const NEAR: usize = 10;

/// Path of the plan in a generated project.
const PLAN: &str = "docs/rpg.json";

/// Shows a file, or the code of a node: the source, or signatures with the first line of each docstring.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CodeViewParams {
    /// A Python file, relative to the root, or the id of a node.
    pub what: String,
    /// Only this definition: `name`, `Class/name`, `name[1]` for the second of that name.
    #[serde(default)]
    pub symbol: Option<String>,
    /// Signatures only.
    #[serde(default)]
    pub signatures: bool,
    /// The planning graph with the node; default: `docs/rpg.json` below the root, if it exists.
    #[serde(default)]
    pub plan: Option<PathBuf>,
    /// The project's folder; default: the current folder.
    #[serde(default)]
    pub root: Option<PathBuf>,
}

/// The code shown.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CodeViewResult {
    /// Relative to the root, unless you gave a file outside.
    pub path: String,
    /// Whether it exists.
    pub generated: bool,
    /// Classes, functions and methods; empty if the file does not exist.
    pub symbols: Vec<CodeSymbol>,
    /// The id of the node; left out if you gave a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// `pending`, `in_progress`, `passed`, `failed` or `skipped`; null if unknown, left out without a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Option<&'static str>>,
    /// The test file of the node, whether it exists or not; left out unless you gave a leaf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_path: Option<String>,
    /// The text; left out if you asked for signatures only, or if the file does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Where the file is no Python, as sentences; for text, not part of the result.
    #[serde(skip)]
    pub errors: Vec<String>,
}

/// A class, function or method.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CodeSymbol {
    /// Its name path in the file, `Class/name`.
    pub name: String,
    /// `class`, `function`, `method` or `property`.
    pub kind: &'static str,
    /// Its first line, from 1, decorators included.
    pub line: usize,
    /// Its last line.
    pub end_line: usize,
    /// From `def` or `class` to before the colon, on one line.
    pub signature: String,
    /// The first line of its docstring; null without a docstring.
    pub preview: Option<String>,
    /// How many classes are around it; for text, not part of the result.
    #[serde(skip)]
    pub depth: usize,
}

/// The code to view.
struct Target {
    /// Path as shown; below the root unless a file outside was named.
    path: String,
    file: PathBuf,
    symbol: Option<NamePath>,
    /// Id and status of the node.
    node: Option<(String, Option<Status>)>,
    test_path: Option<String>,
}

/// Returns the view of code on the disk.
pub fn code_view(params: &CodeViewParams) -> Result<CodeViewResult, Fault> {
    let target = target(params)?;
    let view = view(&target, params.symbol.is_some())?;
    let (node, status) = target.node.unzip();
    let generated = view.is_some();
    let (symbols, source, errors) = match view {
        Some(View { source, symbols, errors }) => (symbols, Some(source), errors),
        None => Default::default(),
    };
    Ok(CodeViewResult {
        path: target.path,
        generated,
        symbols: symbols.into_iter().map(symbol).collect(),
        node,
        status: status.map(|it| it.map(Status::name)),
        test_path: target.test_path,
        source: source.filter(|_| !params.signatures),
        errors,
    })
}

fn symbol(it: Entry) -> CodeSymbol {
    let Entry { name, kind, depth, line, end_line, signature, preview } = it;
    CodeSymbol { name, kind, line, end_line, signature, preview, depth }
}

/// Resolves the parameters: an existing file, else a node, else a file planned for a node.
fn target(args: &CodeViewParams) -> Result<Target, Fault> {
    let root = args.root.as_deref().unwrap_or(Path::new("."));
    let symbol = args.symbol.as_deref().map(NamePath::parse).transpose();
    let symbol = symbol.map_err(|e| Fault::new(Exit::Usage, e))?;
    let inside = root.join(&args.what);
    let place = [inside, PathBuf::from(&args.what)].into_iter().find(|it| it.is_file());
    if let Some(file) = place {
        return Ok(Target { path: args.what.clone(), file, symbol, node: None, test_path: None });
    }
    let nothing = || {
        Fault::input(format!("there is no file or node `{}`", args.what)).hint(format!(
            "Trellis looks for files below {root} (--root), and for node ids in \
                 {root}/{PLAN} or the graph given with --plan",
            root = root.display()
        ))
    };
    let known = root.join(PLAN);
    let rpg = args.plan.clone().or_else(|| known.is_file().then_some(known)).ok_or_else(nothing)?;
    let plan = plan_file::read(&rpg, None)?;
    if let Some(node) = plan.find(&args.what) {
        let status = NodeStatuses::of_exported_plan(&rpg)?.of(&plan, node);
        return of_node(&plan, node, status, symbol, root);
    }
    let planned = |it: &trellis_plan::Node| it.file_path.as_deref() == Some(&*args.what);
    if plan.nodes().iter().any(planned) {
        let file = below(root, &args.what)?;
        return Ok(Target { path: args.what.clone(), file, symbol, node: None, test_path: None });
    }
    let near: Vec<&str> = plan.near(&args.what, NEAR).into_iter().map(|ix| plan.id(ix)).collect();
    let fault = nothing();
    Err(match trellis_plan::did_you_mean(&near) {
        Some(it) => fault.hint(it),
        None => fault,
    })
}

/// Returns the definition of a leaf, or the file of a group; `symbol` selects a definition in it.
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
            false => fault.hint(format!("choose one of {}", below.join(", "))),
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
    let node = Some((it.id.to_string(), status));
    let test_path = it.is_leaf().then(|| layout(plan).test_path(path).to_owned());
    Ok(Target { path: path.to_owned(), file, symbol, node, test_path })
}

/// Returns the layout that a run uses for test files.
fn layout(plan: &Plan) -> Layout {
    let leaves = plan.indices().map(|ix| plan.node(ix)).filter(|it| it.is_leaf());
    Layout::of(leaves.filter_map(|it| it.file_path.as_deref()))
}

/// Returns a planned path in the project's folder; refuses a path that leaves the folder.
fn below(root: &Path, path: &str) -> Result<PathBuf, Fault> {
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if Path::new(path).components().all(inside) {
        return Ok(root.join(path));
    }
    Err(Fault::input(format!("the planned path {path} is outside the project"))
        .hint("`trellis plan check` lists what is wrong with a graph"))
}

/// Returns the view; `None` if the file is missing, or the node's definition is missing in it.
fn view(target: &Target, must_be_there: bool) -> Result<Option<View>, Fault> {
    if !target.file.is_file() {
        return Ok(None);
    }
    let mut workspace = Workspace::open(&target.file)?;
    let name = target.file.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    let seen = workspace.ask(|index| match index.file(name) {
        Some(file) => code_view::code_view(index, file, target.symbol.as_ref()),
        None => Err(ViewError::Unreadable),
    });
    let hint = match seen {
        Ok(view) => return Ok(Some(view)),
        Err(ViewError::Missing { .. }) if !must_be_there => return Ok(None),
        Err(ViewError::Missing { ref there, .. }) if there.is_empty() => {
            "the file defines nothing".to_owned()
        }
        Err(ViewError::Missing { ref there, .. }) => {
            let some: Vec<&str> = there.iter().take(NEAR).map(String::as_str).collect();
            let more = if there.len() > NEAR { ", …" } else { "" };
            format!("it defines {}{more}", some.join(", "))
        }
        Err(ViewError::Ambiguous { .. }) => "give more of the path".to_owned(),
        Err(ViewError::Unreadable) => {
            let problems = workspace.problems().join("; ");
            if problems.is_empty() { "give a Python file".to_owned() } else { problems }
        }
    };
    let what = seen.err().map_or_else(String::new, |it| it.to_string());
    Err(Fault::input(format!("{}: {what}", target.path)).hint(hint))
}
