//! What all methods share.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_llm::Editor;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::edits;
use crate::error::Fault;
use crate::event_bus::EventBus;
use crate::jobs::Jobs;
use crate::project;
use crate::results::Results;
use crate::sandbox::WarmSandboxes;
use crate::session::{GeneratedProjects, QueryPool, SessionHandle, TestRegistryCache};

/// Calls that may wait for long work.
const WAITING_AT_MOST: usize = 256;
/// How long work may take to end once it was stopped.
const LAST_PATIENCE: Duration = Duration::from_secs(10);

/// What a client may set: with `initializationOptions`, and later as the section `trellis` of
/// `workspace/didChangeConfiguration`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Settings {
    /// Whether the user trusts the folders; in others nothing is executed.
    pub(crate) trusted: bool,
    /// Whether definitions, references and renames are answered: `auto` leaves them to another language server
    /// of the editor where the client says that there is one.
    pub(crate) language_features: LanguageFeatures,
    /// Whether another server for Python serves the editor.
    pub(crate) other_language_server: bool,
    /// Whether functions have lenses.
    pub(crate) code_lenses: bool,
    /// Whether runs that stopped in mid-way are offered for going on when the client starts.
    pub(crate) offer_resume: bool,
}

/// When definitions, references and renames are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum LanguageFeatures {
    #[default]
    Auto,
    On,
    Off,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            trusted: true,
            language_features: LanguageFeatures::Auto,
            other_language_server: false,
            code_lenses: true,
            offer_resume: true,
        }
    }
}

impl Settings {
    /// Whether definitions, references and renames are answered.
    pub(crate) fn answers_symbols(&self) -> bool {
        match self.language_features {
            LanguageFeatures::On => true,
            LanguageFeatures::Off => false,
            LanguageFeatures::Auto => !self.other_language_server,
        }
    }
}

/// What all methods share.
pub(crate) struct Context {
    pub(crate) owner: SessionHandle,
    pub(crate) asker: QueryPool,
    pub(crate) events: EventBus,
    pub(crate) jobs: Jobs,
    /// What tests came to.
    pub(crate) results: Results,
    /// Grown repositories that were asked for.
    pub(crate) grounds: GeneratedProjects,
    /// Registries of generated tests that were asked for.
    pub(crate) tested: TestRegistryCache,
    /// The models of the editor, where there is one.
    pub(crate) editor: Option<Arc<dyn Editor>>,
    /// Open between runs of tests.
    pub(crate) sandboxes: WarmSandboxes,
    settings: RwLock<Settings>,
    /// Calls that wait for the end of long work.
    waiting: Semaphore,
}

impl Context {
    pub(crate) fn new(owner: SessionHandle, editor: Option<Arc<dyn Editor>>) -> Context {
        let events = EventBus::default();
        Context {
            asker: QueryPool::new(owner.clone()),
            owner,
            jobs: Jobs::new(events.clone()),
            results: Results::default(),
            grounds: GeneratedProjects::default(),
            tested: TestRegistryCache::default(),
            events,
            editor,
            sandboxes: WarmSandboxes::default(),
            settings: RwLock::default(),
            waiting: Semaphore::new(WAITING_AT_MOST),
        }
    }

    /// With a state of its own, for who is no editor; the folders have no symbolic links on the way.
    pub(crate) fn of_folders(folders: Vec<PathBuf>) -> Result<Arc<Context>, Fault> {
        let owner = crate::session::start();
        let owner = owner.map_err(|e| Fault::internal(format!("cannot start: {e}")))?;
        owner.folders(folders, Vec::new());
        Ok(Arc::new(Context::new(owner, None)))
    }

    pub(crate) fn settings(&self) -> Settings {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, settings: Settings) {
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    /// Stops all work and waits until what was accepted is safe.
    pub(crate) async fn end(&self) {
        self.jobs.cancel_all();
        if tokio::time::timeout(LAST_PATIENCE, self.jobs.all_ended()).await.is_err() {
            tracing::warn!("a job did not end in time; accepted code is kept");
        }
        self.sandboxes.close().await;
    }

    /// Leave to wait for long work. There is a bound: the stream that brings the answers of the client's own models must
    /// never be full of those who wait for them.
    pub(crate) fn wait_for_work(&self) -> Result<SemaphorePermit<'_>, Fault> {
        self.waiting.try_acquire().map_err(|_| {
            Fault::unavailable(format!("{WAITING_AT_MOST} calls already wait for long jobs"))
                .kind("busy")
                .hint("use `background`; a `trellis/event` reports the end")
        })
    }

    /// Refuses to execute anything where the user does not trust the folder.
    pub(crate) fn may_run(&self) -> Result<(), Fault> {
        if self.settings().trusted {
            return Ok(());
        }
        Err(Fault::input("the workspace is not trusted: Trellis runs nothing in it")
            .kind("untrusted")
            .hint("trust the workspace in the editor, then try again"))
    }

    /// Takes back what a crash left half done in the projects of the workspace; nothing is touched in folders that the
    /// user does not trust.
    pub(crate) async fn settle_edits(&self) {
        if !self.settings().trusted {
            return;
        }
        for folder in self.folders().await {
            let settle = move || edits::recover(&project::root_of(&folder)?);
            if let Ok(Err(fault)) = tokio::task::spawn_blocking(settle).await {
                tracing::warn!("{fault}");
            }
        }
    }

    /// Files below a folder that the client has open with another text than the disk has.
    pub(crate) async fn unsaved(&self, root: &Path) -> Vec<String> {
        let root = root.to_owned();
        let asking = self.asker.ask(move |view| view.unsaved(&root));
        // Nothing is open where nobody answers.
        asking.await.unwrap_or_default()
    }

    /// The folders of the workspace; the current one where there is none.
    pub(crate) async fn folders(&self) -> Vec<PathBuf> {
        let folders = self.owner.roots().await.unwrap_or_default();
        if folders.is_empty() { vec![PathBuf::from(".")] } else { folders }
    }

    /// The folder that work is about: the one given, else the first of the workspace, else the current one.
    /// What is given may be relative to that.
    pub(crate) async fn root(&self, given: Option<&Path>) -> PathBuf {
        let first = self.folders().await.swap_remove(0);
        given.map_or(first.clone(), |given| first.join(given))
    }
}
