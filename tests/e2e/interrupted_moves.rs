//! Starts that were killed while git wrote the files of the next commit of an issue, and what a
//! person does in the worktree before the next start.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::implement::{CART, implement, in_p};
use crate::odd_repositories::{WORKTREE, begun, commit, merges, start_beside};
use crate::repair::git;
use crate::world::World;

/// A project whose start was killed, and the commit whose files it wrote.
struct Killed {
    world: World,
    next: String,
}

impl Killed {
    /// Kills a start that has written half of one file of the next commit, and none of the others.
    /// More of that commit is written by `change`, run in the worktree.
    fn new(name: &OsStr, change: impl FnOnce(&Path)) -> Killed {
        let world = begun();
        fs::write(world.root().join("p").join(name), "one\n").expect("written");
        for (path, text) in [
            ("old.txt", "old\n"),
            ("kept/notes.txt", "one\n"),
            ("list.txt", "one\ntwo\n"),
            ("junk.txt", "junk\n"),
            (".git/info/exclude", "*.pyc\n/out\n*.local\n"),
        ] {
            world.write(&format!("p/{path}"), text);
        }
        commit(&world, "notes.txt", "start\n");
        let _ = implement(&world, &[]).exits(2);
        let worktree = world.root().join(WORKTREE);
        git(&worktree, &["rm", "--quiet", "old.txt", "kept/notes.txt"]);
        fs::write(worktree.join("kept"), "a file now\n").expect("written");
        fs::write(worktree.join("new.txt"), "new\n").expect("written");
        fs::write(worktree.join(name), "two\nthree\n").expect("written");
        change(&worktree);
        git(&worktree, &["add", "--all"]);
        let tree = git(&worktree, &["write-tree"]);
        let next = git(&worktree, &["commit-tree", tree.trim(), "-p", "HEAD", "-m", "next"]);
        git(&worktree, &["reset", "--hard", "--quiet"]);
        fs::write(worktree.join(name), "two\n").expect("written");
        let record = format!("{WORKTREE}.json");
        let mut state: Value = serde_json::from_str(&world.read(&record)).expect("a record");
        state["next"] = json!(next.trim());
        world.write(&record, &state.to_string());
        Killed { world, next: next.trim().to_owned() }
    }

    fn half() -> Killed {
        Killed::new("cut.txt".as_ref(), |_| ())
    }

    /// The next commit also has a file that git ignores.
    fn half_with_ignored(path: &str, text: &str) -> Killed {
        Killed::new("cut.txt".as_ref(), |worktree| {
            let file = worktree.join(path);
            fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            fs::write(file, text).expect("written");
            git(worktree, &["add", "--force", path]);
        })
    }

    /// Kills a start that has written all files, and not yet recorded that.
    fn unrecorded() -> Killed {
        let killed = Killed::half();
        git(&killed.worktree(), &["reset", "--hard", "--quiet", &killed.next]);
        killed
    }

    fn worktree(&self) -> PathBuf {
        self.world.root().join(WORKTREE)
    }

    fn write(&self, path: &str, text: &str) {
        self.world.write(&format!("{WORKTREE}/{path}"), text);
    }

    /// Asserts that the next start merges the whole next commit.
    fn merges_all(&self) {
        merges(&self.world);
        let read = |path: &str| self.world.read(&format!("p/{path}"));
        assert_eq!((read("cut.txt"), read("new.txt")), ("two\nthree\n".into(), "new\n".into()));
        assert_eq!(read("kept"), "a file now\n");
        assert!(!self.world.root().join("p/old.txt").exists());
        assert_eq!(in_p(&self.world, &["status", "--short"]), "");
    }
}

/// Returns a project whose start was killed while it wrote files.
pub(crate) fn half_written() -> World {
    Killed::half().world
}

#[test]
fn a_half_written_file_is_committed_whole_with_the_edits_of_others() {
    let killed = Killed::half();
    killed.write("notes.txt", "mine\n");
    let _ = implement(&killed.world, &[]).exits(2).says("your edits");
    killed.merges_all();
    assert_eq!(killed.world.read("p/notes.txt"), "mine\n");
    // An edit in the way of such a file stays as it is.
    let killed = Killed::half();
    killed.write("kept/notes.txt", "mine\n");
    let _ = implement(&killed.world, &[]).exits(2).says("your edits");
    merges(&killed.world);
    assert_eq!(killed.world.read("p/cut.txt"), "two\nthree\n");
    assert_eq!(killed.world.read("p/kept/notes.txt"), "mine\n");
}

#[test]
fn a_half_written_file_is_no_edit_whatever_its_name() {
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    let world = Killed::new(name, |_| ()).world;
    let again = implement(&world, &[]).exits(2);
    assert!(!again.stderr.contains("your edits"), "{}", again.stderr);
    merges(&world);
    let whole = fs::read_to_string(world.root().join("p").join(name)).expect("text");
    assert_eq!(whole, "two\nthree\n");
}

#[test]
fn edits_of_files_that_the_move_leaves_alone_stay() {
    for killed in [Killed::half(), Killed::unrecorded()] {
        killed.write("list.txt", "one\n");
        fs::remove_file(killed.worktree().join("junk.txt")).expect("removed");
        let _ = implement(&killed.world, &[]).exits(2).says("your edits");
        killed.merges_all();
        assert_eq!(killed.world.read("p/list.txt"), "one\n");
        assert!(!killed.world.root().join("p/junk.txt").exists());
    }
}

#[test]
fn a_commit_on_top_of_half_a_move_stays() {
    let killed = Killed::half();
    killed.write("notes.txt", "mine\n");
    git(&killed.worktree(), &["rm", "--quiet", "junk.txt"]);
    git(&killed.worktree(), &["add", "notes.txt"]);
    git(&killed.worktree(), &["commit", "--quiet", "-m", "mine"]);
    let mine = git(&killed.worktree(), &["rev-parse", "HEAD"]);
    let _ = implement(&killed.world, &[]).exits(2).says("your edits");
    git(&killed.worktree(), &["merge-base", "--is-ancestor", mine.trim(), "trellis/issue-42"]);
    killed.merges_all();
    assert_eq!(killed.world.read("p/notes.txt"), "mine\n");
    assert!(!killed.world.root().join("p/junk.txt").exists());
}

#[test]
fn a_merge_after_a_move_that_was_not_recorded_stays() {
    let killed = Killed::unrecorded();
    commit(&killed.world, "new.txt", "theirs\n");
    let conflict = std::process::Command::new("git")
        .current_dir(killed.worktree())
        .args(["-c", "user.name=A", "-c", "user.email=a@localhost", "merge", "--quiet", "main"])
        .output();
    assert_eq!(conflict.expect("git").status.code(), Some(1));
    killed.write("new.txt", "both\n");
    git(&killed.worktree(), &["add", "new.txt"]);
    git(&killed.worktree(), &["commit", "--quiet", "-m", "merged"]);
    merges(&killed.world);
    assert_eq!(killed.world.read("p/new.txt"), "both\n");
    assert_eq!(killed.world.read("p/cut.txt"), "two\nthree\n");
}

#[test]
fn a_merge_begun_after_the_move_is_not_taken_for_resolved() {
    let killed = Killed::half();
    commit(&killed.world, "list.txt", "one\nthree\n");
    killed.write("other.txt", "mine\n");
    let merge = "git -c user.name=A -c user.email=a@localhost merge --quiet main";
    let place = killed.worktree();
    let when = format!(
        "[ \"$it\" = add ] && [ \"$(/usr/bin/env -u GIT_INDEX_FILE git -C '{}' rev-parse HEAD)\" = {} ]",
        place.display(),
        killed.next
    );
    // Both sides change the file.
    let change = format!(
        "printf 'one\\nfour\\n' > list.txt && git add list.txt && git -c user.name=A -c user.email=a@localhost commit --quiet -m four && {merge}"
    );
    let _ = start_beside(&killed.world, &when, &change).exits(2).says("has conflicts");
    assert!(git(&place, &["status", "--short"]).contains("UU list.txt"));
    killed.write("list.txt", "both\n");
    git(&place, &["add", "list.txt"]);
    killed.merges_all();
    assert_eq!(killed.world.read("p/list.txt"), "both\n");
    assert_eq!(killed.world.read("p/other.txt"), "mine\n");
}

#[test]
fn what_git_does_not_know_is_not_removed_for_a_file_of_the_move() {
    let killed = Killed::half();
    killed.write("notes.txt", "mine\n");
    killed.write("kept/x.pyc", "compiled\n");
    let _ = implement(&killed.world, &[]).exits(2).says("kept/x.pyc is in the way of");
    assert_eq!(killed.world.read(&format!("{WORKTREE}/kept/x.pyc")), "compiled\n");
    fs::remove_dir_all(killed.worktree().join("kept")).expect("removed");
    let _ = implement(&killed.world, &[]).exits(2).says("your edits");
    killed.merges_all();
    assert_eq!(killed.world.read("p/notes.txt"), "mine\n");
}

#[test]
fn a_move_is_not_finished_through_a_link() {
    let killed = Killed::half_with_ignored("out/sub", "new\n");
    let outside = killed.world.root().join("outside");
    fs::create_dir_all(outside.join("sub/deep")).expect("made");
    symlink(&outside, killed.worktree().join("out")).expect("a link");
    killed.write("notes.txt", "mine\n");
    let _ = implement(&killed.world, &[]).exits(2).says("/out is in the way of");
    assert!(outside.join("sub/deep").is_dir());
    fs::remove_file(killed.worktree().join("out")).expect("the link");
    let _ = implement(&killed.world, &[]).exits(2).says("your edits");
    killed.merges_all();
    assert_eq!(killed.world.read("p/out/sub"), "new\n");
}

#[test]
fn an_ignored_file_is_not_replaced_by_one_of_the_move() {
    let killed = Killed::half_with_ignored("conf.local", "of the model\n");
    killed.write("conf.local", "mine\n");
    let _ = implement(&killed.world, &[]).exits(2).says("conf.local is in the way of");
    assert_eq!(killed.world.read(&format!("{WORKTREE}/conf.local")), "mine\n");
    // What the move has written itself is not in its way.
    killed.write("conf.local", "of the");
    killed.merges_all();
    assert_eq!(killed.world.read("p/conf.local"), "of the model\n");
}

#[test]
fn a_half_written_file_of_the_work_is_not_read_as_its_text() {
    let whole = format!("{CART}\n\nVAT = 20\n\n\nDISCOUNT = 1\n");
    let killed = Killed::new("cut.txt".as_ref(), |worktree| {
        fs::write(worktree.join("shop/cart.py"), &whole).expect("written");
    });
    killed.write("shop/cart.py", &format!("{CART}\n\nVAT = 20\n\n\nDISC"));
    killed.merges_all();
    assert_eq!(killed.world.read("p/shop/cart.py"), whole);
}

#[test]
fn a_second_move_that_fails_does_not_hide_the_first() {
    let killed = Killed::half();
    let done = killed.world.root().join("failed");
    let fails =
        format!("[ \"$it\" = --hard ] && mkdir '{}' 2>/dev/null && exit 128", done.display());
    let _ = start_beside(&killed.world, &fails, "true").exits(70);
    assert!(done.exists());
    killed.merges_all();
}
