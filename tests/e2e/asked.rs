//! Number of model requests, and the tools they offer, depending on flags.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::implement::{code, new_tests, shop};
use crate::mock::KEY;
use crate::models::{Service, generate, grows, plant, prompt, said};
use crate::world::{Ran, World};

/// Starts a model that judges with certainty; the first code of `f0` is wrong, and its fix is
/// right.
fn judged() -> Service {
    let is_wrong = AtomicBool::new(true);
    Service::start(Box::new(move |question| match prompt(question) {
        it if it.contains("VERDICT: A, B or C") => said("VERDICT: A\nSURE: high"),
        it if it.contains("Write a pytest module") || !it.contains("`f0`") => grows(question),
        _ if is_wrong.swap(false, Ordering::SeqCst) => {
            said("```python\ndef f0(x: int) -> int:\n    return x - len(str(x))\n```")
        }
        _ => grows(question),
    }))
}

#[test]
fn as_many_judges_are_asked_about_a_failing_node_as_the_flag_says() {
    let table: [(&[&str], usize); 4] =
        [(&[], 1), (&["--votes", "1"], 1), (&["--votes", "3"], 3), (&["--votes", "5"], 5)];
    for (flags, wanted) in table {
        let (world, service) = (World::new(), judged());
        plant(&world, 2);
        let ran = generate(&world, &service, flags).exits(0);
        assert_eq!(ran.json()["passed"], 2);
        let asked = service.asked();
        let judges = asked.iter().filter(|it| prompt(it).contains("VERDICT: A, B or C"));
        assert_eq!(judges.count(), wanted, "{flags:?}");
    }
}

/// Returns the tool names offered by each request of an issue.
fn offered(flags: &[&str], model: &str, url: &str) -> Vec<Vec<String>> {
    let world = shop(&[]);
    let service = Service::start(Box::new(|question| {
        let is_tests = question.to_string().contains("Write tests for");
        said(&if is_tests { new_tests() } else { code() })
    }));
    let order = format!(
        "implement p --issue 42 --lld p/docs/lld.md --sandbox local --approve autonomous --model {model}"
    );
    let arguments: Vec<&str> = order.split(' ').chain(flags.iter().copied()).collect();
    let mut command = world.command(&arguments);
    command.env(url, &service.url).env("OPENAI_API_KEY", KEY);
    let _ = Ran::of(command.output().expect("trellis starts")).exits(0);
    let name = |it: &Value| it["function"]["name"].as_str().unwrap_or_default().to_owned();
    let names = |it: &Value| it["tools"].as_array().into_iter().flatten().map(name).collect();
    service.asked().iter().map(names).collect()
}

#[test]
fn a_model_that_has_tools_gets_them_for_an_issue_unless_a_flag_says_otherwise() {
    let (openai, url) = ("openai:tiny", "OPENAI_BASE_URL");
    for flags in [&[][..], &["--work-with", "tools"]] {
        let all = offered(flags, openai, url);
        assert!(all.len() >= 2, "{all:?}");
        for it in all {
            assert!(
                ["read_file", "write_file", "done"]
                    .iter()
                    .all(|name| it.iter().any(|it| it == name)),
                "{it:?}"
            );
        }
    }
    let none = [Vec::<String>::new(), Vec::new()];
    assert_eq!(offered(&["--work-with", "reply"], openai, url), none);
    // Local servers may have models with or without tools.
    assert_eq!(offered(&[], "lmstudio:tiny", "LMSTUDIO_BASE_URL"), none);
}
