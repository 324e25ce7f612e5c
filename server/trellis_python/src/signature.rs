//! Enforces a specification's signature on a generated definition (T3).

use ruff_python_ast::{Parameters, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;

use crate::rename::rename_local;
use crate::scope::identifiers;
use crate::syntax::{self, SyntaxError};

/// A signature as stated in a plan: `def name(a: int) -> str` or `class Name(Base)`. `def`, a colon
/// and surrounding space may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The header without its colon, starting with `def`, `async def` or `class`.
    header: String,
    name: String,
}

/// The error for a stated signature that is not valid Python.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the signature `{text}` is not valid Python: {why}")]
pub struct SignatureError {
    pub text: String,
    pub why: String,
}

impl Signature {
    pub fn parse(text: &str) -> Result<Signature, SignatureError> {
        let bare = text.trim().trim_end_matches(':').trim_end();
        let known = ["def ", "async def ", "class "].iter().any(|start| bare.starts_with(start));
        let header = if known { bare.to_owned() } else { format!("def {bare}") };
        let wrong = |why: String| SignatureError { text: text.trim().to_owned(), why };
        let source = format!("{header}: pass\n");
        let parsed = syntax::parse(&source).map_err(|error| wrong(error.to_string()))?;
        match parsed.suite().as_slice() {
            [Stmt::FunctionDef(def)] => Ok(Signature { name: def.name.to_string(), header }),
            [Stmt::ClassDef(def)] => Ok(Signature { name: def.name.to_string(), header }),
            _ => Err(wrong("it is not a single `def` or `class` header".to_owned())),
        }
    }

    /// Returns `def name(…) -> …`, without the colon.
    pub fn header(&self) -> &str {
        &self.header
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the parameters without an annotation, and `return` if the result has none; a receiver
    /// needs none, nor does the result of `__init__`. A class has none of these.
    pub fn unannotated(&self) -> Vec<String> {
        let source = format!("{}: pass\n", self.header);
        let Ok(parsed) = syntax::parse(&source) else { return Vec::new() };
        let [Stmt::FunctionDef(def)] = parsed.suite().as_slice() else { return Vec::new() };
        let receiver = usize::from(self.takes_receiver());
        let bare = def.parameters.iter().enumerate().filter(|(index, it)| {
            it.annotation().is_none() && (*index >= receiver || it.is_variadic())
        });
        let mut out: Vec<String> = bare.map(|(_, it)| it.name().to_string()).collect();
        if def.returns.is_none() && self.name != "__init__" {
            out.push("return".to_owned());
        }
        out
    }

    /// Returns whether the first parameter receives an object or a class: it has a conventional
    /// name, or it is `*args`.
    pub fn takes_receiver(&self) -> bool {
        let source = format!("{}: pass\n", self.header);
        let Ok(parsed) = syntax::parse(&source) else { return true };
        let [Stmt::FunctionDef(def)] = parsed.suite().as_slice() else { return true };
        let receiver = |name: &str| RECEIVERS.contains(&name.trim_start_matches('_'));
        let positional = def.parameters.posonlyargs.iter().chain(&def.parameters.args).next();
        let first = positional.map(|it| receiver(it.parameter.name.as_str()));
        first.unwrap_or(def.parameters.vararg.is_some())
    }

    /// Adds the receiver to a special method that lacks it (`__len__() -> int`), because Python
    /// always calls such methods with one.
    pub fn of_method(self) -> Signature {
        let is_special = self.name.starts_with("__") && self.name.ends_with("__");
        let Some(open) = self.header.find('(').filter(|_| is_special && !self.takes_receiver())
        else {
            return self;
        };
        let receiver = match self.name.as_str() {
            "__new__" | "__init_subclass__" | "__class_getitem__" => "cls",
            _ => "self",
        };
        let (before, behind) = self.header.split_at(open + 1);
        let comma = if behind.trim_start().starts_with(')') { "" } else { ", " };
        Signature { header: format!("{before}{receiver}{comma}{behind}"), name: self.name }
    }
}

/// Conventional names of a method's first parameter.
const RECEIVERS: [&str; 7] = ["self", "cls", "klass", "mcs", "mcls", "metacls", "this"];

/// Makes a function of a class a static method: adds `@staticmethod` above its other decorators and
/// removes `@classmethod` and `@property`, which need a parameter that is missing. `None` if it is
/// already static, or if `definition` has no function.
pub fn as_static(definition: &str) -> Result<Option<String>, SyntaxError> {
    let module = syntax::parse(definition)?;
    let functions = |stmt: &&Stmt| matches!(stmt, Stmt::FunctionDef(_));
    let Some(Stmt::FunctionDef(def)) = module.suite().iter().rfind(functions) else {
        return Ok(None);
    };
    let name = |range: ruff_text_size::TextRange| {
        definition[range.start().to_usize()..range.end().to_usize()].trim().to_owned()
    };
    let decorators: Vec<_> = def.decorator_list.iter().collect();
    if decorators.iter().any(|it| name(it.expression.range()) == "staticmethod") {
        return Ok(None);
    }
    let mut text = definition.to_owned();
    for it in decorators.iter().rev() {
        if ["classmethod", "property"].contains(&name(it.expression.range()).as_str()) {
            let start = syntax::line_start(definition, it.range().start().to_usize());
            let end = syntax::line_end(definition, it.range().end().to_usize());
            text.replace_range(start..end, "");
        }
    }
    let first = def.range().start().to_usize();
    let margin = &definition[syntax::line_start(definition, first)..first];
    text.insert_str(first - margin.len(), &format!("{margin}@staticmethod\n"));
    Ok(Some(text))
}

/// Gives a function definition the specification's header if the two disagree: other parameter
/// names, order, kinds or defaults, or an annotation that is missing or different. Parameters that
/// differ only in name are renamed in the body too. Decorators and body stay as they are; classes,
/// and annotations beyond the specification's, are not changed. `None` if there is nothing to
/// change.
pub fn enforce(definition: &str, signature: &Signature) -> Result<Option<String>, SyntaxError> {
    let spec_source = format!("{}: pass\n", signature.header);
    let spec_module = syntax::parse(&spec_source)?;
    let module = syntax::parse(definition)?;
    let Some(Stmt::FunctionDef(spec)) = spec_module.suite().first() else { return Ok(None) };
    let functions = |stmt: &&Stmt| matches!(stmt, Stmt::FunctionDef(_));
    let Some(Stmt::FunctionDef(def)) = module.suite().iter().rfind(functions) else {
        return Ok(None);
    };
    if agrees(&spec_source, spec, definition, def) {
        return Ok(None);
    }
    let body = renamed_parameters(definition, def, spec)?;
    replace_header(&body, signature).map(Some)
}

fn agrees(spec_text: &str, spec: &StmtFunctionDef, text: &str, def: &StmtFunctionDef) -> bool {
    // An annotation missing in the specification agrees with any annotation.
    let same = |spec_range: Option<_>, range: Option<_>| match (spec_range, range) {
        (None, _) => true,
        (Some(a), Some(b)) => compact(spec_text, a) == compact(text, b),
        (Some(_), None) => false,
    };
    let shape = |all: &Parameters| {
        let kinds = (all.posonlyargs.len(), all.args.len(), all.kwonlyargs.len());
        (kinds, all.vararg.is_some(), all.kwarg.is_some())
    };
    let (ours, theirs) = (&def.parameters, &spec.parameters);
    spec.is_async == def.is_async
        && spec.name.as_str() == def.name.as_str()
        && shape(ours) == shape(theirs)
        && same(spec.returns.as_ref().map(|e| e.range()), def.returns.as_ref().map(|e| e.range()))
        && theirs.iter().zip(ours.iter()).all(|(spec, ours)| {
            let default = |p: &ruff_python_ast::AnyParameterRef<'_>| p.default().map(Ranged::range);
            spec.name().as_str() == ours.name().as_str()
                && same(spec.annotation().map(Ranged::range), ours.annotation().map(Ranged::range))
                && default(&spec).is_some() == default(&ours).is_some()
                && same(default(&spec), default(&ours))
        })
}

/// Returns a part of a text in a form that ignores blanks and kinds of quotes.
pub(crate) fn compact(text: &str, range: ruff_text_size::TextRange) -> String {
    let raw = text[range.start().to_usize()..range.end().to_usize()].chars();
    raw.filter(|c| !c.is_whitespace()).map(|c| if c == '\'' { '"' } else { c }).collect()
}

/// Renames parameters one by one if both headers have the same number of them. A new name that the
/// text already uses is skipped.
fn renamed_parameters(
    text: &str,
    def: &StmtFunctionDef,
    spec: &StmtFunctionDef,
) -> Result<String, SyntaxError> {
    let names =
        |all: &Parameters| -> Vec<String> { all.iter().map(|p| p.name().to_string()).collect() };
    let (ours, theirs) = (names(&def.parameters), names(&spec.parameters));
    let used = identifiers(text)?;
    let free = |to: &String| !used.contains(to) && !ours.contains(to);
    let mut text = text.to_owned();
    if ours.len() == theirs.len() {
        for (from, to) in ours.iter().zip(&theirs).filter(|(from, to)| from != to && free(to)) {
            text = rename_local(&text, from, to)?;
        }
    }
    Ok(text)
}

fn replace_header(text: &str, signature: &Signature) -> Result<String, SyntaxError> {
    let module = syntax::parse(text)?;
    let functions = |stmt: &&Stmt| matches!(stmt, Stmt::FunctionDef(_));
    let Some(Stmt::FunctionDef(def)) = module.suite().iter().rfind(functions) else {
        return Ok(text.to_owned());
    };
    let before = &text[..def.name.range.start().to_usize()];
    let keyword = if def.is_async { "async" } else { "def" };
    let start = before.rfind(keyword).unwrap_or(0);
    let after = def.returns.as_ref().map_or(def.parameters.range.end(), |e| e.range().end());
    let colon = colon_behind(text, after.to_usize());
    Ok(format!("{}{}{}", &text[..start], signature.header, &text[colon..]))
}

/// Returns the offset of the header's colon. Only blanks, a closing parenthesis and comments may
/// precede it.
fn colon_behind(text: &str, from: usize) -> usize {
    let mut in_comment = false;
    let colon = text[from..].find(|c: char| {
        in_comment = (in_comment || c == '#') && c != '\n';
        c == ':' && !in_comment
    });
    from + colon.unwrap_or(0)
}
