//! Sections of a planned docstring that are facts of the plan: examples, sentences, uses.

/// A docstring, divided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DocstringSections {
    /// The rest, as written.
    pub(super) text: String,
    pub(super) examples: Vec<String>,
    /// Numbers after `Serves:`; words that are no numbers are dropped.
    pub(super) serves: Vec<usize>,
    pub(super) uses: Vec<String>,
}

impl DocstringSections {
    /// Divides a docstring without margin. A section begins with its title at the left, and ends
    /// before the next line at the left.
    pub(super) fn of(docstring: &str) -> DocstringSections {
        let mut out = DocstringSections::default();
        let mut kept: Vec<&str> = Vec::new();
        let mut at = "";
        for line in docstring.lines() {
            let is_left = !line.starts_with([' ', '\t']) && !line.trim().is_empty();
            let (title, rest) = line.split_once(':').unwrap_or((line, ""));
            let known = ["Examples", "Example", "Serves", "Uses"];
            match known.into_iter().find(|it| is_left && *it == title.trim()) {
                Some(found) => at = found,
                None if is_left => at = "",
                None => {}
            }
            let body = if is_left && !at.is_empty() { rest } else { line };
            match at {
                "" => kept.push(line),
                "Serves" => out.serves.extend(numbers(body)),
                "Uses" => out.uses.extend(names(body)),
                _ => out.examples.extend(example(body)),
            }
        }
        out.text = kept.join("\n").trim().to_owned();
        out.serves.sort_unstable();
        out.serves.dedup();
        out
    }
}

fn numbers(text: &str) -> impl Iterator<Item = usize> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|it| it.parse().ok())
}

fn names(text: &str) -> impl Iterator<Item = String> {
    let names = text.split([',', ';', ' ']).map(|it| it.trim_matches(['`', '.', '(', ')']));
    names.filter(|it| !it.is_empty() && !it.eq_ignore_ascii_case("none")).map(str::to_owned)
}

/// Returns the expression of an example's line, without marks of a list or a prompt.
fn example(line: &str) -> Option<String> {
    let bare = line.trim().trim_start_matches("- ").trim_start_matches(">>> ").trim_matches('`');
    (!bare.is_empty()).then(|| bare.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_leave_the_docstring_and_keep_their_facts() {
        let text = "Return the mean.\n\nArgs:\n    values: Numbers: at least one.\n\nExamples:\n    \
                    mean([1, 2]) == 1.5\n    - `mean([4]) == 4`\n\nRaises:\n    ValueError: None.\n\n\
                    Serves: 4, 3 and 4\nUses: total, `numbers.check`\n";
        let sections = DocstringSections::of(text);
        assert_eq!(
            sections.text,
            "Return the mean.\n\nArgs:\n    values: Numbers: at least one.\n\nRaises:\n    ValueError: None."
        );
        assert_eq!(sections.examples, ["mean([1, 2]) == 1.5", "mean([4]) == 4"]);
        assert_eq!(sections.serves, [3, 4]);
        assert_eq!(sections.uses, ["total", "numbers.check"]);
    }
}
