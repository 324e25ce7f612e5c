//! Removes colors and cursor movements from terminal output.

/// Returns `text` without escape sequences.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            // Skips to the letter that names the command.
            Some('[') => while letters.next().is_some_and(|it| !matches!(it, '@'..='~')) {},
            // Skips a title or link, up to its terminator.
            Some(']') => while letters.next().is_some_and(|it| !matches!(it, '\u{7}' | '\\')) {},
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn only_text_is_left() {
        for (text, expected) in [
            ("", ""),
            ("\u{1b}[31m- 4\u{1b}[39m, \u{1b}[1;2mé\u{1b}[0K", "- 4, é"),
            ("\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{7}!", "link!"),
            ("cut off \u{1b}[3", "cut off "),
            ("\u{1b}", ""),
        ] {
            assert_eq!(plain(text), expected, "{text:?}");
        }
    }
}
