//! API keys: sent in one header, shown nowhere.

use std::fmt;

/// Replacement for a key in a text.
const REDACTED: &str = "[redacted]";

/// Minimum length of a part of a key that reveals the key (providers echo keys masked in the
/// middle), in bytes.
const TELLING_PIECE: usize = 8;

/// Minimum length of a key that cannot be an ordinary word, so that removing it from a reply does
/// no harm, in bytes.
const UNMISTAKABLE: usize = 16;

/// An API key. `Debug` does not show the key, there is no `Display`, and the key leaves the crate
/// only in its header.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key; surrounding white space is dropped, as pasted keys often end in a line break.
    /// `None` if nothing is left.
    pub fn new(key: &str) -> Option<Self> {
        let key = key.trim();
        (!key.is_empty()).then(|| Self(key.to_owned()))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Returns an error text without the key and without words that hold a revealing part of the
    /// key.
    pub(crate) fn scrub_error(&self, text: &str) -> String {
        let text = text.replace(&self.0, REDACTED);
        text.split_inclusive(char::is_whitespace).map(|word| self.scrub_word(word)).collect()
    }

    /// Returns a reply without the key. Short placeholder keys (`test`, `ollama`) stay: they are
    /// words that code may contain.
    pub(crate) fn scrub_reply(&self, text: &str) -> String {
        if self.0.len() < UNMISTAKABLE { text.to_owned() } else { text.replace(&self.0, REDACTED) }
    }

    fn scrub_word(&self, word: &str) -> String {
        let pieces = self.0.as_bytes().windows(TELLING_PIECE);
        let tells = |piece: &[u8]| word.as_bytes().windows(TELLING_PIECE).any(|part| part == piece);
        if !pieces.into_iter().any(tells) {
            return word.to_owned();
        }
        let bare = word.trim_end();
        format!("{REDACTED}{}", &word[bare.len()..])
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret([redacted])")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn errors_lose_the_key_and_masked_forms_of_it() {
        let key = Secret::new(" sk-live-0123456789abcdef\n").unwrap();
        let cases = [
            ("bad key sk-live-0123456789abcdef given", "bad key [redacted] given"),
            ("bad key: \"sk-live-0123456789abcdef\".", "bad key: \"[redacted]\"."),
            ("bad key sk-live-****cdef given", "bad key [redacted] given"),
            ("ends in *89abcdef\nbye", "ends in [redacted]\nbye"),
            ("nothing to hide", "nothing to hide"),
        ];
        for (text, expected) in cases {
            assert_eq!(key.scrub_error(text), expected);
        }
    }

    #[test]
    fn replies_lose_only_keys_that_cannot_be_words() {
        let long = Secret::new("sk-live-0123456789abcdef").unwrap();
        assert_eq!(long.scrub_reply("KEY = 'sk-live-0123456789abcdef'"), "KEY = '[redacted]'");
        let short = Secret::new("test").unwrap();
        assert_eq!(short.scrub_reply("def test_add(): ..."), "def test_add(): ...");
    }

    #[test]
    fn debug_shows_nothing_and_an_empty_key_is_none() {
        assert_eq!(format!("{:?}", Secret::new("abc").unwrap()), "Secret([redacted])");
        assert!(Secret::new(" \n").is_none());
    }
}
