//! The project's state before the issue, as far as the gates need it.

use std::path::{Path, PathBuf};

use trellis_engine::issue::ProjectBaseline;
use trellis_python::Outline;

/// The project below a folder, and the text of the specification.
pub(super) struct BaselineRun<'a> {
    pub(super) root: &'a Path,
    pub(super) specification: &'a str,
}

impl ProjectBaseline for BaselineRun<'_> {
    fn is_project_module(&self, module: &str) -> bool {
        let top = module.split('.').next().unwrap_or(module);
        let places: [PathBuf; 4] = [
            self.root.join(top),
            self.root.join("src").join(top),
            self.root.join(format!("{top}.py")),
            self.root.join("src").join(format!("{top}.py")),
        ];
        places.iter().any(|it| it.exists())
            || self.says(module)
            || self.says(top)
            || self.specification.contains(&format!("{}.py", module.replace('.', "/")))
            || self.specification.contains(&format!("{top}/"))
    }

    fn names(&self, module: &str) -> Option<Vec<String>> {
        let path = module.replace('.', "/");
        let files = [format!("{path}.py"), format!("{path}/__init__.py")];
        let places =
            files.iter().flat_map(|it| [self.root.join(it), self.root.join("src").join(it)]);
        let text = places.into_iter().find_map(|it| trellis_os::files::read_text(it).ok())?;
        let outline = Outline::of(&text);
        let own =
            outline.symbols.iter().filter(|it| it.parent.is_none() && !it.name.starts_with("__"));
        let imports = trellis_python::all_imports(&text).ok()?;
        let is_open = imports.iter().any(|it| it.bound().is_none())
            || outline.symbols.iter().any(|it| it.name == "__getattr__");
        let imported = imports.iter().filter_map(|it| it.bound().map(str::to_owned));
        (!is_open).then(|| own.map(|it| it.name.clone()).chain(imported).collect())
    }

    fn introduces(&self, name: &str) -> bool {
        self.specification.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|it| it == name)
    }
}

impl BaselineRun<'_> {
    /// Returns whether a dotted name occurs in the specification.
    fn says(&self, name: &str) -> bool {
        let words = self.specification.split(|c: char| !(c.is_alphanumeric() || "_.".contains(c)));
        words.map(|it| it.trim_matches('.')).any(|it| it == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_modules_are_distinguished_from_others() {
        let root = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(root.path().join("src/shop")).expect("a folder");
        let table = [
            ("shop.cart", "", true),
            ("billing", "Write `billing/tax.py`.", true),
            ("billing.tax", "A module billing.tax.", true),
            ("numpyy", "Use numpy.", false),
        ];
        for (module, specification, wanted) in table {
            let ground = BaselineRun { root: root.path(), specification };
            assert_eq!(ground.is_project_module(module), wanted, "{module}");
        }
    }

    #[test]
    fn names_of_a_module_are_those_it_defines_and_imports() {
        let root = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(root.path().join("src/shop")).expect("a folder");
        let text = "import os\nfrom decimal import Decimal as D\nRATE = 1\n\n\nclass Cart:\n    def total(self): ...\n";
        std::fs::write(root.path().join("src/shop/cart.py"), text).expect("a file");
        let ground = BaselineRun {
            root: root.path(),
            specification: "`Cart.due()` is what has to be paid.",
        };
        let names = ground.names("shop.cart").expect("a module");
        assert_eq!(names, ["RATE", "Cart", "os", "D"]);
        assert_eq!(ground.names("shop.other"), None);
        // With a star import, the module's names are unknown.
        std::fs::write(root.path().join("src/shop/all.py"), "from shop.cart import *\n")
            .expect("a file");
        assert_eq!(ground.names("shop.all"), None);
        assert!(ground.introduces("due") && !ground.introduces("paid_for"));
    }
}
