//! Selection of a project's tests as examples of its style.

/// A test of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Path of its file.
    pub path: String,
    /// Full source of the test.
    pub text: String,
    /// True if its file mentions the module under test.
    pub is_near: bool,
}

/// Maximum number of samples.
const MOST: usize = 3;
/// Number of lines of a sample; shorter tests show nothing.
const LINES: std::ops::RangeInclusive<usize> = 2..=25;
/// Maximum size of all samples, in bytes.
const BYTES: usize = 2500;

/// Selects a few short tests: those near the module first, one per file as long as there are files,
/// the shorter first.
pub fn samples(mut all: Vec<Sample>) -> Vec<Sample> {
    all.retain(|it| LINES.contains(&it.text.lines().count()));
    all.sort_by(|a, b| key(a).cmp(&key(b)));
    let mut out: Vec<Sample> = Vec::new();
    let first_of_file = |all: &[Sample], it: &Sample| {
        all.iter().find(|other| other.path == it.path).is_some_and(|first| first == it)
    };
    let (first, rest): (Vec<_>, Vec<_>) = all.iter().partition(|it| first_of_file(&all, it));
    for sample in first.into_iter().chain(rest) {
        let bytes: usize = out.iter().map(|it| it.text.len()).sum();
        if out.len() < MOST && bytes + sample.text.len() <= BYTES {
            out.push(sample.clone());
        }
    }
    out
}

fn key(sample: &Sample) -> (bool, usize, &str, &str) {
    (!sample.is_near, sample.text.len(), &sample.path, &sample.text)
}
