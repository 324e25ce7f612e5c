//! Splits text into words for comparison: identifiers split, case folded, endings removed.

use std::ops::Range;

/// Words without meaning for a search, sorted.
const STOP_WORDS: &[&str] = &[
    "a", "all", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "did",
    "do", "does", "for", "from", "get", "gets", "had", "has", "have", "how", "i", "if", "in",
    "into", "is", "it", "its", "me", "my", "no", "not", "of", "on", "or", "should", "so", "some",
    "than", "that", "the", "their", "then", "there", "these", "they", "this", "to", "up", "was",
    "we", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you",
];

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Byte range in the text.
    pub(super) range: Range<usize>,
    /// The word in lowercase.
    pub(super) folded: String,
    /// The word without its ending; equal for forms of one word.
    pub(super) stem: String,
}

impl Word {
    fn of(text: &str, range: Range<usize>) -> Word {
        let folded = text[range.clone()].to_lowercase();
        Word { stem: stem(&folded), folded, range }
    }

    pub(super) fn is_stop_word(&self) -> bool {
        STOP_WORDS.binary_search(&self.folded.as_str()).is_ok()
    }
}

/// Returns the words of a text in order: for `max_HTTPRetries2` these are `max`, `HTTP`, `Retries`
/// and `2`.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    for run in runs(text) {
        let mut start = run.start;
        for end in borders(&text[run.clone()]).map(|it| run.start + it).chain([run.end]) {
            found.push(Word::of(text, start..end));
            start = end;
        }
    }
    found
}

/// Returns a text as read aloud: identifiers become separate lowercase words, everything else
/// stays. Embedding models understand this form best.
pub fn spoken(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut end = 0;
    for word in words(text) {
        let between = &text[end..word.range.start];
        let in_name = matches!(between, "" | "_" | "." | "__");
        out.push_str(if in_name && end > 0 { " " } else { between });
        out.push_str(&word.folded);
        end = word.range.end;
    }
    out + &text[end..]
}

/// Returns the letters and digits of a name in lowercase: equal for `parse_url`, `parseUrl` and
/// `parse url`.
pub(super) fn compact(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the runs of letters and digits.
fn runs(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text[rest..].find(char::is_alphanumeric)?;
        let length = text[start..].find(|c: char| !c.is_alphanumeric());
        rest = length.map_or(text.len(), |it| start + it);
        Some(start..rest)
    })
}

/// Returns the word boundaries within a run: before a capital after a small letter, before the last
/// of several capitals followed by a small letter, and between letters and digits.
fn borders(run: &str) -> impl Iterator<Item = usize> + '_ {
    let before = std::iter::once(None).chain(run.chars().map(Some));
    let after = run.chars().skip(1).map(Some).chain([None]);
    let places = run.char_indices().zip(before).zip(after);
    places.filter_map(|(((at, c), before), after)| {
        let before = before?;
        let rises = c.is_uppercase() && before.is_lowercase();
        let ends_capitals =
            c.is_uppercase() && before.is_uppercase() && after.is_some_and(char::is_lowercase);
        let digits = c.is_numeric() != before.is_numeric();
        (rises || ends_capitals || digits).then_some(at)
    })
}

/// Returns a word without the endings of English plurals, participles and adverbs. Stems are only
/// meant to be compared for equality.
fn stem(word: &str) -> String {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let singular = match word {
        _ if word.ends_with("ies") && word.len() > 4 => format!("{}y", &word[..word.len() - 3]),
        _ if ["ss", "us", "is"].iter().any(|it| word.ends_with(it)) => word.to_owned(),
        _ => word.strip_suffix('s').unwrap_or(word).to_owned(),
    };
    let stem = participle(&singular).unwrap_or(singular);
    match stem.strip_suffix('e') {
        Some(rest) if rest.len() > 2 => rest.to_owned(),
        _ => stem,
    }
}

/// Returns the word without `-ing`, `-ed`, `-ion` or `-ly`, if the rest is long enough.
fn participle(word: &str) -> Option<String> {
    if let Some(rest) = word.strip_suffix("ied").filter(|rest| rest.len() > 1) {
        return Some(format!("{rest}y"));
    }
    let has_vowel = |rest: &str| rest.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    let rest = (word.strip_suffix("ing"))
        .or_else(|| word.strip_suffix("ed").filter(|rest| !rest.ends_with('e')));
    if let Some(rest) = rest.filter(|rest| rest.len() > 2 && has_vowel(rest)) {
        let doubled = rest.as_bytes()[rest.len() - 2] == rest.as_bytes()[rest.len() - 1];
        let cut = doubled && !rest.ends_with(['l', 's', 'z']);
        return Some(rest[..rest.len() - usize::from(cut)].to_owned());
    }
    let noun = word.strip_suffix("ion").filter(|rest| rest.len() > 3 && rest.ends_with(['s', 't']));
    noun.or_else(|| word.strip_suffix("ly").filter(|rest| rest.len() > 3)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_taken_apart() {
        for (text, expected) in [
            ("calculate_mean", "calculate mean"),
            ("TaskQueue.pop", "Task Queue pop"),
            ("max_HTTPRetries2", "max HTTP Retries 2"),
            ("src/desk/2d-shapes.py", "src desk 2 d shapes py"),
            ("größteZahl, naïve", "größte Zahl naïve"),
            (" __ -- ", ""),
        ] {
            let found: Vec<&str> = words(text).iter().map(|it| &text[it.range.clone()]).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn names_are_spoken_and_punctuation_stays() {
        for (text, expected) in [
            ("Invoice.add_line: Append an item.", "invoice add line: append an item."),
            ("KeyError: 'm' in parse_duration", "key error: 'm' in parse duration"),
            ("__init__", "__init__"),
            ("", ""),
        ] {
            assert_eq!(spoken(text), expected);
        }
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            "parse parses parsed parsing",
            "query queries queried querying",
            "box boxes boxed boxing",
            "wrap wraps wrapped wrapping",
            "interpolate interpolated interpolation interpolating",
            "express expresses expression",
            "call calls called calling",
            "linear linearly",
        ] {
            let stems: Vec<String> = forms.split(' ').map(stem).collect();
            assert!(stems.iter().all(|it| *it == stems[0]), "{forms}: {stems:?}");
        }
    }

    #[test]
    fn different_words_keep_apart() {
        for (a, b) in [
            ("string", "stride"),
            ("class", "clap"),
            ("status", "state"),
            ("need", "need5"),
            ("ring", "red"),
        ] {
            assert_ne!(stem(a), stem(b));
        }
        assert!(STOP_WORDS.is_sorted(), "it is searched by halves");
    }
}
