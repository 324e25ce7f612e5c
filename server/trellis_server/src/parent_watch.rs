//! Detects the end of the process that started this one.

use std::io;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Calls `gone` once when a process ends; at once if there is no such process.
///
/// # Errors
///
/// The number is no process id, or the kernel cannot watch processes; then only the closed stream
/// shows the client's end.
pub fn watch(process: u32, gone: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let number = i32::try_from(process).ok().and_then(Pid::from_raw);
    let number =
        number.ok_or_else(|| io::Error::other(format!("{process} is not a process id")))?;
    let handle = match pidfd_open(number, PidfdFlags::empty()) {
        Ok(handle) => Some(handle),
        Err(rustix::io::Errno::SRCH) => None,
        Err(error) => return Err(error.into()),
    };
    std::thread::Builder::new().name("parent".to_owned()).spawn(move || {
        let ended = |handle| {
            let mut fds = [PollFd::from_borrowed_fd(handle, PollFlags::IN)];
            while poll(&mut fds, None) == Err(rustix::io::Errno::INTR) {}
        };
        if let Some(handle) = &handle {
            ended(std::os::fd::AsFd::as_fd(handle));
        }
        gone();
    })?;
    Ok(())
}
