//! Finds what a function uses outside itself: imports, and calls whose result a test cannot rely
//! on.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};

use super::Function;
use crate::imports::{Import, imports_of};
use crate::scope::locals_of;
use crate::syntax;
use crate::tree::Tree;

/// External resource that a call may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExternalResource {
    /// Files and folders, standard input.
    Files,
    Network,
    Database,
    Clock,
    Randomness,
    Process,
    /// Environment variables, the machine, the user.
    Environment,
}

impl ExternalResource {
    /// Returns the lowercase name for people.
    pub fn as_str(self) -> &'static str {
        match self {
            ExternalResource::Files => "files",
            ExternalResource::Network => "network",
            ExternalResource::Database => "database",
            ExternalResource::Clock => "clock",
            ExternalResource::Randomness => "randomness",
            ExternalResource::Process => "process",
            ExternalResource::Environment => "environment",
        }
    }
}

/// An external name that a function uses: a candidate for a mock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExternalUse {
    /// Name as the function writes it: `requests.get`, `now`.
    pub written: String,
    /// Name with its module: `requests.get`, `datetime.datetime.now`.
    pub resolved: String,
    pub contact: ExternalResource,
}

/// The imports visible to a function, and its uses of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// All imports at the top level of the file, and those in the function's body.
    pub imports: Vec<Import>,
    /// Imports that the function uses.
    pub used: Vec<Import>,
    /// Every name that the function uses, in annotations too.
    pub names: BTreeSet<String>,
    /// Uses of external resources, each once, by name.
    pub outside: Vec<ExternalUse>,
}

/// Dotted paths and the resources that their use reaches; the longest matching path wins. Methods
/// of values are not followed: `path.read_text()` is found only if `Path` is named as well.
const RESOURCES: [(&str, ExternalResource); 70] = [
    ("open", ExternalResource::Files),
    ("input", ExternalResource::Files),
    ("io.open", ExternalResource::Files),
    ("sys.stdin", ExternalResource::Files),
    ("pathlib.Path", ExternalResource::Files),
    ("shutil", ExternalResource::Files),
    ("tempfile", ExternalResource::Files),
    ("glob", ExternalResource::Files),
    ("fileinput", ExternalResource::Files),
    ("zipfile", ExternalResource::Files),
    ("tarfile", ExternalResource::Files),
    ("os.environ", ExternalResource::Environment),
    ("os.getenv", ExternalResource::Environment),
    ("os.putenv", ExternalResource::Environment),
    ("os.getcwd", ExternalResource::Environment),
    ("os.getpid", ExternalResource::Environment),
    ("os.getlogin", ExternalResource::Environment),
    ("os.cpu_count", ExternalResource::Environment),
    ("os.uname", ExternalResource::Environment),
    ("os.urandom", ExternalResource::Randomness),
    ("os.system", ExternalResource::Process),
    ("os.popen", ExternalResource::Process),
    ("os.fork", ExternalResource::Process),
    ("os.kill", ExternalResource::Process),
    ("os.execv", ExternalResource::Process),
    ("os.path.exists", ExternalResource::Files),
    ("os.path.isfile", ExternalResource::Files),
    ("os.path.isdir", ExternalResource::Files),
    ("os.path.getsize", ExternalResource::Files),
    ("os.path.getmtime", ExternalResource::Files),
    ("os.path.expanduser", ExternalResource::Environment),
    ("os.listdir", ExternalResource::Files),
    ("os.scandir", ExternalResource::Files),
    ("os.walk", ExternalResource::Files),
    ("os.stat", ExternalResource::Files),
    ("os.open", ExternalResource::Files),
    ("os.remove", ExternalResource::Files),
    ("os.unlink", ExternalResource::Files),
    ("os.rename", ExternalResource::Files),
    ("os.replace", ExternalResource::Files),
    ("os.mkdir", ExternalResource::Files),
    ("os.makedirs", ExternalResource::Files),
    ("os.rmdir", ExternalResource::Files),
    ("subprocess", ExternalResource::Process),
    ("multiprocessing", ExternalResource::Process),
    ("asyncio.create_subprocess_exec", ExternalResource::Process),
    ("asyncio.sleep", ExternalResource::Clock),
    ("platform", ExternalResource::Environment),
    ("getpass", ExternalResource::Environment),
    ("socket", ExternalResource::Network),
    ("urllib.request", ExternalResource::Network),
    ("http.client", ExternalResource::Network),
    ("smtplib", ExternalResource::Network),
    ("ftplib", ExternalResource::Network),
    ("requests", ExternalResource::Network),
    ("httpx", ExternalResource::Network),
    ("aiohttp", ExternalResource::Network),
    ("boto3", ExternalResource::Network),
    ("sqlite3", ExternalResource::Database),
    ("psycopg", ExternalResource::Database),
    ("sqlalchemy", ExternalResource::Database),
    ("redis", ExternalResource::Database),
    ("time", ExternalResource::Clock),
    ("datetime.datetime.now", ExternalResource::Clock),
    ("datetime.datetime.utcnow", ExternalResource::Clock),
    ("datetime.datetime.today", ExternalResource::Clock),
    ("datetime.date.today", ExternalResource::Clock),
    ("random", ExternalResource::Randomness),
    ("secrets", ExternalResource::Randomness),
    ("uuid", ExternalResource::Randomness),
];

/// Paths that use no external resource although their module does.
const PURE: [&str; 4] = ["time.struct_time", "time.strptime", "time.strftime", "uuid.UUID"];

/// Returns everything that `function`, a function of the file `source`, uses outside itself.
pub fn uses(source: &str, function: &Function) -> Uses {
    // Indented text parses only inside a block.
    let wrapped = format!("if True:\n{}\n", function.source);
    let text = if function.source.starts_with([' ', '\t']) { &wrapped } else { &function.source };
    let Ok(parsed) = syntax::parse(text) else { return Uses::default() };
    let mut spoken = ReadNames::default();
    spoken.visit_body(parsed.suite());
    let words = spoken.0;
    let mut inner = Inner::default();
    inner.visit_body(parsed.suite());
    let mut imports = top_level(source);
    inner.imports.into_iter().for_each(|it| push_new(&mut imports, it));
    let used = |it: &&Import| it.bound().is_some_and(|name| words.contains(name));
    let used: Vec<Import> = imports.iter().filter(used).cloned().collect();
    let origins = used.iter().filter_map(origin).collect();
    let mut names = Names { origins, hidden: inner.bound, found: BTreeSet::new() };
    names.visit_body(parsed.suite());
    Uses { imports, used, names: words, outside: names.found.into_iter().collect() }
}

/// Names that code reads, including names in string annotations; other strings name nothing.
#[derive(Default)]
struct ReadNames(BTreeSet<String>);

impl<'a> Visitor<'a> for ReadNames {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr {
            self.0.insert(name.id.to_string());
        }
        visitor::walk_expr(self, expr);
    }

    fn visit_annotation(&mut self, expr: &'a Expr) {
        if let Expr::StringLiteral(text) = expr {
            let words = text.value.to_str().split(|c: char| !(c.is_alphanumeric() || c == '_'));
            self.0.extend(words.filter(|it| !it.is_empty()).map(str::to_owned));
        }
        self.visit_expr(expr);
    }
}

fn push_new(imports: &mut Vec<Import>, import: Import) {
    if !imports.contains(&import) {
        imports.push(import);
    }
}

/// Returns the imports outside functions and classes, including those in blocks.
fn top_level(source: &str) -> Vec<Import> {
    let Ok(tree) = Tree::of(source) else { return Vec::new() };
    let (mut found, mut left) = (Vec::new(), vec![tree.body()]);
    while let Some(body) = left.pop() {
        for stmt in body {
            imports_of(stmt).into_iter().flatten().for_each(|it| push_new(&mut found, it));
            if !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
                left.extend(syntax::blocks(stmt));
            }
        }
    }
    found
}

/// Returns the name that an import binds, and the dotted path it stands for.
fn origin(import: &Import) -> Option<(String, String)> {
    let bound = import.bound()?.to_owned();
    let stands_for = match (&import.name, &import.alias) {
        (Some(name), _) => format!("{}.{name}", import.module),
        (None, Some(_)) => import.module.clone(),
        // `import a.b` binds `a`.
        (None, None) => bound.clone(),
    };
    Some((bound, stands_for))
}

/// Imports in functions, and names that parameters and assignments bind there.
#[derive(Default)]
struct Inner {
    imports: Vec<Import>,
    bound: HashSet<String>,
}

impl Inner {
    fn function(&mut self, def: &StmtFunctionDef) {
        self.bound.extend(def.parameters.iter().map(|it| it.name().to_string()));
        self.bound.extend(locals_of(&def.body));
    }
}

impl<'a> Visitor<'a> for Inner {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::FunctionDef(def) = stmt {
            self.function(def);
        }
        self.imports.extend(imports_of(stmt).into_iter().flatten());
        visitor::walk_stmt(self, stmt);
        // A name bound by an import stands for a known path and hides nothing.
        for import in &self.imports {
            import.bound().map(|name| self.bound.remove(name));
        }
    }
}

/// Resolves every dotted name that is read.
struct Names {
    origins: BTreeMap<String, String>,
    hidden: HashSet<String>,
    found: BTreeSet<ExternalUse>,
}

impl Names {
    fn take(&mut self, parts: &[&str]) {
        let Some((first, rest)) = parts.split_first().filter(|(it, _)| !self.hidden.contains(**it))
        else {
            return;
        };
        let base = self.origins.get(*first).map_or(*first, String::as_str);
        let is_known = self.origins.contains_key(*first) || rest.is_empty();
        let resolved = [&[base], rest].concat().join(".");
        if let Some(contact) = resource_of(&resolved).filter(|_| is_known) {
            self.found.insert(ExternalUse { written: parts.join("."), resolved, contact });
        }
    }
}

impl<'a> Visitor<'a> for Names {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match dotted(expr) {
            Some(parts) => self.take(&parts),
            None => visitor::walk_expr(self, expr),
        }
    }
}

/// Returns the parts of `a.b.c`; `None` for any other expression.
fn dotted(expr: &Expr) -> Option<Vec<&str>> {
    match expr {
        Expr::Name(name) => Some(vec![name.id.as_str()]),
        Expr::Attribute(it) => {
            let mut parts = dotted(&it.value)?;
            parts.push(it.attr.as_str());
            Some(parts)
        }
        _ => None,
    }
}

/// Returns the resource of a resolved name. A table row covers its name and everything below it.
fn resource_of(resolved: &str) -> Option<ExternalResource> {
    let below = |row: &str| {
        resolved.strip_prefix(row).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if PURE.iter().any(|it| below(it)) {
        return None;
    }
    let rows = RESOURCES.iter().filter(|(row, _)| below(row));
    rows.max_by_key(|(row, _)| row.len()).map(|(_, contact)| *contact)
}
