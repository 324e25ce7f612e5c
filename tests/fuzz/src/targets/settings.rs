//! `trellis.toml`, of a project and of a person.

use std::fs;
use std::path::Path;

use trellis_workflows::config::Config;
use trellis_workflows::fault::Exit;

use super::folder;
use crate::memory;

/// A project's file sends keys nowhere and gives tests no rights; what it may contain, a person's
/// file may contain too; comments change nothing; a refusal is one line with the file and a hint.
pub(super) fn run(input: &[u8]) {
    let projects = load(input, Owner::Project);
    let own = load(input, Owner::Person);
    if let Ok(config) = &projects {
        sends_nothing(config);
        let own = own.as_ref().expect("what a project may set, a person may set");
        assert_eq!(shown(own), shown(config));
    }
    for refused in [&projects, &own].into_iter().filter_map(|it| it.as_ref().err()) {
        assert_eq!(refused.exit, Exit::BadInput, "{refused:?}");
        assert!(!refused.message.contains('\n'), "{refused:?}");
        assert!(refused.message.contains("trellis.toml"), "{refused:?}");
        assert!(refused.hint.is_some(), "{refused:?}");
    }
    if let Ok(own) = own {
        let commented = [b"# A comment.\n", input, b"\n# A comment.\n"].concat();
        // A byte order mark is allowed at the beginning alone.
        if !input.starts_with(b"\xef\xbb\xbf") {
            let again = load(&commented, Owner::Person).expect("comments are allowed");
            assert_eq!(shown(&again), shown(&own), "a comment changes nothing");
        }
    }
}

#[derive(Clone, Copy)]
enum Owner {
    Project,
    Person,
}

fn load(input: &[u8], owner: Owner) -> Result<Config, trellis_workflows::fault::Fault> {
    let (project, home) = (folder().join("project"), folder().join("home"));
    let (here, there) = (project.join("trellis.toml"), home.join("trellis/trellis.toml"));
    for file in [&here, &there] {
        fs::create_dir_all(file.parent().unwrap_or(Path::new("/"))).expect("a folder");
        let _ = fs::remove_file(file);
    }
    // Without a file of its own, a project takes that of a folder above.
    let (file, other) = match owner {
        Owner::Project => (here, None),
        Owner::Person => (there, Some(here)),
    };
    other.iter().for_each(|it| fs::write(it, "").expect("a file"));
    fs::write(file, input).expect("a file");
    let env = |name: &str| (name == "XDG_CONFIG_HOME").then(|| home.display().to_string());
    memory::bounded(input, 4 << 20, 2000, || Config::load(&project, env))
}

/// Returns all settings but the places of the files.
fn shown(config: &Config) -> String {
    let text = format!("{config:?}");
    let (before, after) = text.split_once("sources: [").expect("the sources");
    let after = after.split_once(']').map_or("", |it| it.1);
    // Prices are kept apart by their owner.
    let before = before.split_once("prices: ").map_or(before, |it| it.0);
    format!("{before}{after}")
}

fn sends_nothing(config: &Config) {
    assert_eq!(config.forge.url, None);
    assert!(config.sandbox == trellis_workflows::config::Sandbox::default());
    assert_eq!(config.own_providers(), [""; 0]);
    for provider in ["openai", "anthropic", "gemini", "ollama", "azure", "groq", "lmstudio"] {
        let settings = config.settings(&format!("{provider}:model"));
        assert_eq!((settings.base_url, settings.key_variable), (None, None));
    }
}
