//! Measures with their units, and the aggregation of rounds.

use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Measure {
    Ready,
    ReadyCpu,
    FirstAfterReady,
    FirstRequest,
    FirstRequestTotal,
    SymbolMedian,
    SymbolTail,
    ReferencesMedian,
    ReferencesTail,
    ReferencesMost,
    WarmMedian,
    WarmTail,
    RenameMedian,
    RenameTail,
    KeystrokeMedian,
    KeystrokeTail,
    ChangeSeen,
    FileSeen,
    FoundUnique,
    FoundAny,
    FoundLater,
    Cpu,
    Peak,
}

/// Label in the table, name in JSON (with the unit), decimal places.
pub(crate) const MEASURES: [(Measure, &str, &str, usize); 23] = [
    (Measure::Ready, "ready, s", "readySeconds", 2),
    (Measure::ReadyCpu, "  processor time until then, s", "readyCpuSeconds", 2),
    (Measure::FirstAfterReady, "first references once ready, ms", "firstReferencesMs", 1),
    (Measure::FirstRequest, "first request is references, ms", "firstRequestMs", 1),
    (Measure::FirstRequestTotal, "  from process start, ms", "firstRequestTotalMs", 1),
    (Measure::SymbolMedian, "workspace/symbol, median ms", "symbolP50Ms", 2),
    (Measure::SymbolTail, "  95th percentile", "symbolP95Ms", 2),
    (Measure::ReferencesMedian, "references cold, median ms", "referencesColdP50Ms", 2),
    (Measure::ReferencesTail, "  95th percentile", "referencesColdP95Ms", 2),
    (Measure::ReferencesMost, "  longest", "referencesColdMaxMs", 2),
    (Measure::WarmMedian, "references warm, median ms", "referencesWarmP50Ms", 2),
    (Measure::WarmTail, "  95th percentile", "referencesWarmP95Ms", 2),
    (Measure::RenameMedian, "rename, median ms", "renameP50Ms", 2),
    (Measure::RenameTail, "  95th percentile", "renameP95Ms", 2),
    (Measure::KeystrokeMedian, "keystroke to symbols, median ms", "keystrokeP50Ms", 2),
    (Measure::KeystrokeTail, "  95th percentile", "keystrokeP95Ms", 2),
    (Measure::ChangeSeen, "change in an open file seen, ms", "changeSeenMs", 1),
    (Measure::FileSeen, "new file on disk seen, ms", "newFileSeenMs", 1),
    (Measure::FoundUnique, "definitions found, unique names, %", "foundUniquePercent", 1),
    (Measure::FoundAny, "definitions found, any names, %", "foundAnyPercent", 1),
    (Measure::FoundLater, "  unique, after changes and closing", "foundLaterPercent", 1),
    (Measure::Cpu, "processor time of all this, s", "cpuSeconds", 2),
    (Measure::Peak, "peak memory, MiB", "peakMiB", 0),
];

/// Figures of one round, or medians of several. A missing figure was not reached in time.
pub(crate) type Figures = BTreeMap<Measure, f64>;

/// Returns the median of each measure over the rounds that have it.
pub(crate) fn medians(rounds: &[Figures]) -> Figures {
    let of = |measure| {
        let mut values: Vec<f64> =
            rounds.iter().filter_map(|it| it.get(&measure)).copied().collect();
        Some((measure, percentile(&mut values, 50)?))
    };
    MEASURES.iter().filter_map(|it| of(it.0)).collect()
}

/// Returns the percentile of the values (nearest rank).
pub(crate) fn percentile(values: &mut [f64], percent: usize) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() * percent).div_ceil(100).max(1);
    values.get(rank - 1).copied()
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn nearest_ranks() {
        assert_eq!(percentile(&mut [3.0, 1.0, 2.0], 50), Some(2.0));
        let mut forty: Vec<f64> = (1..=40).map(f64::from).collect();
        assert_eq!(percentile(&mut forty, 95), Some(38.0));
        assert_eq!(percentile(&mut [7.0], 95), Some(7.0));
        assert_eq!(percentile(&mut [], 50), None);
    }
}
