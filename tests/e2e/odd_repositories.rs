//! Repositories that people set up or use in other ways, while the work of an issue waits in its
//! worktree.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::implement::{
    ALONE, ARGUMENTS, CART, CODE, answer, asking, code, file, implement, in_p, model_beside,
    new_tests, shop,
};
use crate::repair::{CALCULATOR, dirty, git, mended, repair, text};
use crate::world::{Ran, World, eventually};

pub(crate) const WORKTREE: &str = "p/.trellis/worktrees/issue-42";

/// Returns a shop with the replies for one issue, which changes a file and adds two.
pub(crate) fn begun() -> World {
    let both = code() + &file("shop/cart.py", &format!("{CART}\n\nVAT = 20\n"));
    shop(&[("scaffold", &[new_tests()]), ("implementation", &[both])])
}

/// Returns a project whose issue waits for a review.
fn waiting() -> World {
    let world = begun();
    let _ = implement(&world, &[]).exits(2);
    world
}

pub(crate) fn commit(world: &World, path: &str, text: &str) {
    world.write(&format!("p/{path}"), text);
    in_p(world, &["add", "--all"]);
    in_p(world, &["commit", "--quiet", "-m", path]);
}

/// Asserts that the work is merged by the next start.
pub(crate) fn merges(world: &World) {
    let result = implement(world, &ALONE).exits(0).json();
    assert_eq!(result["outcome"], "merged", "{result:#}");
    assert!(world.read("p/shop/cart.py").contains("VAT = 20"));
    assert!(!world.root().join(WORKTREE).exists());
    assert_eq!(in_p(world, &["branch", "--list", "trellis/*"]), "");
}

/// Asserts that the next start merges nothing, for a reason.
fn waits(world: &World, why: &str) {
    let before = in_p(world, &["rev-parse", "main"]);
    let result = implement(world, &ALONE).exits(2).json();
    assert!(text(&result["reason"]).contains(why), "{result:#}");
    assert_eq!(in_p(world, &["rev-parse", "main"]), before);
}

fn copy(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").arg("-r").args([from, to]).status();
    assert!(copied.is_ok_and(|it| it.success()));
}

#[test]
fn a_worktree_of_a_person_may_have_the_same_name() {
    let world = begun();
    let [theirs, away] = ["elsewhere/issue-42", "away"].map(|it| world.root().join(it));
    in_p(&world, &["worktree", "add", "--quiet", "--detach", theirs.to_str().expect("text")]);
    let _ = implement(&world, &[]).exits(2);
    let mine = format!("{CODE}\n\nMINE = 1\n");
    world.write(&format!("{WORKTREE}/shop/discount.py"), &mine);
    // Also while its disk is not there, git still knows it.
    fs::rename(&theirs, &away).expect("moved");
    merges(&world);
    assert_eq!(world.read("p/shop/discount.py"), mine);
    fs::rename(&away, &theirs).expect("moved");
    assert_eq!(git(&theirs, &["status", "--short"]), "");
}

#[test]
fn a_copied_project_and_its_original_go_on_apart() {
    let (world, other) = (waiting(), World::new());
    for name in ["p", "replies.jsonl"] {
        copy(&world.root().join(name), &other.root().join(name));
    }
    for (world, mine) in [(&other, "OTHER = 1\n"), (&world, "MINE = 1\n")] {
        world.write(&format!("{WORKTREE}/shop/discount.py"), &format!("{CODE}\n\n{mine}"));
        merges(world);
        assert!(world.read("p/shop/discount.py").ends_with(mine));
    }
}

#[test]
fn the_work_is_begun_from_its_branch_if_its_folder_was_moved_away() {
    let world = waiting();
    fs::rename(world.root().join(WORKTREE), world.root().join("away")).expect("moved");
    merges(&world);
}

#[test]
fn a_commit_that_a_person_takes_away_does_not_come_back() {
    let world = begun();
    commit(&world, "shop/secret.py", "SECRET = 1\n");
    let _ = implement(&world, &[]).exits(2);
    in_p(&world, &["reset", "--quiet", "--hard", "HEAD~1"]);
    commit(&world, "shop/tax.py", "VAT = 20\n");
    merges(&world);
    assert!(!world.root().join("p/shop/secret.py").exists(), "it was taken away");
    assert_eq!(world.read("p/shop/tax.py"), "VAT = 20\n");
    // Nor with a person's edits of the work.
    let world = begun();
    commit(&world, "shop/secret.py", "SECRET = 1\n");
    let _ = implement(&world, &[]).exits(2);
    in_p(&world, &["reset", "--quiet", "--hard", "HEAD~1"]);
    world.write(&format!("{WORKTREE}/shop/discount.py"), &format!("{CODE}\n\nMINE = 1\n"));
    let shown = implement(&world, &[]).exits(2).json();
    assert!(!text(&shown["diff"]).contains("SECRET"), "{shown:#}");
    merges(&world);
    assert!(!world.root().join("p/shop/secret.py").exists(), "it was taken away");
}

#[test]
fn a_branch_that_a_person_is_moving_stays_where_it_is() {
    let world = waiting();
    commit(&world, "notes.txt", "one\n");
    in_p(&world, &["switch", "--quiet", "-c", "other", "HEAD~1"]);
    commit(&world, "notes.txt", "two\n");
    in_p(&world, &["switch", "--quiet", "main"]);
    let begin = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        let identity = ["-c", "user.name=a", "-c", "user.email=a@localhost"];
        let ended = command.args(identity).args(arguments).current_dir(world.root().join("p"));
        assert!(!ended.output().expect("git").status.success(), "a conflict stops it");
    };
    for (begin_with, end_with, why) in [
        (["rebase", "other"], ["rebase", "--abort"], "a rebase of it is in progress"),
        (["merge", "other"], ["merge", "--abort"], "a merge, a revert or a cherry-pick"),
    ] {
        begin(&begin_with);
        let status = in_p(&world, &["status", "--short"]);
        waits(&world, why);
        assert_eq!(in_p(&world, &["status", "--short"]), status);
        in_p(&world, &end_with);
    }
}

#[test]
fn a_branch_that_is_checked_out_on_a_disk_that_is_not_there_stays_where_it_is() {
    let world = waiting();
    let [there, away] = ["mine", "away"].map(|it| world.root().join(it));
    in_p(&world, &["switch", "--quiet", "-c", "other"]);
    in_p(&world, &["worktree", "add", "--quiet", there.to_str().expect("text"), "main"]);
    fs::rename(&there, &away).expect("moved");
    waits(&world, "which is not there");
    fs::rename(&away, &there).expect("moved");
    merges_into(&world, &there);
}

/// Asserts that the next start merges the work into a branch that is checked out in a folder.
fn merges_into(world: &World, folder: &Path) {
    let result = implement(world, &ALONE).exits(0).json();
    assert_eq!(result["outcome"], "merged", "{result:#}");
    assert!(folder.join("shop/discount.py").exists());
    assert_eq!(git(folder, &["status", "--short"]), "");
}

#[test]
fn a_repository_inside_the_worktree_stays() {
    for has_commit in [false, true] {
        let world = waiting();
        let inner = world.root().join(WORKTREE).join("vendor/lib");
        fs::create_dir_all(&inner).expect("made");
        git(&inner, &["init", "--quiet"]);
        fs::write(inner.join("notes.txt"), "mine\n").expect("written");
        if has_commit {
            git(&inner, &["add", "."]);
            git(&inner, &["commit", "--quiet", "-m", "mine"]);
        }
        in_p(&world, &["config", "status.showUntrackedFiles", "no"]);
        waits(&world, "holds a repository in vendor/lib");
        assert_eq!(fs::read_to_string(inner.join("notes.txt")).expect("a file"), "mine\n");
        assert_eq!(in_p(&world, &["ls-tree", "main", "vendor"]), "");
    }
}

#[test]
fn a_repository_of_files_that_are_tracked_stays_and_so_does_a_locked_worktree() {
    let world = waiting();
    let inner = world.root().join(WORKTREE).join("shop");
    git(&inner, &["init", "--quiet"]);
    waits(&world, "holds a repository in shop");
    assert!(inner.join(".git").exists());
    fs::remove_dir_all(inner.join(".git")).expect("removed");
    in_p(&world, &["worktree", "lock", ".trellis/worktrees/issue-42"]);
    waits(&world, "holds locks (`git worktree unlock` removes them)");
    in_p(&world, &["worktree", "unlock", ".trellis/worktrees/issue-42"]);
    merges(&world);
}

#[test]
fn a_submodule_goes_with_the_worktree_only_if_it_has_no_work_of_its_own() {
    let world = begun();
    let library = world.root().join("library");
    fs::create_dir(&library).expect("made");
    git(&library, &["init", "--quiet", "--initial-branch=main"]);
    git(&library, &["commit", "--quiet", "--allow-empty", "-m", "first"]);
    let file = ["-c", "protocol.file.allow=always", "submodule", "--quiet"];
    in_p(&world, &[&file[..], &["add", library.to_str().expect("text"), "lib"]].concat());
    in_p(&world, &["commit", "--quiet", "-m", "library"]);
    let _ = implement(&world, &[]).exits(2);
    let worktree = world.root().join(WORKTREE);
    git(&worktree, &[&file[..], &["update", "--init"]].concat());
    let inner = worktree.join("lib");
    fs::write(inner.join("notes.txt"), "mine\n").expect("written");
    waits(&world, "holds submodules with work of their own");
    git(&inner, &["add", "."]);
    git(&inner, &["commit", "--quiet", "-m", "mine"]);
    waits(&world, "holds submodules with work of their own");
    git(&inner, &["reset", "--quiet", "--hard", "HEAD~1"]);
    merges(&world);
}

#[test]
fn edits_that_a_person_hides_from_git_are_part_of_the_work() {
    for (mark, path) in [
        ("--assume-unchanged", "shop/audit.py"),
        ("--skip-worktree", "shop/audit.py"),
        ("--skip-worktree", "shop/cart.py"),
        ("--assume-unchanged", "shop/cart.py"),
    ] {
        let world = waiting();
        git(&world.root().join(WORKTREE), &["update-index", mark, path]);
        let place = format!("{WORKTREE}/{path}");
        let mine = format!("{}# mine\n", world.read(&place));
        world.write(&place, &mine);
        merges(&world);
        assert_eq!(world.read(&format!("p/{path}")), mine, "{mark} {path}");
    }
}

#[test]
fn an_ignored_file_that_a_person_adds_is_part_of_the_work() {
    let world = begun();
    commit(&world, ".gitignore", "*.local\n");
    let _ = implement(&world, &[]).exits(2);
    world.write(&format!("{WORKTREE}/notes.local"), "mine\n");
    git(&world.root().join(WORKTREE), &["add", "--force", "notes.local"]);
    merges(&world);
    assert_eq!(world.read("p/notes.local"), "mine\n");
}

#[test]
fn names_and_ignored_folders_of_any_kind_are_no_obstacle() {
    let world = begun();
    let name = "\"odd\r name";
    commit(&world, ".gitignore", "*.local\nbuild/\n");
    commit(&world, name, "one\n");
    let _ = implement(&world, &[]).exits(2);
    world.write(&format!("{WORKTREE}/{name}"), "two\n");
    // A file that is staged becomes a folder with a file that git ignores.
    world.write(&format!("{WORKTREE}/conf"), "mine\n");
    git(&world.root().join(WORKTREE), &["add", "conf"]);
    fs::remove_file(world.root().join(WORKTREE).join("conf")).expect("removed");
    world.write(&format!("{WORKTREE}/conf/key.local"), "mine\n");
    // Folders that only look like repositories.
    world.write(&format!("{WORKTREE}/build/one/.git"), "gitdir: /nowhere\n");
    fs::create_dir_all(world.root().join(WORKTREE).join("build/two/.git")).expect("made");
    merges(&world);
    assert_eq!(world.read(&format!("p/{name}")), "two\n");
    assert_eq!(in_p(&world, &["ls-tree", "main", "conf"]), "");
}

#[test]
fn projects_of_one_repository_with_the_same_issue_are_told_apart() {
    let world = waiting();
    for path in ["shop/__init__.py", "docs/lld.md", "pyproject.toml"] {
        let text = world.read(&format!("p/{path}"));
        commit(&world, &format!("part/{path}"), &text);
    }
    let arguments = ARGUMENTS.map(|it| match it {
        "p" => "p/part",
        "p/docs/lld.md" => "p/part/docs/lld.md",
        other => other,
    });
    let why = "the branch trellis/issue-42 belongs to the work in";
    let _ = world.trellis(&arguments).exits(65).says(why);
    merges(&world);
}

#[test]
fn ended_work_without_branch_and_folder_is_kept_on_a_branch() {
    let world = shop(&[("scaffold", &[new_tests()]), ("implementation", &[String::new()])]);
    let _ = implement(&world, &["--max-retries", "0"]);
    let tip = in_p(&world, &["rev-parse", "trellis/issue-42"]);
    in_p(&world, &["worktree", "remove", "--force", ".trellis/worktrees/issue-42"]);
    in_p(&world, &["branch", "-D", "trellis/issue-42"]);
    answer(&world, &[("scaffold", &[new_tests()]), ("implementation", &[code()])]);
    let _ = implement(&world, &ALONE).exits(0);
    assert_eq!(in_p(&world, &["rev-parse", "trellis/aside/issue-42-1"]), tip);
}

#[test]
fn edits_outside_the_project_during_a_run_stay() {
    let world = begun();
    fs::remove_dir_all(world.root().join("p/.git")).expect("removed");
    let notes = world.write("notes.txt", "one\n");
    git(world.root(), &["init", "--quiet", "--initial-branch=main"]);
    git(world.root(), &["add", "p", "notes.txt"]);
    git(world.root(), &["commit", "--quiet", "-m", "start"]);
    let edited = world.root().join(WORKTREE).join("notes.txt");
    let service = model_beside(move || fs::write(&edited, "two\n").expect("written"));
    let run = || asking(&world, &service);
    let _ = run().exits(2).says("notes.txt was edited in the worktree");
    let _ = run().exits(0);
    assert_eq!(fs::read_to_string(notes).expect("a file"), "two\n");
}

#[test]
fn an_ignored_file_is_not_replaced_by_one_of_the_work() {
    let world = begun();
    world.write("p/.git/info/exclude", "/shop/discount.py\n");
    let mine = world.root().join(WORKTREE).join("shop/discount.py");
    let path = mine.clone();
    let service = model_beside(move || fs::write(&path, "mine = 1\n").expect("written"));
    let _ = asking(&world, &service)
        .exits(2)
        .says("shop/discount.py is in the way of a file of the work");
    assert_eq!(fs::read_to_string(&mine).expect("a file"), "mine = 1\n");
}

/// Runs a start during which a person runs commands in the worktree, just before a git command of
/// which one argument, `$it`, is as a condition of the shell says.
pub(crate) fn start_beside(world: &World, when: &str, commands: &str) -> Ran {
    let real = real_git();
    let script = format!(
        "#!/bin/sh\nfor it in \"$@\"; do if {when} && mkdir '{done}' 2>/dev/null; then\n\
         (cd '{worktree}' && unset GIT_INDEX_FILE && {commands}) >&2\nfi; done\nexec {real} \"$@\"\n",
        done = world.root().join("done").display(),
        worktree = world.root().join(WORKTREE).display(),
        real = real.display(),
    );
    let wrapper = world.write("wrapper/git", &script);
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).expect("a program");
    let others = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&others);
    let path = std::env::join_paths([world.root().join("wrapper")].into_iter().chain(folders));
    let mut start = world.command(&[&ARGUMENTS[..], &ALONE].concat());
    Ran::of(start.env("PATH", path.expect("a path")).output().expect("trellis starts"))
}

/// A condition: Trellis commits a person's edits.
const COMMITS: &str = "[ \"$it\" = commit-tree ]";

fn real_git() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|it| it.join("git"));
    places.find(|it| it.is_file()).expect("git is installed")
}

#[test]
fn a_commit_made_while_edits_are_read_is_kept() {
    let world = waiting();
    world.write(&format!("{WORKTREE}/notes.txt"), "mine\n");
    let mine = "git add --all && git -c user.name=A -c user.email=a@localhost commit -qm mine";
    let _ = start_beside(&world, COMMITS, mine)
        .exits(2)
        .says("the branch in")
        .says("changed while its files were read")
        .says("run the same command again");
    assert_eq!(in_p(&world, &["log", "-1", "--format=%s", "trellis/issue-42"]), "mine");
    merges(&world);
    assert_eq!(world.read("p/notes.txt"), "mine\n");
}

#[test]
fn edits_are_not_committed_on_a_branch_made_meanwhile() {
    let world = waiting();
    world.write(&format!("{WORKTREE}/notes.txt"), "mine\n");
    let _ = start_beside(&world, COMMITS, "git switch --quiet --create mine")
        .exits(2)
        .says("changed while its files were read");
    let worktree = world.root().join(WORKTREE);
    git(&worktree, &["switch", "--quiet", "trellis/issue-42"]);
    in_p(&world, &["branch", "--delete", "--force", "mine"]);
    merges(&world);
    assert_eq!(world.read("p/notes.txt"), "mine\n");
}

#[test]
fn a_merge_begun_while_edits_are_read_is_not_taken_for_resolved() {
    let world = begun();
    commit(&world, "notes.txt", "one\n");
    let _ = implement(&world, &[]).exits(2);
    world.write(&format!("{WORKTREE}/notes.txt"), "two\n");
    let _ = implement(&world, &[]).exits(2);
    commit(&world, "notes.txt", "three\n");
    world.write(&format!("{WORKTREE}/other.txt"), "mine\n");
    let merge = "git -c user.name=A -c user.email=a@localhost merge --quiet main";
    let _ = start_beside(&world, "[ \"$it\" = add ]", merge).exits(2).says("has conflicts");
    let worktree = world.root().join(WORKTREE);
    assert!(git(&worktree, &["status", "--short"]).contains("UU notes.txt"));
    world.write(&format!("{WORKTREE}/notes.txt"), "both\n");
    git(&worktree, &["add", "notes.txt"]);
    merges(&world);
    assert_eq!(
        (world.read("p/notes.txt"), world.read("p/other.txt")),
        ("both\n".into(), "mine\n".into())
    );
}

#[test]
fn another_branch_that_a_person_switches_to_during_a_run_stays() {
    let world = begun();
    in_p(&world, &["branch", "feature"]);
    let worktree = world.root().join(WORKTREE);
    let service = model_beside(move || {
        git(&worktree, &["switch", "--quiet", "feature"]);
        fs::write(worktree.join("notes.txt"), "mine\n").expect("written");
        git(&worktree, &["add", "notes.txt"]);
        git(&worktree, &["commit", "--quiet", "-m", "my feature"]);
    });
    let _ = asking(&world, &service)
        .exits(2)
        .says("a branch other than trellis/issue-42 is checked out");
    assert_eq!(in_p(&world, &["log", "-1", "--format=%s", "feature"]), "my feature");
}

#[test]
fn links_and_folders_in_place_of_files_are_part_of_the_work() {
    let world = begun();
    std::os::unix::fs::symlink("shop/audit.py", world.root().join("p/link")).expect("linked");
    commit(&world, "notes", "one\n");
    let _ = implement(&world, &[]).exits(2);
    let worktree = world.root().join(WORKTREE);
    let pipe = world.root().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|it| it.success()));
    for path in ["link", "notes"] {
        fs::remove_file(worktree.join(path)).expect("removed");
    }
    std::os::unix::fs::symlink(&pipe, worktree.join("link")).expect("linked");
    world.write(&format!("{WORKTREE}/notes/one"), "one\n");
    merges(&world);
    assert_eq!(fs::read_link(world.root().join("p/link")).expect("a link"), pipe);
    assert_eq!(world.read("p/notes/one"), "one\n");
}

#[test]
fn a_merge_that_a_person_resolves_in_the_worktree_is_committed_with_it() {
    let world = waiting();
    commit(&world, "shop/cart.py", &format!("{CART}\n\nTHEIRS = 1\n"));
    let worktree = world.root().join(WORKTREE);
    let merge = ["-c", "user.name=a", "-c", "user.email=a@localhost", "merge", "main"];
    let merged = std::process::Command::new("git").args(merge).current_dir(&worktree).output();
    assert!(!merged.expect("git").status.success(), "a conflict stops it");
    let _ = implement(&world, &ALONE).exits(2).says("has conflicts");
    let both = format!("{CART}\n\nTHEIRS = 1\nVAT = 20\n");
    world.write(&format!("{WORKTREE}/shop/cart.py"), &both);
    git(&worktree, &["add", "."]);
    merges(&world);
    assert_eq!(world.read("p/shop/cart.py"), both);
}

#[test]
fn worktrees_of_a_person_are_projects_of_their_own() {
    let world = waiting();
    let worktree = world.root().join(WORKTREE);
    git(&worktree, &["branch", "-m", "mine"]);
    world.write(&format!("{WORKTREE}/shop/mine.py"), "MINE = 1\n");
    git(&worktree, &["add", "."]);
    let before = git(&worktree, &["status", "--short"]);
    let other = world.root().join("other");
    in_p(&world, &["worktree", "add", "--quiet", "-b", "other", other.to_str().expect("text")]);
    let arguments = ARGUMENTS.map(|it| match it {
        "p" => "other",
        "p/docs/lld.md" => "other/docs/lld.md",
        other => other,
    });
    let _ = world.trellis(&arguments).exits(2);
    assert_eq!(git(&worktree, &["status", "--short"]), before);
    let result = world.trellis(&[&arguments[..], &ALONE].concat()).exits(0).json();
    assert_eq!(result["outcome"], "merged", "{result:#}");
    assert_eq!(git(&worktree, &["status", "--short"]), before);
    assert_eq!(git(&other, &["status", "--short"]), "");
}

#[test]
fn branches_that_take_the_place_of_those_of_trellis_are_named() {
    let world = begun();
    in_p(&world, &["branch", "trellis"]);
    let _ = implement(&world, &[]).exits(65).says("the branch trellis exists");
}

#[test]
fn repositories_with_a_reftable_work_as_others_do() {
    let world = begun();
    fs::remove_dir_all(world.root().join("p/.git")).expect("removed");
    let init = ["init", "--quiet", "--initial-branch=main", "--ref-format=reftable"];
    let mut made = std::process::Command::new("git");
    made.args(init).current_dir(world.root().join("p"));
    // git 2.45 or newer.
    if !made.output().expect("git").status.success() {
        return;
    }
    commit(&world, "notes.txt", "start\n");
    let _ = implement(&world, &[]).exits(2);
    merges(&world);
}

#[test]
fn an_ignored_file_is_kept_whatever_its_name() {
    let world = begun();
    commit(&world, ".gitignore", "*.local\n");
    let _ = implement(&world, &[]).exits(2);
    let name = OsStr::from_bytes(b"caf\xe9.local");
    fs::write(world.root().join(WORKTREE).join(name), "mine\n").expect("written");
    merges(&world);
    let kept = fs::read_dir(world.root().join("p/.trellis/kept")).expect("a folder");
    let kept: Vec<_> = kept.flatten().map(|it| it.path().join(name)).collect();
    assert!(kept.iter().any(|it| it.exists()), "{kept:?}");
    // A file that git does not ignore is part of the work.
    let world = waiting();
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    fs::write(world.root().join(WORKTREE).join(name), "mine\n").expect("written");
    merges(&world);
    assert!(world.root().join("p").join(name).exists());
}

#[test]
fn a_changed_file_is_merged_whatever_its_name() {
    let world = begun();
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    fs::write(world.root().join("p").join(name), "one\n").expect("written");
    commit(&world, "notes.txt", "start\n");
    let _ = implement(&world, &[]).exits(2);
    fs::write(world.root().join(WORKTREE).join(name), "two\n").expect("written");
    merges(&world);
    assert_eq!(fs::read_to_string(world.root().join("p").join(name)).expect("text"), "two\n");
}

#[test]
fn a_file_in_the_place_of_a_new_one_is_not_read() {
    let world = waiting();
    let path = world.write("p/shop/discount.py", "");
    // More bytes than there is memory for.
    fs::File::options().write(true).open(&path).expect("open").set_len(1 << 40).expect("long");
    waits(&world, "shop/discount.py would be overwritten");
    fs::remove_file(&path).expect("removed");
    merges(&world);
}

/// Returns whether a process waits for the lock of a file.
fn is_awaited(lock: &fs::File) -> bool {
    let place = format!(":{} ", lock.metadata().expect("a file").ino());
    let locks = fs::read_to_string("/proc/locks").expect("the locks of the kernel");
    locks.lines().any(|it| it.contains("-> FLOCK") && it.contains(&place))
}

#[test]
fn an_edit_made_while_another_work_is_merged_is_not_left_out() {
    let world = waiting();
    let place = world.write("p/.trellis/worktrees/merge.lock", "");
    let other = fs::File::open(&place).expect("a file");
    other.lock().expect("free");
    let mut start = world.command(&[&ARGUMENTS[..], &ALONE].concat());
    let start =
        start.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("trellis starts");
    eventually(|| is_awaited(&other), || "a start waits for other merges");
    world.write(&format!("{WORKTREE}/notes.txt"), "mine\n");
    drop(other);
    let output = start.wait_with_output().expect("ended");
    let _ = Ran::of(output).exits(2).says("notes.txt was edited in the worktree during the run");
    merges(&world);
    assert_eq!(world.read("p/notes.txt"), "mine\n");
}

#[test]
fn work_whose_record_was_cleaned_away_is_named() {
    let world = waiting();
    in_p(&world, &["clean", "-fdxq"]);
    let _ = implement(&world, &[])
        .exits(65)
        .says("the record of the work in")
        .says("its commits are on trellis/issue-42");
    assert!(world.read(&format!("{WORKTREE}/shop/discount.py")).contains("discounted"));
}

/// Ways to store files with one kind of line ends and to check them out with another.
const LINE_ENDS: [(&str, &str, &str); 4] = [
    ("*.py text eol=crlf\n", "core.safecrlf", "false"),
    ("*.py text\n", "core.eol", "crlf"),
    ("", "core.autocrlf", "true"),
    ("", "core.autocrlf", "input"),
];

/// Stores and checks out a file of a project in such a way.
fn set_line_ends(world: &World, path: &str, (attributes, key, value): (&str, &str, &str)) {
    commit(world, ".gitattributes", attributes);
    in_p(world, &["config", key, value]);
    fs::remove_file(world.root().join("p").join(path)).expect("removed");
    in_p(world, &["checkout", "--quiet", "--", path]);
    assert_eq!(in_p(world, &["status", "--short"]), "");
}

#[test]
fn line_ends_that_git_converts_are_no_edits() {
    for line_ends in LINE_ENDS {
        let world = begun();
        set_line_ends(&world, "shop/cart.py", line_ends);
        let shown = implement(&world, &[]).exits(2);
        assert!(!shown.stderr.contains("your edits"), "{line_ends:?}: {}", shown.stderr);
        let again = implement(&world, &[]).exits(2);
        assert!(!again.stderr.contains("your edits"), "{line_ends:?}: {}", again.stderr);
        merges(&world);
        assert_eq!(in_p(&world, &["status", "--short"]), "", "{line_ends:?}");
        for file in ["main:shop/discount.py", "main:shop/cart.py"] {
            let stored = in_p(&world, &["show", file]);
            assert!(!stored.contains('\r'), "{line_ends:?}: {stored:?}");
        }
    }
}

#[test]
fn fixes_are_committed_as_git_stores_them() {
    for line_ends in LINE_ENDS {
        let world = dirty();
        let p = world.root().join("p");
        commit(&world, "notes.txt", "mine\n");
        world.write("p/calculator.py", CALCULATOR);
        commit(&world, "notes.txt", "all\n");
        set_line_ends(&world, "calculator.py", line_ends);
        let result = repair(&world, &["--worktree"]).exits(0).json();
        let place = format!("{}:calculator.py", text(&result["branch"]));
        assert_eq!(git(&p, &["show", &place]), mended(), "{line_ends:?}");
        // A start that cannot commit leaves that to the next one.
        let lock = world.write("p/.git/index.lock", "");
        let _ = repair(&world, &["--commit"]).exits(70).says("could not be finished");
        fs::remove_file(lock).expect("removed");
        let _ = repair(&world, &["--commit"]).exits(0);
        assert_eq!(git(&p, &["show", "HEAD:calculator.py"]), mended(), "{line_ends:?}");
        assert_eq!(git(&p, &["status", "--short"]), "", "{line_ends:?}");
    }
}

#[test]
fn files_that_git_would_store_otherwise_today_are_no_edits() {
    let world = begun();
    commit(&world, "notes.txt", "one\r\ntwo\r\n");
    world.write("p/.gitattributes", "*.txt text\n");
    in_p(&world, &["add", ".gitattributes"]);
    in_p(&world, &["commit", "--quiet", "-m", "attributes"]);
    for _ in 0..2 {
        let shown = implement(&world, &[]).exits(2);
        assert!(!shown.stderr.contains("your edits"), "{}", shown.stderr);
        assert!(!text(&shown.json()["diff"]).contains("notes.txt"));
    }
    merges(&world);
    let files = in_p(&world, &["show", "--stat", "--format=", "HEAD"]);
    assert!(!files.contains("notes.txt"), "{files}");
}

#[test]
fn a_sparse_checkout_hides_no_tests_and_stays_sparse() {
    let world = begun();
    world.write("p/docs/more/large.txt", "large\n");
    commit(
        &world,
        "checks/test_more.py",
        "from shop.cart import total\n\n\ndef test_more():\n    assert total([4]) == 4\n",
    );
    in_p(&world, &["sparse-checkout", "set", "shop", "tests", "docs"]);
    assert!(!world.root().join("p/checks").exists());
    let _ = implement(&world, &[]).exits(2);
    assert!(world.root().join(WORKTREE).join("checks/test_more.py").exists());
    merges(&world);
    assert!(!world.root().join("p/checks").exists(), "the person's own checkout stays sparse");
    assert_eq!(in_p(&world, &["status", "--short"]), "");
}
