//! Processes of this machine, as `/proc` shows them.

use std::collections::BTreeSet;
use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// A process that cannot be confused with a later one of the same id: id and start time in ticks.
pub(crate) type Life = (i32, String);

/// Returns parent and identity of a process; `None` if it is gone, or a zombie.
pub(crate) fn living(pid: i32) -> Option<(i32, Life)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may contain anything; the third field of the line follows.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let is_dead = ["Z", "X"].contains(fields.first()?);
    let life = (pid, (*fields.get(19)?).to_owned());
    (!is_dead).then_some((fields.get(1)?.parse().ok()?, life))
}

/// Returns all descendants of a process, without itself.
pub(crate) fn descendants(of: u32) -> BTreeSet<Life> {
    let numbers = fs::read_dir("/proc").expect("/proc").flatten();
    let numbers = numbers.filter_map(|it| it.file_name().to_str()?.parse().ok());
    let all: Vec<(i32, Life)> = numbers.filter_map(living).collect();
    let mut found = BTreeSet::new();
    let mut left = vec![i32::try_from(of).expect("a number")];
    while let Some(parent) = left.pop() {
        for (_, life) in all.iter().filter(|it| it.0 == parent) {
            left.push(life.0);
            found.insert(life.clone());
        }
    }
    found
}

/// Returns the arguments of a process, with spaces between; nothing if it is gone.
pub(crate) fn command_line(life: &Life) -> String {
    let bytes = fs::read(format!("/proc/{}/cmdline", life.0)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

pub(crate) fn kill(process: u32) {
    let number = i32::try_from(process).ok().and_then(Pid::from_raw).expect("a number");
    kill_process(number, Signal::KILL).expect("it can be killed");
}
