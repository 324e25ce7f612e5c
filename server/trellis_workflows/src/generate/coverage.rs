//! Coverage per node: the share of its statements that tests executed (V5).

use trellis_engine::Item;
use trellis_sandbox::{Coverage, FileCoverage};

/// Returns the percentage of the statements inside an item's definition that some test executed,
/// rounded down. `None` if the definition has no statement of its own or none was measured. Lines
/// that importing executes, such as the `def` line, do not count as tested.
pub(super) fn percent(item: &Item, coverage: &Coverage) -> Option<u32> {
    let file = coverage.files.get(&item.path)?;
    let name = item.qualified_name();
    let inside = format!("{name}.");
    let own = file.functions.iter().filter(|it| it.name == name || it.name.starts_with(&inside));
    let ranges: Vec<(u32, u32)> = own.map(|it| (it.first, it.last)).collect();
    let within = |line: &&u32| ranges.iter().any(|(first, last)| (first..=last).contains(line));
    let tested = tested_lines(file);
    // A line that only importing executes is not a statement of a body.
    let executed = file.executed.iter().filter(within).filter(|it| tested.contains(it)).count();
    let missing = file.missing.iter().filter(within).count();
    let all = executed + missing;
    (all > 0).then(|| (executed * 100 / all) as u32)
}

fn tested_lines(file: &FileCoverage) -> Vec<u32> {
    let mut lines: Vec<u32> = file.tests.values().flatten().copied().collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}
