//! The third stage: the interface of each file, read from Python text without bodies.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use trellis_python::standard_library::is_builtin;
use trellis_python::{Functions, Outline, Signature, SymbolKind, example_problem};

use super::docstring_sections::DocstringSections;
use super::{Sentences, numbers};

/// The interface of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// Path relative to the package's folder.
    pub path: String,
    /// The text, as planned.
    pub text: String,
    pub definitions: Vec<PlannedDefinition>,
}

/// A planned function, method or class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedDefinition {
    /// `name`, or `Class.name`.
    pub name: String,
    pub kind: PlannedKind,
    /// `def …` or `class …`, without the colon.
    pub signature: String,
    /// Docstring without the sections that are fields here.
    pub docstring: String,
    /// Expressions that hold.
    pub examples: Vec<String>,
    /// Numbers of the sentences that it serves.
    pub serves: Vec<usize>,
    /// Names that its body will use, as written.
    pub uses: Vec<String>,
}

/// Kinds of planned definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlannedKind {
    Function,
    Class,
    Method,
}

impl PlannedKind {
    /// Returns the word of the `type` field of a plan.
    pub fn as_str(self) -> &'static str {
        match self {
            PlannedKind::Function => "function",
            PlannedKind::Class => "class",
            PlannedKind::Method => "method",
        }
    }
}

/// Greatest number of definitions in a file.
const MOST: usize = 60;
/// Greatest number of examples of a definition.
const MOST_EXAMPLES: usize = 8;

impl Interface {
    /// Reads the interface of a file from its text.
    ///
    /// # Errors
    ///
    /// The text is not valid Python.
    pub fn read(path: &str, text: &str) -> Result<Interface, String> {
        trellis_python::check(text).map_err(|error| format!("it is not valid Python: {error}"))?;
        let outline = Outline::of(text);
        let classes = outline.symbols.iter().filter(|it| {
            let is_inner = it.parent.is_some();
            it.kind == SymbolKind::Class && !is_inner
        });
        let mut out: Vec<(u32, PlannedDefinition)> = classes
            .map(|it| {
                let header = it.header.clone().map_or("", |range| &text[range]);
                let docstring = it.documentation(text).unwrap_or_default();
                let class = PlannedKind::Class;
                (it.place.line + 1, definition(it.name.clone(), class, header, &docstring))
            })
            .collect();
        let functions = Functions::of(text).functions;
        let own = functions.iter().filter(|it| !it.is_nested && !it.is_overload());
        out.extend(own.map(|it| {
            let kind = if it.is_method() { PlannedKind::Method } else { PlannedKind::Function };
            let docstring = it.docstring.as_deref().unwrap_or_default();
            (it.line, definition(it.qualified_name.clone(), kind, &it.signature, docstring))
        }));
        out.sort_by_key(|it| it.0);
        let definitions = out.into_iter().map(|it| it.1).collect();
        Ok(Interface { path: path.to_owned(), text: text.to_owned(), definitions })
    }

    /// Returns the dotted name of the module inside its package.
    pub fn module(&self) -> String {
        self.path.trim_end_matches(".py").replace('/', ".")
    }

    /// Returns everything that is wrong, as sentences for the model. `others` are the interfaces of
    /// the files that this one may use.
    pub fn problems(&self, sentences: &Sentences, others: &[&Interface]) -> Vec<String> {
        let mut out = Vec::new();
        if self.definitions.is_empty() {
            out.push("it has no function and no class".to_owned());
        }
        if self.definitions.len() > MOST {
            let count = self.definitions.len();
            return vec![format!("it has {count} definitions; {MOST} are the most")];
        }
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for it in &self.definitions {
            if !names.insert(&it.name) {
                out.push(format!("`{}` is defined twice", it.name));
            }
            if is_builtin(&it.name) {
                out.push(format!("`{}` hides a name of Python; choose another", it.name));
            }
        }
        let unknown = trellis_python::unresolved(&self.text).unwrap_or_default();
        out.extend(unknown.iter().map(|it| format!("`{it}` is neither defined nor imported")));
        let signatures = Signatures::of(self, others);
        for it in &self.definitions {
            let own = it.problems(sentences, &signatures);
            out.extend(own.into_iter().map(|problem| format!("`{}`: {problem}", it.name)));
            let unknown = it.uses.iter().filter(|used| self.used(used, others).is_none());
            out.extend(unknown.map(|used| {
                format!(
                    "`{}` uses `{used}`, which this file and the files it uses do not have",
                    it.name
                )
            }));
        }
        out.extend(self.circle());
        out
    }

    /// Finds a used name: the path of its file and its definition.
    pub fn used<'a>(
        &'a self,
        name: &str,
        others: &[&'a Interface],
    ) -> Option<(&'a str, &'a PlannedDefinition)> {
        let among = |file: &'a Interface, name: &str| {
            let found = file.definitions.iter().find(|it| it.name == name)?;
            Some((file.path.as_str(), found))
        };
        among(self, name).or_else(|| {
            others.iter().find_map(|file| {
                let module = file.module();
                let inside = name.strip_prefix(&format!("{module}."));
                let short = module.rsplit('.').next().unwrap_or(&module).to_owned();
                let inside = inside.or_else(|| name.strip_prefix(&format!("{short}.")));
                among(file, inside.unwrap_or(name))
            })
        })
    }

    /// Returns a circle of uses among the definitions of this file.
    fn circle(&self) -> Option<String> {
        let mut left: BTreeMap<&str, &PlannedDefinition> =
            self.definitions.iter().map(|it| (it.name.as_str(), it)).collect();
        loop {
            let before = left.len();
            let names: BTreeSet<&str> = left.keys().copied().collect();
            left.retain(|name, it| {
                let class = name.rsplit_once('.').map(|it| it.0);
                let mut all = it.uses.iter().map(String::as_str).chain(class);
                all.any(|used| names.contains(used))
            });
            if left.is_empty() {
                return None;
            }
            if left.len() == before {
                let names = left.keys().map(|it| format!("`{it}`")).collect::<Vec<_>>();
                return Some(format!("these use each other in a circle: {}", names.join(", ")));
            }
        }
    }
}

fn definition(name: String, kind: PlannedKind, header: &str, docstring: &str) -> PlannedDefinition {
    let DocstringSections { text, examples, serves, uses } = DocstringSections::of(docstring);
    let signature = header.split_whitespace().collect::<Vec<_>>().join(" ");
    PlannedDefinition { name, kind, signature, docstring: text, examples, serves, uses }
}

/// Signatures by the name that calls them.
struct Signatures(BTreeMap<String, Signature>);

impl Signatures {
    fn of(own: &Interface, others: &[&Interface]) -> Signatures {
        let files = others.iter().copied().chain([own]);
        let all = files.flat_map(|it| &it.definitions);
        let callable = all.filter_map(|it| {
            let name = match it.kind {
                PlannedKind::Function => it.name.clone(),
                PlannedKind::Class => return None,
                PlannedKind::Method => it.name.strip_suffix(".__init__")?.to_owned(),
            };
            Some((name, Signature::parse(&it.signature).ok()?))
        });
        Signatures(callable.collect())
    }
}

impl PlannedDefinition {
    /// Returns the class of a special method, such as `Cart` of `Cart.__init__`.
    pub(super) fn class_of_special(&self) -> Option<&str> {
        let (class, name) = self.name.rsplit_once('.')?;
        (name.starts_with("__") && name.ends_with("__")).then_some(class)
    }

    fn problems(&self, sentences: &Sentences, signatures: &Signatures) -> Vec<String> {
        let mut out = Vec::new();
        let signature = match Signature::parse(&self.signature) {
            Ok(signature) => signature,
            Err(error) => return vec![error.to_string()],
        };
        let bare = signature.unannotated();
        if !bare.is_empty() {
            out.push(format!("these have no type: {}", bare.join(", ")));
        }
        if self.docstring.is_empty() {
            out.push("it has no docstring".to_owned());
        }
        let unknown: Vec<usize> =
            self.serves.iter().copied().filter(|it| !sentences.has(*it)).collect();
        if !unknown.is_empty() {
            out.push(format!("there are no sentences {}", numbers(&unknown)));
        }
        if self.serves.is_empty() {
            out.push("`Serves:` names no sentence".to_owned());
        }
        if self.examples.len() > MOST_EXAMPLES {
            out.push(format!("{} examples are too many", self.examples.len()));
        } else if self.examples.is_empty() && self.needs_examples() {
            out.push("it has no examples".to_owned());
        }
        for example in self.examples.iter().take(MOST_EXAMPLES) {
            let problem = example_problem(example, |name| signatures.0.get(name));
            out.extend(problem.map(|it| format!("the example {example:?}: {it}")));
        }
        out
    }

    /// Returns whether the definition has a result that an expression can show.
    fn needs_examples(&self) -> bool {
        let returns_nothing = self.signature.ends_with("-> None");
        self.kind == PlannedKind::Function && !returns_nothing
    }
}
