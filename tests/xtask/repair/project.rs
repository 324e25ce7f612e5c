//! A project with a bug, and recorded replies about it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use serde_json::{Value, json};

/// Number of modules and test files.
pub(super) const FILES: usize = 2 * PARTS * UNITS;
/// Number of packages, and of modules per package.
const PARTS: usize = 25;
const UNITS: usize = 10;
/// The package and the module with the bug.
const BUG: (usize, usize) = (12, 5);

/// The project on the disk, in a repository with one commit.
pub(super) struct Project {
    pub(super) root: PathBuf,
    /// File of the failing test, relative to the root.
    pub(super) test_file: String,
}

impl Project {
    /// Writes the project below a folder.
    pub(super) fn write(folder: &Path) -> io::Result<Project> {
        let root = folder.join("shop");
        let put = |path: String, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&root))?;
            fs::write(path, text)
        };
        put("pyproject.toml".to_owned(), "[tool.pytest.ini_options]\npythonpath = [\".\"]\n")?;
        put("shop/__init__.py".to_owned(), "")?;
        for part in 0..PARTS {
            put(format!("shop/part_{part}/__init__.py"), "")?;
            for unit in 0..UNITS {
                let text = module(part, unit);
                let wrong = text.replace(RIGHT, WRONG);
                let text = if (part, unit) == BUG { wrong } else { text };
                put(module_path(part, unit), &text)?;
                put(test_path(part, unit), &tests(part, unit))?;
            }
        }
        for words in [
            ["init", "--quiet"].as_slice(),
            &["add", "."],
            &["-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "--quiet", "-m", "a"],
        ] {
            let status = Command::new("git").args(words).current_dir(&root).status()?;
            if !status.success() {
                return Err(io::Error::other(format!("git {words:?} ended with {status}")));
            }
        }
        Ok(Project { root, test_file: test_path(BUG.0, BUG.1) })
    }

    /// Returns a recording without latencies: this number of wrong fixes, alternately breaking
    /// their own test and another one, and a right one.
    pub(super) fn recording(&self, wrong: u32) -> String {
        let path = module_path(BUG.0, BUG.1);
        let block = |old: &str, new: &str| {
            format!("{path}\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n")
        };
        let node = format!("{}::test_total", self.test_file);
        let line = |stage: &str, attempt: u32, reply: String| json!({ "node": node, "stage": stage, "attempt": attempt, "reply": reply });
        let useless = |attempt: u32| {
            let rate = format!("rate - {}", attempt + 2);
            block(WRONG, &WRONG.replace("rate - 1", &rate))
        };
        let breaks = block(WRONG, RIGHT)
            + &block("    return most if value > most else value", "    return most");
        let mut lines: Vec<Value> = vec![line("report", 0, "{\"root_cause\": \"a rate\"}".into())];
        lines.extend(
            (0..wrong).map(|it| {
                line("repair", it, if it % 2 == 0 { useless(it) } else { breaks.clone() })
            }),
        );
        lines.push(line("repair", wrong, block(WRONG, RIGHT)));
        lines.iter().map(|it| format!("{it}\n")).collect()
    }
}

const RIGHT: &str = "        return sum(self.values) * rate";
const WRONG: &str = "        return sum(self.values) * (rate - 1)";

fn module_path(part: usize, unit: usize) -> String {
    format!("shop/part_{part}/unit_{unit}.py")
}

fn test_path(part: usize, unit: usize) -> String {
    format!("tests/test_part_{part}_unit_{unit}.py")
}

/// Returns the text of a module, about fifty lines, that uses the preceding module.
fn module(part: usize, unit: usize) -> String {
    let (uses, scaled) = match unit.checked_sub(1) {
        Some(before) => (
            format!("from shop.part_{part} import unit_{before} as before\n\n\n"),
            "before.scaled(value)",
        ),
        None => ("\n".to_owned(), "value"),
    };
    let (number, base) = (part * UNITS + unit, part + 2);
    format!(
        "\"\"\"Prices of unit {number}.\"\"\"\n\n{uses}RATE = {base}\n\n\n\
def scaled(value):\n    \"\"\"The value of all units up to this one.\"\"\"\n    return {scaled} + RATE\n\n\n\
def limited(value, most):\n    \"\"\"The value, but not above most.\"\"\"\n    return most if value > most else value\n\n\n\
def parts(text):\n    \"\"\"The numbers of a text such as `1, 2`.\"\"\"\n    found = []\n    for it in text.split(','):\n        \
it = it.strip()\n        if it:\n            found.append(int(it))\n    return found\n\n\n\
class Bill:\n    \"\"\"Values with a name.\"\"\"\n\n    def __init__(self, name, values=()):\n        self.name = name\n        \
self.values = list(values)\n\n    def add(self, value):\n        \"\"\"One more.\"\"\"\n        if value < 0:\n            \
raise ValueError('a value is at least 0')\n        self.values.append(value)\n\n    \
def total(self, rate=RATE):\n        \"\"\"All values at a rate.\"\"\"\n{RIGHT}\n\n    \
def shown(self):\n        \"\"\"For people.\"\"\"\n        return f'{{self.name}}: {{self.total()}}'\n"
    )
}

fn tests(part: usize, unit: usize) -> String {
    let base = part + 2;
    let (scaled, total) = (1 + (unit + 1) * base, 6 * base);
    format!(
        "import pytest\n\nfrom shop.part_{part}.unit_{unit} import Bill, limited, parts, scaled\n\n\n\
def test_scaled():\n    assert scaled(1) == {scaled}\n\n\n\
def test_limited():\n    assert [limited(it, 3) for it in (1, 3, 5)] == [1, 3, 3]\n\n\n\
def test_parts():\n    assert parts('1, 2,,') == [1, 2]\n\n\n\
def test_total():\n    assert Bill('a', [1, 2, 3]).total() == {total}\n\n\n\
def test_add():\n    with pytest.raises(ValueError):\n        Bill('a').add(-1)\n"
    )
}
