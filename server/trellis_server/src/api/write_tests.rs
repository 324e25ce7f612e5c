//! `parseFile`, `validateSyntax` and `generateTests`: functions of a file, and tests for one of
//! them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_engine::write_tests::Style;
use trellis_python::Functions;

use super::run_limits::TimeLimits;
use trellis_workflows::fault::Fault;
use trellis_workflows::models::ModelArgs;
use trellis_workflows::sandbox::SandboxArgs;
use trellis_workflows::write_tests::{self, WriteTestsRequest, report};

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

/// The framework of the written tests.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum TestFramework {
    Pytest,
    Unittest,
}

/// The function to test. You can pass a function of `parseFile`: its other fields are ignored.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FunctionRef {
    /// Its file, absolute or below the project's root.
    pub file_path: PathBuf,
    /// Its name, or its name path: `add`, `Cart.total`, `Cart/total`, `f[1]`.
    pub name: String,
    /// Its name path, which wins over the name.
    #[serde(default)]
    pub name_path: Option<String>,
    /// The class of a method, if you only give its own name.
    #[serde(default)]
    pub class_name: Option<String>,
}

impl FunctionRef {
    /// Returns the function's name path.
    pub fn path(&self) -> String {
        match (&self.name_path, &self.class_name) {
            (Some(path), _) => path.clone(),
            (None, Some(class)) => format!("{class}.{}", self.name),
            (None, None) => self.name.clone(),
        }
    }
}

/// Writes tests for one function with a model, runs them, and reports which pass; failing ones are kept, because they
/// may have found a bug.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GenerateTestsParams {
    /// The function.
    pub function: FunctionRef,
    /// The project's root; found from the file if left out.
    #[serde(default)]
    pub project_root: Option<PathBuf>,
    /// Default: the framework that the project's files show.
    #[serde(default)]
    pub framework: Option<TestFramework>,
    /// Folder for generated tests, below the root; default: `tests_dir` in trellis.toml, else `trellis_tests`.
    #[serde(default)]
    pub tests_dir: Option<String>,
    /// Only show what would be written.
    #[serde(default)]
    pub preview: bool,
    /// Also replace generated tests that someone edited.
    #[serde(default)]
    pub replace_edited: bool,
    #[serde(flatten)]
    pub model: ModelArgs,
    #[serde(flatten)]
    pub sandbox: SandboxArgs,
    #[serde(flatten)]
    pub limits: TimeLimits,
}

/// Generated tests and their results.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Generated {
    /// The function: its file below the root, `::`, its name with its classes.
    pub function: String,
    /// The project's root.
    pub root: PathBuf,
    /// The test file, below the root.
    pub path: String,
    /// The whole text of the test file with the new tests.
    pub source: String,
    /// The changes of the test file, as a unified diff.
    pub diff: String,
    /// The function's tests: `test_a`, `TestCart::test_b`; with the path and `::` in front they are ids.
    pub test_names: Vec<String>,
    pub framework: TestFramework,
    /// The model that was prompted.
    pub model: String,
    /// What you should know, as sentences.
    pub warnings: Vec<String>,
    /// How the run of these tests ended: `passed`, `failed`, `collectionError`, `timedOut`, …
    pub outcome: String,
    /// Why, if the outcome alone does not say it.
    pub reason: Option<String>,
    /// The result of each test.
    pub tests: Vec<GeneratedTest>,
    /// What prevented their collection.
    pub errors: Vec<TestFailure>,
    /// Whether anything was written.
    pub written: bool,
    /// The settings file whose `testpaths` leave the test file out, so that plain `pytest` does not run it;
    /// `addTestPath` adds its folder.
    pub left_out_by: Option<String>,
    /// What `keepTests` needs to write the tests of a preview.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft: Option<GeneratedDraft>,
}

/// What is needed to write previewed tests.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GeneratedDraft {
    /// SHA-256 of the test file's text before; of the empty text for a new file.
    pub base_hash: String,
    /// SHA-256 of the text of each generated definition, by name.
    pub items: BTreeMap<String, String>,
    /// Other files that are written if they are missing: text by path, relative to the root.
    pub support: BTreeMap<String, String>,
    /// How the run of the tests ended.
    pub outcome: String,
}

/// Writes the tests of a preview, if the test file is as the preview found it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeepTestsParams {
    /// The project: `root` of the preview.
    pub root: PathBuf,
    /// As in the preview.
    pub function: String,
    /// The test file, relative to the root.
    pub path: String,
    /// The whole text of the test file, as in the preview.
    pub source: String,
    /// As in the preview.
    pub test_names: Vec<String>,
    /// As in the preview.
    pub draft: GeneratedDraft,
}

/// What was written.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeptTests {
    /// What you should know, as sentences.
    pub warnings: Vec<String>,
    /// The settings file whose `testpaths` leave the test file out; `addTestPath` adds its folder.
    pub left_out_by: Option<String>,
}

/// The result of one test.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GeneratedTest {
    /// As pytest names it.
    pub id: String,
    /// `passed`, `failed`, `error`, `skipped`, …
    pub outcome: String,
    pub duration_ms: u64,
    /// The line of its `def` in the test file, from 1.
    pub line: Option<u32>,
    pub failure: Option<TestFailure>,
}

/// Adds the folder of a test file to `testpaths` in the project's settings, so that plain `pytest` runs it.
/// `undoEdit` reverts it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddTestPathParams {
    /// The project; default: the first folder of the workspace.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// The test file, relative to the root.
    pub path: String,
}

/// What was added.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddedTestPath {
    /// The settings file, relative to the root.
    pub file: String,
    /// What was added to its `testpaths`; null if they already contain the test file.
    pub folder: Option<String>,
    /// Number of the edit; null if nothing was written.
    pub edit: Option<u64>,
}

/// What failed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestFailure {
    /// The exception's class.
    pub exception: String,
    /// Its text: for an assertion, what was expected and found.
    pub message: String,
    /// The place, relative to the root.
    pub path: Option<String>,
    /// From 1.
    pub line: Option<u32>,
    /// As shown by pytest.
    pub traceback: String,
}

impl From<report::WriteTestsReport> for Generated {
    fn from(it: report::WriteTestsReport) -> Generated {
        Generated {
            function: it.function,
            root: it.root,
            path: it.path,
            source: it.source,
            diff: it.diff,
            test_names: it.test_names,
            framework: it.framework.into(),
            model: it.model,
            warnings: it.warnings,
            outcome: it.outcome,
            reason: it.reason,
            tests: it.tests.into_iter().map(Into::into).collect(),
            errors: it.errors.into_iter().map(Into::into).collect(),
            written: it.written,
            left_out_by: it.left_out_by,
            draft: it.draft.map(Into::into),
        }
    }
}

impl From<write_tests::TestDraft> for GeneratedDraft {
    fn from(it: write_tests::TestDraft) -> GeneratedDraft {
        GeneratedDraft {
            base_hash: it.base_hash,
            items: it.items,
            support: it.support,
            outcome: it.outcome,
        }
    }
}

impl From<KeepTestsParams> for write_tests::KeepRequest {
    fn from(it: KeepTestsParams) -> write_tests::KeepRequest {
        let GeneratedDraft { base_hash, items, support, outcome } = it.draft;
        write_tests::KeepRequest {
            root: it.root,
            function: it.function,
            path: it.path,
            source: it.source,
            test_names: it.test_names,
            draft: write_tests::TestDraft { base_hash, items, support, outcome },
        }
    }
}

impl From<write_tests::KeptTests> for KeptTests {
    fn from(it: write_tests::KeptTests) -> KeptTests {
        KeptTests { warnings: it.warnings, left_out_by: it.left_out_by }
    }
}

impl From<report::TestReport> for GeneratedTest {
    fn from(it: report::TestReport) -> GeneratedTest {
        GeneratedTest {
            id: it.id,
            outcome: it.outcome,
            duration_ms: it.duration_ms,
            line: it.line,
            failure: it.failure.map(Into::into),
        }
    }
}

impl From<report::FailureReport> for TestFailure {
    fn from(it: report::FailureReport) -> TestFailure {
        TestFailure {
            exception: it.exception,
            message: it.message,
            path: it.path,
            line: it.line,
            traceback: it.traceback,
        }
    }
}

impl From<report::AddedTestPath> for AddedTestPath {
    fn from(it: report::AddedTestPath) -> AddedTestPath {
        AddedTestPath { file: it.file, folder: it.folder, edit: it.edit }
    }
}

impl From<TestFramework> for Style {
    fn from(it: TestFramework) -> Style {
        match it {
            TestFramework::Pytest => Style::Pytest,
            TestFramework::Unittest => Style::Unittest,
        }
    }
}

impl From<Style> for TestFramework {
    fn from(it: Style) -> TestFramework {
        match it {
            Style::Pytest => TestFramework::Pytest,
            Style::Unittest => TestFramework::Unittest,
        }
    }
}

impl TryFrom<GenerateTestsParams> for WriteTestsRequest {
    type Error = Fault;

    fn try_from(params: GenerateTestsParams) -> Result<WriteTestsRequest, Fault> {
        Ok(WriteTestsRequest {
            name: params.function.path(),
            file: params.function.file_path,
            root: params.project_root,
            framework: params.framework.map(Into::into),
            tests_dir: params.tests_dir,
            preview: params.preview,
            replace_edited: params.replace_edited,
            model: params.model,
            sandbox: params.sandbox,
            test_timeout: params.limits.of_test()?,
            run_timeout: params.limits.of_run()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn functions_are_reported_with_all_their_facts_and_mean_themselves() {
        let text = "class Cart:\n    @property\n    async def total(self) -> int:\n        '''All.'''\n        return 1\n";
        let parsed = serde_json::to_value(parse_text("shop/cart.py", text)).expect("JSON");
        let function = json!({
            "filePath": "shop/cart.py", "name": "total", "namePath": "/Cart/total",
            "signature": "async def total(self) -> int", "docstring": "All.",
            "body": "        '''All.'''\n        return 1", "decorators": ["@property"],
            "isAsync": true, "isMethod": true, "isNested": false, "className": "Cart",
            "line": 3, "column": 15, "firstLine": 2, "endLine": 5,
        });
        let expected = json!({"filePath": "shop/cart.py", "functions": [function], "errors": []});
        assert_eq!(parsed, expected);
        let asked = json!({"function": function, "projectRoot": "/p", "framework": "unittest"});
        let asked: GenerateTestsParams = serde_json::from_value(asked).expect("parameters");
        assert_eq!(asked.function.path(), "/Cart/total");
        assert_eq!(asked.framework, Some(TestFramework::Unittest));
        for (function, path) in [
            (json!({"filePath": "a.py", "name": "f"}), "f"),
            (json!({"filePath": "a.py", "name": "f", "className": "A"}), "A.f"),
        ] {
            let function: FunctionRef = serde_json::from_value(function).expect("a function");
            assert_eq!(function.path(), path);
        }
    }

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
