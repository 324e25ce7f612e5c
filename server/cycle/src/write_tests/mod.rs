//! Tests for a function that exists: what is asked, what a reply holds, and where it goes in a file that people
//! edit as well.

mod place;
mod samples;

use code::{Fragment, Function, Signature};

use crate::context::Section;
use crate::draft::{DraftError, refuse_internals};
use crate::exchange::{Ask, Stage};
use crate::item::{Item, ItemKind};
use crate::policy::Policy;
use crate::prompt::template::WRITE_TESTS;
use crate::prompt::{Prompt, listed, python, rank};
use crate::{routing, test_draft};

pub use place::{Earlier, Placed, place};
pub use samples::{Sample, samples};

/// How a project writes its tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Pytest,
    Unittest,
}

impl Style {
    /// In lowercase, as programs are called.
    pub fn as_str(self) -> &'static str {
        match self {
            Style::Pytest => "pytest",
            Style::Unittest => "unittest",
        }
    }

    /// How it tests asynchronous code, by the distributions there are: the title of a part of the prompt.
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

/// The function under test, and what a model is to know of its project.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its facts; the class is the outermost around a method, which is what can be imported.
    pub item: Item,
    /// `Cart.Line.total`.
    pub qualified_name: String,
    /// All of it.
    pub source: String,
    /// Of a method: what stands around it in its class.
    pub class_source: String,
    pub is_async: bool,
    pub style: Style,
    /// Imports it uses, as statements.
    pub imports: Vec<String>,
    /// What it uses of the project, as it is written: an import, or a note, over its text.
    pub used: Vec<String>,
    /// Tests that speak of it already, as texts.
    pub existing: Vec<String>,
    /// What it reaches outside, in words.
    pub outside: Vec<String>,
    /// Distributions the project needs, by normalised name.
    pub dependencies: Vec<String>,
    /// Fixtures its tests can ask for, in words.
    pub fixtures: Vec<String>,
    /// Tests of the project, as texts.
    pub samples: Vec<String>,
    /// How code is written here, one rule each.
    pub conventions: Vec<String>,
}

impl Subject {
    /// `function` as it stands in the file `path`, which is imported as `module`.
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

    /// Distinguishes what its tests define from what others do: `Cart_Line_total`.
    pub fn suffix(&self) -> String {
        self.qualified_name.replace('.', "_")
    }
}

/// Asks for the tests. `complaint`: why those of the attempt before were sent back, and their text.
pub fn ask_write_tests(subject: &Subject, complaint: Option<(&str, &str)>, attempt: u32) -> Ask {
    let mut sections = facts(subject);
    sections.extend(project(subject));
    sections.push(Section::new(rank::TASK, "Task", task(subject)));
    if let Some((why, old)) = complaint {
        sections.push(Section::new(rank::CORE, "Your last tests were sent back", why));
        let old = (!old.is_empty()).then(|| Section::new(rank::CODE, "They were", python(old)));
        sections.extend(old);
    }
    let route = routing::of_item(&subject.item, attempt);
    Ask {
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

/// How tests are called: as the project calls them, where it has any.
fn naming(subject: &Subject) -> String {
    if !subject.samples.is_empty() || !subject.existing.is_empty() {
        return WRITE_TESTS.say("as the project", &[]);
    }
    WRITE_TESTS.say("by name", &[("function", subject.item.name.trim_matches('_'))])
}

/// The tests a reply holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub fragment: Fragment,
    /// Parametrized ones counted one by one.
    pub cases: usize,
    /// What was put right, as sentences.
    pub notes: Vec<String>,
}

impl Written {
    /// Why more should be asked for, in words for the model; none where there are enough.
    pub fn too_few(&self) -> Option<String> {
        let (least, cases) = (Policy::write_tests().least_cases, self.cases);
        let values = [("least", least.to_string()), ("cases", cases.to_string())];
        let values = values.each_ref().map(|(name, it)| (*name, it.as_str()));
        (cases < least).then(|| WRITE_TESTS.say("too few", &values))
    }
}

/// Takes the tests out of a reply.
///
/// # Errors
///
/// Why they cannot be used, in words for the model: no code, no Python, no test, none that names the function, another
/// framework, pytest's internals.
pub fn written_tests(subject: &Subject, reply: &str) -> Result<Written, String> {
    let found = test_draft::tests(&subject.item, reply).map_err(|error| match error {
        DraftError::NoCode => "the reply holds no Python code".to_owned(),
        DraftError::Wrong(why) => why,
    })?;
    refuse_internals(&found.fragment).map_err(|error| error.to_string())?;
    if found.cases == 0 {
        return Err("there is no test in it".to_owned());
    }
    if subject.style == Style::Unittest {
        unittest_only(&found.fragment)?;
    }
    Ok(Written { fragment: found.fragment, cases: found.cases, notes: found.notes })
}

/// The project's own runner would not find, or could not import, anything else.
fn unittest_only(fragment: &Fragment) -> Result<(), String> {
    let source = fragment.to_source();
    let imports = code::all_imports(&source).map_err(|error| error.to_string())?;
    if imports.iter().any(|it| it.top_level() == "pytest") {
        return Err("this project uses unittest: pytest cannot be imported".to_owned());
    }
    let tests = code::tests(&source).map_err(|error| error.to_string())?;
    let is_function = |name: &str| {
        fragment.items.iter().any(|it| it.kind == code::ItemKind::Function && it.binds(name))
    };
    match tests.iter().find(|it| is_function(&it.name)) {
        Some(it) => Err(format!(
            "unittest does not run the function `{}`: make it a method of a TestCase",
            it.name
        )),
        None => Ok(()),
    }
}
