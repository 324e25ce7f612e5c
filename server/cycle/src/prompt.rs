//! What a model is told and asked.

use std::fmt::Write as _;

use crate::exchange::{Message, Role, Suspect};
use crate::item::Item;
use crate::policy::Policy;

/// What stands around the item when it is begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The item's file as it is; empty when there is none yet.
    pub file: String,
    /// The user's context files: path and text.
    pub context: Vec<(String, String)>,
}

const SYSTEM: &str = "You write one small piece of a Python repository at a time, test first. Answer \
with exactly one fenced ```python block and nothing your answer does not need. Every answer is run; \
what counts is whether its tests pass.";

fn messages(user: String) -> Vec<Message> {
    vec![
        Message { role: Role::System, text: SYSTEM.to_owned() },
        Message { role: Role::User, text: user },
    ]
}

/// Asks for pytest tests. `complaint`: why the last ones were sent back, with their text.
pub(crate) fn tests(
    item: &Item,
    around: &Surroundings,
    policy: &Policy,
    complaint: Option<(&str, &str)>,
) -> Vec<Message> {
    let mut out = specification(item, around);
    let _ = write!(
        out,
        "\n## Task\nWrite a pytest module for `{}`: the happy path, edge cases, error cases{}; at least {} \
         test functions. Import it with `from {} import {}`. Use the real dependencies; mock only input/output, \
         network, clock and randomness, with fixtures. Do not write the implementation.\n",
        item.qualified_name(),
        if item.examples.is_empty() { "" } else { ", and the examples above" },
        policy.least_cases,
        item.module,
        item.import_name(),
    );
    if let Some((why, old)) = complaint {
        let _ = write!(out, "\n## Your last tests were sent back\n{why}\n\n```python\n{old}```\n");
    }
    messages(out)
}

/// Asks for the implementation, the red run's output at hand.
pub(crate) fn implementation(
    item: &Item,
    around: &Surroundings,
    tests: &str,
    red: &str,
    complaint: Option<&str>,
) -> Vec<Message> {
    let mut out = specification(item, around);
    let _ = write!(out, "\n## Tests it must pass\n```python\n{tests}```\n");
    if !red.is_empty() {
        let _ = write!(out, "\nWithout an implementation they fail:\n```\n{red}\n```\n");
    }
    let what = match &item.class {
        Some(class) => format!(
            "the method `{}` of class `{class}` (as `def {}(self, …)`)",
            item.name, item.name
        ),
        None => format!("the {} `{}`", item.kind.as_str(), item.name),
    };
    let _ = write!(
        out,
        "\n## Task\nWrite {what} for `{}`: the whole definition with the planned signature and type hints, \
         the imports it needs on top. Keep what the file has already; do not repeat it.\n",
        item.path
    );
    if let Some(why) = complaint {
        let _ = write!(out, "\nYour last answer could not be used: {why}\n");
    }
    messages(out)
}

/// Everything a fix needs to know.
pub(crate) struct FixFacts<'a> {
    pub(crate) tests: &'a str,
    pub(crate) implementation: &'a str,
    pub(crate) failure: &'a str,
    pub(crate) earlier: &'a [String],
    pub(crate) suspects: &'a [Suspect],
}

/// Asks for a fix.
pub(crate) fn fix(item: &Item, around: &Surroundings, facts: &FixFacts<'_>) -> Vec<Message> {
    let mut out = specification(item, around);
    let _ = write!(
        out,
        "\n## Implementation\n```python\n{}```\n\n## Tests (read-only)\n```python\n{}```\n\n## Failure\n```\n{}\n```\n",
        facts.implementation, facts.tests, facts.failure
    );
    if !facts.suspects.is_empty() {
        out.push_str("\n## Where to look\n");
        for suspect in facts.suspects {
            let _ = writeln!(
                out,
                "- `{}` ({}:{}): {}",
                suspect.symbol, suspect.path, suspect.line, suspect.why
            );
        }
    }
    if !facts.earlier.is_empty() {
        out.push_str("\n## Earlier attempts failed with\n");
        facts.earlier.iter().for_each(|failure| {
            let _ = writeln!(out, "- {failure}");
        });
    }
    let _ = write!(
        out,
        "\n## Task\nFix `{}`. Answer with the whole new definition in one ```python block, or with search/replace \
         blocks under the path `{}`:\n<<<<<<< SEARCH\nold lines\n=======\nnew lines\n>>>>>>> REPLACE\n",
        item.qualified_name(),
        item.path
    );
    messages(out)
}

/// Asks for one vote.
pub(crate) fn diagnosis(
    item: &Item,
    tests: &str,
    implementation: &str,
    failure: &str,
) -> Vec<Message> {
    let user = format!(
        "## Specification of `{}`\n{}\n\n## Implementation\n```python\n{implementation}```\n\n## Tests\n```python\n{tests}```\n\n\
         ## Failure\n```\n{failure}\n```\n\nIs this\nA) an implementation bug (the code is wrong)\n\
         B) a test issue (the test is wrong)\nC) an environment issue (sandbox, missing package)?\n\nAnswer with A, B or C only.\n",
        item.qualified_name(),
        item.docstring
    );
    vec![Message { role: Role::User, text: user }]
}

fn specification(item: &Item, around: &Surroundings) -> String {
    let mut out = format!(
        "## Specification\n`{}`, a {} in `{}`",
        item.qualified_name(),
        item.kind.as_str(),
        item.path
    );
    if let Some(signature) = &item.signature {
        let _ = write!(out, ":\n```python\n{}\n```", signature.header());
    }
    let _ = write!(out, "\n\n{}\n", item.docstring.trim());
    list(&mut out, "Examples", item.examples.iter().map(|it| format!("`{it}`")));
    let dependencies = item.dependencies.iter();
    list(
        &mut out,
        "It may use (written and tested)",
        dependencies.map(|it| {
            format!(
                "`from {} import {}`: `{}` {}",
                it.module, it.import_name, it.signature, it.summary
            )
        }),
    );
    list(&mut out, "Third-party packages available", item.libraries.iter().cloned());
    if !around.file.is_empty() {
        let _ = write!(out, "\n## `{}` so far\n```python\n{}```\n", item.path, around.file);
    }
    if !around.context.is_empty() {
        out.push_str("\n## Project context\n");
        for (path, text) in &around.context {
            let _ = write!(out, "### {path}\n{text}\n");
        }
    }
    out
}

fn list(out: &mut String, title: &str, entries: impl Iterator<Item = String>) {
    let mut entries = entries.peekable();
    if entries.peek().is_some() {
        let _ = write!(out, "\n{title}:\n");
        entries.for_each(|entry| {
            let _ = writeln!(out, "- {entry}");
        });
    }
}
