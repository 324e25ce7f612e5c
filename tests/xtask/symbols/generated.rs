//! A generated folder, to measure growth: any number of files that import each other.

use std::fs;
use std::path::{Path, PathBuf};

use super::corpus::shelf;

/// Number of files in a package, and of packages in a folder of packages.
const FILES: usize = 50;
const PACKAGES: usize = 50;
/// Number of files that each file's classes and functions are used in.
const USERS: usize = 5;
/// Number of files whose methods have the same names.
const ALIKE: usize = 40;

/// Returns a folder of `count` files, written once.
pub(crate) fn folder(count: usize) -> Result<PathBuf, String> {
    let folder = shelf().join(format!("generated-{count}"));
    if folder.exists() {
        return Ok(folder);
    }
    eprintln!("writing {count} files (once, into {})", folder.display());
    let failed = |error| format!("{}: {error}", folder.display());
    let unfinished = shelf().join("unfinished");
    (0..count).try_for_each(|it| write(&unfinished, it)).map_err(failed)?;
    fs::rename(&unfinished, &folder).map_err(failed)?;
    Ok(folder)
}

fn module(number: usize) -> [String; 3] {
    let package = number / FILES;
    [format!("area{}", package / PACKAGES), format!("package{package}"), format!("module{number}")]
}

fn write(root: &Path, number: usize) -> std::io::Result<()> {
    let [area, package, module] = module(number);
    let folder = root.join(area).join(package);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(module).with_extension("py"), text(number))
}

fn text(number: usize) -> String {
    let used = number / USERS;
    let imported = module(used).join(".");
    let (alike, base) =
        (number / ALIKE, if number == 0 { "object".to_owned() } else { format!("Step{used}") });
    let import = match number {
        0 => String::new(),
        _ => format!("from {imported} import Step{used}, prepare_{used}\n"),
    };
    let call = if number == 0 { "count".to_owned() } else { format!("prepare_{used}(count)") };
    format!(
        "\"\"\"Module {number}.\"\"\"\n\nfrom __future__ import annotations\n\n{import}\n\
         LIMIT_{number} = {number}\n\n\n\
         class Step{number}({base}):\n    \
         \"\"\"A step of the work.\"\"\"\n\n    \
         def __init__(self, size: int = LIMIT_{number}) -> None:\n        \
         self.size_{number} = size\n\n    \
         def advance_{alike}(self, count: int) -> int:\n        \
         result = self.size_{number} + count\n        \
         return min(result, LIMIT_{number})\n\n    \
         def describe_{alike}(self) -> str:\n        \
         return f\"{{self.size_{number}}} of {{LIMIT_{number}}}\"\n\n\n\
         def prepare_{number}(count: int) -> int:\n    \
         step = Step{number}(count)\n    \
         total = step.advance_{alike}({call})\n    \
         return total if total > 0 else LIMIT_{number}\n"
    )
}
