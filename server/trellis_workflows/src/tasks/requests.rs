//! Requests that a list of tasks makes of the cycle that implements an issue: one for each task,
//! and one for tests of all together.

use trellis_engine::approval::Mode;
use trellis_engine::issue::{Context, Limits};
use trellis_plan::NodeIx;
use trellis_store::disk;

use super::driver::TasksRun;
use super::{INTEGRATION_TRAILER, TASK};
use crate::issue::{self, Spec};

impl TasksRun<'_> {
    /// Returns the issue request of one task.
    pub(super) fn task(&self, task: NodeIx) -> issue::IssueRequest {
        let id = self.plan.id(task);
        let name = disk::escape_ref_name(id);
        self.work(&format!("task-{name}"), id, Some(format!("{TASK}{name}")))
    }

    /// Returns the issue request of one task, or of all tasks together if there is no trailer.
    pub(super) fn work(
        &self,
        name: &str,
        id: &str,
        trailer: Option<String>,
    ) -> issue::IssueRequest {
        let it = self.order;
        issue::IssueRequest {
            home: self.out.to_owned(),
            id: id.to_owned(),
            name: name.to_owned(),
            title: format!("task {}", id.replace(char::is_control, " ")),
            into: Some(self.into.clone()),
            trailer,
            limits: Limits::implement(it.retries),
            tools: Some(it.tools),
            together: false,
            mode: Mode::Autonomous,
            model: it.model.clone(),
            sandbox: it.sandbox.clone(),
            test_timeout: it.test_timeout,
            run_timeout: it.run_timeout,
            // The code that merges tasks also pushes them.
            push: None,
        }
    }

    /// Returns the specification of one task.
    pub(super) fn words(&self, ix: NodeIx) -> Spec {
        let task = self.plan.task(ix);
        let description = self.plan.node(ix).docstring.as_deref().unwrap_or_default().trim();
        let mut specification = format!("# {description}\n");
        let details = task.as_ref().and_then(|it| it.details.as_deref());
        if let Some(details) = details.filter(|it| !it.trim().is_empty()) {
            specification += &format!("\n{}\n", details.trim());
        }
        let keywords = task.map(|it| it.keywords).unwrap_or_default();
        if !keywords.is_empty() {
            specification += &format!("\nKeywords: {}\n", keywords.join(", "));
        }
        let context = self.standards();
        Spec { lld: "the list of tasks".to_owned(), specification, context, keywords }
    }

    /// Returns the coding conventions of the stack.
    fn standards(&self) -> Context {
        let mut context = Context::default();
        let written = &self.stack.written;
        let standards = format!(
            "Code is in `{}`, tests are in `{}`. No packages can be added.\n{}",
            written.src_dir, written.test_dir, written.conventions
        );
        context.add(&format!("{}.md", written.name), standards);
        context
    }

    /// Returns the request for tests of these tasks together. Another set of tasks gets new tests.
    pub(super) fn integration_request(&self, merged: &[String]) -> issue::IssueRequest {
        let set = disk::hash(merged.join("\n"))[..12].to_owned();
        let (name, trailer) = (format!("integration-{set}"), format!("{INTEGRATION_TRAILER}{set}"));
        let title = "all tasks".to_owned();
        issue::IssueRequest {
            together: true,
            title,
            ..self.work(&name, "integration", Some(trailer))
        }
    }

    /// Returns the specification of all tasks together.
    pub(super) fn integration_spec(&self, merged: &[String]) -> Spec {
        let mut specification = format!(
            "# The parts work together as one {}\n\nThey are there, each with tests of its own:\n",
            self.stack.written.display_name
        );
        for id in merged {
            let node = self.plan.find(id).map(|it| self.plan.node(it));
            let text = node.and_then(|it| it.docstring.as_deref()).unwrap_or_default();
            specification += &format!("- {id}: {}\n", text.trim());
        }
        let context = self.standards();
        Spec { lld: "the list of tasks".to_owned(), specification, context, keywords: Vec::new() }
    }
}
