//! Context of a function for the model: what it uses, how the project tests, and which fixtures
//! exist.

use std::path::Path;

use trellis_engine::assembly::library_name;
use trellis_engine::write_tests::{Sample, Style, Subject, samples};
use trellis_python::distributions::normalized;
use trellis_python::{Function, Functions, Outline, SymbolKind, is_test_file};
use trellis_sandbox::frameworks::{Framework, detect};
use trellis_sandbox::python;

use super::locate::Target;
use crate::fault::Fault;
use trellis_project::nested::Nested;

/// Maximum number of files to look at; a project may be huge.
const MOST_FILES: usize = 20_000;
/// Maximum number of the function's existing tests to show.
const MOST_EXISTING: usize = 6;
/// Maximum number of definitions that the function uses to show.
const MOST_USED: usize = 12;
/// Maximum number of test files to read for samples.
const MOST_TESTS: usize = 200;

/// The Python files of a project, below its root.
pub(super) struct Project {
    /// Source files without tests, sorted.
    pub(super) sources: Vec<String>,
    /// Test files without generated ones, sorted.
    tests: Vec<String>,
}

impl Project {
    /// Lists the project's files. Leaves out hidden folders, environments, what git ignores, and
    /// projects below this one.
    pub(super) fn look(root: &Path, tests_dir: &str) -> Project {
        let generated = format!("{tests_dir}/");
        let is_own = |it: &String| {
            it.ends_with(".py") && !is_build_output(it) && !it.starts_with(&generated)
        };
        let mut nested = Nested::below(root);
        let files = trellis_project::sources::paths(root).into_iter().filter(is_own);
        let files = files.filter(|it| nested.around(it).is_none()).take(MOST_FILES);
        let (tests, sources) = files.partition(|it| is_test_file(it));
        Project { sources, tests }
    }

    /// Returns whether `name` is a top-level package or module of the project.
    pub(super) fn is_local(&self, target: &Target, name: &str) -> bool {
        let top = |path: &String| {
            let module = super::locate::module(path, &target.source_folders).unwrap_or_default();
            module.split('.').next() == Some(name)
        };
        target.module.split('.').next() == Some(name) || self.sources.iter().any(top)
    }

    /// Returns tests that show the project's style, and tests that already mention the function.
    fn samples(&self, target: &Target) -> (Vec<String>, Vec<String>) {
        let (mut all, mut existing) = (Vec::new(), Vec::new());
        for path in self.tests.iter().take(MOST_TESTS) {
            // A file that cannot be read contributes nothing.
            let Ok(text) = trellis_os::files::read_text(target.root.join(path)) else {
                continue;
            };
            let is_near = text.contains(target.module.rsplit('.').next().unwrap_or_default());
            let tests = Functions::of(&text).functions.into_iter();
            let tests = tests.filter(|it| it.name.starts_with("test") && !it.is_nested);
            for it in tests {
                if is_near
                    && trellis_python::words(&it.source)
                        .is_ok_and(|it| it.contains(&target.function.name))
                {
                    existing.push(it.source);
                } else {
                    all.push(Sample { path: path.clone(), text: it.source, is_near });
                }
            }
        }
        existing.truncate(MOST_EXISTING);
        (samples(all).into_iter().map(|it| it.text).collect(), existing)
    }

    /// Returns the definitions that the function uses from its own module and from other modules of
    /// the project, as written.
    fn used(&self, target: &Target, uses: &trellis_python::Uses) -> Vec<String> {
        let own = &target.function.name;
        let class = target.function.class.as_deref().and_then(|it| it.split('.').next());
        let mut out = Vec::new();
        for name in uses.names.iter().filter(|it| *it != own && Some(it.as_str()) != class) {
            let of_module = trellis_python::interface(&target.source, name);
            let entry = of_module.map(|it| python(&format!("In `{}`:", target.path), &it));
            out.extend(entry.or_else(|| self.imported(target, uses, name)));
        }
        out.truncate(MOST_USED);
        out
    }

    /// Returns the interface of a name imported from another module of the project.
    fn imported(&self, target: &Target, uses: &trellis_python::Uses, name: &str) -> Option<String> {
        let import = uses.used.iter().find(|it| it.bound() == Some(name))?;
        let original = import.name.as_deref()?;
        let module = |path: &String| super::locate::module(path, &target.source_folders).ok();
        let path = self.sources.iter().find(|it| module(it).as_ref() == Some(&import.module))?;
        let text = trellis_os::files::read_text(target.root.join(path)).ok()?;
        trellis_python::interface(&text, original).map(|it| python(&format!("`{import}`:"), &it))
    }
}

fn python(title: &str, text: &str) -> String {
    format!("{title}\n```python\n{}\n```\n", text.trim_end())
}

/// Returns whether a path is in a build output folder.
fn is_build_output(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').any(|it| matches!(it, "build" | "dist"))
}

/// Returns the requested framework, else the one that the project's files show, else pytest.
pub(super) fn framework(asked: Option<Style>, root: &Path) -> Style {
    asked.unwrap_or_else(|| match detect(root).map(|it| it.framework) {
        Some(Framework::Unittest) => Style::Unittest,
        _ => Style::Pytest,
    })
}

/// Collects everything that the request contains.
pub(super) fn subject(
    target: &Target,
    project: &Project,
    framework: Style,
    test_path: &str,
    tests_dir: &str,
    conventions: &[String],
) -> Result<Subject, Fault> {
    let function = &target.function;
    let uses = trellis_python::uses(&target.source, function);
    let called = outside_of_callees(target, &uses);
    let outside = uses.outside.iter();
    let outside = outside.map(|it| match it.written == it.resolved {
        true => format!("`{}` ({})", it.written, it.contact.as_str()),
        false => format!("`{}`, which is `{}` ({})", it.written, it.resolved, it.contact.as_str()),
    });
    let (samples, existing) = project.samples(target);
    Ok(Subject {
        item: Subject::item(function, &target.path, &target.module, test_path),
        qualified_name: function.qualified_name.clone(),
        source: function.source.clone(),
        class_source: class_source(&target.source, function),
        is_async: function.is_async,
        style: match framework {
            Style::Pytest => Style::Pytest,
            Style::Unittest => Style::Unittest,
        },
        imports: uses.used.iter().map(ToString::to_string).collect(),
        outside: outside.chain(called).collect(),
        used: project.used(target, &uses),
        existing,
        dependencies: dependencies(&target.root)?,
        fixtures: match framework {
            Style::Pytest => fixtures(&target.root, tests_dir),
            Style::Unittest => Vec::new(),
        },
        samples,
        conventions: conventions.to_vec(),
    })
}

/// Returns the external contacts of functions in the same module that the function calls.
fn outside_of_callees(target: &Target, uses: &trellis_python::Uses) -> Vec<String> {
    let all = Functions::of(&target.source).functions;
    let is_called = |it: &&Function| {
        it.class.is_none() && it.name != target.function.name && uses.names.contains(&it.name)
    };
    let mut out = Vec::new();
    for callee in all.iter().filter(is_called) {
        let found = trellis_python::uses(&target.source, callee).outside.into_iter();
        out.extend(found.map(|it| {
            format!(
                "`{}` in `{}`, which it calls ({})",
                it.written,
                callee.name,
                it.contact.as_str()
            )
        }));
    }
    out
}

/// Returns the source of the outermost class around a method.
fn class_source(source: &str, function: &Function) -> String {
    let outermost = function.class.as_deref().and_then(|it| it.split('.').next());
    let outline = Outline::of(source);
    let mut classes = outline.symbols.iter().filter(|it| it.kind == SymbolKind::Class);
    let class = classes.find(|it| it.parent.is_none() && Some(it.name.as_str()) == outermost);
    class.map(|it| source[it.range.clone()].to_owned()).unwrap_or_default()
}

/// Returns the normalized names of the distributions that a project needs.
fn dependencies(root: &Path) -> Result<Vec<String>, Fault> {
    let lines = python::of_project(root)?.lines;
    let names = lines.iter().map(|line| normalized(library_name(line)));
    let mut names: Vec<String> = names.filter(|it| !it.is_empty()).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// Returns fixtures available to tests in the folder, each with the first line of its docstring.
fn fixtures(root: &Path, tests_dir: &str) -> Vec<String> {
    let mut out = Vec::new();
    for place in ["conftest.py".to_owned(), format!("{tests_dir}/conftest.py")] {
        // Most projects have no conftest.py there.
        let Ok(text) = trellis_os::files::read_text(root.join(place)) else { continue };
        let is_fixture = |it: &Function| {
            let decorators = it.decorators.iter();
            !it.is_nested && decorators.clone().any(|it| it.contains("fixture"))
        };
        for fixture in Functions::of(&text).functions.iter().filter(|it| is_fixture(it)) {
            let signature = fixture.signature.split_once("def ").map_or("", |(_, rest)| rest);
            let said = fixture.docstring.as_deref().and_then(|it| it.lines().next());
            let said = said.map_or(String::new(), |it| format!(": {it}"));
            out.push(format!("`{signature}`{said}"));
        }
    }
    out
}
