//! Reads requirements files.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{Requirements, RequirementsError, is_local, name_of};

/// Names in the project's root, in the order of reading.
const NAMES: [&str; 5] = [
    "requirements.txt",
    "requirements-dev.txt",
    "requirements-test.txt",
    "dev-requirements.txt",
    "test-requirements.txt",
];

/// Reads the requirements of the project's files.
pub(super) fn read(root: &Path) -> Result<Requirements, RequirementsError> {
    let unreadable = |source| RequirementsError::Unreadable { path: root.to_owned(), source };
    let root = root.canonicalize().map_err(unreadable)?;
    let mut reader = Reader { root, ..Reader::default() };
    for name in NAMES {
        let file = reader.root.join(name);
        if file.is_file() {
            reader.read(&file, Part::Requirements)?;
        }
    }
    Ok(reader.finish())
}

/// The part of a file's lines: requests for packages, or bounds on their versions only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Requirements,
    Constraints,
}

#[derive(Default)]
struct Reader {
    root: PathBuf,
    found: Requirements,
    constraints: Vec<String>,
    /// Files read so far; each counts once, so that cycles end.
    seen: Vec<PathBuf>,
}

impl Reader {
    fn read(&mut self, file: &Path, part: Part) -> Result<(), RequirementsError> {
        if self.seen.iter().any(|it| it == file) {
            return Ok(());
        }
        self.seen.push(file.to_owned());
        let unreadable =
            |source: io::Error| RequirementsError::Unreadable { path: file.to_owned(), source };
        let text = trellis_os::files::read_text(file).map_err(unreadable)?;
        for (number, line) in logical_lines(&text) {
            self.line(file, number, &line, part)?;
        }
        Ok(())
    }

    fn line(
        &mut self,
        file: &Path,
        number: usize,
        line: &str,
        part: Part,
    ) -> Result<(), RequirementsError> {
        if let Some(include) = value_of(line, ["-r", "--requirement"]) {
            let included = self.inside(file, number, include)?;
            self.read(&included, part)
        } else if let Some(include) = value_of(line, ["-c", "--constraint"]) {
            let included = self.inside(file, number, include)?;
            self.read(&included, Part::Constraints)
        } else if let Some(rest) = value_of(line, ["-e", "--editable"]) {
            self.take(file, rest, part, !rest.contains("://") || is_local(rest));
            Ok(())
        } else {
            let line = without_hashes(line);
            if let Some(option) = line.split_whitespace().find(|word| is_option(word)) {
                let option = option.split('=').next().unwrap_or(option).to_owned();
                return Err(RequirementsError::Option {
                    path: file.to_owned(),
                    line: number,
                    option,
                });
            }
            self.take(file, &line, part, is_local(&line));
            Ok(())
        }
    }

    fn take(&mut self, file: &Path, line: &str, part: Part, local: bool) {
        if local {
            let file = file.strip_prefix(&self.root).unwrap_or(file).display();
            self.found
                .notes
                .push(format!("{line} in {file} is not installed: it is part of the project"));
        } else if part == Part::Constraints {
            self.constraints.push(line.to_owned());
        } else {
            self.found.add(line.to_owned());
        }
    }

    /// Returns the path of an included file, which is relative to the including one.
    fn inside(
        &self,
        file: &Path,
        line: usize,
        include: &str,
    ) -> Result<PathBuf, RequirementsError> {
        let path = || file.to_owned();
        let outside =
            || RequirementsError::Outside { path: path(), line, include: include.to_owned() };
        if include.contains("://") {
            return Err(outside());
        }
        let named = file.parent().unwrap_or(&self.root).join(include);
        let real = named
            .canonicalize()
            .map_err(|source| RequirementsError::Unreadable { path: named, source })?;
        if real.starts_with(&self.root) { Ok(real) } else { Err(outside()) }
    }

    /// Adds the constraints that apply. A constraint on a requested package is one more
    /// requirement. Others would matter only for dependencies of requested packages, which are not
    /// known here.
    fn finish(mut self) -> Requirements {
        let names: Vec<String> = self.found.lines.iter().map(|line| name_of(line)).collect();
        for constraint in self.constraints {
            if names.contains(&name_of(&constraint)) {
                self.found.add(constraint);
            } else {
                let note =
                    format!("the constraint {constraint} is ignored: no requirement names it");
                self.found.notes.push(note);
            }
        }
        self.found
    }
}

/// Returns the lines without comments and empty ones, each with its number; a line that ends with a
/// backslash is joined with the next.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut joined: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (index, line) in text.lines().enumerate() {
        let continued = line.strip_suffix('\\');
        let comment = line.trim_start().starts_with('#');
        match joined.last_mut() {
            Some((_, last)) if open && !comment => last.push_str(continued.unwrap_or(line)),
            _ => joined.push((index + 1, continued.unwrap_or(line).to_owned())),
        }
        open = continued.is_some() && !comment;
    }
    let shown =
        joined.into_iter().map(|(number, line)| (number, without_comment(&line).to_owned()));
    shown.filter(|(_, line)| !line.is_empty()).collect()
}

/// Strips a comment, which begins with `#` at the start or after a blank; elsewhere `#` is part of
/// an address.
fn without_comment(line: &str) -> &str {
    let starts = line.match_indices('#').map(|(at, _)| at);
    let comment = starts.into_iter().find(|at| line[..*at].ends_with([' ', '\t']) || *at == 0);
    line[..comment.unwrap_or(line.len())].trim()
}

/// Returns the value of an option: `-r a.txt`, `-ra.txt`, `--requirement=a.txt`.
fn value_of<'a>(line: &'a str, [short, long]: [&str; 2]) -> Option<&'a str> {
    let after_long = line.strip_prefix(long).filter(|rest| rest.starts_with(['=', ' ', '\t']));
    let after_short = || line.strip_prefix(short).filter(|_| !line.starts_with("--"));
    let rest = after_long.or_else(after_short)?;
    Some(rest.trim_start_matches(['=', ' ', '\t']).trim())
}

/// Removes hashes, both `--hash=sha256:…` and `--hash sha256:…`.
fn without_hashes(line: &str) -> String {
    let mut words = line.split_whitespace();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word.strip_prefix("--hash") {
            Some("") => drop(words.next()),
            Some(rest) if rest.starts_with('=') => {}
            _ => kept.push(word),
        }
    }
    kept.join(" ")
}

fn is_option(word: &str) -> bool {
    word.starts_with('-') && word.len() > 1
}
