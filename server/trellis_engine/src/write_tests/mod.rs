//! Tests for an existing function: the prompt, the parsing of replies, and the insertion into a
//! file that people edit as well.

mod merge_into_file;
mod samples;

use trellis_python::{Fragment, Function, Signature};

use crate::draft::refuse_internals;
use crate::item::{Item, ItemKind};
use crate::policy::Policy;
use crate::prompt::template::WRITE_TESTS;
use crate::prompt::{Prompt, listed, python, rank};
use crate::prompt_budget::Section;
use crate::vocabulary::{ModelRequest, Stage};
use crate::{routing, test_draft};

pub use merge_into_file::{MergedTestFile, PreviousTests, insert_tests};
pub use samples::{Sample, samples};

/// Test frameworks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Pytest,
    Unittest,
}

impl Style {
    /// Returns the name in lowercase, as the program is called.
    pub fn as_str(self) -> &'static str {
        match self {
            Style::Pytest => "pytest",
            Style::Unittest => "unittest",
        }
    }

    /// Returns the title of the prompt part on asynchronous tests, depending on the installed
    /// distributions.
    fn asynchronous(self, dependencies: &[String]) -> &'static str {
        let has = |name: &str| dependencies.iter().any(|it| it == name);
        match self {
            Style::Unittest => "unittest asynchronous",
            Style::Pytest if has("pytest-asyncio") => "pytest-asyncio",
            Style::Pytest if has("anyio") => "anyio",
            Style::Pytest => "asyncio",
        }
    }
}

/// The function under test, with facts about its project.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The function as an item; `class` is the outermost class around a method, since that can be
    /// imported.
    pub item: Item,
    /// Qualified name, such as `Cart.Line.total`.
    pub qualified_name: String,
    /// Full source of the function.
    pub source: String,
    /// For a method, the rest of its class.
    pub class_source: String,
    pub is_async: bool,
    pub style: Style,
    /// Imports that the function uses, as statements.
    pub imports: Vec<String>,
    /// Project code that the function uses, each with an import or a note above its text.
    pub used: Vec<String>,
    /// Sources of existing tests that mention the function.
    pub existing: Vec<String>,
    /// Descriptions of external effects.
    pub outside: Vec<String>,
    /// Required distributions of the project, by normalized name.
    pub dependencies: Vec<String>,
    /// Descriptions of the available fixtures.
    pub fixtures: Vec<String>,
    /// Sources of tests of the project.
    pub samples: Vec<String>,
    /// Coding conventions, one rule each.
    pub conventions: Vec<String>,
}

impl Subject {
    /// Creates the item of `function` in the file `path`, which is imported as `module`.
    pub fn item(function: &Function, path: &str, module: &str, test_path: &str) -> Item {
        let outermost = function.class.as_deref().and_then(|it| it.split('.').next());
        Item {
            id: format!("{path}::{}", function.qualified_name),
            kind: if function.is_method() { ItemKind::Method } else { ItemKind::Function },
            name: function.name.clone(),
            class: outermost.map(str::to_owned),
            planned_methods: Vec::new(),
            path: path.to_owned(),
            module: module.to_owned(),
            test_path: test_path.to_owned(),
            signature: Signature::parse(&function.signature).ok(),
            docstring: function.docstring.clone().unwrap_or_default(),
            examples: Vec::new(),
            libraries: Vec::new(),
            shares_tests: false,
            red_gate: false,
            dependencies: Vec::new(),
            dependents: Vec::new(),
        }
    }

    /// Returns a suffix that distinguishes the definitions of its tests from others:
    /// `Cart_Line_total`.
    pub fn suffix(&self) -> String {
        self.qualified_name.replace('.', "_")
    }
}

/// Builds the request for tests. `complaint`: the reason for sending the previous tests back, and
/// their text.
pub fn ask_write_tests(
    subject: &Subject,
    complaint: Option<(&str, &str)>,
    attempt: u32,
) -> ModelRequest {
    let mut sections = facts(subject);
    sections.extend(project(subject));
    sections.push(Section::new(rank::TASK, "Task", task(subject)));
    if let Some((why, old)) = complaint {
        sections.push(Section::new(rank::CORE, "Your last tests were sent back", why));
        let old = (!old.is_empty()).then(|| Section::new(rank::CODE, "They were", python(old)));
        sections.extend(old);
    }
    let route = routing::of_item(&subject.item, attempt);
    ModelRequest {
        stage: Stage::WriteTests,
        attempt,
        temperature: 0.0,
        prompt: Prompt::new(&WRITE_TESTS, sections),
        prompt_version: WRITE_TESTS.version(),
        tier: route.tier,
        why: route.why,
        tools: false,
    }
}

fn facts(subject: &Subject) -> Vec<Section> {
    let item = &subject.item;
    let title = format!("`{}` in `{}`", subject.qualified_name, item.path);
    let mut out = vec![Section::new(rank::CORE, title, python(&subject.source))];
    if !subject.class_source.is_empty() {
        let body = python(&subject.class_source);
        out.push(Section::new(rank::CODE, "The class around it", body));
    }
    let lines = |all: &[String]| all.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>();
    let imports = lines(&subject.imports);
    out.extend(listed(rank::CODE, "Imports it uses", imports.iter().map(String::as_str)));
    if !subject.used.is_empty() {
        out.push(Section::new(rank::CODE, "What it uses of the project", subject.used.join("\n")));
    }
    let outside = subject.outside.iter().map(String::as_str);
    out.extend(listed(rank::CORE, "What reaches outside", outside));
    if !subject.existing.is_empty() {
        let title = "Tests that exist for it: add what they miss";
        out.push(Section::new(rank::TESTS, title, texts(&subject.existing)));
    }
    out
}

fn texts(all: &[String]) -> String {
    all.iter().map(|it| python(it)).collect()
}

fn project(subject: &Subject) -> Vec<Section> {
    let dependencies = subject.dependencies.join(", ");
    let dependencies = Some(dependencies.as_str()).filter(|it| !it.is_empty());
    let mut out = Vec::from_iter(listed(
        rank::CONTEXT,
        "Packages the project needs",
        dependencies.into_iter(),
    ));
    let fixtures = subject.fixtures.iter().map(String::as_str);
    out.extend(listed(rank::TESTS, "Fixtures tests can ask for", fixtures));
    if !subject.samples.is_empty() {
        let title = "How this project writes tests";
        out.push(Section::new(rank::CONTEXT, title, texts(&subject.samples)));
    }
    let conventions = subject.conventions.iter().map(String::as_str);
    out.extend(listed(rank::CONVENTIONS, "Conventions", conventions));
    out
}

fn task(subject: &Subject) -> String {
    let item = &subject.item;
    let outside = match subject.outside.is_empty() {
        true => String::new(),
        false => format!(" {}", WRITE_TESTS.say("outside", &[("module", &item.module)])),
    };
    let asynchronous = match subject.is_async {
        true => {
            let part = subject.style.asynchronous(&subject.dependencies);
            format!(" {}", WRITE_TESTS.say(part, &[]))
        }
        false => String::new(),
    };
    let values = [
        ("style", WRITE_TESTS.say(subject.style.as_str(), &[])),
        ("name", subject.qualified_name.clone()),
        ("naming", naming(subject)),
        ("least", Policy::write_tests().least_cases.to_string()),
        ("module", item.module.clone()),
        ("import_name", item.import_name().to_owned()),
        ("outside", outside),
        ("asynchronous", asynchronous),
    ];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, it)| (*name, it.as_str())).collect();
    WRITE_TESTS.say("task", &values)
}

/// Returns the naming rule for tests: as in the project's own tests, if there are any.
fn naming(subject: &Subject) -> String {
    if !subject.samples.is_empty() || !subject.existing.is_empty() {
        return WRITE_TESTS.say("as the project", &[]);
    }
    WRITE_TESTS.say("by name", &[("function", subject.item.name.trim_matches('_'))])
}

/// Tests parsed from a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenTests {
    pub fragment: Fragment,
    /// Number of test cases; parametrized ones count one by one.
    pub cases: usize,
    /// Corrections made, as sentences.
    pub notes: Vec<String>,
}

impl WrittenTests {
    /// Returns a complaint for the model if there are too few cases.
    pub fn too_few(&self) -> Option<String> {
        let (least, cases) = (Policy::write_tests().least_cases, self.cases);
        let values = [("least", least.to_string()), ("cases", cases.to_string())];
        let values = values.each_ref().map(|(name, it)| (*name, it.as_str()));
        (cases < least).then(|| WRITE_TESTS.say("too few", &values))
    }
}

/// Parses tests from a reply.
///
/// # Errors
///
/// A reason for the model: no code, invalid Python, no test, none that names the function, another
/// framework, imports of pytest's internals.
pub fn written_tests(subject: &Subject, reply: &str) -> Result<WrittenTests, String> {
    let found = test_draft::tests(&subject.item, reply).map_err(|error| error.to_string())?;
    refuse_internals(&found.fragment).map_err(|error| error.to_string())?;
    if found.cases == 0 {
        return Err("there is no test in it".to_owned());
    }
    if subject.style == Style::Unittest {
        unittest_only(&found.fragment)?;
    }
    Ok(WrittenTests { fragment: found.fragment, cases: found.cases, notes: found.notes })
}

/// Refuses tests that the project's own runner would not find or could not import.
fn unittest_only(fragment: &Fragment) -> Result<(), String> {
    let source = fragment.to_source();
    let imports = trellis_python::all_imports(&source).map_err(|error| error.to_string())?;
    if imports.iter().any(|it| it.top_level() == "pytest") {
        return Err("this project uses unittest: pytest cannot be imported".to_owned());
    }
    let tests = trellis_python::tests(&source).map_err(|error| error.to_string())?;
    let is_function = |name: &str| {
        fragment
            .items
            .iter()
            .any(|it| it.kind == trellis_python::ItemKind::Function && it.binds(name))
    };
    match tests.iter().find(|it| is_function(&it.name)) {
        Some(it) => Err(format!(
            "unittest does not run the function `{}`: make it a method of a TestCase",
            it.name
        )),
        None => Ok(()),
    }
}
