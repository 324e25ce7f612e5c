//! Documented examples as an oracle: `mean([1, 2]) == 1.5` in the specification determines the
//! value that a test may expect of the same call.

use trellis_python::{Comparison, comparison};

/// Result of comparing an assertion with the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentedExample {
    /// The assertion expects the documented value.
    TheSame,
    /// The assertion expects another value.
    Otherwise,
}

/// Compares a failing statement, such as `assert mean([1, 2]) == 2`, with the examples in `texts`:
/// doctests and `call == value` lines. `None` if no example has the same call, or a value is no
/// literal.
pub(crate) fn compare<'a>(
    statement: &str,
    texts: impl IntoIterator<Item = &'a str>,
) -> Option<DocumentedExample> {
    let asserted = comparison(statement).filter(|_| statement.trim().starts_with("assert"))?;
    let expected = asserted.value?;
    let examples = texts.into_iter().flat_map(examples);
    let mut same = examples.filter(|it| it.call == asserted.call).filter_map(|it| it.value);
    same.next().map(|promised| match equal(&promised, &expected) {
        true => DocumentedExample::TheSame,
        false => DocumentedExample::Otherwise,
    })
}

fn examples(text: &str) -> Vec<Comparison> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let doctests = (0..lines.len()).filter_map(|at| {
        let call = trellis_python::normalized(lines[at].strip_prefix(">>> ")?)?;
        // The value extends to the next example or the next paragraph.
        let value =
            lines[at + 1..].iter().take_while(|it| !it.is_empty() && !it.starts_with(">>>"));
        let value = trellis_python::literal(&value.copied().collect::<Vec<_>>().join(" "));
        Some(Comparison { call, value })
    });
    let comparisons = lines
        .iter()
        .filter_map(|line| comparison(line.trim_matches('`').trim_start_matches(">>> ")));
    doctests.chain(comparisons).collect()
}

fn equal(a: &str, b: &str) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0),
        _ => a == b,
    }
}
