//! Rules on fixes that need a person's review (R4), and the measured confidence in a fix (R3).

use serde::{Deserialize, Serialize};

/// Modes of approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// No fix needs a review.
    Autonomous,
    /// Every fix needs a review.
    Supervised,
    /// Doubtful fixes need a review: after the second iteration, with little confidence, or in
    /// critical files.
    #[default]
    Threshold,
}

/// The name of an unknown mode.
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

/// Measured confidence in a fix; each part is between 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// Certainty about the place of the bug: mean of `clarity` and `agreement`.
    pub diagnostic: f64,
    /// `passing`, times the mean of `size` and `history`.
    pub fix: f64,
    /// Share of the fix's lines that passing tests execute.
    pub coverage: f64,
    /// Components of `diagnostic` and `fix`; absent in measurements without them.
    #[serde(default)]
    pub parts: Option<Parts>,
}

/// Components of diagnostic and fix confidence, each between 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// Nearness of the failure to the change: 1 if the failure is raised in the changed function,
    /// half of that in the same file.
    pub clarity: f64,
    /// Suspiciousness of the changed places, relative to the most suspicious place (1).
    pub agreement: f64,
    /// Share of the possibly affected tests that pass with the fix.
    pub passing: f64,
    /// 1 for a change of a few lines, 0 for one of the maximum size.
    pub size: f64,
    /// 1 for the first fix, less for each failed fix before.
    pub history: f64,
}

impl Confidence {
    pub fn total(&self) -> f64 {
        0.3 * self.diagnostic + 0.3 * self.fix + 0.4 * self.coverage
    }
}

/// Number of iterations whose fixes need no review for their number alone.
const UNREVIEWED_ITERATIONS: u32 = 2;
/// Minimum confidence of a fix without review.
const MIN_CONFIDENCE: f64 = 0.7;

/// Files in which a change has wide effects: they control test runs, installation, releases and
/// migrations of data. Patterns as in [`is_critical`].
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

/// Returns the reason why a person has to review a fix; `None` if the fix needs no review.
/// `iteration` counts from 1, `paths` are the changed files relative to the project with `/`,
/// `critical` holds patterns as in [`is_critical`].
pub fn review_reason(
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
    // NaN counts as too little confidence.
    if total.is_nan() || total < MIN_CONFIDENCE {
        return Some(format!("its confidence of {total:.2} is below {MIN_CONFIDENCE}"));
    }
    (iteration > UNREVIEWED_ITERATIONS)
        .then(|| format!("it is fix {iteration}, and {UNREVIEWED_ITERATIONS} failed"))
}

/// Returns whether a path matches a pattern: `*` stands for any characters within a name, `?` for
/// one character, `**` for any folders. A pattern without `/` matches the file name in any folder.
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

/// Matches a name against a pattern. Backtracks to the last `*` only, so the time is at most the
/// product of the lengths.
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
