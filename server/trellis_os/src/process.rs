//! Other processes of this machine.

use std::path::Path;

/// Returns whether a process has not ended, by its number. Another process may have got the number
/// meanwhile.
pub fn is_alive(number: u32) -> bool {
    Path::new("/proc").join(number.to_string()).exists()
}
