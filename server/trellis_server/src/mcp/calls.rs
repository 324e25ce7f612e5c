//! Turns a tool call into a method call.

use std::sync::Arc;

use rmcp::model::{
    CallToolResult, ContentBlock, JsonObject, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::{Value, json};

use super::path_policy::confine;
use super::tools::{Blocking, McpTool};
use crate::event_bus::{Event, Listener};
use crate::rpc::{Context, Methods, error_object, invoke};
use trellis_workflows::fault::{Exit, Fault};

/// Calls methods for tools.
pub(super) struct Caller {
    context: Arc<Context>,
    methods: Methods,
}

/// An error in place of a result.
struct Failure {
    code: i32,
    message: String,
    /// Error data, `{kind, hint}`.
    data: Value,
}

impl Caller {
    pub(super) fn new(context: Arc<Context>, methods: Methods) -> Caller {
        Caller { context, methods }
    }

    /// Returns the result of a call. A fault becomes a result for the model, not an error of the
    /// protocol. Cancelling the call cancels the job it waits for.
    pub(super) async fn call(
        &self,
        offered: &McpTool,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let outcome = tokio::select! {
            () = context.ct.cancelled() => {
                Err(Failure::from(&Fault::new(Exit::Interrupted, "the call was cancelled")))
            }
            outcome = self.outcome(offered, arguments, context) => outcome,
        };
        match outcome {
            Ok(value) => answer(value),
            Err(failure) => failure.answer(),
        }
    }

    async fn outcome(
        &self,
        offered: &McpTool,
        mut arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, Failure> {
        let folders = self.context.folders().await;
        confine(&folders, &arguments).map_err(|it| Failure::from(&it))?;
        if !waits(offered.waits, &mut arguments)? {
            return self.invoke(offered, arguments).await;
        }
        let _waiting = self.context.wait_for_work().map_err(|it| Failure::from(&it))?;
        let progress = context.meta.get_progress_token().map(|token| {
            let (peer, listener) = (context.peer.clone(), self.context.events.listen());
            Progress { token, peer, listener, last: 0 }
        });
        let started = self.invoke(offered, arguments).await?;
        let Some(job) = started["job"].as_str() else { return Ok(started) };
        let end = tokio::select! {
            end = self.context.jobs.wait(job) => end,
            never = forward_progress(progress, job) => match never {},
        };
        end.map_err(|fault| Failure::from(&*fault))
    }

    async fn invoke(&self, offered: &McpTool, arguments: JsonObject) -> Result<Value, Failure> {
        let answer = invoke(&self.methods, offered.method, Value::Object(arguments)).await;
        answer.map_err(|error| Failure {
            code: error.code(),
            message: error.message().to_owned(),
            data: error.data().map_or(Value::Null, |it| json!(it)),
        })
    }
}

/// Returns whether the call waits for a job, which then is started in the background and awaited
/// here.
fn waits(waits: Blocking, arguments: &mut JsonObject) -> Result<bool, Failure> {
    let mut said = |name: &str| match arguments.remove(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(it)) => Ok(it),
        Some(_) => {
            Err(Failure::from(&Fault::new(Exit::Usage, format!("`{name}` must be true or false"))))
        }
    };
    let waits = match waits {
        Blocking::Never => false,
        Blocking::IfAsked => return said("wait"),
        Blocking::Mostly => {
            let background = said("background")?;
            arguments.insert("background".to_owned(), Value::Bool(true));
            !background
        }
    };
    Ok(waits)
}

/// Progress notifications of one call.
struct Progress {
    token: ProgressToken,
    peer: Peer<RoleServer>,
    listener: Listener,
    /// Last reported value; the protocol requires growing values.
    last: usize,
}

/// Sends progress to the client, if it asked for progress, until the call ends.
async fn forward_progress(progress: Option<Progress>, job: &str) -> std::convert::Infallible {
    let Some(mut progress) = progress else { return std::future::pending().await };
    let mut doing = None;
    loop {
        match progress.listener.next().await {
            Event::Stage { job: of, node, stage, .. } if of == job => {
                doing = Some(format!("{node}: {stage}"));
            }
            Event::Progress { job: of, done, total, .. } if of == job && done > progress.last => {
                progress.last = done;
                let reported = ProgressNotificationParam::new(progress.token.clone(), done as f64);
                let mut reported = reported.with_total(total as f64);
                reported.message = doing.take();
                // An error means that the client is gone, which ends the call.
                let _ = progress.peer.notify_progress(reported).await;
            }
            _ => {}
        }
    }
}

/// Returns a result as structured content and as its text.
fn answer(value: Value) -> CallToolResult {
    match value {
        Value::Object(_) => CallToolResult::structured(value),
        other => CallToolResult::structured(json!({ "result": other })),
    }
}

impl From<&Fault> for Failure {
    fn from(fault: &Fault) -> Failure {
        let object = error_object(fault);
        let data = object.data().map_or(Value::Null, |it| json!(it));
        Failure { code: object.code(), message: fault.message.clone(), data }
    }
}

impl Failure {
    fn answer(self) -> CallToolResult {
        let hint = self.data["hint"].as_str().map(|it| format!("\nhint: {it}"));
        let text = format!("{}{}", self.message, hint.unwrap_or_default());
        let mut answer = CallToolResult::error(vec![ContentBlock::text(text)]);
        let error = json!({ "code": self.code, "message": self.message, "data": self.data });
        answer.structured_content = Some(json!({ "error": error }));
        answer
    }
}
