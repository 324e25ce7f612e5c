//! What is left of an engine: its processes, containers, mounts and files, and their end.

use std::{
    env, fs,
    path::Path,
    process::Command,
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{PATIENCE, PREFIX};

/// Asks a process to end, then kills it.
pub(super) fn end(pid: u32, mut ended: impl FnMut() -> bool) {
    let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    for signal in [Signal::TERM, Signal::KILL] {
        let _ = kill_process(number, signal);
        let deadline = Instant::now() + PATIENCE / 2;
        while Instant::now() < deadline {
            if ended() {
                return;
            }
            sleep(Duration::from_millis(20));
        }
    }
}

/// Removes remains of a killed engine: a process that a test started in its place, its helper
/// process, containers, mounts, and files.
pub(super) fn clean(folder: &Path) {
    end_of(&folder.join("docker.pid"), folder);
    end_of(&folder.join("exec/containerd/containerd.pid"), folder);
    end_containers(folder);
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let ours = mounts.lines().filter_map(|line| line.split(' ').nth(1));
    for mount in ours.filter(|mount| Path::new(mount).starts_with(folder)) {
        let _ = Command::new("umount").arg("--lazy").arg(mount).status();
    }
    let _ = fs::remove_dir_all(folder);
}

/// Ends the process that a file names, if its arguments name the folder of the engine.
fn end_of(file: &Path, folder: &Path) {
    let text = fs::read_to_string(file).unwrap_or_default();
    let Ok(pid) = text.trim().parse::<u32>() else { return };
    let alive = || {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline"));
        line.is_ok_and(|line| line.contains(&*folder.to_string_lossy()))
    };
    if alive() {
        end(pid, || !alive());
    }
}

/// Kills containers that outlived their engine: each is the child of a process of containerd's whose
/// arguments name the folder, and everything in it ends with that child.
fn end_containers(folder: &Path) {
    let name = &*folder.to_string_lossy();
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let all: Vec<i32> = all.filter_map(|it| it.file_name().to_str()?.parse().ok()).collect();
    let read = |pid: i32, file| fs::read_to_string(format!("/proc/{pid}/{file}"));
    let parent = |pid| -> Option<i32> {
        let status = read(pid, "status").ok()?;
        status.lines().find_map(|it| it.strip_prefix("PPid:"))?.trim().parse().ok()
    };
    let names = |pid: &i32| read(*pid, "cmdline").is_ok_and(|line| line.contains(name));
    let (helpers, others): (Vec<i32>, Vec<i32>) = all.into_iter().partition(names);
    let children =
        others.into_iter().filter(|it| parent(*it).is_some_and(|it| helpers.contains(&it)));
    let left: Vec<i32> = children.chain(helpers.iter().copied()).collect();
    for pid in left.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Removes folders of engines that were killed together with their owner.
pub(super) fn sweep() {
    for entry in fs::read_dir(env::temp_dir()).into_iter().flatten().flatten() {
        let folder = entry.path();
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let pid = fs::read_to_string(folder.join("docker.pid")).unwrap_or_default();
        let line = fs::read_to_string(format!("/proc/{}/cmdline", pid.trim()));
        let lives = line.is_ok_and(|line| line.contains(&*folder.to_string_lossy()));
        let young = entry
            .metadata()
            .and_then(|it| it.modified())
            .is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age < PATIENCE * 2));
        if ours && !lives && !young {
            clean(&folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::sync::mpsc::channel;
    use std::thread;

    use std::process::Stdio;

    use super::*;

    #[test]
    fn containers_of_an_engine_end_with_their_helper_processes() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut helper = Command::new("sh");
        helper.args(["-c", "exec 3<&0; cat <&3 & wait; exit 1"]).arg(folder.path());
        let child = helper.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("it starts");
        let mut output = child.stdout.take().expect("piped");
        let mut input = child.stdin.take().expect("piped");
        input.write_all(b"started").expect("written");
        output.read_exact(&mut [0; 7]).expect("read");
        let (ended, both_ended) = channel();
        thread::spawn(move || ended.send(output.read_to_end(&mut Vec::new())));
        end_containers(folder.path());
        both_ended.recv_timeout(PATIENCE).expect("both have ended").expect("read");
        assert!(!child.wait().expect("it ended").success());
        drop(input);
    }
}
