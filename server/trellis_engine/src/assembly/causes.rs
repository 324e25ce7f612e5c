//! Root causes and recommendations for nodes that did not pass, as text, derived only from the
//! facts of the run.

use crate::node::Cause;

/// Facts of a run about a node that did not pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureFacts {
    /// Kind of the cause; `None` in journals without one.
    pub cause: Option<Cause>,
    /// `Class.method`, or the plain name.
    pub name: String,
    pub path: String,
    /// The reason that the run recorded.
    pub reason: String,
    /// The first failed test of the last run.
    pub test: Option<String>,
    /// The failure of that run, in one line.
    pub exception: Option<String>,
    /// The rule that applied to the last run, and its explanation.
    pub finding: Option<(String, String)>,
    /// Tally of the last votes on a failure.
    pub votes: Option<String>,
    /// Reason why the last answer could not be run, if it could not.
    pub unusable: Option<String>,
    /// Tests broken by the last fix, if any.
    pub regression: Option<String>,
    /// Path of the page for a person, below the output folder.
    pub page: Option<String>,
}

/// Returns the cause of the failure in a sentence; `None` if nothing is known beyond the reason.
pub fn root_cause(facts: &FailureFacts) -> Option<String> {
    let reason = facts.reason.as_str();
    Some(match facts.cause? {
        Cause::Environment => match (&facts.finding, &facts.votes) {
            (Some((_, why)), _) => format!("the environment: {why}"),
            (None, Some(tally)) => {
                format!("the environment, by the votes ({}): {}", votes(tally), failing(facts))
            }
            (None, None) => format!("the environment: {}", failing(facts)),
        },
        Cause::Flaky => format!("the same code passes and fails: {}", failing(facts)),
        Cause::NoAnswer => format!("the model gave no answer: {reason}"),
        Cause::NoTests if let Some(why) = useless(reason) => {
            format!("the replies of the model cannot be used: {why}")
        }
        Cause::NoTests => {
            "the model wrote no test that reaches the code and fails without it".to_owned()
        }
        Cause::WrongTests => {
            format!("tests and specification contradict each other: {}", failing(facts))
        }
        Cause::FixLimit => fix_limit(facts),
        Cause::ByHand => {
            format!("the definition in {}, written by hand: {}", facts.path, failing(facts))
        }
        Cause::SplitVote => {
            let votes = facts.votes.as_deref().map_or_else(|| "no majority".to_owned(), votes);
            format!(
                "unclear whether code, test or environment is wrong ({votes}): {}",
                failing(facts)
            )
        }
        Cause::NothingFound => format!("localization found no suspect: {}", failing(facts)),
        Cause::Declined => "the fix was declined in review".to_owned(),
        Cause::Unapproved => "its fix passes and needs your review".to_owned(),
        Cause::Rewritten => format!("the fix as edited in review: {}", failing(facts)),
        Cause::WholeSuite => {
            "it depends on what other tests or nodes leave behind, or was changed after it passed"
                .to_owned()
        }
        Cause::Internal => format!("an internal error in Trellis: {reason}"),
    })
}

/// Returns the fault of replies without usable tests; `None` if the tests could be used but proved
/// nothing.
fn useless(reason: &str) -> Option<&str> {
    let (_, why) = reason.split_once(": ")?;
    let of_replies = ["the reply", "the model", "syntax error"];
    of_replies.iter().any(|it| why.starts_with(it)).then_some(why)
}

/// Describes the last obstacle before the fixes were used up.
fn fix_limit(facts: &FailureFacts) -> String {
    if let Some(why) = &facts.unusable {
        return format!("the last reply of the model was unusable: {why}");
    }
    if let Some(broke) = &facts.regression {
        return format!("the last fix broke code that worked: {broke}");
    }
    match (&facts.finding, &facts.votes) {
        (Some((_, why)), _) => format!("{why}; {}", failing(facts)),
        (None, Some(tally)) => {
            format!("{}; what is wrong, by votes: {}", failing(facts), votes(tally))
        }
        (None, None) => failing(facts),
    }
}

/// Replaces the letters of a tally by the words they stand for.
fn votes(tally: &str) -> String {
    let words = [("A ", "code "), ("B ", "test "), ("C ", "environment ")];
    words.iter().fold(tally.to_owned(), |text, (letter, word)| text.replacen(letter, word, 1))
}

/// Describes the last failure: its test, and its exception in a line.
fn failing(facts: &FailureFacts) -> String {
    match (&facts.test, &facts.exception) {
        (Some(test), Some(exception)) => format!("`{test}` fails with {exception}"),
        (Some(test), None) => format!("`{test}` fails"),
        (None, Some(exception)) => exception.clone(),
        (None, None) => facts.reason.clone(),
    }
}

/// Returns a recommendation for a person, in a sentence or two.
pub fn recommendation(facts: &FailureFacts) -> Option<String> {
    let name = facts.name.as_str();
    Some(match facts.cause? {
        Cause::Environment => environment(facts),
        Cause::Flaky => format!(
            "Remove time, randomness and order from the specification of `{name}`, or say how \
             tests can control them."
        ),
        Cause::NoAnswer => {
            "Check that the model answers (`trellis doctor`), then run again; choose another \
             with `--model`."
                .to_owned()
        }
        Cause::NoTests if useless(&facts.reason).is_some() => {
            "Choose another model with `--model`, then run again.".to_owned()
        }
        Cause::NoTests => format!(
            "Add to the specification of `{name}` what tests can check: values, edge cases, \
             errors. If there is nothing to check, set `red_gate` to `skip`."
        ),
        Cause::WrongTests => format!(
            "Rewrite the specification of `{name}` so that it decides {}; an example helps \
             most.",
            test_of(facts)
        ),
        Cause::FixLimit => fix_again(facts),
        Cause::ByHand => format!(
            "Correct it in {}, or delete it there so that a model writes it; run again with \
             `--keep-edits`.",
            facts.path
        ),
        Cause::SplitVote => format!(
            "Decide who is right about {}, and add that to the specification of `{name}` as an \
             example.{}",
            test_of(facts),
            page(facts)
        ),
        Cause::NothingFound => format!(
            "Find where {} goes wrong, and fix it by hand; run again with `--keep-edits`.{}",
            test_of(facts),
            page(facts)
        ),
        Cause::Declined => format!(
            "Add what was missing to the specification of `{name}`, or write the code by hand \
             and run again with `--keep-edits`."
        ),
        Cause::Unapproved => {
            "Review the fix in your editor, then run again; `--approve autonomous` skips the \
             review."
                .to_owned()
        }
        Cause::Rewritten => "Correct your version of the fix, then run again.".to_owned(),
        Cause::WholeSuite => format!(
            "Look for state that `{name}` or its tests share with others (globals, files, \
             variables); run again to retry the node."
        ),
        Cause::Internal => "Report this as a bug, with `.trellis/journal.jsonl`.".to_owned(),
    })
}

fn test_of(facts: &FailureFacts) -> String {
    facts.test.as_ref().map_or_else(|| "the failing test".to_owned(), |it| format!("`{it}`"))
}

fn page(facts: &FailureFacts) -> String {
    facts.page.as_ref().map(|it| format!(" See `{it}` for all details.")).unwrap_or_default()
}

/// Returns the recommendation for a node whose fixes were used up.
fn fix_again(facts: &FailureFacts) -> String {
    let name = facts.name.as_str();
    if let Some(package) = package(facts, "foreign-package") {
        return format!(
            "List `{package}` under the `libraries` of `{name}` in the plan, or forbid it in \
             the specification."
        );
    }
    if facts.unusable.is_some() {
        return "Try a stronger model (`--strong-model`), or tools (`--fix-with tools`)."
            .to_owned();
    }
    if facts.regression.is_some() {
        return format!(
            "Check that the specifications of `{name}` and of what uses the same code can both \
             hold."
        );
    }
    format!(
        "Compare {} with the specification of `{name}`, and correct the wrong one. If both are \
         right, try a stronger model (`--strong-model`), or write the code by hand and run \
         again with `--keep-edits`.",
        test_of(facts)
    )
}

/// Returns the recommendation for a fault of the environment, by the rule that found it.
fn environment(facts: &FailureFacts) -> String {
    let rule = facts.finding.as_ref().map_or("", |(rule, _)| rule.as_str());
    if let Some(package) = package(facts, "missing-package") {
        return format!(
            "Install `{}` into the environment of the tests (see `--python`), then run again.",
            trellis_python::distributions::distribution(&package)
        );
    }
    let what = match rule {
        "network" | "waiting" => {
            "Let tests use the network (`--network`), or say in the specification what to mock"
        }
        "missing-variable" => "Give the tests their variable (`--env NAME=VALUE`)",
        "missing-program" => "Install the program, or say in the specification what to mock",
        "foreign-file" => {
            "Put the file into the output folder, or say in the specification what to mock"
        }
        _ => {
            "Provide what is missing on the machine (`trellis doctor` shows what the sandbox \
             allows)"
        }
    };
    format!("{what}; then run again.")
}

/// Returns the package that a finding of `rule` names: the text in its first backticks.
fn package(facts: &FailureFacts, rule: &str) -> Option<String> {
    let (_, why) = facts.finding.as_ref().filter(|it| it.0 == rule)?;
    why.split('`').nth(1).map(str::to_owned)
}
