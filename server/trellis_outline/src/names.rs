//! Names of tests as runs report them.

use std::collections::{HashMap, HashSet};

use tree_sitter::Node;

use crate::{OutlinedTest, TestOutline};

/// Collects the tests of a file.
#[derive(Default)]
pub(crate) struct Collector {
    outline: TestOutline,
    seen: HashMap<String, usize>,
    groups: HashSet<String>,
}

impl Collector {
    /// Adds a test. The second of a name gets ` #2`, as in the report of a run.
    pub(crate) fn test(&mut self, name: String, node: Node<'_>) {
        let count = self.seen.entry(name.clone()).or_default();
        *count += 1;
        let name = if *count > 1 { format!("{name} #{count}") } else { name };
        self.add(name, false, node);
    }

    /// Adds a group; several of a name are one, as their tests have the same ids.
    pub(crate) fn group(&mut self, name: &str, node: Node<'_>) {
        if self.groups.insert(name.to_owned()) {
            self.add(name.to_owned(), true, node);
        }
    }

    /// Records that a test exists whose name only a run knows.
    pub(crate) fn unnamed(&mut self) {
        self.outline.has_unnamed = true;
    }

    pub(crate) fn outline(self) -> TestOutline {
        self.outline
    }

    fn add(&mut self, name: String, is_group: bool, node: Node<'_>) {
        let line = |row: usize| u32::try_from(row + 1).unwrap_or(u32::MAX);
        let lines = line(node.start_position().row)..=line(node.end_position().row);
        self.outline.tests.push(OutlinedTest { name, is_group, range: node.byte_range(), lines });
    }
}

/// Returns the text of a node.
pub(crate) fn text_of<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    &text[node.byte_range()]
}

/// Returns the named children of a node.
pub(crate) fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    node.named_children(&mut node.walk()).collect()
}
