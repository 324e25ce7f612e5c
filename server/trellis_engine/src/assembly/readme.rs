//! README of the generated project (A4).

use std::fmt::Write as _;

use crate::assembly::project::{Project, distribution_name};

/// One module in the README.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleFacts {
    pub subgraph: String,
    pub module: String,
    /// Qualified name and first line of the docstring.
    pub definitions: Vec<(String, String)>,
}

/// Renders overview, installation, an example of use that was run, modules, tests, and a reference
/// to the graph.
pub fn readme(project: &Project, modules: &[ModuleFacts], usage: Option<&str>) -> String {
    let mut out = format!("# {}\n\n{}\n\n", project.name, project.description);
    let name = distribution_name(&project.name);
    let _ = write!(
        out,
        "## Installation\n\n```\npip install -e .\n```\n\nInstalls the distribution `{name}`.\n\n"
    );
    if let Some(example) = usage {
        let _ = write!(out, "## Usage\n\n```python\n{}\n```\n\n", example.trim_end());
    }
    out.push_str("## Modules\n");
    let mut last = "";
    for module in modules {
        if module.subgraph != last {
            let _ = write!(out, "\n### {}\n\n", module.subgraph);
            last = &module.subgraph;
        }
        let _ = writeln!(out, "- `{}`", module.module);
        for (name, summary) in &module.definitions {
            let _ = writeln!(out, "  - `{name}`: {summary}");
        }
    }
    out.push_str("\n## Tests\n\n```\npip install -r requirements-dev.txt\npytest tests/\n```\n\n");
    out.push_str(
        "## How this was generated\n\nTrellis generated this project test-first from the \
         planning graph in [docs/rpg.json](docs/rpg.json); see \
         [docs/generation_report.md](docs/generation_report.md).\n",
    );
    out
}

/// Maximum number of lines of a test used as an example.
const SHORT: usize = 15;

/// Turns a passing test into an example of use: its imports and its body. Takes the first that
/// stands alone: no fixtures, nothing of pytest's, no helper of its file. `tests` are texts of test
/// modules, the most instructive first.
pub fn usage<'a>(tests: impl IntoIterator<Item = &'a str>) -> Option<String> {
    tests.into_iter().find_map(|text| {
        let all = trellis_python::Functions::of(text).functions;
        all.iter().filter(|it| it.name.starts_with("test")).find_map(|it| example(text, it))
    })
}

fn example(text: &str, test: &trellis_python::Function) -> Option<String> {
    let takes_nothing = test.signature.replace(' ', "").ends_with("()");
    let is_plain = takes_nothing && !test.is_async && !test.is_nested && !test.is_method();
    if !is_plain || !test.decorators.is_empty() {
        return None;
    }
    let body = body(text, test)?;
    let uses = trellis_python::uses(text, test);
    let mut imports: Vec<String> = uses.used.iter().map(ToString::to_string).collect();
    imports.sort();
    let example = format!("{}\n\n{body}", imports.join("\n"));
    let stands_alone = trellis_python::unresolved(&example).is_ok_and(|it| it.is_empty());
    let is_short = body.lines().count() <= SHORT;
    (stands_alone && is_short && !imports.is_empty() && !example.contains("pytest"))
        .then(|| trellis_python::formatted(&example).unwrap_or(example))
}

/// Returns the statements of a test without docstring and indentation.
fn body(text: &str, test: &trellis_python::Function) -> Option<String> {
    let outline = trellis_python::Outline::of(text);
    let symbol = outline.symbols.iter().find(|it| it.parent.is_none() && it.name == test.name)?;
    let body = symbol.body.clone()?;
    let from = symbol.docstring.clone().map_or(body.start, |it| it.end);
    let line = text[..from].rfind('\n').map_or(0, |it| it + 1);
    let start = if text[line..from].trim().is_empty() { line } else { from };
    let lines: Vec<&str> = text[start..body.end].lines().collect();
    let filled = || lines.iter().filter(|it| !it.trim().is_empty());
    let margin = filled().map(|it| it.len() - it.trim_start().len()).min()?;
    let kept = lines.iter().skip_while(|it| it.trim().is_empty());
    Some(kept.map(|it| format!("{}\n", it.get(margin..).unwrap_or_default())).collect())
}
