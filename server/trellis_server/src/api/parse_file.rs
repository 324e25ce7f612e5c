//! `parseFile` and `validateSyntax`: the functions of a file, and the syntax of a text.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_python::Functions;

/// Lists the functions and methods of a Python file; one with syntax errors is read as far as possible.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParseFileParams {
    /// The file.
    pub file_path: PathBuf,
}

/// The functions of a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParsedFile {
    /// As it was given.
    pub file_path: String,
    /// In text order; methods and inner functions, too.
    pub functions: Vec<ParsedFunction>,
    /// Where the text is not valid Python; empty for a valid file.
    pub errors: Vec<SyntaxProblem>,
}

/// A function or method as it is written.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParsedFunction {
    /// Its file, as given.
    pub file_path: String,
    /// Its own name.
    pub name: String,
    /// The unique name path: `/Cart/total`, `/f[1]`.
    pub name_path: String,
    /// From `async` or `def` to before the colon.
    pub signature: String,
    /// Without quotes and indentation; null without a docstring.
    pub docstring: Option<String>,
    /// The lines of its body as written; null inside another function, whose body contains them.
    pub body: Option<String>,
    /// Each with its `@`.
    pub decorators: Vec<String>,
    /// `async def`.
    pub is_async: bool,
    /// A function of a class, properties among them.
    pub is_method: bool,
    /// Inside another function: code outside cannot call it, so no tests can be written for it.
    pub is_nested: bool,
    /// For a method: its class, with the classes around it: `Cart.Line`.
    pub class_name: Option<String>,
    /// The line of its name, from 1.
    pub line: u32,
    /// The column of its name, from 1, in characters.
    pub column: u32,
    /// Its first line, a decorator's if it has any.
    pub first_line: u32,
    /// Its last line.
    pub end_line: u32,
}

/// A place that is not valid Python.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyntaxProblem {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// A fragment of a sentence.
    pub message: String,
}

impl From<trellis_python::SyntaxError> for SyntaxProblem {
    fn from(error: trellis_python::SyntaxError) -> Self {
        SyntaxProblem { line: error.line, column: error.column, message: error.message }
    }
}

/// Returns the functions of a text, saved or not, of the file `file_path`.
pub fn parse_text(file_path: &str, text: &str) -> ParsedFile {
    let all = Functions::of(text);
    let shown = |it: trellis_python::Function| ParsedFunction {
        file_path: file_path.to_owned(),
        is_method: it.is_method(),
        name: it.name,
        name_path: it.name_path,
        signature: it.signature,
        docstring: it.docstring,
        body: (!it.is_nested).then_some(it.body),
        decorators: it.decorators,
        is_async: it.is_async,
        is_nested: it.is_nested,
        class_name: it.class,
        line: it.line,
        column: it.column,
        first_line: it.first_line,
        end_line: it.end_line,
    };
    ParsedFile {
        file_path: file_path.to_owned(),
        functions: all.functions.into_iter().map(shown).collect(),
        errors: all.errors.into_iter().map(SyntaxProblem::from).collect(),
    }
}

/// Checks whether a text is a valid Python module.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ValidateSyntaxParams {
    /// The whole module.
    pub code: String,
}

/// Whether a text is valid Python, and where it is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Validity {
    pub valid: bool,
    /// What is wrong, a fragment of a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Where, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// From 1, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

/// Checks the syntax of a text.
pub fn validate_syntax(params: &ValidateSyntaxParams) -> Validity {
    let error = trellis_python::check(&params.code).err();
    Validity {
        valid: error.is_none(),
        line: error.as_ref().map(|it| it.line),
        column: error.as_ref().map(|it| it.column),
        error: error.map(|it| it.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_text_says_where_and_what_it_holds() {
        let parsed = parse_text("a.py", "def a():\n    return (1\n\n\ndef b():\n    pass\n");
        let names: Vec<&str> = parsed.functions.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(!parsed.errors.is_empty());
        for (code, line, column) in
            [("x = 1\n", None, None), ("x = 1\ny = ä ?\n", Some(2), Some(7)), ("", None, None)]
        {
            let found = validate_syntax(&ValidateSyntaxParams { code: code.to_owned() });
            assert_eq!((found.line, found.column), (line, column), "{code:?}");
            assert_eq!((found.valid, found.error.is_some()), (line.is_none(), line.is_some()));
        }
    }
}
