//! `trellis plan draft`: a plan from a specification.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;

use crate::cli::test_output::plain;
use crate::output::Output;
use trellis_os::wording::counted;
use trellis_server::api::plan_draft::{
    DraftDecision, DraftPlanParams, DraftPlanResult, DraftedPart, PlanSize, WrittenPlan,
};
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::job_control::JobControl;
use trellis_workflows::models::ModelArgs;
use trellis_workflows::plan_draft::draft;
use trellis_workflows::repair::Terminal;

/// Draft a planning graph from a specification.
#[derive(Args)]
pub(super) struct DraftArgs {
    /// Specification of the project, Markdown or text.
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// File to write.
    #[arg(long, value_name = "FILE", default_value = "plan.json")]
    out: PathBuf,
    /// Size of the project.
    #[arg(long, value_enum, default_value_t)]
    size: PlanSize,
    /// Let the model ask up to five questions first.
    #[arg(long)]
    interview: bool,
    /// Decide on every part: features, layout, the interface of each file.
    #[arg(long)]
    stepwise: bool,
    /// Answer to a question of the last start; once for each question, in their order.
    #[arg(long = "answer", value_name = "TEXT")]
    answers: Vec<String>,
    /// Accept the part that waits.
    #[arg(long, conflicts_with_all = ["edited", "send_back"])]
    accept: bool,
    /// Replace the part that waits by the text of this file.
    #[arg(long, value_name = "FILE", conflicts_with = "send_back")]
    edited: Option<PathBuf>,
    /// Send the part that waits back to the model, with these words.
    #[arg(long, value_name = "WORDS")]
    send_back: Option<String>,
    #[command(flatten)]
    model: ModelArgs,
}

impl DraftArgs {
    fn params(self) -> Result<DraftPlanParams, Fault> {
        let edited = self.edited.map(|it| {
            let text = trellis_os::files::read_text(&it);
            text.map_err(|error| {
                Fault::input(trellis_os::wording::cannot_read(it.display(), &error))
                    .hint("give the file that has the edited part")
            })
        });
        let accepted = self.accept.then_some(DraftDecision::Accept);
        let decision = match (edited, self.send_back) {
            (Some(text), _) => Some(DraftDecision::Edited(text?)),
            (None, words) => words.map(DraftDecision::SendBack).or(accepted),
        };
        Ok(DraftPlanParams {
            spec: self.spec,
            out: self.out,
            size: self.size,
            interview: self.interview,
            stepwise: self.stepwise,
            answers: Some(self.answers).filter(|it| !it.is_empty()),
            decision,
            model: self.model,
        })
    }
}

pub(super) async fn run(args: DraftArgs, output: &mut Output) -> Result<Exit, Fault> {
    let control = JobControl::of_signals()?;
    let mut params = args.params()?;
    loop {
        let outcome = draft(params.clone().into(), output.reporter(), &control).await?;
        let result = DraftPlanResult::from(outcome);
        let terminal = Terminal::here().filter(|_| !output.is_json());
        if let (DraftPlanResult::Questions { questions }, Some(terminal)) = (&result, &terminal) {
            params.decision = None;
            params.answers = Some(answers(questions, terminal, output, &control).await?);
            continue;
        }
        let exit = match &result {
            DraftPlanResult::Written(it) if it.problems.is_empty() => Exit::Done,
            _ => Exit::NeedsHuman,
        };
        if output.is_json() {
            output.json(&result)?;
        } else {
            output.text(human(&result))?;
        }
        return Ok(exit);
    }
}

/// Asks the person; the end of the input leaves the rest to the model.
async fn answers(
    questions: &[String],
    terminal: &Terminal,
    output: &Output,
    control: &JobControl,
) -> Result<Vec<String>, Fault> {
    let mut out = Vec::new();
    for question in questions {
        let asked = format!("{question}\n> ");
        let answer = terminal.answer(asked, output.reporter(), &control.cancel).await?;
        out.push(answer.unwrap_or_default().trim().to_owned());
    }
    Ok(out)
}

fn human(result: &DraftPlanResult) -> String {
    match result {
        DraftPlanResult::Written(it) => written(it),
        DraftPlanResult::Questions { questions } => {
            let mut out = String::new();
            for (number, it) in questions.iter().enumerate() {
                let _ = writeln!(out, "{}. {}", number + 1, plain(it));
            }
            out + "next: run the same command again with an --answer for each"
        }
        DraftPlanResult::Part(it) => part(it),
    }
}

fn written(it: &WrittenPlan) -> String {
    let mut out = problems(it.problems.iter().map(|it| (it.part.as_str(), it.problem.as_str())));
    let sizes = [
        counted(it.sentences, "sentence", "sentences"),
        counted(it.files, "file", "files"),
        counted(it.definitions, "definition", "definitions"),
        counted(it.requests as usize, "request", "requests"),
    ];
    let plan = it.plan.display();
    let _ = writeln!(out, "{}; written to {plan}", sizes.join(", "));
    let _ = write!(out, "next: `trellis plan trace {plan}`, then `trellis generate {plan}`");
    out
}

fn part(it: &DraftedPart) -> String {
    let mut out: String = it.text.lines().map(|line| format!("{}\n", plain(line))).collect();
    out += &problems(it.problems.iter().map(|problem| (it.part.as_str(), problem.as_str())));
    let _ = write!(
        out,
        "{} waits for you\nnext: run the same command again with --accept, --edited FILE or --send-back WORDS",
        it.part
    );
    out
}

fn problems<'a>(all: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    all.map(|(part, problem)| format!("problem: {}: {}\n", plain(part), plain(problem))).collect()
}
