//! Commands in pages: each exists, with all of its options.

use std::collections::BTreeMap;

use super::page::Block;
use crate::world::World;

/// Long help of commands, by their words, with the results of earlier lookups.
pub(super) type Known = BTreeMap<Vec<String>, Option<String>>;

/// Returns commands and options in the block that the program lacks.
pub(super) fn unknown(block: &Block, known: &mut Known) -> Vec<String> {
    let lines = block.lines.iter().map(|it| it.strip_prefix("$ ").unwrap_or(it));
    lines.filter_map(words).flat_map(|words| lacking(&words, known)).collect()
}

/// Returns the words after `trellis`, if a line starts it.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words =
        line.split_whitespace().skip_while(|it| it.contains('=') && !it.starts_with('-'));
    let end = |it: &&str| !matches!(*it, "|" | ">" | ";" | "&&" | "#" | "--" | "2>&1");
    (words.next()? == "trellis").then(|| words.take_while(end).map(str::to_owned).collect())
}

fn lacking(words: &[String], known: &mut Known) -> Vec<String> {
    let names: Vec<String> = words.iter().take_while(|it| !it.starts_with('-')).cloned().collect();
    // A second word may be a subcommand or an argument.
    let depths = (0..=names.len().min(2)).rev();
    let helps: Vec<(usize, String)> =
        depths.filter_map(|depth| Some((depth, help(&names[..depth], known)?))).collect();
    let Some((depth, help)) = helps.first() else {
        return vec![format!("trellis {}", words.join(" "))];
    };
    if *depth == 0 && !names.is_empty() {
        return vec![format!("trellis {} is not a command", names[0])];
    }
    let options = words.iter().filter(|it| it.starts_with("--"));
    let option = |it: &String| it.split('=').next().unwrap_or_default().to_owned();
    let has =
        |it: &String| help.split(|c: char| !c.is_alphanumeric() && c != '-').any(|word| word == it);
    let missing = options.map(option).filter(|it| !has(it));
    missing.map(|it| format!("{it} of trellis {}", names.join(" "))).collect()
}

/// Returns the help of a command, if it exists.
fn help(names: &[String], known: &mut Known) -> Option<String> {
    let ask = || {
        let world = World::new();
        let mut arguments: Vec<&str> = names.iter().map(String::as_str).collect();
        arguments.push("--help");
        let ran = world.trellis(&arguments);
        // Help for an argument is the help of the preceding command.
        let usage = format!("Usage: trellis {}", names.join(" "));
        (ran.code == Some(0) && ran.stdout.contains(usage.trim_end())).then_some(ran.stdout)
    };
    known.entry(names.to_vec()).or_insert_with(ask).clone()
}
