//! Complaints of linters about a change, and the report if none ran.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::implement::{
    ALONE, ARGUMENTS, CART, CODE, code, file, implement, in_p, made, new_tests, shop, states,
};
use crate::repair::text;
use crate::terminal::at_terminal;
use crate::world::{Ran, World};

/// A stand-in for a linter: complains about every line with `bad`, in ruff's format.
const LINTER: &str = "\
#!/bin/sh
while [ \"$1\" != -- ]; do shift; done
shift
grep -nH bad \"$@\" /dev/null | sed 's/^\\([^:]*:[0-9]*\\):.*/\\1:1: X1 a bad name/'
! grep -q bad \"$@\"
";

/// Puts a program into the folder that [`World::with_only`] puts on the path.
fn install(world: &World, name: &str, script: &str) {
    let program = world.write(&format!("bin/{name}"), script);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
}

/// Creates a shop without linters on the path, and a model that succeeds at once.
fn without_linters() -> World {
    shop(&[("scaffold", &[new_tests()]), ("implementation", &[code()])])
        .with_only(&["git", "python3"])
}

/// Runs [`implement`] with the stand-in first on the path.
fn implement_with_linter(world: &World) -> Ran {
    install(world, "ruff", LINTER);
    let path = format!(
        "{}:{}",
        world.root().join("bin").display(),
        std::env::var("PATH").expect("a path")
    );
    let mut command = world.command(&[&ARGUMENTS[..], &ALONE].concat());
    Ran::of(command.env("PATH", path).output().expect("trellis starts")).exits(0)
}

fn report(world: &World, ran: &Ran) -> String {
    world.read(&format!("p/{}/implementation-report.md", text(&ran.json()["reports"])))
}

/// Returns the journal's entries after the stage of the linters.
fn told(world: &World) -> Vec<String> {
    let all = states(world);
    let after = all.iter().zip(all.iter().skip(1)).filter(|(it, _)| *it == "lint");
    after.map(|(_, it)| it.clone()).collect()
}

#[test]
fn linters_tell_of_what_is_new_and_nothing_else() {
    let bad =
        CODE.replace("return total", "bad = total").replace("/ 100\n", "/ 100\n    return bad\n");
    let breaking = file("shop/cart.py", &format!("{CART}\n\nbad_before = 2\n"));
    let world = shop(&[
        ("scaffold", &[new_tests()]),
        ("implementation", &[made(&bad) + &breaking]),
        ("fix", &[made(CODE)]),
    ]);
    world.write("p/shop/cart.py", &format!("{CART}\n\nbad_before = 1\n"));
    in_p(&world, &["commit", "--quiet", "-am", "bad before"]);
    let ran = implement_with_linter(&world).says("lint\n").says("passed: nothing new by ruff");
    let history = text(&ran.json()["history"][0]);
    assert_eq!(history.lines().count(), 2, "{history}");
    assert!(history.lines().all(|it| it.contains("shop/discount.py:")), "{history}");
    assert_eq!(world.read("p/shop/discount.py"), CODE);
    assert_eq!(told(&world), ["failed", "passed"]);
    assert!(report(&world, &ran).contains("nothing new by ruff"));
}

#[test]
fn where_no_linter_is_installed_none_is_said_to_have_passed() {
    let world = without_linters();
    let ran = implement(&world, &ALONE).exits(0).says("issue-42: no linter ran\n");
    assert_eq!(told(&world), ["no linter ran"]);
    let report = report(&world, &ran);
    assert!(report.contains("- no linter ran\n") && !report.contains("nothing new"), "{report}");
}

/// Findings without linters are not attributed to linters.
#[test]
fn what_trellis_finds_itself_is_no_word_of_a_linter() {
    let twin = format!("{CODE}\n\nclass AuditLog:\n    pass\n");
    let world = shop(&[
        ("scaffold", &[new_tests()]),
        ("implementation", &[made(&twin)]),
        ("fix", &[code()]),
    ])
    .with_only(&["git", "python3"]);
    let more = [&ALONE[..], &["--context", "p/shop/audit.py"]].concat();
    let result = implement(&world, &more).exits(0).json();
    let history = text(&result["history"][0]);
    assert!(history.contains("AuditLog") && !history.contains("linter"), "{history}");
}

const THRESHOLD: [&str; 2] = ["--approve", "threshold"];

#[test]
fn a_linter_that_is_not_installed_is_noted_and_holds_nothing_up() {
    let table = [
        (None, "no linter checked the change: none is installed"),
        (
            Some("[flake8]\nmax-line-length = 120\n"),
            "flake8 did not run: the project is configured",
        ),
        (
            Some("[flake8]\n[flake8:local-plugins]\n"),
            "flake8 did not run: the project is configured",
        ),
    ];
    for (settings, words) in table {
        let world = without_linters();
        if let Some(settings) = settings {
            world.write("p/.flake8", settings);
            in_p(&world, &["add", "."]);
            in_p(&world, &["commit", "--quiet", "-m", "settings"]);
        }
        let ran = implement(&world, &THRESHOLD).exits(0);
        let result = ran.json();
        assert_eq!((&result["outcome"], &result["doubts"]), (&json!("merged"), &json!([])));
        assert!(result["notes"].to_string().contains(words), "{result:#}");
        assert!(report(&world, &ran).contains(words));
    }
}

#[test]
fn a_linter_that_is_there_and_could_not_look_is_a_doubt() {
    let table = [
        ("[flake8]\n[flake8:local-plugins]\n", "flake8 did not run: `local-plugins` in .flake8"),
        ("[flake8]\n", "flake8 could not check the change: it ended without a message"),
    ];
    for (settings, words) in table {
        let world = without_linters();
        install(&world, "flake8", "#!/bin/sh\nexit 3\n");
        world.write("p/.flake8", settings);
        in_p(&world, &["add", "."]);
        in_p(&world, &["commit", "--quiet", "-m", "settings"]);
        let ran = implement(&world, &THRESHOLD).exits(2);
        let result = ran.json();
        assert!(result["waits"] == true && result["doubts"].to_string().contains(words));
        assert!(report(&world, &ran).contains(words), "{result:#}");
    }
}

#[test]
fn a_person_at_a_terminal_sees_that_no_linter_looked() {
    let world = without_linters();
    let arguments =
        "implement p --issue 42 --lld p/docs/lld.md --sandbox local --model recorded:replies.jsonl";
    let (code, shown) = at_terminal(&world, arguments, "false", &[("branch? ", "a\n")]);
    assert_eq!(code, 0, "{shown}");
    let before = shown.split("[a]pprove").next().unwrap_or_default();
    assert!(before.contains("note: no linter checked the change"), "{shown}");
}
