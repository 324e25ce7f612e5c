//! `trellis doctor --model`: sends one tiny request and shows the reply.

use std::path::Path;

use serde_json::json;

use crate::output::Output;
use trellis_os::terminal::escape;
use trellis_workflows::config::Config;
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::models::{self, ModelArgs, Models, ProbeResult};

/// Sends a request to the named model, or to the model configured for this folder.
pub(super) async fn run(
    name: Option<&str>,
    folder: &Path,
    output: &mut Output,
) -> Result<Exit, Fault> {
    let config = models::config(folder)?;
    let args = ModelArgs::single_retry(name.map(str::to_owned));
    let models = Models::open(&args, &config, &models::env)?;
    let (mut all, mut failed) = (Vec::new(), None);
    for opened in models.all() {
        match models::probe(opened).await {
            Ok(tried) => all.push(tried),
            Err(fault) => failed = Some(fault),
        }
    }
    if let Some(fault) = failed.take_if(|_| all.is_empty()) {
        return Err(fault);
    }
    if output.is_json() {
        let tried: Vec<_> = all.iter().map(shape).collect();
        output.json(&json!({ "models": tried, "configuration": config.sources }))?;
    } else {
        output.text(human(&all, &config).trim_end())?;
    }
    let Some(fault) = failed else { return Ok(Exit::Done) };
    output.note(format_args!("error: {fault}"));
    Ok(fault.exit)
}

fn shape(tried: &ProbeResult) -> serde_json::Value {
    json!({
        "name": tried.name,
        "answeredBy": tried.answered_by,
        "reply": tried.reply,
        "milliseconds": tried.milliseconds,
        "inputTokens": tried.usage.map(|it| it.input_tokens),
        "outputTokens": tried.usage.map(|it| it.output_tokens),
        "usd": tried.usd,
        "contextTokens": tried.context,
    })
}

fn human(all: &[ProbeResult], config: &Config) -> String {
    let mut out = String::new();
    for it in all {
        out += &format!("ok       {}: {}\n", it.name, escape(&it.reply));
        if let Some(by) = &it.answered_by {
            out += &format!("         answered by {} in {} ms\n", escape(by), it.milliseconds);
        }
        let tokens = it.usage.map_or("tokens are not counted".to_owned(), |usage| {
            format!("{} tokens in, {} out", usage.input_tokens, usage.output_tokens)
        });
        let price = match it.usd {
            Some(usd) => format!("${usd:.6}"),
            None => "no price is known: --budget-usd needs one in trellis.toml".to_owned(),
        };
        out += &format!("         {tokens}; {price}\n");
    }
    for source in &config.sources {
        out += &format!("settings from {}\n", source.display());
    }
    out
}
