//! `trellis doctor`: installed and missing tools, the effect of each gap, and its remedy.

mod model;

use std::path::PathBuf;

use clap::Args;

use crate::output::{Output, color};
use trellis_server::api::doctor::{DoctorParams, DoctorResult, ToolFound, doctor, folder};
use trellis_workflows::fault::{Exit, Fault};

/// Check Python, sandbox, Docker and model on this machine.
#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// Folder of the project to check.
    #[arg(default_value = ".")]
    project: PathBuf,
    /// Send one tiny request to this model, or to the configured one, and show the answer and its price.
    #[arg(long, value_name = "MODEL", num_args = 0..=1)]
    model: Option<Option<String>>,
}

pub(crate) async fn run(args: &DoctorArgs, output: &mut Output) -> Result<Exit, Fault> {
    if let Some(name) = &args.model {
        folder(&args.project)?;
        return model::run(name.as_deref(), &args.project, output).await;
    }
    let result = doctor(&DoctorParams { root: Some(args.project.clone()) }).await?;
    if output.is_json() {
        output.json(&result)?;
    } else {
        output.text(human(&result).trim_end())?;
    }
    Ok(if result.is_usable() { Exit::Done } else { Exit::Unavailable })
}

fn human(result: &DoctorResult) -> String {
    let mut out = String::new();
    for ToolFound { name, detail, cost, optional, .. } in &result.tools {
        let mark = match (cost, optional) {
            (None, _) => "ok      ",
            (Some(_), true) => "optional",
            (Some(_), false) => "missing ",
        };
        out += &format!("{} {name}: {detail}\n", color::state(mark));
        cost.iter().for_each(|it| out += &format!("         without it: {it}\n"));
    }
    out += "\nlocal sandbox:\n";
    for limit in result.local_limits.iter().flatten() {
        let mark = if limit.enforced { "ok  " } else { "OPEN" };
        out += &format!("  {}  {}: {}\n", color::state(mark), limit.name, limit.how);
    }
    result.local_error.iter().for_each(|error| out += &format!("  none: {error}\n"));
    out + &format!("\n{}", result.verdict)
}
