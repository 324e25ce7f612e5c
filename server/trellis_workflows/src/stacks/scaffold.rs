//! Creates a new project from a stack.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use super::{Stack, check};
use crate::fault::Fault;

/// Returns the name of the project in `folder`: the given one, else one derived from the folder's
/// name.
pub fn project_name(given: Option<&str>, folder: &Path) -> Result<String, Fault> {
    const HINT: &str =
        "use lower-case letters, digits and `-`, beginning with a letter: `--name my-shop`";
    if let Some(name) = given {
        let refused = || {
            Fault::input(format!("`{}` cannot be the name of a project", name.escape_debug()))
                .hint(HINT)
        };
        return Some(name.to_owned()).filter(|it| check::is_name(it)).ok_or_else(refused);
    }
    let folder = std::path::absolute(folder)
        .map_err(|e| Fault::internal(format!("cannot find the current folder: {e}")))?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    let name = name.trim_matches('-').to_owned();
    Some(name).filter(|it| check::is_name(it)).ok_or_else(|| {
        Fault::input(format!("{} gives no name for the project", folder.display())).hint(HINT)
    })
}

/// Writes the files of a new project into a folder that is empty or does not exist, and returns
/// their paths. On failure, removes everything that was created.
pub fn scaffold(stack: &Stack, project: &str, folder: &Path) -> Result<Vec<String>, Fault> {
    refuse_used(folder)?;
    let files = stack.files(project);
    let mut made = ScaffoldedProject::default();
    let mut write_all = || -> io::Result<()> {
        files.iter().try_for_each(|(path, text)| made.file(&folder.join(path), text))
    };
    write_all().map_err(|error| {
        made.take_back();
        Fault::input(format!("cannot create the project in {}: {error}", folder.display()))
            .hint("nothing was left there; give a folder that you can write to")
    })?;
    Ok(files.into_keys().collect())
}

fn refuse_used(folder: &Path) -> Result<(), Fault> {
    let shown = folder.display();
    let refuse = |why: String| Err(Fault::input(why).hint("give a new or empty folder"));
    match fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
        Ok(false) => Ok(()),
        Ok(true) => refuse(format!("{shown} is not empty; nothing was written")),
        // Creating the folder refuses a dangling link.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => refuse(format!("cannot create a project in {shown}: {error}")),
    }
}

/// Files and folders created so far, each folder before its content.
#[derive(Default)]
struct ScaffoldedProject(Vec<PathBuf>);

impl ScaffoldedProject {
    fn file(&mut self, path: &Path, text: &str) -> io::Result<()> {
        self.folder(path.parent().unwrap_or(Path::new(".")))?;
        // Never overwrites a file that appeared meanwhile.
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        self.0.push(path.to_owned());
        file.write_all(text.as_bytes())
    }

    fn folder(&mut self, folder: &Path) -> io::Result<()> {
        if folder.as_os_str().is_empty() || folder.is_dir() {
            return Ok(());
        }
        self.folder(folder.parent().unwrap_or(Path::new("")))?;
        fs::create_dir(folder)?;
        self.0.push(folder.to_owned());
        Ok(())
    }

    /// Removes what was created. Errors are ignored, since the error that led here is the one to
    /// report.
    fn take_back(&mut self) {
        for path in self.0.drain(..).rev() {
            let _ = if path.is_dir() { fs::remove_dir(&path) } else { fs::remove_file(&path) };
        }
    }
}
