//! Resource use of a process and its descendants, from the kernel.

use std::fs;

/// Unit of times in `/proc`, which Linux fixes at a hundredth of a second.
const TICKS_PER_SECOND: f64 = 100.0;

/// Resources used by a process and its living descendants.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// User and system time in seconds; includes ended descendants that were awaited.
    pub(crate) cpu: f64,
    /// Sum of the peaks of resident memory, in MiB.
    pub(crate) peak: f64,
}

pub(crate) fn usage(pid: u32) -> Usage {
    let everybody = processes();
    let mut usage = Usage::default();
    let mut left = vec![pid];
    while let Some(pid) = left.pop() {
        left.extend(everybody.iter().filter(|it| it.parent == pid).map(|it| it.pid));
        usage.cpu += everybody.iter().find(|it| it.pid == pid).map_or(0.0, |it| it.cpu);
        usage.peak += peak(pid);
    }
    usage
}

struct Process {
    pid: u32,
    parent: u32,
    cpu: f64,
}

fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|it| process(it.file_name().to_str()?.parse().ok()?)).collect()
}

fn process(pid: u32) -> Option<Process> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may contain anything; the fields after it start with the third of
    // the line.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: &str| field.parse::<f64>().unwrap_or_default();
    let cpu = fields.get(11..15)?.iter().map(|it| ticks(it)).sum::<f64>() / TICKS_PER_SECOND;
    Some(Process { pid, parent: fields.get(1)?.parse().ok()?, cpu })
}

/// Returns the peak of resident memory in MiB.
fn peak(pid: u32) -> f64 {
    memory(pid, "VmHWM:")
}

/// Returns the current resident memory of a process without descendants, in MiB.
pub(crate) fn resident(pid: u32) -> f64 {
    memory(pid, "VmRSS:")
}

fn memory(pid: u32, name: &str) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|it| it.strip_prefix(name)).unwrap_or_default();
    let kibibytes = line.trim().trim_end_matches(" kB").parse::<f64>();
    kibibytes.unwrap_or_default() / 1024.0
}

#[cfg(test)]
mod tests {
    use super::usage;

    #[test]
    fn this_process_takes_memory() {
        let usage = usage(std::process::id());
        assert!(usage.peak > 1.0, "{usage:?}");
        assert!(usage.cpu >= 0.0, "{usage:?}");
    }
}
