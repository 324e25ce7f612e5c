//! Tests of the search strategy: tools, order and limits (L5, L6, L8).

use trellis_engine::{
    ATTEMPTS, Answer, AttemptLog, Failure, Frame, LocalizationExhausted, Query, Suspect, Tool,
    ToolStats, Tools, find_suspects,
};

/// Tools with fixed answers: a known name is a definition.
#[derive(Default)]
struct FakeTools {
    /// Names in the index.
    known: Vec<&'static str>,
    /// Names that the index holds only after a refresh.
    stale: Vec<&'static str>,
    spectrum: Vec<(&'static str, f64)>,
    callers: Vec<&'static str>,
    found: Vec<&'static str>,
    error: Option<&'static str>,
    /// Calls in order.
    asked: Vec<String>,
}

fn suspect(symbol: &str, score: f64, why: &str) -> Suspect {
    Suspect {
        path: "src/pkg/a.py".to_owned(),
        line: 3,
        symbol: symbol.to_owned(),
        score,
        why: why.to_owned(),
        ..Suspect::default()
    }
}

impl FakeTools {
    fn answer(&mut self, asked: String, found: Vec<Suspect>) -> Answer {
        self.asked.push(asked);
        match self.error {
            Some(error) => Err(error.to_owned()),
            None => Ok(found),
        }
    }
}

impl Tools for FakeTools {
    fn symbol(&mut self, frame: &Frame) -> Answer {
        let known = self.known.contains(&frame.function.as_str());
        let found = known.then(|| suspect(&frame.function, 0.0, "in the traceback"));
        self.answer(format!("symbol {}", frame.function), found.into_iter().collect())
    }

    fn refresh(&mut self) -> bool {
        self.asked.push("refresh".to_owned());
        let new = std::mem::take(&mut self.stale);
        let changed = !new.is_empty();
        self.known.extend(new);
        changed
    }

    fn spectrum(&mut self) -> Answer {
        let found =
            self.spectrum.iter().map(|(name, score)| suspect(name, *score, "executed")).collect();
        self.answer("spectrum".to_owned(), found)
    }

    fn references(&mut self, it: &Suspect) -> Answer {
        let found = self.callers.iter().map(|name| suspect(name, 0.0, "calls it")).collect();
        self.answer(format!("references {}", it.symbol), found)
    }

    fn search(&mut self, words: &str) -> Answer {
        let found = self.found.iter().map(|name| suspect(name, 0.0, "the graph")).collect();
        self.answer(format!("search {words}"), found)
    }
}

/// Returns a query for a failure with frames of these functions, the outermost first, below a test.
fn query(functions: &[&str], message: &str) -> Query {
    let frame = |path: &str, function: &str| Frame {
        path: path.to_owned(),
        line: 3,
        function: function.to_owned(),
        source: String::new(),
    };
    let below = functions.iter().map(|name| frame("src/pkg/a.py", name));
    let frames = std::iter::once(frame("tests/test_a.py", "test_a")).chain(below).collect();
    let failure = Failure { message: message.to_owned(), frames, ..Failure::default() };
    Query { failures: vec![failure], stack: Vec::new() }
}

fn names(found: &[Suspect]) -> String {
    found.iter().map(|it| it.symbol.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_traceback_first_then_coverage_then_callers_then_the_graph() {
    let mut tools = FakeTools {
        known: vec!["outer", "inner"],
        spectrum: vec![("helper", 0.9), ("inner", 0.4)],
        callers: vec!["user"],
        found: vec!["far"],
        ..FakeTools::default()
    };
    let query = query(&["outer", "inner"], "expected 5.0, got nan");
    let (mut trail, mut record) = (AttemptLog::default(), ToolStats::default());
    let found = find_suspects(&query, &mut tools, &mut trail, &mut record).expect("suspects");
    assert_eq!(
        tools.asked,
        [
            "symbol inner",
            "symbol outer",
            "spectrum",
            "references inner",
            "search expected 5.0, got nan"
        ]
    );
    assert_eq!(names(&found), "helper inner outer user far", "what was measured comes first");
    assert_eq!(found[1].why, "in the traceback; executed", "one place, two reasons");
    assert_eq!(trail.attempts().len(), 5);
    assert_eq!((record.of(Tool::Symbol).tries, record.of(Tool::Symbol).hits), (2, 2));
}

#[test]
fn an_old_index_is_brought_up_to_date_and_asked_once_more() {
    let mut tools = FakeTools { stale: vec!["new"], ..FakeTools::default() };
    let query = query(&["new"], "");
    let (mut trail, mut record) = (AttemptLog::default(), ToolStats::default());
    let found = find_suspects(&query, &mut tools, &mut trail, &mut record).expect("suspects");
    assert_eq!(tools.asked[..3], ["symbol new", "refresh", "symbol new"]);
    assert_eq!(names(&found), "new");
    // If nothing changed, no lookup is repeated.
    let mut tools = FakeTools::default();
    let _ = find_suspects(&query, &mut tools, &mut AttemptLog::default(), &mut record);
    assert_eq!(tools.asked[..3], ["symbol new", "refresh", "spectrum"]);
}

#[test]
fn what_was_in_vain_is_kept_and_not_asked_again() {
    let mut tools = FakeTools { known: vec!["inner"], ..FakeTools::default() };
    let query = query(&["gone", "inner"], "no such thing");
    let (mut trail, mut record) = (AttemptLog::default(), ToolStats::default());
    let _ = find_suspects(&query, &mut tools, &mut trail, &mut record);
    let empty = trail.all().filter(|it| it.found.is_empty());
    let in_vain: Vec<String> =
        empty.map(|it| format!("{}: {}", it.tool.as_str(), it.query)).collect();
    assert_eq!(
        in_vain,
        [
            "symbol lookup: src/pkg/a.py:gone",
            "spectrum: coverage of the failing tests",
            "references: inner",
            "graph search: no such thing"
        ]
    );
    tools.asked.clear();
    trail.next_iteration();
    let found = find_suspects(&query, &mut tools, &mut trail, &mut record).expect("suspects");
    assert_eq!(tools.asked[0], "symbol inner");
    assert!(
        !tools.asked.iter().any(|it| it.starts_with("search") || it == "symbol gone"),
        "{:?}",
        tools.asked
    );
    assert_eq!(names(&found), "inner");
}

/// The seed's `test_localization_limit`.
#[test]
fn the_21st_attempt_raises() {
    let mut trail = AttemptLog::default();
    for n in 0..ATTEMPTS {
        assert_eq!(trail.begin(Tool::Search, &format!("query {n}")), Ok(()));
    }
    assert_eq!(trail.begin(Tool::Search, "one more"), Err(LocalizationExhausted));
    assert_eq!(
        LocalizationExhausted.to_string(),
        "LocalizationExhausted: 20 attempts found no place to look at"
    );
    assert_eq!((ATTEMPTS, trail.attempts().len()), (20, 20));
    trail.next_iteration();
    assert_eq!(trail.begin(Tool::Search, "one more"), Ok(()), "the next iteration has its own");
}

/// A model's own lookups count among the same twenty attempts and are remembered as well.
#[test]
fn a_lookup_of_a_model_is_an_attempt() {
    let mut trail = AttemptLog::default();
    assert_eq!(trail.looked_up(Tool::Symbol, "gone", None), Ok(()));
    assert_eq!(trail.looked_up(Tool::Search, "mean", Some("src/pkg/a.py:3: mean")), Ok(()));
    assert_eq!(trail.left(), ATTEMPTS - 2);
    (2..ATTEMPTS).for_each(|n| trail.begin(Tool::Search, &format!("query {n}")).expect("allowed"));
    assert_eq!(trail.looked_up(Tool::Symbol, "more", None), Err(LocalizationExhausted));
    trail.next_iteration();
    assert_eq!(trail.left(), ATTEMPTS);
    assert!(trail.has_failed(Tool::Symbol, "gone") && !trail.has_failed(Tool::Search, "mean"));
}

#[test]
fn exhausted_is_who_found_nothing_with_all_attempts() {
    let many: Vec<String> = (0..30).map(|n| format!("f{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let query = query(&many, "nothing");
    let mut trail = AttemptLog::default();
    (0..12).for_each(|n| trail.begin(Tool::Search, &format!("before {n}")).expect("allowed"));
    let mut record = ToolStats::default();
    let found = find_suspects(&query, &mut FakeTools::default(), &mut trail, &mut record);
    assert_eq!(found, Err(LocalizationExhausted));
    // A single suspect is better than asking a person.
    let mut tools = FakeTools { known: vec!["f29"], ..FakeTools::default() };
    let mut trail = AttemptLog::default();
    (0..12).for_each(|n| trail.begin(Tool::Search, &format!("before {n}")).expect("allowed"));
    let found = find_suspects(&query, &mut tools, &mut trail, &mut record).expect("one");
    assert_eq!(names(&found), "f29");
}

#[test]
fn a_tool_that_keeps_failing_comes_last_and_one_that_cannot_look_is_reported() {
    let mut record = ToolStats::default();
    assert_eq!(record.order(), Tool::ALL);
    (0..9).for_each(|_| record.count(Tool::Symbol, &Ok(Vec::new())));
    assert_eq!(record.order(), Tool::ALL, "nine tries say nothing");
    record.count(Tool::Symbol, &Ok(Vec::new()));
    assert_eq!(record.order(), [Tool::Spectrum, Tool::References, Tool::Search, Tool::Symbol]);
    (0..3).for_each(|_| record.count(Tool::Symbol, &Ok(vec![suspect("a", 0.0, "")])));
    assert_eq!(record.order(), Tool::ALL, "3 of 13 are more than a fifth");
    assert!(record.warnings().is_empty());
    (0..4).for_each(|_| record.count(Tool::Symbol, &Err("gone".to_owned())));
    assert_eq!(
        record.warnings(),
        ["symbol lookup failed in 4 of 17 uses; see the journal for the reasons"]
    );
}

#[test]
fn a_tool_that_cannot_look_does_not_end_the_search() {
    let mut tools = FakeTools { error: Some("no index"), ..FakeTools::default() };
    let mut trail = AttemptLog::default();
    let found =
        find_suspects(&query(&["f"], "m"), &mut tools, &mut trail, &mut ToolStats::default());
    assert_eq!(found.as_deref(), Ok(&[][..]));
    assert!(trail.attempts().iter().all(|it| it.error.as_deref() == Some("no index")));
    trail.next_iteration();
    assert!(!trail.has_failed(Tool::Search, "m"), "an error is no answer");
}
