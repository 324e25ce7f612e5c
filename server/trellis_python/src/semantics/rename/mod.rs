//! Renames a symbol with everything that must change together, or refuses.

mod conflicts;
mod family;

use std::ops::Range;

use rustc_hash::FxHashSet;
use unicode_normalization::UnicodeNormalization;

use super::ask::ask;
use super::bundle;
use super::compounds::Compound;
use super::eval::Eval;
use super::ir::*;
use super::meaning::Target;
use super::names::Name;
use super::search::Match;
use super::search_target::SearchTarget;
use crate::index::{FileId, Index, Place, Rename, RenameRefused};
use crate::standard_library;

/// Returns the range of the name at an offset, if it can be renamed.
pub(crate) fn prepare(
    index: &Index,
    file: FileId,
    offset: usize,
) -> Result<Range<usize>, RenameRefused> {
    let it = occurrence(index, file, offset)?;
    ask(index, |eval| {
        let targets = starts(eval, file, &it)?;
        fixed_by(eval, &targets).map_or(Ok(()), |why| Err(refused(it.name, why)))
    })?;
    Ok(it.range())
}

/// Returns the edits of a rename, unless something looks for the name.
pub(crate) fn rename(
    index: &Index,
    file: FileId,
    offset: usize,
    to: &str,
) -> Result<Rename, RenameRefused> {
    let rename = rename_anyway(index, file, offset, to)?;
    match rename.fixed_by {
        Some(why) => Err(refused(Name::of(&rename.from), why)),
        None => Ok(rename),
    }
}

/// Returns the edits of a rename, though something may look for the name.
pub(crate) fn rename_anyway(
    index: &Index,
    file: FileId,
    offset: usize,
    to: &str,
) -> Result<Rename, RenameRefused> {
    let it = occurrence(index, file, offset)?;
    refuse_bad_name(to)?;
    index.scan_words();
    let (targets, fixed_by) = ask(index, |eval| {
        let targets = starts(eval, file, &it)?;
        let fixed_by = fixed_by(eval, &targets);
        Ok((eval.with_counterparts(targets), fixed_by))
    })?;
    let from = it.name.text().to_owned();
    let (targets, matches) = together(index, it.name, targets)?;
    let certain: Vec<&Match> = matches.iter().filter(|it| it.uncertainty.is_none()).collect();
    if from != to {
        refuse_conflicts(index, &targets, &certain, it.name, to)?;
    }
    let doubtful = matches.iter().filter_map(|it| Some((place(it), it.uncertainty?.reason())));
    let (edits, possible) = (edits(&certain), doubtful.collect());
    Ok(Rename { from, to: to.to_owned(), edits, possible, fixed_by })
}

/// Refuses a rename with conflicts, also of the names that have the renamed one as a part.
fn refuse_conflicts(
    index: &Index,
    targets: &FxHashSet<Target>,
    certain: &[&Match],
    from: Name,
    to: &str,
) -> Result<(), RenameRefused> {
    let (parts, whole): (Vec<&Match>, Vec<&Match>) =
        certain.iter().partition(|it| it.compound.is_some());
    conflicts::refuse(index, targets, &whole, from, to)?;
    let compounds: FxHashSet<Compound> = parts.iter().filter_map(|it| it.compound).collect();
    compounds.iter().try_for_each(|compound| {
        let own: Vec<&Match> =
            parts.iter().filter(|it| it.compound == Some(*compound)).copied().collect();
        let targets = own.iter().flat_map(|it| it.meaning.targets.iter().copied()).collect();
        conflicts::refuse(index, &targets, &own, compound.name, &compound.renamed(to))
    })
}

fn occurrence(index: &Index, file: FileId, offset: usize) -> Result<Occurrence, RenameRefused> {
    index.module(file).occurrence(offset as u32).copied().ok_or(RenameRefused::NoName)
}

fn place(it: &Match) -> Place {
    Place { file: it.file, range: it.occurrence.range() }
}

/// Groups matches by file. They are already sorted by path and position.
fn edits(matches: &[&Match]) -> Vec<(FileId, Vec<Range<usize>>)> {
    let mut edits: Vec<(FileId, Vec<Range<usize>>)> = Vec::new();
    for it in matches {
        let Place { file, range } = place(it);
        match edits.last_mut() {
            Some((last, ranges)) if *last == file => ranges.push(range),
            _ => edits.push((file, vec![range])),
        }
    }
    edits
}

fn refuse_bad_name(to: &str) -> Result<(), RenameRefused> {
    let to = to.to_owned();
    if standard_library::is_keyword(&to) {
        return Err(RenameRefused::Keyword { to });
    }
    let mut chars = to.chars();
    let starts = chars.next().is_some_and(|c| c == '_' || c.is_alphabetic());
    // Python would normalize the name to a different one.
    let is_normal = to.nfkc().eq(to.chars());
    if !starts || !is_normal || !chars.all(|c| c == '_' || c.is_alphanumeric()) {
        return Err(RenameRefused::NoIdentifier { to });
    }
    // As a pattern `_` binds nothing, and elsewhere it marks unused values.
    if is_special(&to) || to == "_" {
        return Err(RenameRefused::Special { name: to });
    }
    Ok(())
}

pub(super) fn is_special(name: &str) -> bool {
    name.len() > 4 && name.starts_with("__") && name.ends_with("__")
}

/// Returns the targets of the name at the cursor, if it may be renamed.
fn starts(eval: &Eval<'_>, file: FileId, it: &Occurrence) -> Result<Vec<Target>, RenameRefused> {
    let name = it.name.text().to_owned();
    let meaning = eval.meaning(file, it);
    if let (true, Some(uncertainty)) = (meaning.targets.is_empty(), meaning.uncertainty) {
        return Err(RenameRefused::Unknown { name, why: uncertainty.reason() });
    }
    if meaning.targets.is_empty() {
        return Err(RenameRefused::Unknown { name, why: "nothing with this name was found" });
    }
    for target in &meaning.targets {
        refuse_outside(eval, *target, &name)?;
    }
    if is_special(&name) {
        return Err(RenameRefused::Special { name });
    }
    Ok(meaning.targets)
}

/// Returns what looks for the name of one of some targets, as a sentence.
fn fixed_by(eval: &Eval<'_>, targets: &[Target]) -> Option<String> {
    let why = |it: &Target| eval.convention(*it).or_else(|| eval.fixed_name(*it));
    targets.iter().find_map(why)
}

fn refused(name: Name, why: String) -> RenameRefused {
    RenameRefused::Convention { name: name.text().to_owned(), why }
}

fn refuse_outside(eval: &Eval<'_>, target: Target, name: &str) -> Result<(), RenameRefused> {
    let name = name.to_owned();
    match target {
        Target::Module(_) => Err(RenameRefused::Module { name }),
        Target::Outside(path) => Err(RenameRefused::Outside {
            name,
            what: format!("it is `{}` from another package", path.text()),
        }),
        Target::Symbol(file, _) if bundle::number(file).is_some() => {
            let module = eval.index.any_path(file);
            let module =
                module.trim_start_matches("<bundle>/").trim_end_matches(".pyi").replace('/', ".");
            let library = if module == "pytest" { "" } else { " in the standard library" };
            Err(RenameRefused::Outside { name, what: format!("it comes from `{module}`{library}") })
        }
        Target::Symbol(..) => Ok(()),
    }
}

/// Returns the parameters of the same name in related methods, if any call passes one of them by
/// name.
fn called_by_name(
    eval: &Eval<'_>,
    targets: &FxHashSet<Target>,
    name: Name,
) -> Result<Vec<Target>, RenameRefused> {
    let family = family::of_parameters(eval, targets, name)?;
    if family.iter().all(|it| targets.contains(it)) {
        return Ok(Vec::new());
    }
    let all = targets.iter().copied().chain(family.iter().copied());
    let matches = SearchTarget::new(eval, all).search(eval.index);
    let named = matches
        .iter()
        .any(|it| matches!(it.occurrence.role, Role::Keyword(_)) && it.uncertainty.is_none());
    Ok(if named { family } else { Vec::new() })
}

/// Returns all targets that must be renamed together, with their matches: targets that share a
/// place with a renamed one, or override it. A place that may mean either of two targets forces
/// both to be renamed. Ends when a search finds nothing new.
fn together(
    index: &Index,
    name: Name,
    targets: Vec<Target>,
) -> Result<(FxHashSet<Target>, Vec<Match>), RenameRefused> {
    let mut all: FxHashSet<Target> = targets.into_iter().collect();
    loop {
        let before = all.len();
        let related = ask(index, |eval| family::of_members(eval, &all, name))?;
        all.extend(related);
        let wanted = ask(index, |eval| SearchTarget::new(eval, all.iter().copied()));
        let matches = wanted.search(index);
        let found = ask(index, |eval| {
            let mut found = sharing(eval, &matches, name)?;
            found.extend(called_by_name(eval, &all, name)?);
            found.extend(eval.related_fixtures(&all, name));
            Ok(found)
        })?;
        all.extend(found);
        if all.len() > before {
            continue;
        }
        let prose = wanted.search_prose(index);
        all.extend(ask(index, |eval| sharing(eval, &prose, name))?);
        if all.len() == before {
            return Ok((all, [matches, prose].concat()));
        }
    }
}

/// Returns all targets of the certain matches.
fn sharing(eval: &Eval<'_>, matches: &[Match], name: Name) -> Result<Vec<Target>, RenameRefused> {
    let certain = matches.iter().filter(|it| it.uncertainty.is_none() && it.compound.is_none());
    let found: Vec<Target> = certain.flat_map(|it| it.meaning.targets.iter().copied()).collect();
    found.iter().try_for_each(|it| refuse_outside(eval, *it, name.text()))?;
    Ok(eval.with_counterparts(found))
}
