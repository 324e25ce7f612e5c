//! Documented examples as an oracle: `mean([1, 2]) == 1.5` in the specification settles what a test may
//! expect of the same call.

/// A documented call and its value, as texts.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Example {
    call: String,
    value: String,
}

/// What the documentation says about an asserted comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// It expects what the documentation promises.
    TheSame,
    /// It expects something else.
    Otherwise,
}

/// Compares a failing line, such as `assert mean([1, 2]) == 2`, with the examples in `texts`: doctests and
/// `call == value` lines. None where no example is about the same call.
pub(crate) fn compare<'a>(line: &str, texts: impl IntoIterator<Item = &'a str>) -> Option<Said> {
    let asserted = comparison(line.trim().strip_prefix("assert ")?)?;
    let examples = texts.into_iter().flat_map(examples);
    let same = examples.filter(|it| it.call == asserted.call).find(|it| is_plain(&it.value))?;
    is_plain(&asserted.value).then(|| match equal(&same.value, &asserted.value) {
        true => Said::TheSame,
        false => Said::Otherwise,
    })
}

fn examples(text: &str) -> Vec<Example> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let doctests = (0..lines.len()).filter_map(|at| {
        let call = lines[at].strip_prefix(">>> ")?;
        // The value goes on to the next example or the next paragraph.
        let value =
            lines[at + 1..].iter().take_while(|it| !it.is_empty() && !it.starts_with(">>>"));
        let value: String = value.copied().collect::<Vec<_>>().join(" ");
        (!value.is_empty()).then(|| Example { call: bare(call), value: bare(&value) })
    });
    let comparisons = lines.iter().filter_map(|line| {
        let inner = line.trim_matches('`').trim_start_matches(">>> ").trim_start_matches("assert ");
        comparison(inner)
    });
    doctests.chain(comparisons).collect()
}

/// `call == value` at the first `==` outside of strings and brackets.
fn comparison(text: &str) -> Option<Example> {
    let (mut depth, mut quote) = (0i32, None);
    let bytes = text.as_bytes();
    for at in 0..bytes.len() {
        match (quote, bytes[at]) {
            (Some(open), byte) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, byte @ (b'"' | b'\'')) => quote = Some(byte),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') => depth -= 1,
            (None, b'=') if depth == 0 && bytes.get(at + 1) == Some(&b'=') => {
                let (call, value) = (bare(&text[..at]), bare(&text[at + 2..]));
                return call.ends_with(')').then_some(Example { call, value });
            }
            (None, _) => {}
        }
    }
    None
}

/// Without white space outside of strings, one kind of quotes, `pytest.approx(…)` taken off.
fn bare(text: &str) -> String {
    let (mut out, mut quote) = (String::with_capacity(text.len()), None);
    for character in text.chars() {
        match (quote, character) {
            (Some(open), it) if it == open => (quote, _) = (None, out.push('"')),
            (None, it @ ('"' | '\'')) => (quote, _) = (Some(it), out.push('"')),
            (None, it) if it.is_whitespace() => {}
            (_, it) => out.push(it),
        }
    }
    let text = out;
    let inner = text.strip_prefix("pytest.approx(").or_else(|| text.strip_prefix("approx("));
    match inner.and_then(|it| it.strip_suffix(')')) {
        Some(inner) => inner
            .split(",abs=")
            .next()
            .and_then(|it| it.split(",rel=").next())
            .unwrap_or(inner)
            .to_owned(),
        None => text,
    }
}

/// Whether a value is written out, so that texts can be compared.
fn is_plain(value: &str) -> bool {
    let known = ["True", "False", "None"].contains(&value);
    known || value.starts_with(|c: char| c.is_ascii_digit() || "\"-[({".contains(c))
}

fn equal(a: &str, b: &str) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0),
        _ => a == b,
    }
}
