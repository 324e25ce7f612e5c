//! The owner of a container: a process, identified so that no later process is mistaken for it.

use std::{collections::HashMap, fs};

use sha2::{Digest, Sha256};

use crate::error::LaunchError;

/// Label with the owner: `<pid>-<start>-<boot>`.
pub(super) const OWNER: &str = "trellis.owner";
/// Label with the machine and the process namespace in which the owner's process id is valid.
pub(super) const HOST: &str = "trellis.host";
/// Label with the project, for people.
pub(super) const PROJECT: &str = "trellis.project";

/// A process on some machine, at some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pid: u32,
    /// Clock ticks from the boot of the machine to the start of the process.
    start: u64,
    /// The kernel's id of the current boot.
    boot: String,
    /// Hash of the machine's identity.
    machine: String,
    /// The process namespace.
    namespace: String,
}

impl Owner {
    /// Returns this process.
    pub(super) fn current() -> Result<Owner, LaunchError> {
        let pid = std::process::id();
        let start = start_time(pid).ok_or(LaunchError::NoProcess)?;
        let (boot, machine, namespace) = current_host();
        Ok(Owner { pid, start, boot, machine, namespace })
    }

    /// Returns the labels for a container of this owner.
    pub(super) fn labels(&self) -> [(&'static str, String); 2] {
        [
            (OWNER, format!("{}-{}-{}", self.pid, self.start, self.boot)),
            (HOST, format!("{}-{}", self.machine, self.namespace)),
        ]
    }

    /// Parses the labels of a container; `None` if they are not from Trellis.
    pub(super) fn of(labels: &HashMap<String, String>) -> Option<Owner> {
        let mut parts = labels.get(OWNER)?.splitn(3, '-');
        let (machine, namespace) = labels.get(HOST)?.split_once('-')?;
        Some(Owner {
            pid: parts.next()?.parse().ok()?,
            start: parts.next()?.parse().ok()?,
            boot: parts.next()?.to_owned(),
            machine: machine.to_owned(),
            namespace: namespace.to_owned(),
        })
    }

    /// Returns whether the owner has certainly ended. A process on another machine, or in another
    /// process namespace of this one, cannot be seen from here.
    pub(super) fn is_gone(&self) -> bool {
        let (boot, machine, namespace) = current_host();
        if boot.is_empty() || self.boot.is_empty() || machine != self.machine {
            return false;
        }
        boot != self.boot
            || (namespace == self.namespace && start_time(self.pid) != Some(self.start))
    }
}

/// Returns the ids of this boot, this machine and this process namespace.
fn current_host() -> (String, String, String) {
    let read = |path| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let boot = read("/proc/sys/kernel/random/boot_id");
    let known = ["/etc/machine-id", "/proc/sys/kernel/hostname"].map(read);
    let name = known.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
    let machine = Sha256::digest(name).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    (boot, machine, namespace.to_string_lossy().into_owned())
}

/// Returns the start time of a living process in clock ticks. A process that has ended and was not
/// yet waited for is not alive.
fn start_time(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before the last parenthesis may contain any character.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X")).then(|| fields.nth(18)?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through_labels(owner: &Owner) -> Option<Owner> {
        let labels = owner.labels().map(|(name, value)| (name.to_owned(), value));
        Owner::of(&HashMap::from(labels))
    }

    #[test]
    fn only_what_is_certainly_gone_is_gone() {
        let own = Owner::current().expect("/proc");
        assert_eq!(through_labels(&own), Some(own.clone()));
        assert!(!own.is_gone());
        assert!(Owner { start: own.start + 1, ..own.clone() }.is_gone(), "the number was reused");
        assert!(Owner { boot: "earlier".to_owned(), ..own.clone() }.is_gone());
        let far = Owner { start: 1, machine: "far".to_owned(), ..own.clone() };
        assert!(!far.is_gone(), "another machine's processes cannot be seen");
        let inside = Owner { start: 1, namespace: "pid:[7]".to_owned(), ..own };
        assert!(!inside.is_gone(), "nor those of another namespace");
    }
}
