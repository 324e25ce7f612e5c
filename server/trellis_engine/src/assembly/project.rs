//! Project files: packaging, requirements, settings (A3, A6).

use std::collections::BTreeMap;

use trellis_python::distributions::normalized;

use crate::assembly::layout::Layout;
use crate::assembly::tree::pytest_ini;
use crate::import_resolution::library_name;

/// Facts for the project's metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Project {
    pub name: String,
    pub description: String,
    pub author: Option<String>,
    pub version: String,
    /// Python version of the tests, such as `3.11`; `None` if unknown.
    pub python: Option<String>,
    /// Requirement lines with ranges, sorted.
    pub requirements: Vec<String>,
    /// Script name and `module:function`.
    pub entry_points: Vec<(String, String)>,
}

/// Development requirements: used by tests, formatting and type checks of the generated project.
const DEVELOPMENT: [&str; 4] =
    ["black>=23.0,<27", "coverage>=7.0,<8", "mypy>=1.0,<3", "pytest>=7.0,<10"];

/// Returns `pyproject.toml`, `requirements.txt`, `requirements-dev.txt`, `pytest.ini` and
/// `.gitignore`.
pub fn project_files(project: &Project, layout: &Layout) -> BTreeMap<String, String> {
    let lines = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let development: Vec<String> =
        std::iter::once("-r requirements.txt".to_owned()).chain(development(project)).collect();
    BTreeMap::from([
        ("pyproject.toml".to_owned(), pyproject(project, layout)),
        ("requirements.txt".to_owned(), lines(&project.requirements)),
        ("requirements-dev.txt".to_owned(), lines(&development)),
        ("pytest.ini".to_owned(), pytest_ini(layout)),
        (".gitignore".to_owned(), GITIGNORE.to_owned()),
    ])
}

/// Distributions without types of their own, in lowercase, for which typeshed has stubs.
const STUBS: [(&str, &str); 26] = [
    ("boltons", "types-boltons"),
    ("cachetools", "types-cachetools"),
    ("dateparser", "types-dateparser"),
    ("docutils", "types-docutils"),
    ("jsonschema", "types-jsonschema"),
    ("lxml", "lxml-stubs"),
    ("markdown", "types-Markdown"),
    ("mock", "types-mock"),
    ("openpyxl", "types-openpyxl"),
    ("paramiko", "types-paramiko"),
    ("peewee", "types-peewee"),
    ("psutil", "types-psutil"),
    ("psycopg2", "types-psycopg2"),
    ("psycopg2-binary", "types-psycopg2"),
    ("pygments", "types-Pygments"),
    ("pymysql", "types-PyMySQL"),
    ("pyserial", "types-pyserial"),
    ("python-dateutil", "types-python-dateutil"),
    ("pytz", "types-pytz"),
    ("pyyaml", "types-PyYAML"),
    ("requests", "types-requests"),
    ("simplejson", "types-simplejson"),
    ("tabulate", "types-tabulate"),
    ("toml", "types-toml"),
    ("tqdm", "types-tqdm"),
    ("xmltodict", "types-xmltodict"),
];

/// Returns the requirements of developers besides the project's own: tools, and stubs that mypy
/// asks for.
fn development(project: &Project) -> Vec<String> {
    let lines = project.requirements.iter();
    let names: Vec<String> = lines.map(|line| normalized(library_name(line))).collect();
    let stubs = STUBS.iter().filter(|it| names.iter().any(|name| name == it.0));
    let tools = DEVELOPMENT.iter().map(ToString::to_string);
    let mut out: Vec<String> = tools.chain(stubs.map(|it| it.1.to_owned())).collect();
    out.dedup();
    out
}

/// Files made by tools: builds, caches, results of tests.
const GITIGNORE: &str = "__pycache__/\n*.pyc\n*.egg-info/\nbuild/\ndist/\n.mypy_cache/\n.pytest_cache/\n.coverage\ntest_results.xml\n.venv/\n.trellis/\n.trellis/cache\n";

fn pyproject(project: &Project, layout: &Layout) -> String {
    let mut out = String::from(
        "[build-system]\nrequires = [\"setuptools>=61\"]\nbuild-backend = \"setuptools.build_meta\"\n\n[project]\n",
    );
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(format!("name = {}", quoted(&distribution_name(&project.name))));
    line(format!("version = {}", quoted(&project.version)));
    line(format!("description = {}", quoted(&project.description)));
    line("readme = \"README.md\"".to_owned());
    if let Some(version) = &project.python {
        line(format!("requires-python = {}", quoted(&format!(">={version}"))));
    }
    if let Some(author) = &project.author {
        line(format!("authors = [{{ name = {} }}]", quoted(author)));
    }
    line("classifiers = [\n    \"Development Status :: 3 - Alpha\",\n    \"Programming Language :: Python :: 3\",\n    \"Programming Language :: Python :: 3 :: Only\",\n]".to_owned());
    line(format!("dependencies = {}", list(&project.requirements)));
    line(format!("\n[project.optional-dependencies]\ndev = {}", list(&development(project))));
    if !project.entry_points.is_empty() {
        line("\n[project.scripts]".to_owned());
        for (name, target) in &project.entry_points {
            line(format!("{} = {}", quoted(name), quoted(target)));
        }
    }
    line(setuptools(layout));
    line(format!(
        "\n[tool.coverage.run]\nbranch = true\nsource = {}",
        list(&coverage_sources(layout))
    ));
    out
}

fn setuptools(layout: &Layout) -> String {
    let beside = layout.packages_beside_src();
    let places = std::iter::once(("", layout.roots()[0])).chain(beside.iter().map(|it| (*it, *it)));
    let places: Vec<String> =
        places.map(|(name, folder)| format!("{} = {}", quoted(name), quoted(folder))).collect();
    let mut out = format!("\n[tool.setuptools]\npackage-dir = {{ {} }}", places.join(", "));
    let loose: Vec<String> = layout.loose_modules().iter().map(ToString::to_string).collect();
    if !loose.is_empty() {
        out += &format!("\npy-modules = {}", list(&loose));
    }
    let packages = layout.top_packages().into_iter();
    let patterns: Vec<String> =
        packages.flat_map(|name| [name.to_owned(), format!("{name}.*")]).collect();
    if patterns.is_empty() {
        out += "\npackages = []";
    } else {
        let searched = if beside.is_empty() { 1 } else { 2 };
        let roots: Vec<String> = layout.roots().into_iter().take(searched).map(quoted).collect();
        out += &format!(
            "\n\n[tool.setuptools.packages.find]\nwhere = [{}]\ninclude = {}",
            roots.join(", "),
            list(&patterns)
        );
    }
    out
}

fn coverage_sources(layout: &Layout) -> Vec<String> {
    layout.top_packages().iter().chain(&layout.loose_modules()).map(ToString::to_string).collect()
}

/// Converts a name to one that packaging tools accept: letters, digits and single separators.
pub(crate) fn distribution_name(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let joined = words.collect::<Vec<_>>().join("-").to_lowercase();
    if joined.is_empty() { "grown-project".to_owned() } else { joined }
}

fn list(values: &[String]) -> String {
    match values {
        [] => "[]".to_owned(),
        values => {
            let lines: String =
                values.iter().map(|value| format!("    {},\n", quoted(value))).collect();
            format!("[\n{lines}]")
        }
    }
}

/// Quotes a text as a TOML basic string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
