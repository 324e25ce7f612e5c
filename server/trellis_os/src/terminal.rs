//! Escapes text for a terminal.

/// Escapes control characters and characters that change the writing direction, since text from
/// graphs, models and tests must not control the terminal.
pub fn escape(text: &str) -> String {
    escape_except(text, &[])
}

/// Escapes the same characters except the sequences in `own`, such as those that color a result.
pub fn escape_except(text: &str, own: &[&str]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if let Some(own) = own.iter().find(|own| rest.starts_with(**own)) {
            out += own;
            rest = &rest[own.len()..];
            continue;
        }
        let turns = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        match character {
            '\n' | '\t' => out.push(character),
            it if it.is_control() || turns => out.extend(it.escape_unicode()),
            it => out.push(it),
        }
        rest = &rest[character.len_utf8()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{escape, escape_except};

    #[test]
    fn nothing_controls_the_terminal_but_our_own_sequences() {
        let own = ["\u{1b}[1m", "\u{1b}[0m"];
        let table = [
            ("plain é\n\ttext", "plain é\n\ttext"),
            ("\u{1b}[1mfound\u{1b}[0m", "\u{1b}[1mfound\u{1b}[0m"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("\u{1b}[2J\r\u{9b}m", "\\u{1b}[2J\\u{d}\\u{9b}m"),
            ("a\u{202e}b", "a\\u{202e}b"),
        ];
        for (text, shown) in table {
            assert_eq!(escape_except(text, &own), shown);
        }
        assert_eq!(escape("\u{1b}[31mred"), "\\u{1b}[31mred");
    }
}
