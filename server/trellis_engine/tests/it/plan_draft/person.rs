//! Decisions of a person, and what only a person can decide.

use serde_json::json;
use trellis_engine::plan_draft::{Action, DraftMachine, DraftOptions, Event, Part, PartDecision};
use trellis_engine::{Machine, Reply};

use super::{asked, features, fenced, finished, good, layout, play, review, sentences};

#[test]
fn an_interview_asks_the_person_before_anything_is_laid_out() {
    let options = DraftOptions { interview: true, ..DraftOptions::default() };
    let mut machine = DraftMachine::new(sentences(), options);
    machine.step(Event::Started).expect("a beginning");
    let questions = "\"questions\":[\"Whole numbers?\"],\"background\"";
    let asking = features("shopping", &[1]).replace("\"background\"", questions);
    let actions = machine.step(Event::Replied(Reply::Text(asking))).expect("a reply");
    assert_eq!(actions, [Action::Questions(vec!["Whole numbers?".to_owned()])]);
    let actions = machine.step(Event::Answered(vec!["Yes.".to_owned()])).expect("answers");
    let text = &asked(&actions, &Part::Features)[0];
    assert!(text.contains("Whole numbers? Yes."), "{text}");
}

#[test]
fn a_person_accepts_edits_or_sends_back_each_part() {
    let options = DraftOptions { stepwise: true, ..DraftOptions::default() };
    let mut machine = DraftMachine::new(sentences(), options);
    let reply = |machine: &mut DraftMachine, text: String| {
        machine.step(Event::Replied(Reply::Text(text))).expect("a reply")
    };
    machine.step(Event::Started).expect("a beginning");
    let actions = reply(&mut machine, features("shopping", &[1]));
    let [Action::Decide { part: Part::Features, text, .. }] = &actions[..] else {
        panic!("{actions:?}")
    };
    let decided = |machine: &mut DraftMachine, decision| {
        machine.step(Event::Decided(decision)).expect("a decision")
    };
    let broken = decided(&mut machine, PartDecision::Edited("{".to_owned()));
    assert!(matches!(&broken[..], [Action::Decide { problems, .. }] if !problems.is_empty()));
    let edited = text.replace("Read a price list", "Read prices");
    let actions = decided(&mut machine, PartDecision::Edited(edited));
    assert!(asked(&actions, &Part::Layout)[0].contains("1.1 Read prices"), "{actions:?}");
    reply(&mut machine, layout(&[], &["2"]));
    let actions = decided(&mut machine, PartDecision::SendBack("One file only.".to_owned()));
    assert!(asked(&actions, &Part::Layout)[0].contains("One file only."), "{actions:?}");
    reply(&mut machine, layout(&[], &["2"]));
    let actions = decided(&mut machine, PartDecision::Accept);
    assert_eq!(asked(&actions, &Part::Interface("lists/prices.py".to_owned())).len(), 1);
}

#[test]
fn an_interview_happens_once_even_if_nothing_is_answered() {
    let options = DraftOptions { interview: true, ..DraftOptions::default() };
    let mut machine = DraftMachine::new(sentences(), options);
    machine.step(Event::Started).expect("a beginning");
    let questions = "\"questions\":[\"Whole numbers?\"],\"background\"";
    let asking = features("shopping", &[1]).replace("\"background\"", questions);
    machine.step(Event::Replied(Reply::Text(asking.clone()))).expect("a reply");
    let actions = machine.step(Event::Answered(Vec::new())).expect("answers");
    assert!(!asked(&actions, &Part::Features)[0].contains("put up to 5"), "{actions:?}");
    let actions = machine.step(Event::Replied(Reply::Text(asking))).expect("a reply");
    assert_eq!(asked(&actions, &Part::Layout).len(), 1, "{actions:?}");
}

#[test]
fn a_specification_for_another_language_ends_the_draft_with_the_reason() {
    let text = json!({ "package": "", "features": [], "unsuitable": "It asks for a Java app." });
    let actions = play(DraftOptions::default(), &[fenced("json", &text.to_string())]);
    let expected = Action::Unsuitable { why: "It asks for a Java app.".to_owned() };
    assert_eq!(actions.last(), Some(&expected));
}

#[test]
fn a_review_without_a_usable_answer_is_reported_and_stops_nothing() {
    let mut replies = good().to_vec();
    replies.splice(4..5, ["no".to_owned(), "no".to_owned(), "no".to_owned()]);
    let actions = play(DraftOptions::default(), &replies);
    let problems = &finished(&actions).problems;
    assert_eq!(problems.len(), 1);
    assert_eq!((&problems[0].part, &*problems[0].text), (&Part::Review, "there is no JSON block"));
}

#[test]
fn contradictions_go_to_the_person_and_not_to_the_model() {
    let mut replies = good();
    replies[4] = review(&json!([{ "kind": "contradiction", "problem": "2 and 3 differ." }]));
    let actions = play(DraftOptions::default(), &replies);
    let problems = &finished(&actions).problems;
    assert_eq!(problems.len(), 1);
    assert_eq!(
        (&problems[0].part, &*problems[0].text),
        (&Part::Review, "contradiction: 2 and 3 differ.")
    );
}
