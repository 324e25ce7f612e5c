//! Templates of the prompts, from the files in `trellis_engine/prompts`, one for each kind of
//! request: a version, and named parts with `{placeholders}`.

use std::sync::LazyLock;

/// One template file.
#[derive(Debug)]
pub(crate) struct Template {
    version: u32,
    /// Title and text, without blank lines around the text.
    parts: Vec<(&'static str, String)>,
}

/// Errors in a template file or in its use. They cannot occur in a run: the files are compiled in,
/// and tests render every prompt.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateError {
    #[error("the first line has to be `version: N`")]
    NoVersion,
    #[error("there is text before the first part; a part begins with a line `# title`")]
    OutsideOfParts,
    #[error("there is no part `{0}`")]
    NoPart(String),
    #[error("the part `{part}` wants a value for `{{{placeholder}}}`")]
    Unfilled { part: String, placeholder: String },
    #[error("the part `{part}` has no placeholder `{{{value}}}`")]
    Unknown { part: String, value: String },
}

impl Template {
    fn parse(text: &'static str) -> Result<Template, TemplateError> {
        let (first, rest) = text.split_once('\n').ok_or(TemplateError::NoVersion)?;
        let version = first.strip_prefix("version: ").and_then(|it| it.trim().parse().ok());
        let version = version.ok_or(TemplateError::NoVersion)?;
        let mut parts: Vec<(&'static str, String)> = Vec::new();
        for line in rest.lines() {
            match (line.strip_prefix("# "), parts.last_mut()) {
                (Some(title), _) => parts.push((title.trim(), String::new())),
                (None, Some((_, text))) => {
                    text.push_str(line);
                    text.push('\n');
                }
                (None, None) if line.trim().is_empty() => {}
                (None, None) => return Err(TemplateError::OutsideOfParts),
            }
        }
        parts.iter_mut().for_each(|(_, text)| *text = text.trim_matches('\n').to_owned());
        Ok(Template { version, parts })
    }

    pub(crate) fn version(&self) -> u32 {
        self.version
    }

    /// Fills the placeholders of a part. Values are inserted verbatim, even with braces.
    fn fill(&self, part: &str, values: &[(&str, &str)]) -> Result<String, TemplateError> {
        let found = self.parts.iter().find(|(title, _)| *title == part);
        let (_, text) = found.ok_or_else(|| TemplateError::NoPart(part.to_owned()))?;
        let mut left = text.as_str();
        let mut used = vec![false; values.len()];
        let mut out = String::new();
        while let Some((before, placeholder, after)) = next_placeholder(left) {
            let Some(at) = values.iter().position(|(name, _)| *name == placeholder) else {
                let placeholder = placeholder.to_owned();
                return Err(TemplateError::Unfilled { part: part.to_owned(), placeholder });
            };
            used[at] = true;
            out.push_str(before);
            out.push_str(values[at].1);
            left = after;
        }
        out.push_str(left);
        if let Some(at) = used.iter().position(|used| !used) {
            let value = values[at].0.to_owned();
            return Err(TemplateError::Unknown { part: part.to_owned(), value });
        }
        Ok(out)
    }

    /// Returns a part's text with its placeholders filled.
    ///
    /// # Panics
    ///
    /// Panics if the values do not fit the part, see [`TemplateError`].
    pub(crate) fn say(&self, part: &str, values: &[(&str, &str)]) -> String {
        self.fill(part, values).unwrap_or_else(|error| panic!("a prompt is wrong: {error}"))
    }
}

/// Splits at the first `{name}`: the text before, the name, and the text after. Other braces are
/// text.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let is_name =
        |it: &str| !it.is_empty() && it.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    text.match_indices('{').find_map(|(at, _)| {
        let (name, after) = text[at + 1..].split_once('}')?;
        is_name(name).then_some((&text[..at], name, after))
    })
}

macro_rules! templates {
    ($($name:ident = $file:literal;)*) => {
        $(pub(crate) static $name: LazyLock<Template> = LazyLock::new(|| {
            let text = include_str!(concat!("../../prompts/", $file));
            Template::parse(text).unwrap_or_else(|error| panic!("{}: {error}", $file))
        });)*
    };
}

templates! {
    TESTS = "tests.md";
    IMPLEMENTATION = "implementation.md";
    FIX = "fix.md";
    FIX_WITH_TOOLS = "fix_with_tools.md";
    DIAGNOSIS = "diagnosis.md";
    INTEGRATION_TESTS = "integration_tests.md";
    ACCEPTANCE_TESTS = "acceptance_tests.md";
    LIBRARY_TESTS = "library_tests.md";
    WRITE_TESTS = "write_tests.md";
    REPAIR = "repair.md";
    REPAIR_WITH_TOOLS = "repair_with_tools.md";
    REPORT = "report.md";
    FEATURE_TESTS = "feature_tests.md";
    FEATURE_CODE = "feature_code.md";
    FEATURE_FIX = "feature_fix.md";
    FEATURE_TOOLS = "feature_tools.md";
    FEATURE_TOGETHER = "feature_together.md";
    FEATURE_MERGE = "feature_merge.md";
    PLAN_FEATURES = "plan_features.md";
    PLAN_LAYOUT = "plan_layout.md";
    PLAN_INTERFACES = "plan_interfaces.md";
    PLAN_REVIEW = "plan_review.md";
    DESCRIBE = "describe.md";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(text: &'static str) -> Template {
        Template::parse(text).expect("a template")
    }

    #[test]
    fn parts_are_filled_in_one_pass_and_other_braces_are_text() {
        let it = template(
            "version: 7\n\n# one\nA {name} in {a_place}, {} {X} {not closed\n\n# two\n\n{name}\n",
        );
        assert_eq!(it.version(), 7);
        let filled = it.say("one", &[("name", "{a_place}"), ("a_place", "{'k': {1}}")]);
        assert_eq!(filled, "A {a_place} in {'k': {1}}, {} {X} {not closed");
        assert_eq!(it.say("two", &[("name", "")]), "");
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let it = template("version: 1\n# one\n{name}\n");
        let unfilled = TemplateError::Unfilled { part: "one".into(), placeholder: "name".into() };
        let unknown = TemplateError::Unknown { part: "one".into(), value: "other".into() };
        assert_eq!(it.fill("one", &[]), Err(unfilled));
        assert_eq!(it.fill("one", &[("name", "x"), ("other", "y")]), Err(unknown));
        assert_eq!(it.fill("two", &[]), Err(TemplateError::NoPart("two".into())));
        for text in ["# one\nx\n", "version: one\n# one\nx\n", ""] {
            assert_eq!(Template::parse(text).map(drop), Err(TemplateError::NoVersion), "{text}");
        }
        let outside = Template::parse("version: 1\nwords\n# one\n").map(drop);
        assert_eq!(outside, Err(TemplateError::OutsideOfParts));
    }
}
