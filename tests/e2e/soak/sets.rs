//! A list of tasks for each stack.

use serde_json::json;

use crate::repair::{git, text};
use crate::stacks::{has_go, passes};
use crate::task_sets::Set;
use crate::tasks::names;

#[test]
fn a_nodejs_api_of_seven_tasks_passes_by_hand() {
    let set = Set {
        stack: "nodejs-api",
        name: "bookmarks",
        mended: "tags",
        lock: Some("package-lock.json"),
        // `npm ci` requires packages of all systems in the lock file, which a registry may lack.
        npm: "install",
        test_command: "npm test",
    };
    let grown = set.grown(0);
    grown.is_whole();
    grown.is_locked();
}

#[test]
fn a_react_spa_of_six_tasks_passes_by_hand_and_can_be_built() {
    let set = Set {
        stack: "react-spa",
        name: "notes-board",
        mended: "notes",
        lock: Some("package-lock.json"),
        npm: "ci",
        test_command: "npm test",
    };
    let grown = set.grown(0);
    grown.is_whole();
    grown.is_locked();
    passes(&json!("npm run build"), &grown.clone, None);
    assert!(grown.clone.join("dist/index.html").is_file());
}

#[test]
fn a_go_api_of_seven_tasks_passes_by_hand() {
    if !has_go() {
        return;
    }
    // The project uses only the standard library, so there is nothing to lock.
    let set = Set {
        stack: "go-api",
        name: "shortener",
        mended: "codes",
        lock: None,
        npm: "",
        test_command: "go test ./...",
    };
    let grown = set.grown(0);
    grown.is_whole();
    passes(&json!("go vet ./..."), &grown.clone, None);
}

#[test]
fn a_python_api_of_fourteen_tasks_passes_by_hand_without_what_failed() {
    let set = Set {
        stack: "python-api",
        name: "inventory",
        mended: "store",
        lock: Some("requirements.txt"),
        npm: "",
        test_command: "pytest",
    };
    let grown = set.grown(1);
    let result = &grown.result;
    assert_eq!(result["totalTasks"], 14);
    assert_eq!(names(&result["blockedTasks"]), ["forecast_routes"], "{result:#}");
    let failed = names(&result["failedTasks"]);
    let [forecast, rival] = &failed[..] else { panic!("{result:#}") };
    assert_eq!(forecast, "forecast");
    assert!(text(&result["failedTasks"]["forecast"]).contains("4 attempts failed"));
    // Both change the call that creates the application: one is merged, the other one's work is
    // kept.
    let (version, summary) = (r#"version="1.0.0""#, r#"summary="Stock of a small warehouse""#);
    let (lost, won) = match rival.as_str() {
        "version" => (version, summary),
        "summary" => (summary, version),
        other => panic!("{other} is no rival"),
    };
    let main = grown.world.read("clone/app/main.py");
    assert!(main.contains(won) && !main.contains(lost), "{main}");
    assert!(text(&result["failedTasks"][rival]).contains("app/main.py"), "{result:#}");
    let kept = format!("trellis/task-{rival}:app/main.py");
    assert!(git(&grown.world.out(), &["show", &kept]).contains(lost));
    assert!(!grown.clone.join("app/forecast.py").exists());
}
