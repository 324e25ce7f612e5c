//! Finds where the sentences of a paragraph end: by the rules of Unicode, except after
//! abbreviations and inside code.

use unicode_segmentation::UnicodeSegmentation;

use super::sentences::one_line;

/// Abbreviations that end no sentence, in lowercase and without their last period. Those that often
/// do, such as `etc.`, are left out.
const ABBREVIATIONS: &[&str] = &[
    "abb", "al", "approx", "art", "bspw", "bzw", "ca", "cf", "d.h", "dept", "dr", "e.g", "ed",
    "eds", "eg", "ej", "est", "evtl", "excl", "exkl", "fig", "figs", "ggf", "i.e", "ie", "incl",
    "inkl", "jr", "mlle", "mme", "mr", "mrs", "ms", "o.ä", "p.ej", "p.ex", "pp", "prof", "resp",
    "sog", "sr", "sra", "st", "t.ex", "u.a", "vgl", "viz", "vs", "z.b", "др", "им", "напр", "рис",
    "см", "стр", "т.е", "т.к", "т.н",
];

/// Abbreviations that end no sentence before a number.
const BEFORE_NUMBERS: &[&str] = &[
    "abs", "ch", "eq", "kap", "max", "min", "no", "nos", "nr", "nº", "núm", "p", "pág", "s", "sec",
    "vol", "гл",
];

/// Marks that begin the lines of a list without Markdown.
const BULLETS: [char; 6] = ['•', '◦', '‣', '▪', '·', '–'];

/// Splits the text of a block; the sentences have single blanks.
pub(super) fn split(block: &str) -> Vec<String> {
    lists(block).into_iter().flat_map(|part| of_paragraph(&joined(&part))).collect()
}

/// Splits a block before each line that begins with a bullet.
fn lists(block: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for line in block.lines() {
        let marked = line.trim_start().strip_prefix(BULLETS);
        let item = marked.filter(|rest| rest.starts_with(char::is_whitespace));
        match (item, parts.last_mut()) {
            (None, Some(part)) => *part = format!("{part}{line}\n"),
            (rest, _) => parts.push(format!("{}\n", rest.unwrap_or(line))),
        }
    }
    parts
}

/// Joins lines with blanks; scripts without blanks between words are joined without.
fn joined(part: &str) -> String {
    let mut out = String::new();
    for line in part.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let ends = (out.chars().next_back(), line.chars().next());
        if !matches!(ends, (Some(a), Some(b)) if is_wide(a) && is_wide(b)) {
            out.push(' ');
        }
        out.push_str(line);
    }
    one_line(&out)
}

/// Returns whether a character belongs to Chinese or Japanese text.
fn is_wide(it: char) -> bool {
    matches!(it, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}')
}

fn of_paragraph(text: &str) -> Vec<String> {
    let masked = mask_code(text);
    let mut out = Vec::new();
    let (mut start, mut end) = (0, 0);
    let mut pieces = masked.split_sentence_bounds().peekable();
    while let Some(piece) = pieces.next() {
        end += piece.len();
        if pieces.peek().is_none_or(|next| !continues(&masked[start..end], next)) {
            out.push(text[start..end].trim().to_owned());
            start = end;
        }
    }
    out
}

/// Replaces each byte of code by a capital letter: code may begin a sentence, and ends none.
fn mask_code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((code, after)) = after.split_once('`') else { break };
        out.push_str(before);
        out.push_str(&"X".repeat(code.len() + 2));
        rest = after;
    }
    out + rest
}

/// Returns whether a sentence goes on with the next piece.
fn continues(open: &str, next: &str) -> bool {
    let Some(before) = open.trim_end().strip_suffix('.') else { return false };
    let word = before.rsplit([' ', '(', '[', '"', '„', '“', '«']).next().unwrap_or(before);
    let lower = word.to_lowercase();
    let has_number = || next.trim_start().starts_with(|it: char| it.is_numeric());
    ABBREVIATIONS.contains(&lower.as_str())
        || (BEFORE_NUMBERS.contains(&lower.as_str()) && has_number())
        || is_initial(word)
        || (is_letter(word) && (begins_with_letter(next) || follows_letter(before)))
        // The number of a list item, or of a heading.
        || (word == before && !word.is_empty() && word.chars().all(char::is_numeric))
}

/// Returns whether a word is an initial of a name, or initials such as `U.S`.
fn is_initial(word: &str) -> bool {
    let mut parts = word.split('.');
    parts.all(|it| is_letter(it) && it.chars().all(char::is_uppercase))
}

fn is_letter(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none()
}

/// Returns whether a piece begins with the second half of an abbreviation: `B. ` of `z. B. `.
fn begins_with_letter(next: &str) -> bool {
    next.split([' ', '.']).next().is_some_and(is_letter) && next.chars().nth(1) == Some('.')
}

/// Returns whether a text ends with both halves: `z. B`.
fn follows_letter(before: &str) -> bool {
    let mut words = before.rsplit(' ');
    let _ = words.next();
    words.next().and_then(|it| it.strip_suffix('.')).is_some_and(is_letter)
}
