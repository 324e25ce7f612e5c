//! `generateTests`: tests for one function, and their results.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_engine::write_tests::Style;

use super::keep_tests::GeneratedDraft;
use super::run_limits::TimeLimits;
use trellis_workflows::fault::Fault;
use trellis_workflows::models::ModelArgs;
use trellis_workflows::sandbox::SandboxArgs;
use trellis_workflows::write_tests::{WriteTestsRequest, report};

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

    use super::super::parse_file::parse_text;
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
}
