//! Words of a folder's test files, which show the functions that people have tested.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use trellis_python::{Words, is_test_file};

use super::snapshot::WorkspaceFolder;

/// The words of each test file that people wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestWords(Vec<Words>);

impl TestWords {
    /// Reads the test files of a folder, without those that `generated` lists.
    pub fn of(folder: &WorkspaceFolder, generated: &[String]) -> TestWords {
        let index = folder.index();
        let is_theirs = |path: &str| is_test_file(path) && !generated.iter().any(|it| it == path);
        let files = index.files().filter(|it| is_theirs(index.path(*it)));
        TestWords(files.map(|it| index.words(it).clone()).collect())
    }

    /// Returns whether a test file names a function, such as `Cart.total`, together with a part of
    /// the path of its file. Names in other roles count as well.
    pub fn mention(&self, path: &str, function: &str) -> bool {
        let stem = path.strip_suffix(".py").unwrap_or(path);
        let modules: Vec<&str> = stem.split('/').filter(|it| *it != "__init__").collect();
        self.0.iter().any(|words| {
            function.split('.').all(|it| words.may_hold(it))
                && modules.iter().any(|it| words.may_hold(it))
        })
    }
}

/// The words of each folder, read again after its test files change.
#[derive(Default)]
pub struct TestWordsCache(Mutex<HashMap<PathBuf, Known>>);

struct Known {
    words: Arc<TestWords>,
    is_outdated: bool,
}

/// Known words.
pub struct Remembered {
    pub words: Arc<TestWords>,
    /// True for the first caller after a change, who has to read them again.
    pub is_outdated: bool,
}

impl TestWordsCache {
    /// Returns the words of a folder, if they were read.
    pub fn get(&self, folder: &Path) -> Option<Remembered> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.get_mut(folder)?;
        let is_outdated = std::mem::take(&mut known.is_outdated);
        Some(Remembered { words: known.words.clone(), is_outdated })
    }

    /// Stores the words of a folder; returns whether they are other ones than before.
    pub fn set(&self, folder: PathBuf, words: Arc<TestWords>) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = all.insert(folder, Known { words: words.clone(), is_outdated: false });
        before.is_none_or(|it| it.words != words)
    }

    /// Records that files changed on the disk.
    pub fn changed(&self, files: &[PathBuf]) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (folder, known) in all.iter_mut() {
            let is_test = |it: &PathBuf| {
                it.strip_prefix(folder).is_ok_and(|it| is_test_file(&it.to_string_lossy()))
            };
            known.is_outdated |= files.iter().any(is_test);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_mentioned_together_with_its_module() {
        let text =
            "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total() == 0\n";
        let words = TestWords(vec![Words::of(text)]);
        let table = [
            ("shop/cart.py", "Cart.total", true),
            ("shop/cart.py", "total", true),
            ("shop/__init__.py", "total", true),
            ("shop/cart.py", "Cart.add", false),
            ("shop/cart.py", "Basket.total", false),
            ("bills.py", "total", false),
        ];
        for (path, function, expected) in table {
            assert_eq!(words.mention(path, function), expected, "{path} {function}");
        }
    }

    #[test]
    fn words_are_read_again_by_the_first_who_asks_after_a_change() {
        let cache = TestWordsCache::default();
        let folder = PathBuf::from("/p");
        assert!(cache.get(&folder).is_none());
        assert!(cache.set(folder.clone(), Arc::default()));
        cache.changed(&[folder.join("cart.py"), PathBuf::from("/q/test_cart.py")]);
        assert!(!cache.get(&folder).expect("known").is_outdated);
        cache.changed(&[folder.join("tests/test_cart.py")]);
        let asked = [(); 2].map(|()| cache.get(&folder).expect("known").is_outdated);
        assert_eq!(asked, [true, false]);
        assert!(!cache.set(folder.clone(), Arc::default()));
        let other = TestWords(vec![Words::of("total")]);
        assert!(cache.set(folder, Arc::new(other)));
    }
}
