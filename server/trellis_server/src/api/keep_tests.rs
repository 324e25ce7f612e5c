//! `keepTests` and `addTestPath`: writes previewed tests, and lets plain `pytest` run them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_workflows::write_tests::{self, report};

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

impl From<report::AddedTestPath> for AddedTestPath {
    fn from(it: report::AddedTestPath) -> AddedTestPath {
        AddedTestPath { file: it.file, folder: it.folder, edit: it.edit }
    }
}
