//! Detects that this process comes close to its memory limits (W10).

use std::path::Path;

/// The share of a limit above which memory is short.
const SHARE: (u64, u64) = (4, 5);

/// Returns whether more than 80 % of the available memory is in use: of each control group of this
/// process, of its own resource limits, or of the machine.
pub(super) fn is_short() -> bool {
    short(&|path| std::fs::read_to_string(path).ok())
}

/// Same as [`is_short`], on the texts of the kernel's files.
fn short(read: &dyn Fn(&str) -> Option<String>) -> bool {
    groups(read) || own_limits(read) || machine(read)
}

fn is_over(used: u64, limit: u64) -> bool {
    used > limit / SHARE.1 * SHARE.0
}

/// Checks the control group and all groups above it, since any of them may have a limit.
/// Reclaimable file pages count as free.
fn groups(read: &dyn Fn(&str) -> Option<String>) -> bool {
    let memberships = read("/proc/self/cgroup").unwrap_or_default();
    memberships.lines().any(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { return false };
        let (mount, limit, usage, reclaimable) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "),
            it if it.split(',').any(|it| it == "memory") => (
                "/sys/fs/cgroup/memory",
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file ",
            ),
            _ => return false,
        };
        // In a container the path is the host's, and the container's own group is at the mount.
        let own = Path::new(path.trim_start_matches('/'));
        own.ancestors().any(|group| {
            let folder = Path::new(mount).join(group);
            let file = |name: &str| read(&folder.join(name).to_string_lossy());
            let number = |name: &str| file(name)?.trim().parse::<u64>().ok();
            let (Some(limit), Some(usage)) = (number(limit), number(usage)) else { return false };
            let free = file("memory.stat").and_then(|it| field(&it, reclaimable)).unwrap_or(0);
            is_over(usage.saturating_sub(free), limit)
        })
    })
}

/// Checks the limits on address space and data size.
fn own_limits(read: &dyn Fn(&str) -> Option<String>) -> bool {
    let limits = read("/proc/self/limits").unwrap_or_default();
    let status = read("/proc/self/status").unwrap_or_default();
    [("Max address space", "VmSize:"), ("Max data size", "VmData:")].into_iter().any(
        |(limit, used)| {
            let limit = field(&limits, limit);
            let used = field(&status, used).map(|kilobytes| kilobytes << 10);
            limit.zip(used).is_some_and(|(limit, used)| is_over(used, limit))
        },
    )
}

fn machine(read: &dyn Fn(&str) -> Option<String>) -> bool {
    let all = read("/proc/meminfo").unwrap_or_default();
    let (total, available) = (field(&all, "MemTotal:"), field(&all, "MemAvailable:"));
    total.zip(available).is_some_and(|(total, free)| is_over(total.saturating_sub(free), total))
}

/// Returns the number that follows `name` at the start of a line. `None` if the value is a word.
fn field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// A machine with 10 GB, of which 5 are free.
    const MEMINFO: (&str, &str) =
        ("/proc/meminfo", "MemTotal: 10000000 kB\nMemFree: 1 kB\nMemAvailable: 5000000 kB\n");

    fn on(files: &[(&str, &str)]) -> bool {
        let all: BTreeMap<&str, &str> =
            [MEMINFO].into_iter().chain(files.iter().copied()).collect();
        short(&|path| all.get(path).map(|it| (*it).to_owned()))
    }

    #[test]
    fn the_tightest_bound_counts() {
        assert!(!on(&[]));
        assert!(on(&[("/proc/meminfo", "MemTotal: 100 kB\nMemAvailable: 19 kB\n")]));
        let own = ("/proc/self/cgroup", "0::/user.slice/app\n");
        let group = |max: &'static str, current: &'static str| {
            [
                own,
                ("/sys/fs/cgroup/user.slice/app/memory.max", max),
                ("/sys/fs/cgroup/user.slice/app/memory.current", current),
            ]
        };
        assert!(on(&group("1000\n", "801\n")));
        assert!(!on(&group("1000\n", "800\n")));
        assert!(!on(&group("max\n", "801\n")));
        // The limit of a parent group applies as well.
        let above = [
            ("/sys/fs/cgroup/user.slice/memory.max", "500\n"),
            ("/sys/fs/cgroup/user.slice/memory.current", "450\n"),
        ];
        assert!(on(&[&group("max\n", "1\n")[..], &above].concat()));
        // Reclaimable file pages do not count.
        let files = ("/sys/fs/cgroup/user.slice/app/memory.stat", "anon 1\ninactive_file 700\n");
        assert!(!on(&[&group("1000\n", "950\n")[..], &[files]].concat()));
        // In a container, the group is the one at the mount.
        let contained = [
            ("/proc/self/cgroup", "0::/docker/abc\n"),
            ("/sys/fs/cgroup/memory.max", "1000"),
            ("/sys/fs/cgroup/memory.current", "900"),
        ];
        assert!(on(&contained));
        let first = [
            ("/proc/self/cgroup", "3:cpu,cpuacct:/x\n2:memory:/x\n"),
            ("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "1000"),
            ("/sys/fs/cgroup/memory/x/memory.usage_in_bytes", "900"),
        ];
        assert!(on(&first));
        let limits = |size: &'static str| {
            [
                (
                    "/proc/self/limits",
                    "Max data size             unlimited            unlimited            bytes\nMax address space         1048576              unlimited            bytes\n",
                ),
                ("/proc/self/status", size),
            ]
        };
        assert!(on(&limits("VmSize:\t    900 kB\nVmData:\t 900 kB\n")));
        assert!(!on(&limits("VmSize:\t    800 kB\nVmData:\t 5000 kB\n")));
    }
}
