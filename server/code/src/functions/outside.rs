//! What a function reaches outside of itself: the imports it uses, and calls whose answer a test cannot rely on.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};

use super::Function;
use crate::imports::{Import, imports_of};
use crate::scope::locals_of;
use crate::syntax;
use crate::tree::Tree;

/// What a call may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Contact {
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

impl Contact {
    /// In lowercase, as people read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Contact::Files => "files",
            Contact::Network => "network",
            Contact::Database => "database",
            Contact::Clock => "clock",
            Contact::Randomness => "randomness",
            Contact::Process => "process",
            Contact::Environment => "environment",
        }
    }
}

/// A name a function uses that reaches outside: a candidate for a mock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outside {
    /// As the function writes it: `requests.get`, `now`.
    pub written: String,
    /// With the module it comes from: `requests.get`, `datetime.datetime.now`.
    pub resolved: String,
    pub contact: Contact,
}

/// The imports around a function, and what it does with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// All imports at the top level of its file, and those in its body.
    pub imports: Vec<Import>,
    /// Those it speaks of.
    pub used: Vec<Import>,
    /// Every name it speaks of, in annotations too.
    pub names: BTreeSet<String>,
    /// Each once, by name.
    pub outside: Vec<Outside>,
}

/// Module paths, the longest that fits first, and what using them reaches. Methods of values are not followed:
/// `path.read_text()` is seen only where `Path` is named as well.
const CONTACTS: [(&str, Contact); 70] = [
    ("open", Contact::Files),
    ("input", Contact::Files),
    ("io.open", Contact::Files),
    ("sys.stdin", Contact::Files),
    ("pathlib.Path", Contact::Files),
    ("shutil", Contact::Files),
    ("tempfile", Contact::Files),
    ("glob", Contact::Files),
    ("fileinput", Contact::Files),
    ("zipfile", Contact::Files),
    ("tarfile", Contact::Files),
    ("os.environ", Contact::Environment),
    ("os.getenv", Contact::Environment),
    ("os.putenv", Contact::Environment),
    ("os.getcwd", Contact::Environment),
    ("os.getpid", Contact::Environment),
    ("os.getlogin", Contact::Environment),
    ("os.cpu_count", Contact::Environment),
    ("os.uname", Contact::Environment),
    ("os.urandom", Contact::Randomness),
    ("os.system", Contact::Process),
    ("os.popen", Contact::Process),
    ("os.fork", Contact::Process),
    ("os.kill", Contact::Process),
    ("os.execv", Contact::Process),
    ("os.path.exists", Contact::Files),
    ("os.path.isfile", Contact::Files),
    ("os.path.isdir", Contact::Files),
    ("os.path.getsize", Contact::Files),
    ("os.path.getmtime", Contact::Files),
    ("os.path.expanduser", Contact::Environment),
    ("os.listdir", Contact::Files),
    ("os.scandir", Contact::Files),
    ("os.walk", Contact::Files),
    ("os.stat", Contact::Files),
    ("os.open", Contact::Files),
    ("os.remove", Contact::Files),
    ("os.unlink", Contact::Files),
    ("os.rename", Contact::Files),
    ("os.replace", Contact::Files),
    ("os.mkdir", Contact::Files),
    ("os.makedirs", Contact::Files),
    ("os.rmdir", Contact::Files),
    ("subprocess", Contact::Process),
    ("multiprocessing", Contact::Process),
    ("asyncio.create_subprocess_exec", Contact::Process),
    ("asyncio.sleep", Contact::Clock),
    ("platform", Contact::Environment),
    ("getpass", Contact::Environment),
    ("socket", Contact::Network),
    ("urllib.request", Contact::Network),
    ("http.client", Contact::Network),
    ("smtplib", Contact::Network),
    ("ftplib", Contact::Network),
    ("requests", Contact::Network),
    ("httpx", Contact::Network),
    ("aiohttp", Contact::Network),
    ("boto3", Contact::Network),
    ("sqlite3", Contact::Database),
    ("psycopg", Contact::Database),
    ("sqlalchemy", Contact::Database),
    ("redis", Contact::Database),
    ("time", Contact::Clock),
    ("datetime.datetime.now", Contact::Clock),
    ("datetime.datetime.utcnow", Contact::Clock),
    ("datetime.datetime.today", Contact::Clock),
    ("datetime.date.today", Contact::Clock),
    ("random", Contact::Randomness),
    ("secrets", Contact::Randomness),
    ("uuid", Contact::Randomness),
];

/// Pure though their module is not.
const PURE: [&str; 4] = ["time.struct_time", "time.strptime", "time.strftime", "uuid.UUID"];

/// What `function`, one of the file `source`, uses of the world around it.
pub fn uses(source: &str, function: &Function) -> Uses {
    // A margin needs something it may stand in.
    let wrapped = format!("if True:\n{}\n", function.source);
    let text = if function.source.starts_with([' ', '\t']) { &wrapped } else { &function.source };
    let Ok(parsed) = syntax::parse(text) else { return Uses::default() };
    let mut spoken = Spoken::default();
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

/// Names that code reads, in annotations that are strings too; no other string names anything.
#[derive(Default)]
struct Spoken(BTreeSet<String>);

impl<'a> Visitor<'a> for Spoken {
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

/// Imports that stand outside of functions and classes, in blocks too.
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

/// The name an import binds, and what it stands for.
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
        // What an import binds stands for something that is known.
        for import in &self.imports {
            import.bound().map(|name| self.bound.remove(name));
        }
    }
}

/// Every dotted name that is read, resolved.
struct Names {
    origins: BTreeMap<String, String>,
    hidden: HashSet<String>,
    found: BTreeSet<Outside>,
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
        if let Some(contact) = contact(&resolved).filter(|_| is_known) {
            self.found.insert(Outside { written: parts.join("."), resolved, contact });
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

/// The parts of `a.b.c`; none for anything else.
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

/// A table row means the name itself and everything below it.
fn contact(resolved: &str) -> Option<Contact> {
    let below = |row: &str| {
        resolved.strip_prefix(row).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if PURE.iter().any(|it| below(it)) {
        return None;
    }
    let rows = CONTACTS.iter().filter(|(row, _)| below(row));
    rows.max_by_key(|(row, _)| row.len()).map(|(_, contact)| *contact)
}
