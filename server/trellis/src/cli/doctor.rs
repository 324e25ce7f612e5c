//! `trellis doctor`: what is installed, what is missing, what that costs, how to mend it.

mod model;

use std::path::PathBuf;

use clap::Args;

use crate::error::{Exit, Fault};
use crate::methods::doctor::{DoctorParams, DoctorResult, ToolFound, doctor, folder};
use crate::output::Output;

/// Show what this machine offers for running tests, and what would be enforced.
#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// The project whose environment is looked at.
    #[arg(default_value = ".")]
    project: PathBuf,
    /// Put one tiny question to this model, or to the one that would be used, and show what came back.
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
    for ToolFound { name, detail, cost, .. } in &result.tools {
        out += &match cost {
            None => format!("ok       {name}: {detail}\n"),
            Some(cost) => format!("missing  {name}: {detail}\n         cost: {cost}\n"),
        };
    }
    out += "\nlocal sandbox:\n";
    for limit in result.local_limits.iter().flatten() {
        let mark = if limit.enforced { "held" } else { "OPEN" };
        out += &format!("  {mark}  {}: {}\n", limit.name, limit.how);
    }
    result.local_error.iter().for_each(|error| out += &format!("  none: {error}\n"));
    out
}
