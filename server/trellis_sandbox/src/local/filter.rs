//! System call filters that block calls no test needs.

use std::collections::BTreeMap;

use libc::{c_long, sock_filter};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::error::FilterError;

/// Calls refused with `EPERM`: those that inspect or change other processes, the machine or the
/// namespaces, and obsolete calls that no test uses.
const REFUSED: [c_long; 40] = [
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// Calls answered as if the kernel did not know them, so that programs use alternatives: `clone3`,
/// whose flags a filter cannot see, and asynchronous I/O that bypasses filters.
const UNKNOWN: [c_long; 4] = [
    libc::SYS_clone3,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
];

const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// The programs of one or more filters.
type Programs = Vec<Vec<sock_filter>>;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Returns the filters for this processor, none if the filter library does not know it, and whether
/// there are any.
pub(super) fn available(sockets: bool) -> (Programs, Result<(), FilterError>) {
    match filters(sockets) {
        Ok(filters) => (filters, Ok(())),
        Err(error) => (Programs::new(), Err(error)),
    }
}

/// Returns the filters for this processor. With `sockets` false (no network, and no namespace for
/// it), only sockets between processes of the machine remain.
fn filters(sockets: bool) -> Result<Programs, FilterError> {
    let architecture = std::env::consts::ARCH;
    let architecture: TargetArch =
        (architecture.try_into()).map_err(|_| FilterError::UnknownProcessor { architecture })?;
    let mut refused: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let wrong =
        |error: seccompiler::BackendError| FilterError::Rejected { message: error.to_string() };
    refused.insert(libc::SYS_clone, namespace_rules().map_err(wrong)?);
    if !sockets {
        let other = condition(SeccompCmpOp::Ne, libc::AF_UNIX as u64).map_err(wrong)?;
        refused.insert(libc::SYS_socket, vec![other]);
    }
    let unknown: Rules = UNKNOWN.iter().map(|call| (*call, Vec::new())).collect();
    [(refused, libc::EPERM), (unknown, libc::ENOSYS)]
        .into_iter()
        .map(|(rules, errno)| compile(rules, errno, architecture).map_err(wrong))
        .collect()
}

fn namespace_rules() -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let rule = |flag: &i32| {
        let flag = *flag as u64;
        condition(SeccompCmpOp::MaskedEq(flag), flag)
    };
    NAMESPACES.iter().map(rule).collect()
}

/// Returns a rule on the first argument of a call.
fn condition(operator: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(0, SeccompCmpArgLen::Dword, operator, value)?])
}

fn compile(
    rules: Rules,
    errno: i32,
    architecture: TargetArch,
) -> Result<Vec<sock_filter>, seccompiler::BackendError> {
    let action = SeccompAction::Errno(errno as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, architecture)?;
    let program: BpfProgram = filter.try_into()?;
    let same = |it: &seccompiler::sock_filter| sock_filter {
        code: it.code,
        jt: it.jt,
        jf: it.jf,
        k: it.k,
    };
    Ok(program.iter().map(same).collect())
}
