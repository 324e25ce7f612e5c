//! Results saved by other processes: other windows and the command line.

use std::collections::BTreeMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::inotify;

use super::Results;
use super::tests::{LastResult, State};
use crate::event_bus::{Event, ForeignTest};

/// Bytes of kernel events read at once.
const BUFFER: usize = 4096;

/// Test results of a project from another process.
pub struct OtherProcesses {
    pub root: PathBuf,
    /// Results by test id.
    tests: BTreeMap<String, LastResult>,
}

impl Results {
    /// Merges results that other processes save for known projects, and passes them to `tell`. Runs
    /// on a thread of its own until the process ends.
    pub fn follow(&self, tell: impl Fn(OtherProcesses) + Send + 'static) {
        let Some(store) = self.0.store.clone() else { return };
        let watching = store.create().and_then(|folder| {
            let inotify = inotify::init(inotify::CreateFlags::CLOEXEC)?;
            inotify::add_watch(&inotify, folder, inotify::WatchFlags::MOVED_TO)?;
            Ok(inotify)
        });
        let results = self.clone();
        let begun = watching.and_then(|inotify| {
            let follow = move || results.hear(inotify, &tell);
            std::thread::Builder::new().name("results".to_owned()).spawn(follow)
        });
        if let Err(why) = begun {
            tracing::warn!("test runs of other windows are not shown: {why}");
        }
    }

    fn hear(&self, inotify: OwnedFd, tell: &dyn Fn(OtherProcesses)) {
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut reader = inotify::Reader::new(inotify, &mut buffer);
        loop {
            let name = match reader.next() {
                Ok(event) => event.file_name().map(|it| it.to_string_lossy().into_owned()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => None,
                Err(_) => return,
            };
            if let Some(elsewhere) = name.and_then(|it| self.took(&it)) {
                tell(elsewhere);
            }
        }
    }

    /// Merges a changed file and returns its new results; `None` for projects of no interest.
    fn took(&self, name: &str) -> Option<OtherProcesses> {
        let store = self.0.store.as_ref()?;
        let project = store.read(&store.folder().join(name))?;
        let all = self.all();
        if !all.projects.contains_key(&project.0) && !all.is_near(&project.0) {
            return None;
        }
        drop(all);
        let (root, changed) = self.join(project);
        let all = self.all();
        let known = &all.projects.get(&root)?.known;
        let tests =
            changed.into_iter().filter_map(|id| Some((id.clone(), known.get(&id)?.clone())));
        let tests: BTreeMap<_, _> = tests.collect();
        (!tests.is_empty()).then_some(OtherProcesses { root, tests })
    }
}

impl OtherProcesses {
    /// Converts the results to an event for clients.
    pub fn event(self) -> Event {
        let test = |(id, it): (String, LastResult)| ForeignTest {
            id,
            outcome: it.state.as_str().to_owned(),
            text_of: it.text_of,
            message: it.failed.as_ref().map(|it| it.message.clone()),
            failed_path: it.failed.as_ref().map(|it| it.at.path.clone()),
            failed_line: it.failed.as_ref().map(|it| it.at.line),
        };
        Event::Results {
            root: self.root.to_string_lossy().into_owned(),
            tests: self.tests.into_iter().map(test).collect(),
        }
    }
}

impl State {
    /// Returns the state's name, as in test outcomes.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            State::Passed => "passed",
            State::Failed => "failed",
            State::SetAside => "skipped",
        }
    }
}
