//! Which fixes a person has to see before they stay (R4), and how sure one can be of a fix (R3).

use serde::{Deserialize, Serialize};

/// How much a person wants to be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Never.
    Autonomous,
    /// About every fix.
    Supervised,
    /// About doubtful ones: after the second iteration, of little confidence, or of critical files.
    #[default]
    Threshold,
}

/// A word that names no mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown approval mode {0:?}; choose autonomous, supervised or threshold")]
pub struct UnknownMode(String);

impl Mode {
    pub const ALL: [Mode; 3] = [Mode::Autonomous, Mode::Supervised, Mode::Threshold];

    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Autonomous => "autonomous",
            Mode::Supervised => "supervised",
            Mode::Threshold => "threshold",
        }
    }
}

impl std::str::FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Mode, UnknownMode> {
        let found = Mode::ALL.into_iter().find(|it| it.as_str() == text);
        found.ok_or_else(|| UnknownMode(text.to_owned()))
    }
}

/// How sure one can be of a fix: measured, each part between 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// How clear it is where the bug was: mean of `clarity` and `agreement`.
    pub diagnostic: f64,
    /// `passing`, times the mean of `size` and `history`.
    pub fix: f64,
    /// The share of its lines that passing tests execute.
    pub coverage: f64,
    /// What diagnostic and fix are made of, where it was measured so.
    #[serde(default)]
    pub parts: Option<Parts>,
}

/// What diagnostic and fix are made of, each between 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// Whether the failure is raised where the change is: 1 in the same function, half of it in the same file.
    pub clarity: f64,
    /// How suspicious what it changes was, the most suspicious place being 1.
    pub agreement: f64,
    /// The share of the tests it may affect that pass with it.
    pub passing: f64,
    /// 1 for a few lines, 0 for as many as may change.
    pub size: f64,
    /// 1 for the first fix, less for each one before it that did not do.
    pub history: f64,
}

impl Confidence {
    pub fn total(&self) -> f64 {
        0.3 * self.diagnostic + 0.3 * self.fix + 0.4 * self.coverage
    }
}

/// Iterations whose fixes are not looked at for their number alone.
const ITERATIONS: u32 = 2;
/// Less confidence is doubt.
const LEAST: f64 = 0.7;

/// Files of which a change does more than it shows: what decides how tests are run and what is installed, released
/// and done to data. Patterns as in [`is_critical`].
pub const CRITICAL: [&str; 20] = [
    "conftest.py",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "pytest.ini",
    "tox.ini",
    "noxfile.py",
    "requirements*.txt",
    "*.lock",
    ".github/**",
    ".gitlab-ci.yml",
    ".circleci/**",
    ".travis.yml",
    "azure-pipelines.yml",
    "Jenkinsfile",
    "Dockerfile*",
    ".pre-commit-config.yaml",
    "**/migrations/**",
    "**/alembic/versions/**",
    ".env*",
];

/// Why a person has to see a fix before it stays; none if it may stay without. `iteration` counts from 1, `paths` are
/// what it changes, relative to the project with `/`, `critical` patterns as in [`is_critical`].
pub fn needs_person(
    mode: Mode,
    iteration: u32,
    confidence: &Confidence,
    paths: &[&str],
    critical: &[&str],
) -> Option<String> {
    match mode {
        Mode::Autonomous => return None,
        Mode::Supervised => return Some("every fix needs your review".to_owned()),
        Mode::Threshold => {}
    }
    let is_critical = |path: &&&str| critical.iter().any(|pattern| is_critical(path, pattern));
    if let Some(path) = paths.iter().find(is_critical) {
        return Some(format!("{path} is a critical file"));
    }
    let total = confidence.total();
    // A confidence that is no number is none.
    if total.is_nan() || total < LEAST {
        return Some(format!("its confidence of {total:.2} is below {LEAST}"));
    }
    (iteration > ITERATIONS).then(|| format!("it is fix {iteration}, and {ITERATIONS} failed"))
}

/// Whether a path falls under a pattern: `*` stands for any letters within a name, `?` for one, `**` for any folders. A
/// pattern without `/` is that of a name, wherever it is.
pub fn is_critical(path: &str, pattern: &str) -> bool {
    let names: Vec<&str> = path.split('/').collect();
    match pattern.contains('/') {
        true => folders(&names, &pattern.split('/').collect::<Vec<_>>()),
        false => names.last().is_some_and(|name| letters(name, pattern)),
    }
}

fn folders(names: &[&str], pattern: &[&str]) -> bool {
    match pattern {
        [] => names.is_empty(),
        ["**", rest @ ..] => (0..=names.len()).any(|at| folders(&names[at..], rest)),
        [first, rest @ ..] => {
            names.first().is_some_and(|name| letters(name, first)) && folders(&names[1..], rest)
        }
    }
}

/// Goes back to the last `*` only, so that the time is at most the product of the lengths.
fn letters(name: &str, pattern: &str) -> bool {
    let (name, pattern): (Vec<char>, Vec<char>) =
        (name.chars().collect(), pattern.chars().collect());
    let (mut at, mut wanted) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        match pattern.get(wanted) {
            Some('*') => {
                star = Some((wanted, at));
                wanted += 1;
            }
            Some(c) if *c == '?' || *c == name[at] => (at, wanted) = (at + 1, wanted + 1),
            _ => {
                let Some((place, taken)) = star else { return false };
                star = Some((place, taken + 1));
                (at, wanted) = (taken + 1, place + 1);
            }
        }
    }
    pattern[wanted..].iter().all(|c| *c == '*')
}
