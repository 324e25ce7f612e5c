//! `draftPlan`: a plan from a specification.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_engine::plan_draft::{DraftOptions, DraftSize, PartDecision};
use trellis_workflows::models::ModelArgs;
use trellis_workflows::plan_draft::{DraftOutcome, DraftReport, DraftRequest, shown};

/// Drafts a plan from a specification, part by part, up to the next question or decision of a person; a further call
/// continues there.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DraftPlanParams {
    /// The specification, Markdown or text.
    pub spec: PathBuf,
    /// The file to write; the state of the draft is in `.trellis` beside it.
    pub out: PathBuf,
    /// Default: `medium`.
    #[serde(default)]
    pub size: PlanSize,
    /// Lets the model ask up to five questions first.
    #[serde(default)]
    pub interview: bool,
    /// Waits for a decision on every part.
    #[serde(default)]
    pub stepwise: bool,
    /// Answers to the questions of the last call, one for each; an empty one leaves the matter to the model.
    #[serde(default)]
    pub answers: Option<Vec<String>>,
    /// Decision on the part of the last call.
    #[serde(default)]
    pub decision: Option<DraftDecision>,
    #[serde(flatten)]
    pub model: ModelArgs,
}

/// Size of the planned project.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum PlanSize {
    /// 3 to 8 features.
    Small,
    /// 8 to 25 features.
    #[default]
    Medium,
    /// 25 to 80 features.
    Large,
}

/// A decision on a part of a draft.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DraftDecision {
    Accept,
    /// The part as you edited it.
    Edited(String),
    /// Your words to the model, which writes the part again.
    SendBack(String),
}

/// Where a draft is after a call.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "state")]
pub enum DraftPlanResult {
    /// The plan is written.
    Written(WrittenPlan),
    /// The model has questions: call again with `answers`.
    Questions { questions: Vec<String> },
    /// A part waits for your decision: call again with `decision`.
    Part(DraftedPart),
}

/// A plan that was written.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WrittenPlan {
    pub plan: PathBuf,
    /// Number of the specification's sentences.
    pub sentences: usize,
    /// Number of files of the planned package.
    pub files: usize,
    /// Number of functions, methods and classes.
    pub definitions: usize,
    /// Problems that the model did not solve.
    pub problems: Vec<DraftProblem>,
    /// Number of requests to the model, those of earlier calls included.
    pub requests: u32,
    /// Tokens of this call.
    pub tokens: u64,
    /// Price of this call in US dollars.
    pub usd: f64,
}

/// A part of a draft.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DraftedPart {
    /// `features`, `layout`, `interface of io/reader.py`.
    pub part: String,
    /// JSON, or Python for an interface.
    pub text: String,
    /// What is wrong with it.
    pub problems: Vec<String>,
}

/// A problem of a part.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DraftProblem {
    /// As in `DraftedPart`.
    pub part: String,
    /// A fragment of a sentence.
    pub problem: String,
}

impl From<DraftPlanParams> for DraftRequest {
    fn from(it: DraftPlanParams) -> DraftRequest {
        let size = match it.size {
            PlanSize::Small => DraftSize::Small,
            PlanSize::Medium => DraftSize::Medium,
            PlanSize::Large => DraftSize::Large,
        };
        DraftRequest {
            spec: it.spec,
            out: it.out,
            options: DraftOptions { size, interview: it.interview, stepwise: it.stepwise },
            model: it.model,
            answers: it.answers.map(|all| all.into_iter().map(answer).collect()),
            decision: it.decision.map(Into::into),
        }
    }
}

/// Returns an answer; an empty one becomes words for the model.
fn answer(text: String) -> String {
    if text.trim().is_empty() { "As you propose.".to_owned() } else { text }
}

impl From<DraftDecision> for PartDecision {
    fn from(it: DraftDecision) -> PartDecision {
        match it {
            DraftDecision::Accept => PartDecision::Accept,
            DraftDecision::Edited(text) => PartDecision::Edited(text),
            DraftDecision::SendBack(words) => PartDecision::SendBack(words),
        }
    }
}

impl From<DraftOutcome> for DraftPlanResult {
    fn from(it: DraftOutcome) -> DraftPlanResult {
        match it {
            DraftOutcome::Written(report) => DraftPlanResult::Written(report.into()),
            DraftOutcome::Questions(questions) => DraftPlanResult::Questions { questions },
            DraftOutcome::Part { part, text, problems } => {
                DraftPlanResult::Part(DraftedPart { part: shown(&part), text, problems })
            }
        }
    }
}

impl From<DraftReport> for WrittenPlan {
    fn from(it: DraftReport) -> WrittenPlan {
        let problems = it.problems.into_iter();
        WrittenPlan {
            plan: it.plan,
            sentences: it.sentences,
            files: it.files,
            definitions: it.definitions,
            problems: problems
                .map(|it| DraftProblem { part: shown(&it.part), problem: it.text })
                .collect(),
            requests: it.requests,
            tokens: it.spent.tokens,
            usd: it.spent.usd,
        }
    }
}
