//! Reads the specification and the context files of an issue, and selects the files that a model is
//! shown.

use std::path::Path;

use trellis_engine::issue::{Context, IssueFacts, ShownFile, ask_scaffold, shown};
use trellis_plan::{Document, Evidence, SearchIndex};
use trellis_sandbox::frameworks::Framework;

use super::files::is_test;
use super::{IssueRequest, SpecFiles};
use crate::convert;
use crate::fault::Fault;
use trellis_git::worktree::repository;

/// Maximum number of files that keywords select.
const FOUND: usize = 8;
/// Maximum size of a file to search, in bytes.
const LONGEST: usize = 400_000;
/// Approximate number of tokens of a request.
const TOKENS: usize = 12_000;

/// The specification of an issue, with its context.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Path of the specification, relative to the project.
    pub lld: String,
    pub specification: String,
    pub context: Context,
    /// Search terms; files that match them are shown.
    pub keywords: Vec<String>,
}

/// Reads the specification and the context.
///
/// # Errors
///
/// A file does not exist, is not text, lies outside the project, or is context and neither Python
/// nor Markdown.
pub(super) fn read(order: &IssueRequest, given: &SpecFiles) -> Result<Spec, Fault> {
    let lld = confined(&order.home, &given.lld, "the specification")?;
    let specification = text(&given.lld, "the specification")?;
    if specification.trim().is_empty() {
        return Err(Fault::input(format!("{lld} is empty")).hint("write down what you want"));
    }
    let mut context = Context::default();
    for path in &given.context {
        let name = confined(&order.home, path, "context")?;
        let is_known = [".py", ".md"].iter().any(|it| name.to_ascii_lowercase().ends_with(it));
        if !is_known {
            return Err(Fault::input(format!("{name} cannot be used as context"))
                .hint("give Python (.py) or Markdown (.md)"));
        }
        context.add(&name, text(path, "context")?);
    }
    Ok(Spec { lld, specification, context, keywords: Vec::new() })
}

/// Returns the path of a file relative to the project, or an error if it is outside.
fn confined(home: &Path, path: &Path, what: &str) -> Result<String, Fault> {
    let shown = path.display();
    let real = path.canonicalize().map_err(|error| {
        Fault::input(trellis_os::wording::cannot_read(format_args!("{what} {shown}"), &error))
            .hint("give a file of the project")
    })?;
    let inside = real.strip_prefix(home).ok().and_then(Path::to_str);
    let inside = inside.filter(|it| !it.starts_with(".git/") && !it.starts_with(".trellis/"));
    inside.map(str::to_owned).ok_or_else(|| {
        Fault::input(format!("{what} {shown} is outside the project {}", home.display()))
            .hint("copy it into the project, or choose another project")
    })
}

fn text(path: &Path, what: &str) -> Result<String, Fault> {
    trellis_os::files::read_text(path).map_err(|error| {
        Fault::input(trellis_os::wording::cannot_read(
            format_args!("{what} {}", path.display()),
            &error,
        ))
        .hint("give a UTF-8 text file")
    })
}

/// Collects the facts about the issue that a model receives before anything is written, with the
/// project's files below `root`.
pub(super) fn feature(
    order: &IssueRequest,
    words: &Spec,
    root: &Path,
    all: &[String],
    framework: Framework,
) -> IssueFacts {
    let given: Vec<&str> = (words.context.code.iter().chain(&words.context.standards))
        .map(|it| it.0.as_str())
        .chain([words.lld.as_str()])
        .collect();
    let text = |path: &String| {
        let text = trellis_os::files::read_text(root.join(path)).ok()?;
        (text.len() <= LONGEST).then(|| (path.clone(), text))
    };
    let texts: Vec<(String, String)> =
        all.iter().filter(|it| !given.contains(&it.as_str())).filter_map(text).collect();
    let mut files = shown(&words.specification, &texts, is_test);
    if !words.keywords.is_empty() {
        let left = texts.into_iter().filter(|it| !files.iter().any(|shown| shown.path == it.0));
        let found = found(&words.keywords, left.collect()).into_iter();
        files.extend(found.take(FOUND).map(|(path, text)| ShownFile::whole(&path, text)));
    }
    let is_other = |it: &&String| {
        !files.iter().any(|shown| shown.path == **it) && !given.contains(&it.as_str())
    };
    IssueFacts {
        title: order.title.clone(),
        specification: words.specification.clone(),
        context: words.context.clone(),
        framework: framework.to_string(),
        tests: tests_place(all),
        others: all.iter().filter(is_other).cloned().collect(),
        files,
        diff: String::new(),
        broken: Vec::new(),
        written: Vec::new(),
        tools: order.tools.unwrap_or(false),
    }
}

/// Returns files with a keyword in their path or text, best match first.
fn found(keywords: &[String], files: Vec<(String, String)>) -> Vec<(String, String)> {
    let document =
        |it: &(String, String)| (it.0.replace(['/', '.'], " "), it.0.clone(), it.1.clone());
    let texts: Vec<(String, String, String)> = files.iter().map(document).collect();
    let index =
        SearchIndex::new(texts.iter().map(|(name, path, text)| Document { name, path, text }));
    let Some(query) = index.query(&keywords.join(" ")) else { return Vec::new() };
    let hits = index.search(&query, Evidence::Words, |_| true, files.len());
    hits.into_iter().filter_map(|it| files.get(it.document).cloned()).collect()
}

/// Returns a phrase for the folder with the most tests; `tests` if there are none.
fn tests_place(all: &[String]) -> String {
    let folder = |path: &String| path.rsplit_once('/').map_or(String::new(), |it| it.0.to_owned());
    let mut folders: Vec<String> = all.iter().filter(|it| is_test(it)).map(folder).collect();
    folders.sort();
    let longest = folders.chunk_by(|a, b| a == b).max_by_key(|it| it.len());
    match longest.map(|it| it[0].as_str()) {
        None => "`tests/`".to_owned(),
        Some("") => "the project's own folder, beside the code".to_owned(),
        Some(folder) => format!("`{folder}/`"),
    }
}

/// Describes the plan and the first request for the files as they are now. Sends no request and
/// writes nothing.
///
/// # Errors
///
/// As for the work itself, as far as its specification is concerned.
pub fn plan(order: &IssueRequest, given: &SpecFiles) -> Result<String, Fault> {
    let words = read(order, given)?;
    let framework = super::test_runner::framework(&order.home);
    let git = repository(&order.home)?;
    let all = git.tracked()?;
    let feature = feature(order, &words, &order.home, &all, framework);
    let asked = convert::ask(&order.id, &ask_scaffold(&feature, 0, None), TOKENS);
    let prompt: Vec<String> = asked.messages.iter().map(|it| it.text.clone()).collect();
    let retries = order.limits.retries;
    Ok(format!(
        "1. worktree .trellis/worktrees/{name} on the branch trellis/{name}, from the last \
         commit\n2. tests of {title} by the model, in {tests}, for {framework}\n3. red gate: \
         the new tests must fail\n4. code by the model; tests are read-only\n5. green gate: the \
         new tests pass, and so do all that passed before; otherwise up to {retries} fixes\n6. \
         linters of the project, otherwise ruff and a type checker, where installed\n7. reports \
         in .trellis/implement/{name}\n8. review: {review}\n9. merge as one commit, and remove \
         the worktree\n\nFirst prompt:\n\n{prompt}\n",
        name = order.name,
        title = feature.title,
        tests = feature.tests,
        review = order.mode.as_str(),
        prompt = prompt.join("\n\n"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_find_files_by_path_and_by_text() {
        let files = [
            ("src/billing/tax.py", "def rate(): ...\n"),
            ("src/users.py", "def sign_up(): ...\n"),
            ("src/audit.py", "# every registration is written down\n"),
            ("docs/notes.md", "Nothing.\n"),
        ];
        let files = || files.map(|(path, text)| (path.to_owned(), text.to_owned())).to_vec();
        let table: [(&[&str], &[&str]); 4] = [
            (&["tax"], &["src/billing/tax.py"]),
            (&["users", "registration"], &["src/users.py", "src/audit.py"]),
            (&["signUp"], &["src/users.py"]),
            (&["!"], &[]),
        ];
        for (keywords, wanted) in table {
            let keywords: Vec<String> = keywords.iter().map(ToString::to_string).collect();
            let hits: Vec<String> = found(&keywords, files()).into_iter().map(|it| it.0).collect();
            assert_eq!(hits, wanted, "{keywords:?}");
        }
    }
}
