//! Finds stacks: in the binary, beside the user's `trellis.toml`, and in the project.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{Origin, Stack, StackFile, check};
use crate::config;
use crate::fault::Fault;

/// The stacks in the binary.
const BUILTIN: [&str; 4] = [
    include_str!("builtin/go-api.yaml"),
    include_str!("builtin/nodejs-api.yaml"),
    include_str!("builtin/python-api.yaml"),
    include_str!("builtin/react-spa.yaml"),
];

/// The folder of a user's stacks, beside their `trellis.toml`.
const OWN: &str = "stacks";
/// The folder of a project's stacks.
const PROJECTS: &str = "trellis-stacks";

/// Maximum size of a stack's file, in bytes.
const LARGEST: u64 = 1 << 20;

/// Returns every stack available in `folder`, by name: those of the binary, of the user, and of the
/// nearest `trellis-stacks` in the folder or above it.
///
/// # Errors
///
/// A file breaks a rule (with the rule and the file), or two stacks have one name.
pub fn all(folder: &Path, env: impl Fn(&str) -> Option<String>) -> Result<Vec<Stack>, Fault> {
    let builtin = BUILTIN.iter().map(|text| read(text, Origin::Builtin));
    let mut stacks: Vec<Stack> = builtin.collect::<Result<_, _>>()?;
    for folder in folders(folder, env)? {
        for path in files(&folder)? {
            stacks.push(of_file(path)?);
        }
    }
    stacks.sort_by(|a, b| a.name().cmp(b.name()));
    match stacks.windows(2).find(|pair| pair[0].name() == pair[1].name()) {
        Some(pair) => Err(twice(&pair[0], &pair[1])),
        None => Ok(stacks),
    }
}

/// Returns the stack with this name.
pub fn find(stacks: Vec<Stack>, name: &str) -> Result<Stack, Fault> {
    let names: Vec<String> = stacks.iter().map(|it| it.name().to_owned()).collect();
    stacks.into_iter().find(|it| it.name() == name).ok_or_else(|| {
        Fault::input(format!("there is no template `{name}`"))
            .hint(format!("choose one of {}", names.join(", ")))
    })
}

fn folders(folder: &Path, env: impl Fn(&str) -> Option<String>) -> Result<Vec<PathBuf>, Fault> {
    let cannot = |e| Fault::internal(format!("cannot find the current folder: {e}"));
    let folder = std::path::absolute(folder).map_err(cannot)?;
    let own = config::own_folder(env).map(|it| it.join(OWN));
    let projects = folder.ancestors().map(|it| it.join(PROJECTS)).find(|it| it.is_dir());
    Ok(own.into_iter().chain(projects).collect())
}

/// Returns the YAML files of a folder by name; none if the folder does not exist.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    let unreadable = |error: std::io::Error| {
        Fault::input(format!(
            "cannot look for templates in {}: {}",
            folder.display(),
            trellis_os::wording::reason(&error)
        ))
        .hint("make it readable, or move it away")
    };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(unreadable)?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|it| it == "yaml" || it == "yml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn of_file(path: PathBuf) -> Result<Stack, Fault> {
    let refused = |why: String| {
        Fault::input(format!("cannot read the template {}: {why}", path.display()))
            .hint("fix the file, or move it away")
    };
    let length = trellis_os::files::open(&path)
        .map_err(|e| refused(trellis_os::wording::reason(&e)))?
        .get_ref()
        .metadata();
    if length.is_ok_and(|it| it.len() > LARGEST) {
        return Err(refused("it is larger than 1 MiB".to_owned()));
    }
    let text = trellis_os::files::read_text(&path)
        .map_err(|e| refused(trellis_os::wording::reason(&e)))?;
    read(&text, Origin::File(path))
}

fn read(text: &str, origin: Origin) -> Result<Stack, Fault> {
    let place = match &origin {
        Origin::Builtin => "a template built into Trellis".to_owned(),
        Origin::File(path) => path.display().to_string(),
    };
    let written: StackFile = serde_saphyr::from_str(text).map_err(|error| {
        Fault::input(format!("{place} is not a template: {}", error.without_snippet()))
            .hint("fix it (see the page `templates`), or move it away")
    })?;
    match check::broken_rule(&written) {
        None => Ok(Stack { written, origin }),
        Some((why, hint)) => Err(Fault::input(format!("{place}: {why}")).hint(hint)),
    }
}

fn twice(one: &Stack, other: &Stack) -> Fault {
    let place = |stack: &Stack| match &stack.origin {
        Origin::Builtin => "one of Trellis".to_owned(),
        Origin::File(path) => path.display().to_string(),
    };
    let (name, one, other) = (one.name(), place(one), place(other));
    Fault::input(format!("two templates have the name `{name}`: {one} and {other}"))
        .hint("give your own template another `name`")
}
