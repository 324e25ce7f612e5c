//! A run is the same with any provider and either way of replying.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::mock::{FORMATS, Format, Work, command, of_kind, recorded, run, settings, tree};
use crate::world::{Plot, World, assert_same};

/// Asserts that the journal's calls and the requests are the same texts, and that the tokens are
/// those that the provider reported.
fn calls_agree(world: &World, events: &[Value], format: Format) {
    let count = |calls: Vec<String>| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        calls.into_iter().for_each(|call| *counts.entry(call).or_default() += 1);
        counts
    };
    let call =
        |it: &Value| json!([it["node"], it["stage"], it["attempt"], it["prompt"]]).to_string();
    let (journal, served) = (world.journal("model_call"), of_kind(events, "ended"));
    let asked = count(served.iter().map(|it| call(it)).collect());
    assert_eq!(asked, count(journal.iter().map(call).collect()), "{}", format.provider);
    // The mock server reports zero for Ollama in any case.
    let told =
        served.iter().filter(|it| it["input_tokens"].is_u64() && format.provider != "ollama");
    let tokens =
        |it: &Value| format!("{} {} {}", call(it), it["input_tokens"], it["output_tokens"]);
    let spent = count(journal.iter().map(tokens).collect());
    for it in told {
        assert!(spent.contains_key(&tokens(it)), "{}: {it} is not in {spent:?}", format.provider);
    }
}

/// Generates the work with a provider of this format, and asserts the same result as in the
/// reference.
pub(crate) fn grown_as_recorded(
    work: &Work,
    reference: &World,
    format: Format,
    stream: bool,
    jobs: u32,
) {
    let world = World::new();
    settings(&world, format, &format!("stream = {stream}"));
    let served = work.serve(&json!({}));
    let mut command = command(&world, work, format, &served.url());
    let ran = run(command.arg(format!("--jobs={jobs}")));
    let events = served.finish().expect("events");
    assert!(matches!(ran.code, Some(0 | 1)), "{} {stream}: {}", format.provider, ran.stderr);
    for event in of_kind(&events, "ended") {
        assert_eq!(event["complete"], true, "{event}");
        assert_eq!(
            (&event["format"], &event["stream"]),
            (&json!(format.provider), &json!(stream)),
            "{event}"
        );
    }
    assert_same(&tree(&world), &tree(reference));
    calls_agree(&world, &events, format);
}

/// Generates a small work with each provider, every other one streamed, from the first or from the
/// second on.
pub(crate) fn every_format(first_streamed: usize) {
    let planted = World::new();
    let names = [("basic", "double"), ("middle", "summed")];
    let plot = Plot::three().library(&names, "summed(double(1)) == 8");
    let work = Work::of(&planted, &plot.with_usage());
    let (reference, ran) = recorded(&work, 1);
    let _ = ran.exits(0);
    for (place, format) in FORMATS.into_iter().enumerate() {
        grown_as_recorded(&work, &reference, format, place % 2 == first_streamed, 2);
    }
}

#[test]
fn every_format_plain_or_streamed_grows_what_the_recording_grows() {
    every_format(0);
}
