//! Which of a project's tests show best how it writes them.

/// A test of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The file it is in.
    pub path: String,
    /// All of it.
    pub text: String,
    /// Its file speaks of the module under test.
    pub is_near: bool,
}

/// Tests shown.
const MOST: usize = 3;
/// Lines of one that is worth showing: below, there is nothing to see.
const LINES: std::ops::RangeInclusive<usize> = 2..=25;
/// Bytes of all together.
const BYTES: usize = 2500;

/// A few short ones: those near the module first, one a file as long as there are files, the shorter first.
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
