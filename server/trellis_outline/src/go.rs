//! Tests of `go test`: functions by their names, and subtests whose names are literals.

use tree_sitter::Node;

use crate::TestOutline;
use crate::names::{Collector, children, text_of};

/// Returns the tests of a file.
pub(crate) fn tests(root: Node<'_>, text: &str) -> TestOutline {
    let mut found = Collector::default();
    for node in children(root).into_iter().filter(|it| it.kind() == "function_declaration") {
        let name = node.child_by_field_name("name").map(|it| text_of(it, text));
        let Some(name) = name.filter(|it| is_test(node, it, text)) else { continue };
        found.test(name.to_owned(), node);
        if let Some(body) = node.child_by_field_name("body") {
            subtests(body, name, text, &mut found);
        }
    }
    found.outline()
}

/// Returns whether `go test` runs a function: by the rules of `go help testfunc`. Examples run only
/// if they say what they print.
fn is_test(function: Node<'_>, name: &str, text: &str) -> bool {
    let has = |prefix: &str| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|it| !it.starts_with(char::is_lowercase))
    };
    let parameter = function.child_by_field_name("parameters").map(|it| text_of(it, text));
    let takes = |kind: &str| parameter.is_some_and(|it| it.contains(kind));
    (has("Test") && takes("testing.T"))
        || (has("Fuzz") && takes("testing.F"))
        || (has("Example") && parameter == Some("()") && says_output(function, text))
}

/// Returns whether a comment in a body begins with `Output:`.
fn says_output(function: Node<'_>, text: &str) -> bool {
    let Some(body) = function.child_by_field_name("body") else { return false };
    text_of(body, text).lines().any(|line| {
        let comment = line.trim().strip_prefix("//").or_else(|| line.trim().strip_prefix("/*"));
        let said = comment.unwrap_or_default().trim_start().to_lowercase();
        said.starts_with("output:") || said.starts_with("unordered output:")
    })
}

/// Adds the subtests that a body starts, and theirs. Those in loops are left out, as their names
/// differ.
fn subtests(body: Node<'_>, around: &str, text: &str, found: &mut Collector) {
    let mut searches = vec![(body, around.to_owned())];
    while let Some((node, around)) = searches.pop() {
        if node.kind() == "for_statement" {
            found.unnamed();
            continue;
        }
        let Some((title, function)) = run_call(node, text) else {
            searches.extend(children(node).into_iter().rev().map(|it| (it, around.clone())));
            continue;
        };
        match title {
            Some(title) => {
                let name = format!("{around}/{}", rewritten(&title));
                found.test(name.clone(), node);
                searches.push((function, name));
            }
            None => found.unnamed(),
        }
    }
}

/// Returns the title, if it is a literal, and the function of a call `t.Run(title, function)`.
fn run_call<'t>(node: Node<'t>, text: &str) -> Option<(Option<String>, Node<'t>)> {
    let callee = (node.kind() == "call_expression").then(|| node.child_by_field_name("function"));
    let field = callee??.child_by_field_name("field")?;
    let arguments = children(node.child_by_field_name("arguments")?);
    let [title, function] = arguments[..] else { return None };
    (text_of(field, text) == "Run").then(|| (literal(title, text), function))
}

fn literal(node: Node<'_>, text: &str) -> Option<String> {
    let plain = text_of(node, text);
    match node.kind() {
        "raw_string_literal" => Some(plain.trim_matches('`').to_owned()),
        // Escapes are rare in titles, and the run rewrites most of them.
        "interpreted_string_literal" if !plain.contains('\\') => {
            Some(plain.trim_matches('"').to_owned())
        }
        _ => None,
    }
}

/// Returns a title as `go test` writes it: with `_` for each space.
fn rewritten(title: &str) -> String {
    title.chars().map(|it| if it.is_whitespace() { '_' } else { it }).collect()
}
