//! Jobs: list, state, pause, cancel, result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::jobs::{JobInfo, Jobs};
use trellis_workflows::fault::Fault;

/// Shows the state of a job, and its result if it has ended.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Its id, such as `job-1`.
    pub job: String,
}

/// Lists all jobs of this server, the newest last; of ended jobs, the last hundred.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListJobs {}

/// Stops a job. Accepted code is kept; the job ends after its current step.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelJob {
    /// Its id.
    pub job: String,
}

/// Pauses a job: current steps finish, and nothing new starts until `resumeJob`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PauseJob {
    /// Its id.
    pub job: String,
}

/// Resumes a paused job.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResumeJob {
    /// Its id.
    pub job: String,
}

/// Jobs of this server.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobList {
    pub jobs: Vec<JobInfo>,
}

pub fn job(jobs: &Jobs, params: Job) -> Result<JobInfo, Fault> {
    jobs.get(&params.job)
}

pub fn list(jobs: &Jobs, _: ListJobs) -> Result<JobList, Fault> {
    Ok(JobList { jobs: jobs.list() })
}

pub fn cancel(jobs: &Jobs, params: CancelJob) -> Result<JobInfo, Fault> {
    jobs.cancel(&params.job)
}

pub fn pause(jobs: &Jobs, params: PauseJob) -> Result<JobInfo, Fault> {
    jobs.pause(&params.job, true)
}

pub fn resume(jobs: &Jobs, params: ResumeJob) -> Result<JobInfo, Fault> {
    jobs.pause(&params.job, false)
}
