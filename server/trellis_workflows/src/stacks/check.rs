//! The rules for stacks: paths stay inside, nothing is missing or duplicate, and nothing reaches a
//! shell.

use std::collections::BTreeMap;

use super::{Installer, PROJECT_NAME, StackFile};

/// A broken rule, and the advice.
pub(super) type StackError = (String, &'static str);

/// Maximum length of a name in bytes; a name becomes part of paths and of package names.
const LONGEST_NAME: usize = 64;

/// Characters with a meaning for shells. Commands run without a shell.
const SHELL: [char; 17] =
    ['|', '&', ';', '<', '>', '$', '`', '\\', '\'', '"', '(', ')', '{', '}', '*', '?', '~'];

/// Returns the first rule that a stack breaks.
pub(super) fn broken_rule(stack: &StackFile) -> Option<StackError> {
    names(stack)
        .or_else(|| command(&stack.test_command))
        .or_else(|| folders(stack))
        .or_else(|| files(stack))
        .or_else(|| manifest(stack))
}

/// Returns whether `name` consists of lower-case letters, digits and `-`, begins with a letter and
/// does not end with `-`.
pub(super) fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(plain)
        && !name.ends_with('-')
        && name.len() <= LONGEST_NAME
}

fn names(stack: &StackFile) -> Option<StackError> {
    if !is_name(&stack.name) {
        return Some((
            format!("its `name` is `{}`", stack.name.escape_debug()),
            "use lower-case letters, digits and `-`, at most 64, beginning with a letter",
        ));
    }
    let lines = [
        ("display_name", &stack.display_name),
        ("description", &stack.description),
        ("category", &stack.category),
    ];
    for (field, text) in lines {
        if text.trim().is_empty() || text.contains(char::is_control) {
            return Some((
                format!("its `{field}` is empty or has several lines"),
                "write it in one line",
            ));
        }
    }
    let empty = stack.conventions.trim().is_empty();
    empty.then(|| ("its `conventions` are empty".to_owned(), "describe how code is written there"))
}

fn command(command: &str) -> Option<StackError> {
    if command.trim().is_empty() || command.contains(char::is_control) {
        let why = "its `test_command` is empty or has several lines".to_owned();
        return Some((why, "give one program with its arguments, such as `npm test`"));
    }
    let odd = command.chars().find(|it| SHELL.contains(it))?;
    Some((
        format!("its `test_command` contains `{odd}`, which only a shell understands"),
        "give one program with its arguments; put shell commands into a script of the project",
    ))
}

fn folders(stack: &StackFile) -> Option<StackError> {
    for (field, folder) in [("src_dir", &stack.src_dir), ("test_dir", &stack.test_dir)] {
        if folder != "."
            && let Some(why) = path_error(folder)
        {
            let why = format!("its `{field}` `{}` {why}", folder.escape_debug());
            return Some((why, "give a folder below the project's root, or `.` for the root"));
        }
        let inside = |path: &String| folder == "." || path.starts_with(&format!("{folder}/"));
        if !stack.hello_world.keys().any(inside) {
            let why = format!("`hello_world` has no file in its `{field}` `{folder}`");
            return Some((why, "add some code, and a test of it that passes"));
        }
    }
    None
}

/// Returns the reason that a path does not name a file or folder of the project, as a phrase that
/// follows the path in a message.
fn path_error(path: &str) -> Option<&'static str> {
    let parts = || path.split('/');
    trellis_plan::unsafe_path(path)
        .or_else(|| parts().any(|it| matches!(it, "" | ".")).then_some("has an empty part or `.`"))
        .or_else(|| path.contains(char::is_control).then_some("has a control character"))
        .or_else(|| path.starts_with('~').then_some("starts with `~`"))
}

fn files(stack: &StackFile) -> Option<StackError> {
    // Compares in lower case, as file systems that ignore case do.
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for (path, text) in stack.config_files.iter().chain(&stack.hello_world) {
        if let Some(why) = path_error(path) {
            let why = format!("its path `{}` {why}", path.escape_debug());
            return Some((why, "give every file a path relative to the project's root"));
        }
        if let Some(other) = seen.insert(path.to_lowercase(), path) {
            let why = format!("`{other}` and `{path}` are the same file");
            return Some((why, "list each file once, in `config_files` or in `hello_world`"));
        }
        if let Some(why) = placeholder(text) {
            return Some((format!("`{path}` {why}"), "the only placeholder is {{project_name}}"));
        }
    }
    seen.iter().find_map(|(lower, path)| {
        let folders = lower.match_indices('/').map(|(at, _)| &lower[..at]);
        let file = folders.into_iter().find_map(|it| seen.get(it))?;
        let why = format!("`{file}` is a file, but also a folder of `{path}`");
        Some((why, "give one of the two another path"))
    })
}

/// Finds a mistyped `{{project_name}}`. Other braces belong to the stack's own language.
fn placeholder(text: &str) -> Option<String> {
    let rest = text.replace(PROJECT_NAME, "");
    let (_, after) = rest.split_once("{{project")?;
    let end = after.find("}}").unwrap_or(0).min(LONGEST_NAME);
    Some(format!("has the placeholder {{{{project{}}}}}", after.get(..end).unwrap_or_default()))
}

fn manifest(stack: &StackFile) -> Option<StackError> {
    let manifests = stack.install.manifests();
    let is_there = manifests.iter().any(|it| stack.config_files.contains_key(*it));
    if stack.install == Installer::None || is_there {
        return None;
    }
    let (name, files) = (stack.install.name(), manifests.join(" or "));
    let why = format!("`install` is {name}, and `config_files` has no {files}");
    Some((why, "add the file that lists what to install, or use `install: none`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = "
name: tiny
display_name: Tiny
description: A tiny stack
category: script
src_dir: src
test_dir: tests
test_command: npm test -- --watch=false
install: npm
config_files:
  package.json: '{\"name\": \"{{project_name}}\"}'
  style.jsx: <p style={{colour}} />
hello_world:
  src/a.js: a
  tests/a.test.js: t
conventions: None.
";

    #[test]
    fn each_rule() {
        let table = [
            ("", "", ""),
            ("name: tiny", "name: Tiny", "its `name` is `Tiny`"),
            ("name: tiny", "name: ../x", "its `name` is `../x`"),
            ("name: tiny", "name: x-", "its `name` is `x-`"),
            ("display_name: Tiny", "display_name: ' '", "its `display_name` is empty"),
            (
                "description: A tiny stack",
                "description: \"a\\nb\"",
                "its `description` is empty or",
            ),
            ("conventions: None.", "conventions: ''", "its `conventions` are empty"),
            ("npm test -- --watch=false", "''", "its `test_command` is empty"),
            ("npm test -- --watch=false", "npm test && rm -rf x", "contains `&`"),
            ("npm test -- --watch=false", "echo $(id)", "contains `$`"),
            ("src_dir: src", "src_dir: ../src", "its `src_dir` `../src` leads upwards"),
            ("src_dir: src", "src_dir: /src", "its `src_dir` `/src` is absolute"),
            ("src_dir: src", "src_dir: lib", "`hello_world` has no file in its `src_dir` `lib`"),
            ("test_dir: tests", "test_dir: ./tests", "has an empty part or `.`"),
            ("test_dir: tests", "test_dir: .", ""),
            ("src/a.js: a", "src/../../a.js: a", "leads upwards"),
            ("style.jsx", ".git/hooks/post-commit", "git's own folder"),
            ("style.jsx", ".trellis/journal.jsonl", "Trellis's own folder"),
            ("style.jsx", "~/.profile", "starts with `~`"),
            ("style.jsx", "'a//b'", "has an empty part"),
            ("style.jsx", "tests/", "has an empty part"),
            ("style.jsx", "src/a.js", "`src/a.js` and `src/a.js` are the same file"),
            ("style.jsx", "SRC/A.js", "are the same file"),
            ("style.jsx", "src", "`src` is a file, but also a folder of `src/a.js`"),
            ("tests/a.test.js: t", "tests/a.test.js: '{{project}}'", "placeholder {{project}}"),
            ("tests/a.test.js: t", "tests/a.test.js: '{{project_nam'", "has the placeholder"),
            ("package.json", "package.json5", "`config_files` has no package.json"),
            ("install: npm", "install: pip", "has no requirements.txt or pyproject.toml"),
            ("install: npm", "install: none", ""),
        ];
        for (from, to, expected) in table {
            let text = SOUND.replacen(from, to, 1);
            let stack: StackFile = serde_saphyr::from_str(&text).expect(to);
            let why = broken_rule(&stack).map_or_else(String::new, |(why, _)| why);
            let is_right =
                if expected.is_empty() { why.is_empty() } else { why.contains(expected) };
            assert!(is_right, "{to}: `{why}`, expected `{expected}`");
        }
    }
}
