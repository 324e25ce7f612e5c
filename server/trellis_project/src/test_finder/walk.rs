//! The files that are searched for tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use trellis_store::journal::Journal;

use super::modules::ProjectModules;
use super::patterns::Patterns;
use super::settings::Settings;
use super::{Rules, Search};

/// Folders that hold no tests of a project, whatever its settings say.
const NEVER_SEARCHED: [&str; 3] = [".git", ".trellis", "__pycache__"];

/// Returns the files that may have tests, by path.
pub(super) fn files(
    search: &Search<'_>,
    settings: &Settings,
    modules: &ProjectModules<'_>,
) -> BTreeSet<PathBuf> {
    let within = search.within.iter().map(|it| search.root.join(it)).collect();
    let mut walk = Walk { search, settings, modules, within, found: BTreeSet::new() };
    for start in starts(search.root, &settings.test_paths) {
        walk.start(&start);
    }
    for file in search.also.iter().map(|it| search.root.join(it)) {
        walk.start(&file);
    }
    walk.found
}

/// Returns the files and folders that the settings name, else the root.
fn starts(root: &Path, named: &[String]) -> Vec<PathBuf> {
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..Default::default() };
    let base = glob::Pattern::escape(&root.to_string_lossy());
    let found =
        named.iter().filter_map(|it| glob::glob_with(&format!("{base}/{it}"), options).ok());
    let found: Vec<PathBuf> = found.flatten().flatten().map(|it| without_dots(&it)).collect();
    // As pytest does if no name fits.
    if found.is_empty() { vec![root.to_owned()] } else { found }
}

fn without_dots(path: &Path) -> PathBuf {
    path.components().filter(|it| *it != Component::CurDir).collect()
}

/// Files and patterns that the nearest `conftest.py` leaves out.
#[derive(Clone, Default)]
struct Ignored {
    files: Vec<PathBuf>,
    patterns: Vec<String>,
}

struct Walk<'a> {
    search: &'a Search<'a>,
    settings: &'a Settings,
    modules: &'a ProjectModules<'a>,
    within: Vec<PathBuf>,
    found: BTreeSet<PathBuf>,
}

impl Walk<'_> {
    /// Searches a file or folder that was named: no pattern leaves it out.
    fn start(&mut self, path: &Path) {
        if path.is_dir() {
            self.folder(path, &self.ignored_above(path));
        } else if is_python(path) && path.is_file() && self.is_within(path) {
            self.found.insert(path.to_owned());
        }
    }

    fn ignored_above(&self, folder: &Path) -> Ignored {
        let above = folder.ancestors().skip(1).take_while(|it| it.starts_with(self.search.root));
        let above: Vec<&Path> = above.collect();
        above.iter().rev().fold(Ignored::default(), |ignored, it| self.ignored_in(it, ignored))
    }

    fn ignored_in(&self, folder: &Path, above: Ignored) -> Ignored {
        let is_pytest = self.settings.rules == Rules::Pytest;
        let file = folder.join("conftest.py");
        let Some(module) = is_pytest.then(|| self.modules.read(&file)).flatten() else {
            return above;
        };
        let files: Vec<PathBuf> = module.ignored.iter().map(|it| folder.join(it)).collect();
        let absolute = |it: &String| folder.join(it).to_string_lossy().into_owned();
        let patterns: Vec<String> = module.ignored_patterns.iter().map(absolute).collect();
        Ignored {
            files: if files.is_empty() { above.files } else { files },
            patterns: if patterns.is_empty() { above.patterns } else { patterns },
        }
    }

    fn folder(&mut self, folder: &Path, above: &Ignored) {
        let ignored = self.ignored_in(folder, above.clone());
        let patterns = Patterns::of(&ignored.patterns);
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            let is_link = entry.file_type().is_ok_and(|it| it.is_symlink());
            let is_folder = path.is_dir();
            if ignored.files.contains(&path) || patterns.match_whole(&path) || self.ignores(&path) {
                continue;
            }
            if is_folder && self.enters(&path, is_link) {
                self.folder(&path, &ignored);
            } else if !is_folder
                && is_python(&path)
                && self.settings.files.match_path(&path)
                && self.is_within(&path)
            {
                self.found.insert(path);
            }
        }
    }

    fn ignores(&self, path: &Path) -> bool {
        let Settings { ignored, ignored_patterns, .. } = self.settings;
        ignored.iter().any(|it| it == path) || ignored_patterns.match_whole(path)
    }

    fn enters(&self, folder: &Path, is_link: bool) -> bool {
        let name = folder.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        let is_wanted = match self.settings.rules {
            Rules::Pytest => !self.settings.not_searched.match_path(folder),
            Rules::Unittest => folder.join("__init__.py").is_file(),
        };
        is_wanted
            && !NEVER_SEARCHED.contains(&name)
            && self.may_hold(folder)
            && (self.settings.searches_environments || !is_environment(folder))
            && !(is_link && is_loop(folder))
            // A generated project has a view of its own.
            && !Journal::path(folder).is_file()
    }

    /// Returns whether a wanted file may be below a folder.
    fn may_hold(&self, folder: &Path) -> bool {
        let meets = |it: &PathBuf| it.starts_with(folder) || folder.starts_with(it);
        self.within.is_empty() || self.within.iter().any(meets)
    }

    fn is_within(&self, file: &Path) -> bool {
        self.within.is_empty() || self.within.iter().any(|it| file.starts_with(it))
    }
}

fn is_python(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "py")
}

/// Returns whether a folder is a virtual environment, by the signs that pytest knows.
fn is_environment(folder: &Path) -> bool {
    ["pyvenv.cfg", "conda-meta/history"].iter().any(|it| folder.join(it).is_file())
}

/// Returns whether a link leads to a folder around it.
fn is_loop(link: &Path) -> bool {
    let real = |it: &Path| it.canonicalize().ok();
    let parent = link.parent().and_then(real);
    parent.zip(real(link)).is_none_or(|(parent, target)| parent.starts_with(target))
}
