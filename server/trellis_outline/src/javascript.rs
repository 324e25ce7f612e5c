//! Tests and groups of jest and vitest: calls of `test`, `it` and `describe` with a title.

use tree_sitter::Node;

use crate::TestOutline;
use crate::names::{Collector, children, text_of};

/// Kind of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Group,
    Test,
}

/// A function of the framework as it is called.
#[derive(Clone, Copy)]
struct Called {
    kind: Kind,
    /// True if it makes a test of each row of a table.
    is_each: bool,
}

/// A node still to be searched, with the titles around it, which end in `::`.
struct Search<'t> {
    node: Node<'t>,
    titles: String,
}

/// Returns the tests of a module.
pub(crate) fn tests(root: Node<'_>, text: &str) -> TestOutline {
    let mut found = Collector::default();
    // A list instead of recursion, as code may be nested deeply.
    let mut searches = vec![Search { node: root, titles: String::new() }];
    while let Some(search) = searches.pop() {
        let inner = inner(&search, text, &mut found);
        searches.extend(inner.into_iter().rev());
    }
    found.outline()
}

/// Adds the test or group that a node defines. Returns the nodes in which others may be.
fn inner<'t>(search: &Search<'t>, text: &str, found: &mut Collector) -> Vec<Search<'t>> {
    let Search { node, titles } = search;
    let below = |nodes: Vec<Node<'t>>, titles: &str| {
        nodes.into_iter().map(|node| Search { node, titles: titles.to_owned() }).collect()
    };
    let Some((called, arguments)) = call(*node, text) else {
        return below(children(*node), titles);
    };
    let title = arguments.first().and_then(|it| title(*it, text)).filter(|_| !called.is_each);
    match (called.kind, title) {
        (_, None) => found.unnamed(),
        (Kind::Test, Some(title)) => found.test(format!("{titles}{title}"), *node),
        (Kind::Group, Some(title)) => {
            let name = format!("{titles}{title}");
            found.group(&name, *node);
            return below(arguments, &format!("{name}::"));
        }
    }
    Vec::new()
}

/// Returns the function of the framework that a node calls with a title, and its arguments.
fn call<'t>(node: Node<'t>, text: &str) -> Option<(Called, Vec<Node<'t>>)> {
    let function = (node.kind() == "call_expression").then(|| node.child_by_field_name("function"));
    let called = called(function??, text)?;
    let arguments = node.child_by_field_name("arguments")?;
    let list = children(arguments);
    // `test.each([…])` and a tagged template give the table, not the title.
    (arguments.kind() == "arguments" && list.len() > 1).then_some((called, list))
}

/// Returns what a callee such as `test`, `describe.only` or `it.each(table)` is.
fn called(callee: Node<'_>, text: &str) -> Option<Called> {
    match callee.kind() {
        "identifier" => kind(text_of(callee, text)).map(|kind| Called { kind, is_each: false }),
        "member_expression" => {
            let object = called(callee.child_by_field_name("object")?, text)?;
            match text_of(callee.child_by_field_name("property")?, text) {
                "each" | "for" => Some(Called { is_each: true, ..object }),
                it => MODIFIERS.contains(&it).then_some(object),
            }
        }
        // `skipIf(condition)`, or `each` with its table.
        "call_expression" => called(callee.child_by_field_name("function")?, text),
        _ => None,
    }
}

/// Properties of `test` and `describe` that are called like them.
const MODIFIERS: [&str; 11] = [
    "concurrent",
    "failing",
    "fails",
    "only",
    "runIf",
    "sequential",
    "shuffle",
    "skip",
    "skipIf",
    "todo",
    "extend",
];

fn kind(name: &str) -> Option<Kind> {
    match name {
        "describe" | "fdescribe" | "xdescribe" | "suite" => Some(Kind::Group),
        "test" | "xtest" | "it" | "fit" | "xit" => Some(Kind::Test),
        _ => None,
    }
}

/// Returns a title that the text tells: a string, or the name of a function or class.
fn title(node: Node<'_>, text: &str) -> Option<String> {
    match node.kind() {
        "identifier" => Some(text_of(node, text).to_owned()),
        "string" | "template_string" => {
            children(node).into_iter().map(|it| part(it, text)).collect()
        }
        _ => None,
    }
}

/// Returns the value of a part of a string; `None` for an expression in a template.
fn part(node: Node<'_>, text: &str) -> Option<String> {
    match node.kind() {
        "string_fragment" => Some(text_of(node, text).to_owned()),
        "escape_sequence" => escaped(text_of(node, text)),
        _ => None,
    }
}

/// Returns the value of an escape sequence such as `\n`, `\x41`, `\u0041` or `\u{41}`.
fn escaped(sequence: &str) -> Option<String> {
    let rest = sequence.strip_prefix('\\')?;
    let code = |digits: &str| {
        let code = u32::from_str_radix(digits, 16).ok()?;
        char::from_u32(code).map(String::from)
    };
    match rest.chars().next()? {
        'n' => Some("\n".to_owned()),
        't' => Some("\t".to_owned()),
        'r' => Some("\r".to_owned()),
        'b' => Some("\u{8}".to_owned()),
        'f' => Some("\u{c}".to_owned()),
        'v' => Some("\u{b}".to_owned()),
        '0' if rest.len() == 1 => Some("\0".to_owned()),
        'x' => code(&rest[1..]),
        'u' => code(rest[1..].trim_start_matches('{').trim_end_matches('}')),
        // A backslash before a line break joins the lines.
        '\n' | '\r' => Some(String::new()),
        other => Some(other.to_string()),
    }
}
