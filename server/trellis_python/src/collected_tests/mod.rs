//! Finds the tests that pytest or unittest collects from a module, with those it inherits or
//! imports from other modules of the project. Nothing is executed.
//!
//! The rules follow pytest's `python.py` and `unittest.py`, and unittest's `loader.py`.

mod module;
mod resolve;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use module::{ModuleName, TestLines, TestModule};
use resolve::{Definition, Entity, Resolver};

/// The modules of a project.
pub trait Modules {
    /// Returns a module that the file `from` imports, and its path; `None` outside of the project.
    fn find(&self, from: &str, module: &ModuleName) -> Option<(String, Arc<TestModule>)>;
}

/// Names that a project's settings make tests.
pub trait TestNames {
    fn is_function(&self, name: &str) -> bool;
    fn is_class(&self, name: &str) -> bool;
}

/// A test, or a class with tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectedTest {
    /// Names from the outermost class to the test, with `::` between them.
    pub name: String,
    pub is_class: bool,
    /// A decorator makes several cases of the test.
    pub has_cases: bool,
    /// File of the definition.
    pub path: String,
    pub lines: TestLines,
}

/// Returns the tests of the module in `path`, each class before its tests, else by name.
pub fn collected_tests(
    path: &str,
    module: &Arc<TestModule>,
    modules: &dyn Modules,
    names: &dyn TestNames,
) -> Vec<CollectedTest> {
    let resolver = Resolver::new(modules);
    if resolver.flag(path, module, "__test__") == Some(false) {
        return Vec::new();
    }
    let mut collector = Collector { resolver, names, found: Vec::new() };
    for name in collector.resolver.names(path, module) {
        let Some(entity) = collector.resolver.global(path, module, &name) else { continue };
        collector.entity(&name, &name, entity);
    }
    collector.found
}

struct Collector<'a> {
    resolver: Resolver<'a>,
    names: &'a dyn TestNames,
    found: Vec<CollectedTest>,
}

impl Collector<'_> {
    /// Collects what the last component `name` of `full` is bound to.
    fn entity(&mut self, name: &str, full: &str, entity: Entity) {
        match entity {
            Entity::Function(it) if self.names.is_function(name) => self.function(full, &it, false),
            Entity::Class(class) => self.class(name, full, &class),
            _ => {}
        }
    }

    fn class(&mut self, name: &str, full: &str, class: &Definition<Arc<module::Class>>) {
        let line = self.resolver.bases(class);
        let is_case = line.is_test_case;
        if !is_case && (!self.names.is_class(name) || line.has("__init__") || line.has("__new__"))
            || line.flag("__test__") == Some(false)
        {
            return;
        }
        let before = self.found.len();
        let (path, lines) = (class.path.clone(), class.value.lines);
        let name = full.to_owned();
        self.found.push(CollectedTest { name, is_class: true, has_cases: false, path, lines });
        match is_case {
            true => self.test_case(full, &line),
            false => self.members(full, &line),
        }
        // A class without tests is no row.
        if self.found.len() == before + 1 {
            self.found.pop();
        }
    }

    fn test_case(&mut self, full: &str, line: &resolve::Bases) {
        let before = self.found.len();
        let is_test = |it: &&String| it.starts_with("test");
        let names: BTreeSet<String> = line.names().filter(is_test).cloned().collect();
        names.iter().for_each(|it| self.method(full, it, line));
        if self.found.len() == before {
            self.method(full, "runTest", line);
        }
    }

    fn method(&mut self, full: &str, name: &str, line: &resolve::Bases) {
        if let Some(Entity::Function(it)) = self.resolver.member(line, name) {
            self.function(&format!("{full}::{name}"), &it, false);
        }
    }

    fn members(&mut self, full: &str, line: &resolve::Bases) {
        let names: BTreeSet<String> = line.names().cloned().collect();
        for name in names {
            let Some(entity) = self.resolver.member(line, &name) else { continue };
            match entity {
                Entity::Function(it) if self.names.is_function(&name) => {
                    self.function(&format!("{full}::{name}"), &it, line.has_cases());
                }
                entity => self.entity(&name, &format!("{full}::{name}"), entity),
            }
        }
    }

    fn function(&mut self, name: &str, it: &Definition<bool>, has_cases: bool) {
        let (path, lines, has_cases) = (it.path.clone(), it.lines, it.value || has_cases);
        let name = name.to_owned();
        self.found.push(CollectedTest { name, is_class: false, has_cases, path, lines });
    }
}
