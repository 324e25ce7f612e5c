//! The report's section on the sentences of a specification.

use std::fmt::Write as _;

/// Longest text of a sentence, in characters.
const WIDTH: usize = 120;

/// A sentence that describes something to build, with the nodes that serve it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentenceLine {
    pub number: usize,
    pub text: String,
    /// Ids of the nodes.
    pub nodes: Vec<String>,
    /// Number of these nodes' tests that passed.
    pub tests: usize,
    /// True if there are nodes and all of them passed.
    pub is_proved: bool,
}

/// Renders the section; nothing for a plan without sentences.
pub(super) fn specification(out: &mut String, lines: &[SentenceLine]) {
    if lines.is_empty() {
        return;
    }
    let proved = lines.iter().filter(|it| it.is_proved).count();
    let _ = write!(
        out,
        "## Specification\n\n{proved} of {} sentences are proved by tests.\n\n| Sentence | Nodes | Tests passed | Proved |\n|---|---|---|---|\n",
        lines.len()
    );
    for it in lines {
        let nodes: Vec<String> = it.nodes.iter().map(|id| format!("`{id}`")).collect();
        let nodes = if nodes.is_empty() { "none".to_owned() } else { nodes.join(", ") };
        let proved = if it.is_proved { "yes" } else { "no" };
        let [text, nodes] = [shortened(&it.text), nodes].map(|it| it.replace('|', "\\|"));
        let _ = writeln!(out, "| {}. {text} | {nodes} | {} | {proved} |", it.number, it.tests);
    }
    out.push('\n');
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(WIDTH).collect();
    if short.len() < line.len() { format!("{}…", short.trim_end()) } else { short }
}
