//! State shared by all methods.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_llm::Editor;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::event_bus::EventBus;
use crate::jobs::Jobs;
use crate::results::Results;
use crate::session::{
    GeneratedProjects, QueryPool, SessionHandle, TestRegistryCache, TestWordsCache,
};
use trellis_project::edits;
use trellis_project::project;
use trellis_workflows::affected_tests::AffectedTests;
use trellis_workflows::fault::{Fault, FaultKind};
use trellis_workflows::sandbox::WarmSandboxes;

/// Maximum number of calls that wait for long work.
const WAITING_AT_MOST: usize = 256;
/// Timeout for stopped work to end.
const LAST_PATIENCE: Duration = Duration::from_secs(10);

/// What a client may set: with `initializationOptions`, and later as the section `trellis` of
/// `workspace/didChangeConfiguration`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// Whether the user trusts the folders; in others nothing is executed.
    pub trusted: bool,
    /// Whether definitions, references and renames are answered: `auto` leaves them to another language server
    /// of the editor where the client says that there is one.
    pub language_features: LanguageFeatures,
    /// Whether another server for Python serves the editor.
    pub other_language_server: bool,
    /// Whether functions have lenses.
    pub code_lenses: bool,
    /// Whether tests of JavaScript, TypeScript and Go have lenses too.
    pub test_lenses: bool,
    /// Whether runs that stopped in mid-way are offered for going on when the client starts.
    pub offer_resume: bool,
}

/// When definitions, references and renames are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LanguageFeatures {
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
            test_lenses: true,
            offer_resume: true,
        }
    }
}

impl Settings {
    /// Returns whether tests of other languages than Python have lenses.
    pub fn outlines_tests(&self) -> bool {
        self.code_lenses && self.test_lenses
    }

    /// Returns whether definitions, references and renames are answered.
    pub fn answers_symbols(&self) -> bool {
        match self.language_features {
            LanguageFeatures::On => true,
            LanguageFeatures::Off => false,
            LanguageFeatures::Auto => !self.other_language_server,
        }
    }
}

/// State shared by all methods.
pub struct Context {
    pub owner: SessionHandle,
    pub asker: QueryPool,
    pub events: EventBus,
    pub jobs: Jobs,
    /// Last test results.
    pub results: Results,
    /// What tests executed when they ran last.
    pub affected: AffectedTests,
    /// Generated projects, loaded on demand.
    pub grounds: GeneratedProjects,
    /// Registries of generated tests, loaded on demand.
    pub tested: TestRegistryCache,
    /// Words of test files, read on demand.
    pub test_words: TestWordsCache,
    /// The editor's models, if any.
    pub editor: Option<Arc<dyn Editor>>,
    /// Sandboxes kept open between test runs.
    pub sandboxes: WarmSandboxes,
    settings: RwLock<Settings>,
    /// Permits for calls that wait for long work.
    waiting: Semaphore,
}

impl Context {
    pub fn new(owner: SessionHandle, editor: Option<Arc<dyn Editor>>) -> Context {
        let events = EventBus::default();
        Context {
            asker: QueryPool::new(owner.clone()),
            owner,
            jobs: Jobs::new(events.clone()),
            results: Results::default(),
            affected: AffectedTests::default(),
            grounds: GeneratedProjects::default(),
            tested: TestRegistryCache::default(),
            test_words: TestWordsCache::default(),
            events,
            editor,
            sandboxes: WarmSandboxes::default(),
            settings: RwLock::default(),
            waiting: Semaphore::new(WAITING_AT_MOST),
        }
    }

    /// Creates a context with a session of its own, for servers without an editor. The folders are
    /// real paths without symbolic links.
    pub fn of_folders(folders: Vec<PathBuf>) -> Result<Arc<Context>, Fault> {
        let owner = crate::session::start();
        let owner = owner.map_err(|e| Fault::internal(format!("cannot start: {e}")))?;
        owner.folders(folders, Vec::new());
        Ok(Arc::new(Context::new(owner, None)))
    }

    pub fn settings(&self) -> Settings {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set(&self, settings: Settings) {
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    /// Stops all work and waits until accepted results are saved.
    pub async fn end(&self) {
        self.jobs.cancel_all();
        if tokio::time::timeout(LAST_PATIENCE, self.jobs.all_ended()).await.is_err() {
            tracing::warn!("a job did not end in time; accepted code is kept");
        }
        self.sandboxes.close().await;
    }

    /// Returns a permit to wait for long work. Permits are limited: the stream that carries replies
    /// of the client's own models must never be blocked by waiting calls.
    pub fn wait_for_work(&self) -> Result<SemaphorePermit<'_>, Fault> {
        self.waiting.try_acquire().map_err(|_| {
            Fault::unavailable(format!("{WAITING_AT_MOST} calls already wait for long jobs"))
                .kind(FaultKind::Busy)
                .hint("use `background`; a `trellis/event` reports the end")
        })
    }

    /// Refuses to execute anything if the user does not trust the workspace.
    pub fn may_run(&self) -> Result<(), Fault> {
        if self.settings().trusted {
            return Ok(());
        }
        Err(Fault::input("the workspace is not trusted: Trellis runs nothing in it")
            .kind(FaultKind::Untrusted)
            .hint("trust the workspace in the editor, then try again"))
    }

    /// Rolls back interrupted edits in the projects of the workspace; folders that the user does
    /// not trust stay untouched.
    pub async fn settle_edits(&self) {
        if !self.settings().trusted {
            return;
        }
        for folder in self.folders().await {
            let settle =
                move || -> Result<(), Fault> { Ok(edits::recover(&project::root_of(&folder)?)?) };
            if let Ok(Err(fault)) = tokio::task::spawn_blocking(settle).await {
                tracing::warn!("{fault}");
            }
        }
    }

    /// Returns files below a folder that the client has open with a text that differs from the
    /// disk.
    pub async fn unsaved(&self, root: &Path) -> Vec<String> {
        let root = root.to_owned();
        let asking = self.asker.ask(move |view| view.unsaved(&root));
        // Without a session owner no documents are open.
        asking.await.unwrap_or_default()
    }

    /// Returns the folders of the workspace, or the current folder if there are none.
    pub async fn folders(&self) -> Vec<PathBuf> {
        let folders = self.owner.roots().await.unwrap_or_default();
        if folders.is_empty() { vec![PathBuf::from(".")] } else { folders }
    }

    /// Returns the folder for a request: `given` relative to the first folder of the workspace, or
    /// that first folder.
    pub async fn root(&self, given: Option<&Path>) -> PathBuf {
        let first = self.folders().await.swap_remove(0);
        given.map_or(first.clone(), |given| first.join(given))
    }
}
