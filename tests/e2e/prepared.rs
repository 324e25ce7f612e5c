//! A `.trellis` folder prepared by a hostile project: nothing in it redirects writes or gains
//! rights.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::hostile::{everything, implement, in_p, mark, prepared};
use crate::implement::{ALONE, ARGUMENTS};
use crate::repair::{both, repair};
use crate::world::{Plot, Ran, World, binary};

/// Links in a project at places where the engine writes, each to a foreign file or folder.
const LINKS: [(Workflow, &str, &str); 18] = [
    (Workflow::Implement, ".trellis", "folder"),
    (Workflow::Implement, ".trellis/journal.jsonl", "file"),
    (Workflow::Implement, ".trellis/.gitignore", "new"),
    (Workflow::Implement, ".trellis/tmp", "folder"),
    (Workflow::Implement, ".trellis/worktrees", "folder"),
    (Workflow::Implement, ".trellis/worktrees/issue-42.lock", "file"),
    (Workflow::Implement, ".trellis/worktrees/merge.lock", "file"),
    (Workflow::Implement, ".trellis/worktrees/issue-42", "new"),
    (Workflow::Implement, ".trellis/implement", "folder"),
    (Workflow::Repair, ".trellis", "folder"),
    (Workflow::Repair, ".trellis/journal.jsonl", "new"),
    (Workflow::Repair, ".trellis/repair", "folder"),
    (Workflow::Repair, ".trellis/edits", "folder"),
    (Workflow::Grow, ".trellis", "folder"),
    (Workflow::Grow, ".trellis/lock", "file"),
    (Workflow::Grow, ".trellis/reserve", "new"),
    (Workflow::Grow, ".trellis/journal.jsonl", "file"),
    (Workflow::Grow, ".trellis/tmp", "folder"),
];

enum Workflow {
    Implement,
    Repair,
    Grow,
}

/// Puts a link into a project, and returns the folder that it leads to.
fn linked(world: &World, project: &str, (link, to): (&str, &str)) -> PathBuf {
    let victim = world.root().join("victim");
    world.write("victim/file", "somebody else's\n");
    world.write("victim/folder/file", "somebody else's\n");
    let link = world.root().join(project).join(link);
    fs::create_dir_all(link.parent().expect("a parent")).expect("folders");
    symlink(victim.join(to), link).expect("a link");
    victim
}

#[test]
fn links_in_the_engines_own_folder_lead_nothing_away() {
    for (workflow, link, to) in LINKS {
        let (world, project) = match workflow {
            Workflow::Implement => (prepared(), "p"),
            Workflow::Repair => (both(), "p"),
            Workflow::Grow => (World::new(), "out"),
        };
        let victim = linked(&world, project, (link, to));
        let before = everything(&victim);
        let ran = match workflow {
            Workflow::Implement => implement(&world),
            Workflow::Repair => repair(&world, &["--approve", "autonomous"]),
            Workflow::Grow => world.grow(&Plot::garden(), &[]),
        };
        assert_eq!(everything(&victim), before, "{link} {}", ran.stderr);
        let words = ["symbolic link", "already exists"];
        let is_told = words.iter().any(|it| ran.stderr.contains(it));
        assert!(ran.code == Some(0) || is_told, "{link} {}", ran.stderr);
    }
}

#[test]
fn edits_of_symbols_follow_no_link_of_the_engines_own_folder() {
    for place in [
        (".trellis", "folder"),
        (".trellis/edits", "folder"),
        (".trellis/edits/lock", "file"),
        (".trellis/cache", "folder"),
    ] {
        let world = World::new();
        world.write("p/a.py", "def f():\n    return 1\n");
        world.write("p/pyproject.toml", "");
        let victim = linked(&world, "p", place);
        let before = everything(&victim);
        let _ = world.trellis(&["symbols", "find", "f", "--in", "p"]);
        let _ = world.trellis(&[
            "symbols",
            "replace-body",
            "f",
            "--in",
            "p/a.py",
            "--text",
            "return 2",
        ]);
        assert_eq!(everything(&victim), before, "{place:?}");
    }
}

#[test]
fn an_edit_that_a_project_brings_along_changes_nothing_of_gits() {
    let world = prepared();
    let config = world.read("p/.git/config");
    let hash = |text: &str| {
        let place = world.write("text", text);
        let sum = Command::new("sha256sum").arg(place).output().expect("sha256sum").stdout;
        String::from_utf8_lossy(&sum).split(' ').next().expect("a sum").to_owned()
    };
    let evil = format!("{config}[core]\n\tfsmonitor = touch {}\n", mark(&world).display());
    for path in
        [world.root().join("p/.git/config"), ".git/config".into(), "shop/../.git/config".into()]
    {
        let record = json!({ "version": 1, "id": 1, "what": "x", "undoes": null, "files": [
            { "shown": "a.py", "path": path, "before": hash(&evil), "after": hash(&config) }] });
        world.write("p/.trellis/edits/1.pending/edit.json", &record.to_string());
        world.write("p/.trellis/edits/1.pending/0.before", &evil);
        let mut command = world.command(&["symbols", "rename", "total", "sum_of", "--in", "."]);
        let ran =
            Ran::of(command.current_dir(world.root().join("p")).output().expect("trellis starts"));
        assert_eq!(world.read("p/.git/config"), config, "{}", path.display());
        assert_ne!(ran.code, Some(0), "{}", ran.stdout);
    }
}

#[test]
fn a_record_that_a_project_brings_along_is_no_option_of_git() {
    for field in ["base", "tip", "next", "into", "merging"] {
        let world = prepared();
        let head = in_p(&world, &["rev-parse", "HEAD"]);
        in_p(&world, &["branch", "trellis/issue-42"]);
        let option = format!("--output={}", mark(&world).display());
        let mut record = json!({ "version": 1, "into": "main", "base": head, "journal_from": 0, "ended": null,
            "tip": head, "next": null, "merging": null });
        record[field] = match field {
            "merging" => json!({ "old": head, "new": option, "last": option }),
            _ => json!(option),
        };
        world.write("p/.trellis/worktrees/issue-42.json", &record.to_string());
        let _ = implement(&world).exits(65).says("neither a commit nor a branch");
        assert!(!mark(&world).exists(), "{field}");
    }
}

#[test]
fn scratch_folders_that_others_have_prepared_are_not_used() {
    let world = prepared();
    let temporary = world.root().join("temporary");
    fs::create_dir_all(&temporary).expect("a folder");
    let arguments = [&ARGUMENTS[..], &ALONE].concat().join(" ");
    // The name contains the process's id, which the shell has before it becomes trellis.
    let script = format!(
        "for n in 0 1 2 3; do mkdir {0}/trellis-scratch-$$-$n; touch {0}/trellis-scratch-$$-$n/theirs; done; exec {1} {arguments}",
        temporary.display(),
        binary().display()
    );
    let like = world.command(&[]);
    let variables = like.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(world.root()).env_clear().envs(variables);
    let _ = Ran::of(command.env("TMPDIR", &temporary).output().expect("sh")).exits(0);
    let left = everything(&temporary).into_keys().filter(|it| it.ends_with("theirs"));
    assert_eq!(left.count(), 4);
}

#[test]
fn what_the_engine_keeps_is_for_its_owner_alone() {
    let world = prepared();
    let _ = implement(&world).exits(0);
    let about = fs::metadata(world.root().join("p/.trellis")).expect("a folder");
    assert_eq!(about.mode() & 0o777, 0o700);
    let about = fs::metadata(world.root().join("p/.trellis/journal.jsonl")).expect("a file");
    assert_eq!(about.mode() & 0o777, 0o600);
}
