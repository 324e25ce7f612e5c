//! The grown project's README (A4).

use std::fmt::Write as _;

use crate::assembly::project::{Project, distribution_name};

/// One module as the README lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleFacts {
    pub subgraph: String,
    pub module: String,
    /// Qualified name, first line of the docstring, examples.
    pub definitions: Vec<(String, String, Vec<String>)>,
}

/// Longest list of usage examples.
const EXAMPLES: usize = 10;

/// Overview, installation, usage from the nodes' examples, modules, tests, the graph.
pub fn readme(project: &Project, modules: &[ModuleFacts]) -> String {
    let mut out = format!("# {}\n\n{}\n\n", project.name, project.description);
    let name = distribution_name(&project.name);
    let _ = write!(
        out,
        "## Installation\n\n```\npip install -e .\n```\n\nInstalls the distribution `{name}`.\n\n"
    );
    usage(&mut out, modules);
    out.push_str("## Modules\n");
    let mut last = "";
    for module in modules {
        if module.subgraph != last {
            let _ = write!(out, "\n### {}\n\n", module.subgraph);
            last = &module.subgraph;
        }
        let _ = writeln!(out, "- `{}`", module.module);
        for (name, summary, _) in &module.definitions {
            let _ = writeln!(out, "  - `{name}`: {summary}");
        }
    }
    out.push_str("\n## Tests\n\n```\npip install -r requirements-dev.txt\npytest tests/\n```\n\n");
    out.push_str(
        "## How it came to be\n\nGrown test first by Trellis along the planning graph in \
         [docs/rpg.json](docs/rpg.json); see [docs/generation_report.md](docs/generation_report.md).\n",
    );
    out
}

fn usage(out: &mut String, modules: &[ModuleFacts]) {
    let mut lines = Vec::new();
    for module in modules {
        for (name, _, examples) in &module.definitions {
            let import = name.split('.').next().unwrap_or(name);
            for (index, example) in examples.iter().enumerate() {
                let import =
                    (index == 0).then(|| format!("from {} import {import}\n", module.module));
                lines.push(format!("{}{example}\n", import.unwrap_or_default()));
            }
        }
    }
    if !lines.is_empty() {
        lines.truncate(EXAMPLES);
        let _ = write!(out, "## Usage\n\n```python\n{}```\n\n", lines.join("\n"));
    }
}
