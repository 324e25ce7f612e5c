//! Checks the documentation: commands are executed, outputs compared, links followed.
//!
//! `TRELLIS_UPDATE_DOCS=1` writes the current output of the commands and both reference pages into
//! the documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::world::{World, repository};

mod commands;
mod links;
mod page;
mod session;

use page::{Block, Page};

/// Pages generated from the program, with the argument of `trellis reference`.
const GENERATED: [(&str, &str); 2] = [("cli.md", "cli"), ("methods.md", "methods")];

fn updates() -> bool {
    std::env::var_os("TRELLIS_UPDATE_DOCS").is_some()
}

/// Returns all user pages, by path in the repository.
fn pages() -> Vec<PathBuf> {
    let root = repository();
    let mut out: Vec<PathBuf> = ["README.md", "extension/README.md", "server/SECURITY.md"]
        .map(|it| root.join(it))
        .into_iter()
        .chain(markdown(&root.join("server/docs")))
        .collect();
    for entry in fs::read_dir(root.join("fixtures/examples")).expect("examples").flatten() {
        out.extend(markdown(&entry.path()));
    }
    out.sort();
    out
}

fn markdown(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|it| it.path()).filter(|it| it.extension().is_some_and(|it| it == "md")).collect()
}

/// Runs the commands of one page, and compares their output.
fn check(name: &str) {
    let path = repository().join(name);
    let text = fs::read_to_string(&path).expect("a page");
    let page = Page::of(&text);
    let wrong = session::run(&page);
    if updates() {
        let renewed = page.with(&wrong);
        fs::write(&path, renewed).expect("the page");
        return;
    }
    let shown: Vec<String> = wrong.iter().map(|it| format!("{name}:{it}")).collect();
    assert!(
        shown.is_empty(),
        "{}\n(TRELLIS_UPDATE_DOCS=1 writes the new output)",
        shown.join("\n")
    );
}

macro_rules! executed {
    ($($test:ident: $page:literal,)*) => {
        /// Pages with commands, one test each.
        const EXECUTED: &[&str] = &[$($page),*];
        $(#[test] fn $test() { check($page); })*
    };
}

executed! {
    commands_of_the_readme: "README.md",
    commands_of_configuration: "server/docs/configuration.md",
    commands_of_draft: "server/docs/draft.md",
    commands_of_generate: "server/docs/generate.md",
    commands_of_getting_started: "server/docs/getting-started.md",
    commands_of_implement: "server/docs/implement.md",
    commands_of_journal: "server/docs/journal.md",
    commands_of_models: "server/docs/models.md",
    commands_of_plans: "server/docs/plans.md",
    commands_of_protocol: "server/docs/protocol.md",
    commands_of_repair: "server/docs/repair.md",
    commands_of_sandbox: "server/docs/sandbox.md",
    commands_of_symbols: "server/docs/symbols.md",
    commands_of_tasks: "server/docs/tasks.md",
    commands_of_templates: "server/docs/templates.md",
    commands_of_troubleshooting: "server/docs/troubleshooting.md",
    commands_of_write_tests: "server/docs/write-tests.md",
}

#[test]
fn every_page_with_commands_is_executed() {
    let root = repository();
    let with_commands: BTreeSet<String> = pages()
        .into_iter()
        .filter(|it| Page::of(&fs::read_to_string(it).expect("a page")).has_commands())
        .map(|it| it.strip_prefix(&root).expect("inside").to_string_lossy().into_owned())
        .collect();
    let executed: BTreeSet<String> = EXECUTED.iter().map(|it| (*it).to_owned()).collect();
    let forgotten: Vec<&String> = with_commands.difference(&executed).collect();
    assert_eq!(forgotten, Vec::<&String>::new(), "add them to `executed!`");
}

#[test]
fn the_reference_pages_are_what_the_program_prints() {
    for (file, words) in GENERATED {
        let world = World::new();
        let printed = world.trellis(&["reference", words]).exits(0).stdout;
        let path = repository().join("server/docs").join(file);
        if updates() {
            fs::write(&path, &printed).expect("the page");
            continue;
        }
        let page = fs::read_to_string(&path).unwrap_or_default();
        let first = page.lines().zip(printed.lines()).find(|(page, printed)| page != printed);
        assert!(
            page == printed,
            "{file} is not what `trellis reference {words}` prints: {first:?}; run with TRELLIS_UPDATE_DOCS=1"
        );
    }
}

#[test]
fn every_link_leads_somewhere() {
    let broken: Vec<String> = pages().iter().flat_map(|it| links::broken(it)).collect();
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn every_page_is_in_the_summary_and_every_entry_is_a_page() {
    let folder = repository().join("server/docs");
    let summary = fs::read_to_string(folder.join("SUMMARY.md")).expect("a summary");
    let listed: BTreeSet<String> = links::targets(&summary).into_iter().collect();
    let there: BTreeSet<String> = markdown(&folder)
        .iter()
        .map(|it| it.file_name().expect("a name").to_string_lossy().into_owned())
        .filter(|it| it != "SUMMARY.md")
        .collect();
    assert_eq!(listed, there);
}

#[test]
fn messages_that_troubleshooting_quotes_are_those_of_the_program() {
    let page =
        fs::read_to_string(repository().join("server/docs/troubleshooting.md")).expect("the page");
    let said: Vec<String> =
        crate::words::of_the_program().into_iter().map(|(_, text)| text).collect();
    let firsts = page.lines().filter_map(|it| it.strip_prefix("| ")?.split(" | ").next());
    let quoted =
        firsts.flat_map(|it| it.split('`').skip(1).step_by(2)).flat_map(|it| it.split('…'));
    let quoted: Vec<&str> = quoted.map(str::trim).filter(|it| it.contains(' ')).collect();
    assert!(quoted.len() > 5, "{quoted:?}");
    for words in quoted {
        assert!(
            said.iter().any(|it| it.contains(words)),
            "no message of the program has {words:?}"
        );
    }
}

#[test]
fn every_command_that_is_shown_exists_with_its_options() {
    let mut known = BTreeMap::new();
    let mut wrong = Vec::new();
    for path in pages() {
        let page = fs::read_to_string(&path).expect("a page");
        for block in Page::of(&page).blocks.iter().filter(|it| it.is_shell()) {
            wrong.extend(
                commands::unknown(block, &mut known)
                    .into_iter()
                    .map(|it| format!("{}: {it}", path.display())),
            );
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_example_of_a_file_is_accepted() {
    let mut wrong = Vec::new();
    for path in pages() {
        let page = fs::read_to_string(&path).expect("a page");
        for block in &Page::of(&page).blocks {
            let refused = refused(block);
            wrong.extend(refused.map(|it| format!("{}:{}: {it}", path.display(), block.line)));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Returns the error in an example of JSON, of `trellis.toml` or of a template.
fn refused(block: &Block) -> Option<String> {
    match block.language.as_str() {
        "json" => {
            serde_json::from_str::<serde_json::Value>(&block.text()).err().map(|it| it.to_string())
        }
        "toml" => {
            let world = World::new();
            world.write("home/.config/trellis/trellis.toml", &block.text());
            let ran = world.trellis(&["doctor"]);
            (ran.code == Some(65)).then_some(ran.stderr)
        }
        "yaml" => {
            let world = World::new();
            world.write("home/.config/trellis/stacks/example.yaml", &block.text());
            let name = block.lines.iter().find_map(|it| it.strip_prefix("name: "))?.to_owned();
            let ran = world.trellis(&["stacks", "show", &name]);
            (ran.code != Some(0)).then_some(ran.stderr)
        }
        _ => None,
    }
}
