//! `findTests`: finds a project's tests in its sources.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_project::project;
use trellis_project::test_finder::{
    Found, ModuleCache, OtherFramework, OutlineSearch, Rules, Search, TestFile,
};
use trellis_python::CollectedTest;
use trellis_sandbox::frameworks::detect;
use trellis_workflows::fault::Fault;
use trellis_workflows::write_tests::registry;

use super::run_tests::Tool;

/// Finds the tests of a project in its sources, unsaved texts included. Nothing is executed, so tests that only a
/// run knows, such as cases made by a plugin, are missing. Tests of Python, jest, vitest and Go.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindTestsParams {
    /// The folder; default: the first folder of the workspace. The project is the one that contains it.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Files and folders to search, relative to the root; default: all of it.
    #[serde(default)]
    pub paths: Vec<String>,
    /// The framework whose rules apply; by default pytest's, as it runs the tests of unittest too.
    #[serde(default)]
    pub framework: Option<Tool>,
}

/// The tests of a project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundTests {
    /// The folder of the project.
    pub root: String,
    /// The requested framework, else that of the project.
    pub framework: Tool,
    /// By path. Files without tests are left out; one of which only a run knows the tests has none here.
    pub files: Vec<FoundTestFile>,
    /// Files that are not valid Python, by path. Their tests are unknown.
    pub invalid: Vec<String>,
}

/// A file with tests.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundTestFile {
    /// Relative to the project; the folder for tests of Go, whose ids name it.
    pub path: String,
    /// By line, each group before its tests; those from other files come last.
    pub tests: Vec<FoundTest>,
}

/// A test, or a group of tests.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundTest {
    /// The id after the path: `TestCart::test_total`. The cases of a parametrized test are not listed.
    pub name: String,
    /// Whether it is a class, or a group of jest or vitest.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_group: bool,
    /// Whether a decorator makes several cases of it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub has_cases: bool,
    /// The file that defines it, relative to the project, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line of its name, from 1.
    pub line: u32,
    /// The last line of the definition.
    pub end_line: u32,
}

/// Finds tests.
///
/// `with_results`: returns the files of a project with known results, which run with all others.
/// `open_text`: returns the text of a file that an editor holds.
pub fn find_tests(
    params: &FindTestsParams,
    with_results: &dyn Fn(&Path) -> Vec<String>,
    open_text: &(dyn Fn(&Path) -> Option<Arc<str>> + Sync),
    cache: &ModuleCache,
) -> Result<FoundTests, Fault> {
    let folder = params.root.clone().unwrap_or_default();
    let named: Vec<String> = match params.paths.as_slice() {
        [] => vec![folder.to_string_lossy().into_owned()],
        all => all.iter().map(|it| folder.join(it).to_string_lossy().into_owned()).collect(),
    };
    let root = project::of(&[folder.to_string_lossy().into_owned()])?.root;
    let within = within(&root, &named);
    let mut also = registry::test_files(&root);
    also.extend(with_results(&root));
    let (root_of, also, within) = (root.as_path(), also.as_slice(), within.as_slice());
    let tool = tool(params, root_of);
    let found = match SearchKind::of(tool, params) {
        SearchKind::Python(rules) => {
            Search { root: root_of, rules, also, within, open_text }.run(cache)
        }
        SearchKind::Other(framework) => {
            OutlineSearch { root: root_of, framework, also, within, open_text }.run()
        }
    };
    let Found { files, invalid } = found;
    let files = files.into_iter().map(file).collect();
    Ok(FoundTests { root: root_of.to_string_lossy().into_owned(), framework: tool, files, invalid })
}

/// Returns the named paths relative to the root; none for all of it. A path may be gone.
fn within(root: &Path, named: &[String]) -> Vec<String> {
    let relative = |it: &String| {
        let real = Path::new(it).canonicalize().unwrap_or_else(|_| PathBuf::from(it));
        Some(real.strip_prefix(root).ok()?.to_string_lossy().into_owned())
    };
    let all: Vec<String> = named.iter().filter_map(relative).collect();
    if all.iter().any(String::is_empty) { Vec::new() } else { all }
}

/// Rules of a search.
enum SearchKind {
    Python(Rules),
    Other(OtherFramework),
}

impl SearchKind {
    /// Returns the rules of a framework. pytest runs the tests of unittest too, so that its rules
    /// hold unless unittest is requested.
    fn of(tool: Tool, params: &FindTestsParams) -> SearchKind {
        match tool {
            Tool::Jest | Tool::Vitest => SearchKind::Other(OtherFramework::JavaScript),
            Tool::Go => SearchKind::Other(OtherFramework::Go),
            Tool::Unittest if params.framework.is_some() => SearchKind::Python(Rules::Unittest),
            Tool::Pytest | Tool::Unittest => SearchKind::Python(Rules::Pytest),
        }
    }
}

/// Returns the requested framework, else the detected one, else pytest.
fn tool(params: &FindTestsParams, root: &Path) -> Tool {
    let detected = || detect(root).map(|it| it.framework.into());
    params.framework.or_else(detected).unwrap_or(Tool::Pytest)
}

fn file(file: TestFile) -> FoundTestFile {
    let TestFile { path, tests } = file;
    let tests = tests.into_iter().map(|it| test(&path, it)).collect();
    FoundTestFile { path, tests }
}

fn test(file: &str, test: CollectedTest) -> FoundTest {
    let CollectedTest { name, is_class, has_cases, path, lines } = test;
    let path = (path != file).then_some(path);
    FoundTest { name, is_group: is_class, has_cases, path, line: lines.first, end_line: lines.last }
}
