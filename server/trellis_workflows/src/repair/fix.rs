//! Requests a fix from a model: new texts of files, from one reply or from work with tools on a
//! copy.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use trellis_engine::repair::{RepairFacts, explanation, repaired, replaces_definitions};
use trellis_engine::{Complaint, EditableFiles as _, EditedFiles, ModelRequest, Reply};

use super::code_graph::CodeGraph;
use super::project_files::ProjectFiles;
use crate::convert;
use crate::fault::Fault;
use crate::llm_session::LlmSession;
use crate::tools::{Limits, ToolSet};

/// Result of a request for a fix.
pub(super) enum Fix {
    Change(FileChange),
    Unusable(Complaint),
    /// No further reply will come.
    Nothing(String),
}

/// A change of files, as one fix makes it.
#[derive(Clone, Debug, Default)]
pub(super) struct FileChange {
    /// New texts by path.
    pub(super) texts: BTreeMap<String, String>,
    /// The model's words about the change.
    pub(super) explanation: Option<String>,
    /// The texts have definitions that replace those of the request.
    pub(super) replaces_definitions: bool,
}

/// A request for a fix.
pub(super) struct FixRequest<'a> {
    pub(super) ask: &'a ModelRequest,
    pub(super) repair: &'a RepairFacts,
    pub(super) files: &'a ProjectFiles<'a>,
    pub(super) cancel: &'a CancellationToken,
}

impl FixRequest<'_> {
    /// Requests a fix as a single reply.
    pub(super) async fn via_reply(&self, session: &mut LlmSession) -> Result<Fix, Fault> {
        let reply = session.complete(self.group(), self.ask, self.cancel).await?;
        Ok(read(reply, self.repair, self.files))
    }

    /// Requests a fix through tools on a copy of the sources, with a search over the graph of their
    /// functions.
    pub(super) async fn via_tools(
        &self,
        session: &mut LlmSession,
        code_graph: &Arc<CodeGraph>,
    ) -> Result<Fix, Fault> {
        let mut toolbox = self.toolbox(code_graph);
        let reply = session.run_agent(self.group(), self.ask, &mut toolbox, self.cancel).await?;
        if let Some(gone) = toolbox.changes().iter().find(|it| it.1.is_none()) {
            let why = format!("a repair cannot delete files; leave {} there", gone.0);
            return Ok(Fix::Unusable(why.into()));
        }
        Ok(read(reply, self.repair, self.files))
    }

    /// Creates tools on a copy of the files that the failures concern.
    fn toolbox(&self, code_graph: &Arc<CodeGraph>) -> ToolSet {
        let evidence = &self.files.found.evidence.files;
        let text = |path: &String| Some((path.clone(), self.files.text(path)?.into()));
        let before: convert::Files = evidence.iter().filter_map(|it| text(&it.path)).collect();
        let of_kind = |is_test: bool| -> BTreeSet<String> {
            evidence.iter().filter(|it| it.is_test == is_test).map(|it| it.path.clone()).collect()
        };
        let (tests, code) = (of_kind(true), of_kind(false));
        let searched = code.clone();
        let fence = move |path: &str| match path {
            _ if code.contains(path) => None,
            _ if tests.contains(path) => Some("tests say what is wanted, and are read-only"),
            _ => Some("a repair changes files of the code that are there, and no others"),
        };
        ToolSet::new(&before, fence, Limits::default())
            .with_suspects(self.repair.suspects.clone())
            .with_plan(code_graph.search(move |path| searched.contains(path)))
    }

    fn group(&self) -> &str {
        self.repair.tests.first().map_or("", String::as_str)
    }
}

fn read(reply: Reply, repair: &RepairFacts, files: &ProjectFiles<'_>) -> Fix {
    match reply {
        Reply::Text(text) => {
            let change = |texts| FileChange {
                texts,
                explanation: explanation(&text),
                replaces_definitions: replaces_definitions(&text),
            };
            let texts = repaired(&text, &repair.suspects, files);
            texts.map_or_else(Fix::Unusable, |it| Fix::Change(change(it)))
        }
        Reply::Edited(edit) => edited(edit, files),
        Reply::Failed { reason } => Fix::Nothing(reason),
        Reply::Unusable { why } => Fix::Unusable(why.into()),
    }
}

/// Returns the texts that tools edited, unless one of the files was changed by someone else since
/// `before`.
fn edited(edit: EditedFiles, files: &ProjectFiles<'_>) -> Fix {
    let EditedFiles { files: texts, before } = edit;
    if texts.is_empty() {
        return Fix::Unusable("it changes nothing".into());
    }
    match texts.keys().find(|path| files.text(path).as_ref() != before.get(*path)) {
        Some(path) => Fix::Unusable(format!("someone else changed {path} in the meantime").into()),
        None => Fix::Change(FileChange { texts, ..FileChange::default() }),
    }
}
