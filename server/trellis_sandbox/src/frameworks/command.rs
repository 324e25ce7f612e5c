//! Builds the command line of each framework.

use std::{collections::BTreeSet, path::Path};

use super::{Detected, Framework};

/// Returns the command that runs `targets` (files, or ids as in
/// [`ParsedReport`](super::ParsedReport), with `::` behind a group of jest or vitest; empty for all
/// tests) in the project's root. `report` is the absolute path of the file that jest or vitest
/// writes; it lies outside the tree and must not exist yet. With `whole`, the project's `bail` does
/// not end the run early.
///
/// jest, vitest and go select tests by name, for all files at once. So with several targets, a test
/// of the same name in another target's file runs too, and beside a whole file all tests of the
/// other files run.
pub fn command(detected: &Detected, targets: &[String], whole: bool, report: &Path) -> Vec<String> {
    match detected.framework {
        Framework::Pytest => words(["python", "-m", "pytest"], targets),
        Framework::Unittest => words(["python", "-m", "unittest", "-v"], targets),
        Framework::Jest => jest(detected, &Selection::new(targets), whole, report),
        Framework::Vitest => vitest(detected, &Selection::new(targets), whole, report),
        Framework::Go => go(targets),
    }
}

fn words<const N: usize>(start: [&str; N], targets: &[String]) -> Vec<String> {
    start.into_iter().map(str::to_owned).chain(targets.iter().cloned()).collect()
}

/// The selected files, and the names of tests in them if every target names one.
struct Selection<'a> {
    files: BTreeSet<&'a str>,
    pattern: Option<String>,
}

impl<'a> Selection<'a> {
    fn new(targets: &'a [String]) -> Selection<'a> {
        let files = targets.iter().map(|id| id.split("::").next().unwrap_or(id)).collect();
        let names: Option<Vec<String>> = targets
            .iter()
            .map(|id| id.split_once("::").map(|(_, titles)| full_name(titles)))
            .collect();
        let names = names.filter(|names| !names.is_empty());
        // vitest 1 puts a space before names outside of groups.
        Selection { files, pattern: names.map(|names| format!("^ ?({})$", names.join("|"))) }
    }
}

/// Returns the pattern of a test's name, with spaces between the titles as jest and vitest match
/// it. ` #2` may come from our numbering of ids; `::` at the end means the tests of a group.
fn full_name(titles: &str) -> String {
    if let Some(group) = titles.strip_suffix("::") {
        return format!("{} .*", escaped(&group.replace("::", " ")));
    }
    let name = titles.replace("::", " ");
    match name.rsplit_once(" #") {
        Some((start, number)) if number.chars().all(|it| it.is_ascii_digit()) => {
            format!("{}( #{number})?", escaped(start))
        }
        _ => escaped(&name),
    }
}

/// Escapes `text` for a regular expression.
fn escaped(text: &str) -> String {
    let special = |letter: &char| r"\^$.|?*+()[]{}/".contains(*letter);
    text.chars().flat_map(|it| special(&it).then_some('\\').into_iter().chain([it])).collect()
}

fn start(detected: &Detected, direct: &[&str]) -> Vec<String> {
    let npm = ["npm", "test", "--silent", "--"];
    let start: &[&str] = if detected.through_npm { &npm } else { direct };
    start.iter().map(|word| (*word).to_owned()).collect()
}

/// The option that keeps failures from ending a run.
const NO_BAIL: &str = "--bail=0";

fn jest(detected: &Detected, selection: &Selection<'_>, whole: bool, report: &Path) -> Vec<String> {
    let mut words = start(detected, &["npx", "--no-install", "jest"]);
    words.extend(["--ci", "--json", "--testLocationInResults"].map(str::to_owned));
    words.push(format!("--outputFile={}", report.display()));
    words.extend(whole.then(|| NO_BAIL.to_owned()));
    words.extend(selection.pattern.iter().map(|it| format!("--testNamePattern={it}")));
    if selection.files.iter().all(|file| Path::new(file).extension().is_some()) {
        words.extend((!selection.files.is_empty()).then(|| "--runTestsByPath".to_owned()));
        words.extend(selection.files.iter().map(|file| file_word(file)));
    } else {
        words.extend(selection.files.iter().map(|folder| escaped(folder)));
    }
    words
}

fn vitest(
    detected: &Detected,
    selection: &Selection<'_>,
    whole: bool,
    report: &Path,
) -> Vec<String> {
    let mut words = start(detected, &["npx", "--no-install", "vitest"]);
    // The second reporter is for people and prints what the report leaves out.
    words.extend(["--run", "--reporter=default", "--reporter=json"].map(str::to_owned));
    words.push(format!("--outputFile.json={}", report.display()));
    // Older versions stop at unknown options.
    if whole && detected.version.is_some_and(|version| version >= (1, 0)) {
        words.push(NO_BAIL.to_owned());
    }
    if detected.version.is_some_and(|version| version >= (3, 0)) {
        words.push("--includeTaskLocation".to_owned());
    }
    if detected.version.is_some_and(|version| version >= (3, 1)) {
        // By default a bundled copy of the configuration is written into the tree.
        words.push("--configLoader=runner".to_owned());
    }
    words.extend(selection.pattern.iter().map(|it| format!("--testNamePattern={it}")));
    words.extend(selection.files.iter().map(|file| file_word(file)));
    words
}

/// Returns the file with `./` before a leading dash, which would make it an option.
fn file_word(file: &str) -> String {
    if file.starts_with('-') { format!("./{file}") } else { file.to_owned() }
}

/// Returns the command for go; `-count=1` prevents cached results of an earlier run.
fn go(targets: &[String]) -> Vec<String> {
    let mut words = ["go", "test", "-json", "-count=1"].map(str::to_owned).to_vec();
    let names: Option<Vec<&str>> =
        targets.iter().map(|id| id.split_once("::").map(|(_, name)| name)).collect();
    match names.as_deref() {
        None | Some([]) => {}
        Some([one]) => words.push(format!("-run={}", go_pattern(one))),
        Some(some) => {
            let tops: BTreeSet<String> =
                some.iter().map(|it| escaped(it.split('/').next().unwrap_or(it))).collect();
            words.push(format!("-run=^({})$", tops.into_iter().collect::<Vec<_>>().join("|")));
        }
    }
    let packages: BTreeSet<String> = targets.iter().map(|id| package(id)).collect();
    if packages.is_empty() {
        words.push("./...".to_owned());
    }
    words.extend(packages);
    words
}

/// Returns a pattern for each level of a subtest. ` #2` from our numbering cannot occur, as go
/// numbers subtests itself.
fn go_pattern(name: &str) -> String {
    let levels: Vec<String> = name.split('/').map(|it| format!("^{}$", escaped(it))).collect();
    levels.join("/")
}

/// Returns the package of an id or file; for a folder the packages in it, as it need not be one.
fn package(id: &str) -> String {
    let (place, name) = id.split_once("::").map_or((id, None), |(it, name)| (it, Some(name)));
    let folder = match place.strip_suffix(".go") {
        Some(_) => place.rsplit_once('/').map_or(".", |(folder, _)| folder),
        None => place,
    };
    let below = if folder == place && name.is_none() { "/..." } else { "" };
    let path = folder.trim_start_matches("./");
    if folder == "." { ".".to_owned() } else { format!("./{path}{below}") }
}
