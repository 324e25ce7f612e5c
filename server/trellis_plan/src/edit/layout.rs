//! Lays out new parts of a JSON file like the rest of it.

use serde_json::Value;

/// Habits of a JSON file.
pub(super) struct Layout {
    /// Blanks of one level.
    unit: String,
    newline: &'static str,
    /// True if blanks follow colons and commas.
    is_spaced: bool,
    /// True if lists of texts and numbers are in one line.
    has_short_lists: bool,
}

impl Layout {
    pub(super) fn of(text: &str) -> Layout {
        let blanks = |line: &str| line[..line.len() - line.trim_start().len()].to_owned();
        let unit = text.lines().map(blanks).find(|it| !it.is_empty());
        let opens =
            |it: &str| it.starts_with(['"', '-']) || it.starts_with(|it: char| it.is_ascii_digit());
        Layout {
            unit: unit.unwrap_or_else(|| "  ".to_owned()),
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
            is_spaced: text.contains("\": ") || !text.contains("\":"),
            has_short_lists: text.split('[').skip(1).any(opens)
                || !text.split('[').skip(1).any(|it| opens(it.trim_start())),
        }
    }

    /// Returns the blanks before a second entry, from those before the first.
    pub(super) fn lead(&self, first: &str) -> String {
        let blank = if self.is_spaced { " " } else { "" };
        if first.contains('\n') { first.to_owned() } else { blank.to_owned() }
    }

    pub(super) fn key(&self, name: &str) -> String {
        let blank = if self.is_spaced { " " } else { "" };
        format!("{}:{blank}", Value::from(name))
    }

    /// Writes a value in one line, or in lines below one with this indentation.
    pub(super) fn write(&self, out: &mut String, value: &Value, indent: Option<&str>) {
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                let entries = fields.iter().map(|(name, value)| (self.key(name), value));
                self.entries(out, ['{', '}'], entries, indent);
            }
            Value::Array(values) if !values.is_empty() => {
                let is_plain = values.iter().all(|it| !it.is_object() && !it.is_array());
                let indent = indent.filter(|_| !(is_plain && self.has_short_lists));
                let entries = values.iter().map(|it| (String::new(), it));
                self.entries(out, ['[', ']'], entries, indent);
            }
            plain => out.push_str(&plain.to_string()),
        }
    }

    fn entries<'a>(
        &self,
        out: &mut String,
        [open, close]: [char; 2],
        entries: impl Iterator<Item = (String, &'a Value)>,
        indent: Option<&str>,
    ) {
        out.push(open);
        let inner = indent.map(|it| format!("{it}{}", self.unit));
        for (at, (key, value)) in entries.enumerate() {
            if at > 0 {
                out.push(',');
            }
            match &inner {
                Some(inner) => out.extend([self.newline, inner]),
                None if at > 0 && self.is_spaced => out.push(' '),
                None => {}
            }
            out.push_str(&key);
            self.write(out, value, inner.as_deref());
        }
        indent.into_iter().for_each(|it| out.extend([self.newline, it]));
        out.push(close);
    }
}
