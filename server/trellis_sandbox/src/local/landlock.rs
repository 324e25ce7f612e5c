//! Landlock rules on which files may be opened, for sandboxes that cannot have a file system of
//! their own.

use std::{os::fd::OwnedFd, path::Path};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, Scope,
};

use crate::error::LandlockError;

/// The newest interface these rules were written for; older kernels apply the part they know.
const KNOWN: ABI = ABI::V6;

/// Devices that any program may use.
const DEVICES: [&str; 7] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/ptmx", "/dev/pts"];

/// Returns rules that allow reading `readable` and changing `writable`. They hide all other files,
/// and block TCP connections (unless `network`) and signals to processes outside.
pub(crate) fn rules(
    readable: &[&Path],
    writable: &[&Path],
    network: bool,
) -> Result<OwnedFd, LandlockError> {
    let rules = || {
        let reading = AccessFs::from_read(KNOWN);
        let everything = AccessFs::from_all(KNOWN);
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(everything)?
            .scope(Scope::from_all(KNOWN))?;
        if !network {
            rules = rules.handle_access(AccessNet::from_all(KNOWN))?;
        }
        let mut rules = rules.create()?;
        // A path that does not exist needs no rule.
        let open = |path: &Path| PathFd::new(path).ok();
        for place in readable.iter().filter_map(|it| open(it)) {
            rules = rules.add_rule(PathBeneath::new(place, reading))?;
        }
        let devices = DEVICES.iter().map(Path::new);
        for place in writable.iter().copied().chain(devices).filter_map(open) {
            rules = rules.add_rule(PathBeneath::new(place, everything))?;
        }
        Ok::<_, landlock::RulesetError>(rules)
    };
    Option::<OwnedFd>::from(rules()?).ok_or(LandlockError::Missing)
}

/// Returns the version of the kernel's interface, 0 if there is none.
pub(crate) fn version() -> i64 {
    // SAFETY: the call asks for the version, which takes no structure.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<()>(), 0, 1) };
    version.max(0)
}
