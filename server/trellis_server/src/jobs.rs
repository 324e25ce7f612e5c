//! Long work of the sidecar. Each job has an id under which it is watched, paused, cancelled and
//! asked for its result.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;

use crate::event_bus::{Event, EventBus, JobState, Level};
use trellis_store::journal;
use trellis_workflows::convert;
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::job_control::{self, JobControl};
use trellis_workflows::reporter::{Progress, Reporter};

/// Number of ended jobs whose results are kept.
const KEPT: usize = 100;

/// All jobs of this process. Clones share one state.
#[derive(Clone)]
pub struct Jobs {
    all: Arc<Mutex<JobTable>>,
    events: EventBus,
}

#[derive(Default)]
struct JobTable {
    last: u64,
    jobs: BTreeMap<u64, Job>,
}

struct Job {
    method: &'static str,
    title: String,
    started: Timestamp,
    handle: job_control::JobHandle,
    state: watch::Sender<JobState>,
    progress: Option<JobProgress>,
    end: Option<Result<Value, Arc<Fault>>>,
}

/// One job.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobInfo {
    /// Its id, such as `job-1`.
    pub job: String,
    /// The method that started it, without `trellis/`.
    pub method: String,
    /// A short description.
    pub title: String,
    pub state: JobState,
    /// RFC 3339.
    pub started_at: String,
    /// Null if the work has no steps to count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<JobProgress>,
    /// The result, when it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<JobError>,
}

/// The progress of a job.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobProgress {
    pub done: usize,
    pub total: usize,
    /// Estimated seconds until the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eta_seconds: Option<u64>,
}

/// Why a job failed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobError {
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The exit code of the command line for this error.
    pub exit_code: u8,
}

/// Input of the work.
pub struct JobContext {
    pub control: JobControl,
    /// Printer that sends notes and progress to the clients.
    pub reporter: Reporter,
}

impl JobInfo {
    /// Returns the event with the state of the job.
    fn event(self) -> Event {
        let JobInfo { job, method, title, state, error, .. } = self;
        let (error, hint) = error.map_or((None, None), |it| (Some(it.message), it.hint));
        Event::Job { job, method, title, state, error, hint }
    }
}

impl Jobs {
    pub fn new(events: EventBus) -> Jobs {
        Jobs { all: Arc::default(), events }
    }

    fn all(&self) -> MutexGuard<'_, JobTable> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts work that continues after its requester is gone.
    pub fn start<W, F>(&self, method: &'static str, title: String, work: W) -> String
    where
        W: FnOnce(JobContext) -> F,
        F: Future<Output = Result<Value, Fault>> + Send + 'static,
    {
        let (control, handle) = JobControl::new();
        let mut all = self.all();
        all.last += 1;
        let number = all.last;
        let (state, _) = watch::channel(JobState::Running);
        let (started, progress, end) = (Timestamp::now(), None, None);
        all.jobs.insert(number, Job { method, title, started, handle, state, progress, end });
        all.forget();
        drop(all);
        tracing::info!(job = name(number), method, "a job started");
        self.publish(number);
        let reporter = self.reporter(number);
        let work = work(JobContext { control, reporter });
        let jobs = self.clone();
        // A panic in the work ends the job, not the process.
        let work = tokio::spawn(work);
        tokio::spawn(async move {
            let end = work.await.unwrap_or_else(|error| {
                tracing::error!("{} crashed: {error}", name(number));
                Err(Fault::internal(format!("the job crashed: {error}"))
                    .hint("please report this with the server's log"))
            });
            jobs.ended(number, end);
        });
        name(number)
    }

    fn ended(&self, number: u64, end: Result<Value, Fault>) {
        let state = match &end {
            Ok(_) => JobState::Done,
            Err(fault) if fault.exit == Exit::Interrupted => JobState::Cancelled,
            Err(_) => JobState::Failed,
        };
        let mut all = self.all();
        let Some(job) = all.jobs.get_mut(&number) else { return };
        tracing::info!(job = name(number), method = job.method, ?state, "a job ended");
        job.end = Some(end.map_err(Arc::new));
        // Published before anybody who waits for the end can close the connections of clients.
        self.events.publish(&JobInfo { state, ..job.shape(number) }.event());
        job.state.send_replace(state);
    }

    /// Publishes the state of a job to clients.
    fn publish(&self, number: u64) {
        let shape = self.all().jobs.get(&number).map(|job| job.shape(number));
        shape.into_iter().for_each(|it| self.events.publish(&it.event()));
    }

    /// Returns a reporter that turns a job's reports into events.
    fn reporter(&self, number: u64) -> Reporter {
        let (jobs, job) = (self.clone(), name(number));
        Reporter::to_clients(move |report| {
            if let Progress::Count { done, total, eta_seconds } = report {
                let progress = JobProgress { done, total, eta_seconds };
                if let Some(job) = jobs.all().jobs.get_mut(&number) {
                    job.progress = Some(progress);
                }
            }
            if let Some(event) = event(&job, report) {
                jobs.events.publish(&event);
            }
        })
    }

    /// Returns all jobs, newest last.
    pub fn list(&self) -> Vec<JobInfo> {
        self.all().jobs.iter().map(|(number, job)| job.shape(*number)).collect()
    }

    /// Returns one job.
    pub fn get(&self, id: &str) -> Result<JobInfo, Fault> {
        self.with(id, |number, job| job.shape(number))
    }

    /// Cancels a job; it ends as `cancelled` once its current step is over.
    pub fn cancel(&self, id: &str) -> Result<JobInfo, Fault> {
        self.with(id, |number, job| {
            job.handle.cancel();
            job.shape(number)
        })
    }

    /// Pauses or resumes a job; an ended job stays as it is.
    pub fn pause(&self, id: &str, paused: bool) -> Result<JobInfo, Fault> {
        let (number, shape) = self.with(id, |number, job| {
            let is_open = job.end.is_none() && !job.handle.is_cancelled();
            if is_open && job.handle.pause(paused) {
                job.state.send_replace(if paused { JobState::Paused } else { JobState::Running });
            }
            (number, job.shape(number))
        })?;
        self.publish(number);
        Ok(shape)
    }

    /// Waits for the end of a job. If the future is dropped before, the job is cancelled.
    pub async fn wait(&self, id: &str) -> Result<Value, Arc<Fault>> {
        let mut state = self.with(id, |_, job| job.state.subscribe()).map_err(Arc::new)?;
        let mut cancelling = Cancelling { jobs: self, id, armed: true };
        let ended = |it: &JobState| !matches!(it, JobState::Running | JobState::Paused);
        // An error means that the job was forgotten, which happens only to ended jobs.
        let _ = state.wait_for(ended).await;
        cancelling.armed = false;
        self.with(id, |_, job| job.end.clone())
            .map_err(Arc::new)?
            .unwrap_or_else(|| Err(Arc::new(Fault::internal("the job ended without a result"))))
    }

    /// Cancels all jobs.
    pub fn cancel_all(&self) {
        self.all().jobs.values().for_each(|job| job.handle.cancel());
    }

    /// Waits until every job has ended.
    pub async fn all_ended(&self) {
        let open = |job: &Job| job.end.is_none().then(|| job.state.subscribe());
        let states: Vec<_> = self.all().jobs.values().filter_map(open).collect();
        for mut state in states {
            let ended = |it: &JobState| !matches!(it, JobState::Running | JobState::Paused);
            let _ = state.wait_for(ended).await;
        }
    }

    fn with<T>(&self, id: &str, use_: impl FnOnce(u64, &mut Job) -> T) -> Result<T, Fault> {
        let number = id.strip_prefix("job-").and_then(|it| it.parse::<u64>().ok());
        let mut all = self.all();
        let job = number.and_then(|number| Some((number, all.jobs.get_mut(&number)?)));
        job.map(|(number, job)| use_(number, job)).ok_or_else(|| {
            Fault::input(format!("there is no job {id:?}"))
                .hint("`trellis/jobs` lists them; of finished jobs the last hundred are kept")
        })
    }
}

/// Guard that cancels a job if its waiter is dropped.
struct Cancelling<'a> {
    jobs: &'a Jobs,
    id: &'a str,
    armed: bool,
}

impl Drop for Cancelling<'_> {
    fn drop(&mut self) {
        if self.armed {
            // A forgotten job has ended.
            let _ = self.jobs.cancel(self.id);
        }
    }
}

impl JobTable {
    /// Removes the oldest results beyond [`KEPT`].
    fn forget(&mut self) {
        let ended: Vec<u64> =
            self.jobs.iter().filter(|(_, job)| job.end.is_some()).map(|(it, _)| *it).collect();
        for number in ended.iter().take(ended.len().saturating_sub(KEPT)) {
            self.jobs.remove(number);
        }
    }
}

impl Job {
    fn shape(&self, number: u64) -> JobInfo {
        let (result, error) = match &self.end {
            None => (None, None),
            Some(Ok(result)) => (Some(result.clone()), None),
            Some(Err(fault)) => (None, Some(JobError::of(fault))),
        };
        JobInfo {
            job: name(number),
            method: self.method.to_owned(),
            title: self.title.clone(),
            state: *self.state.borrow(),
            started_at: self.started.to_string(),
            progress: self.progress.clone(),
            result,
            error,
        }
    }
}

impl JobError {
    fn of(fault: &Fault) -> JobError {
        let (message, hint) = (fault.message.clone(), fault.hint.clone());
        JobError { message, hint, exit_code: fault.exit as u8 }
    }
}

fn name(number: u64) -> String {
    format!("job-{number}")
}

/// Converts a report to an event for clients; `None` for reports that only the journal needs.
fn event(job: &str, report: Progress<'_>) -> Option<Event> {
    let job = job.to_owned();
    let own = |it: &str| it.to_owned();
    Some(match report {
        Progress::Note(message) => {
            let level = match message.starts_with("warning") {
                true => Level::Warning,
                false => Level::Info,
            };
            Event::Log { job: Some(job), level, message }
        }
        // A client has prompts of its own.
        Progress::Prompt { .. } => return None,
        Progress::Count { done, total, eta_seconds } => {
            let percent = u8::try_from(done * 100 / total.max(1)).unwrap_or(100);
            Event::Progress { job, done, total, percent, eta_seconds }
        }
        Progress::Node { node, status, reason, subgraph } => Event::Node {
            job,
            node: own(node),
            status: own(status),
            reason: reason.map(own),
            subgraph: subgraph.map(own),
        },
        Progress::Test { root, test, text_of } => Event::Test {
            job,
            root: root.to_string_lossy().into_owned(),
            id: test.id.clone(),
            outcome: convert::test_outcome(test.outcome),
            duration_ms: test.duration.as_millis() as u64,
            reason: test.reason.clone(),
            path: Some(test.path.clone()),
            line: test.line,
            message: test.failure.as_ref().map(|it| it.message.clone()),
            failed_path: test.failure.as_ref().and_then(|it| it.path.clone()),
            failed_line: test.failure.as_ref().and_then(|it| it.line),
            text_of: text_of.map(crate::results::millis),
            draft: text_of.is_none(),
        },
        Progress::Files { root, paths } => {
            Event::Files { job, root: root.to_string_lossy().into_owned(), paths: paths.to_vec() }
        }
        Progress::Proposal { root, id, state } => Event::Proposal {
            proposal: own(id),
            root: root.to_string_lossy().into_owned(),
            state: own(state),
        },
        Progress::Journaled(journal) => return journaled(job, journal),
    })
}

fn journaled(job: String, event: &journal::Event) -> Option<Event> {
    use journal::Event as J;
    Some(match event {
        J::ModelCall { node, stage, error, milliseconds, .. } => {
            let outcome =
                error.clone().unwrap_or_else(|| format!("answered after {milliseconds} ms"));
            Event::Stage { job, node: node.clone(), stage: stage.clone(), outcome }
        }
        J::TestRun { node, red, outcome, .. } => {
            let stage = if *red { "red" } else { "green" }.to_owned();
            Event::Stage { job, node: node.clone(), stage, outcome: outcome.clone() }
        }
        J::Regression { node, outcome, .. } => {
            let stage = "regression".to_owned();
            Event::Stage { job, node: node.clone(), stage, outcome: outcome.clone() }
        }
        _ => return None,
    })
}
