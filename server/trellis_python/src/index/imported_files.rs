//! Finds the files that a module may load.

use std::collections::BTreeSet;

use super::runtime_imports::RuntimeImport;
use super::{FileId, Index};
use crate::semantics::{Name, join};

impl Index {
    /// Returns the workspace's files that the imports of a module may load, including imports
    /// inside functions, and the packages around these files and around the module itself.
    /// `project`: a folder whose modules can be imported, as those in `src` below it.
    pub fn imported_files(&self, file: FileId, project: &str) -> BTreeSet<FileId> {
        let roots = [project.to_owned(), join(project, "src")];
        let below = |load| roots.iter().flat_map(move |it| self.may_load_below(it, load));
        let loads = self.loads(file).iter();
        let mut found: BTreeSet<FileId> =
            loads.flat_map(|it| self.may_load(file, it).chain(below(it))).collect();
        let packages: Vec<FileId> =
            found.iter().chain([&file]).flat_map(|it| self.packages_around(*it)).collect();
        found.extend(packages);
        found.remove(&file);
        found
    }

    /// Returns the module of an import, and that of its member if the member is a module.
    fn may_load(&self, from: FileId, load: &RuntimeImport) -> impl Iterator<Item = FileId> {
        let whole = RuntimeImport { member: None, ..load.clone() };
        [self.loaded(from, load), self.loaded(from, &whole)].into_iter().flatten()
    }

    /// Returns the same of an absolute import, with the modules of a folder.
    fn may_load_below(
        &self,
        root: &str,
        load: &RuntimeImport,
    ) -> impl Iterator<Item = FileId> + use<> {
        let path = join(root, &load.path.name.text().replace('.', "/"));
        let module = (load.path.level == 0).then(|| Name::of(&path));
        let inner = module.zip(load.member).and_then(|(it, member)| self.submodule(it, member));
        let file = |it: Option<Name>| it.and_then(|it| self.module_files(it).source);
        [file(inner), file(module)].into_iter().flatten()
    }

    /// Returns the `__init__.py` of each package that contains a file.
    fn packages_around(&self, file: FileId) -> Vec<FileId> {
        let path = self.path(file);
        let folders = path.rmatch_indices('/').map(|(at, _)| &path[..at]);
        folders.map_while(|it| self.file(&format!("{it}/__init__.py"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::index::TextSource;

    #[derive(Debug)]
    struct NoTexts;

    impl TextSource for NoTexts {
        fn read(&self, _: &str) -> Option<Arc<str>> {
            None
        }
    }

    #[test]
    fn imports_of_any_kind_count_with_the_packages_around() {
        let mut index = Index::new(Arc::new(NoTexts));
        for (path, text) in [
            ("shop/__init__.py", ""),
            ("shop/cart.py", "from .tax import rate\n"),
            ("shop/tax.py", "def rate():\n    import lazy\n"),
            ("lazy.py", ""),
            ("other.py", ""),
            ("test_cart.py", "import os\nfrom shop import cart\n"),
        ] {
            index.put_text(path, text.into());
        }
        let imported = |path: &str| {
            let file = index.file(path).expect("a file");
            let mut names: Vec<&str> =
                index.imported_files(file, "").into_iter().map(|it| index.path(it)).collect();
            names.sort_unstable();
            names
        };
        assert_eq!(imported("test_cart.py"), ["shop/__init__.py", "shop/cart.py"]);
        assert_eq!(imported("shop/cart.py"), ["shop/__init__.py", "shop/tax.py"]);
        assert_eq!(imported("shop/tax.py"), ["lazy.py", "shop/__init__.py"]);
        assert_eq!(imported("lazy.py"), Vec::<&str>::new());
        index.put_text("below/tests/test_top.py", "import top\n".into());
        index.put_text("below/src/top.py", "".into());
        let file = index.file("below/tests/test_top.py").expect("a file");
        let found = index.imported_files(file, "below").into_iter().map(|it| index.path(it));
        assert_eq!(found.collect::<Vec<_>>(), ["below/src/top.py"]);
    }
}
