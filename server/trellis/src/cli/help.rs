//! Help of the whole program: commands grouped by purpose, examples, and the reference page
//! generated from both.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory as _};

use super::{Cli, examples};

/// All commands, grouped by purpose. A test compares them with the existing commands.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Create", &["generate", "tasks", "stacks", "demo"]),
    ("Test and fix", &["test", "write-tests", "repair", "fixes", "localize"]),
    ("Change", &["implement", "symbols"]),
    ("Inspect", &["plan", "code", "status", "report", "log", "rollback"]),
    ("Integrate", &["lsp", "serve", "mcp"]),
    ("Set up", &["doctor", "completions", "man"]),
];

/// Returns the whole command line, with grouped help and examples.
pub(super) fn command() -> Command {
    let mut command = Cli::command();
    for (name, text) in examples::ALL {
        command = command.mut_subcommand(name, |it| it.after_long_help(examples::shown(text)));
    }
    let list = list(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}\
         \nOptions:\n{{options}}{{after-help}}"
    ))
}

/// Returns the command line without hidden commands, for completions.
pub(super) fn shown_command() -> Command {
    let all = command();
    let shown = all.get_subcommands().filter(|it| !it.is_hide_set()).cloned();
    let arguments = all.get_arguments().filter(|it| it.is_global_set()).cloned();
    Command::new("trellis").version(env!("CARGO_PKG_VERSION")).args(arguments).subcommands(shown)
}

/// Returns one line per command, under the heading of its group.
fn list(command: &Command) -> String {
    let mut out = String::new();
    for (group, names) in GROUPS {
        let _ = writeln!(out, "{group}:");
        for name in names {
            let about = command.find_subcommand(name).map(about).unwrap_or_default();
            let _ = writeln!(out, "  {name:<12} {about}");
        }
        out.push('\n');
    }
    out.pop();
    out
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// Returns the reference of all commands as a Markdown page.
pub(super) fn reference() -> String {
    let mut command = command();
    command.build();
    let mut out = "# Command line\n\n\
        This page is generated from the program. Every command has `--help`, and `--json` prints one JSON object instead of text.\n\n"
        .to_owned();
    for (group, names) in GROUPS {
        let _ = writeln!(out, "## {group}\n");
        for name in names {
            let found = command.find_subcommand(name);
            found.into_iter().for_each(|it| section(it, 3, &mut out));
        }
    }
    out += "## Options of every command\n\n| Options | |\n|---|---|\n";
    for it in command.get_arguments().filter(|it| it.is_global_set()) {
        let _ = writeln!(out, "| `{}` | {} |", spelled(it), described(it));
    }
    out.push('\n');
    let exits = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let _ =
        writeln!(out, "## Exit codes\n\n{}", exits.trim_start_matches("Exit codes: ").trim_end());
    out
}

/// Writes a command with its arguments and options, then its subcommands.
fn section(command: &Command, level: usize, out: &mut String) {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let _ = writeln!(out, "{} `{name}`\n", "#".repeat(level));
    let text = command.get_long_about().or(command.get_about());
    if let Some(text) = text {
        let text = text.to_string();
        let stop = if text.ends_with('.') { "" } else { "." };
        let _ = writeln!(out, "{text}{stop}\n");
    }
    let aliases: Vec<String> = command.get_visible_aliases().map(|it| format!("`{it}`")).collect();
    if !aliases.is_empty() {
        let _ = writeln!(out, "Also called {}.\n", aliases.join(", "));
    }
    let usage = command.clone().render_usage().to_string();
    let _ = writeln!(out, "```text\n{}\n```\n", usage.trim_start_matches("Usage: "));
    arguments(command, out);
    if let Some((_, lines)) = examples::ALL.iter().find(|it| Some(it.0) == name.split(' ').nth(1))
        && level == 3
    {
        let _ = writeln!(out, "```sh\n{lines}\n```\n");
    }
    let commands = command.get_subcommands().filter(|it| it.get_name() != "help");
    commands.filter(|it| !it.is_hide_set()).for_each(|it| section(it, level + 1, out));
}

/// Writes tables of a command's arguments, one per heading.
fn arguments(command: &Command, out: &mut String) {
    let own = |it: &&Arg| !it.is_hide_set() && !it.is_global_set();
    let shown: Vec<&Arg> = command
        .get_arguments()
        .filter(own)
        .filter(|it| !matches!(it.get_id().as_str(), "help" | "version"))
        .collect();
    let mut headings: Vec<&str> = Vec::new();
    for it in &shown {
        let heading = heading(it);
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for title in headings {
        let _ = writeln!(out, "| {title} | |\n|---|---|");
        for it in shown.iter().filter(|it| heading(it) == title) {
            let _ = writeln!(out, "| `{}` | {} |", spelled(it), described(it));
        }
        out.push('\n');
    }
}

fn heading(argument: &Arg) -> &str {
    match argument.get_help_heading() {
        Some(heading) => heading,
        None if argument.is_positional() => "Arguments",
        None => "Options",
    }
}

/// Returns an argument as it is typed.
fn spelled(argument: &Arg) -> String {
    argument.to_string().replace('|', "\\|")
}

/// Returns an argument's help in one line, with default and possible values.
fn described(argument: &Arg) -> String {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let mut out = help.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    if !out.ends_with('.') {
        out.push('.');
    }
    if !argument.get_action().takes_values() {
        return out;
    }
    let values: Vec<String> = (argument.get_possible_values().iter())
        .filter(|it| !it.is_hide_set())
        .map(|it| format!("`{}`", it.get_name()))
        .collect();
    if !values.is_empty() {
        let _ = write!(out, " One of {}.", values.join(", "));
    }
    let defaults: Vec<String> =
        argument.get_default_values().iter().map(|it| it.to_string_lossy().into_owned()).collect();
    if !defaults.is_empty() {
        let _ = write!(out, " Default: `{}`.", defaults.join(" "));
    }
    if let Some(variable) = argument.get_env() {
        let _ = write!(out, " Variable: `{}`.", variable.to_string_lossy());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group_and_has_one_short_line() {
        let command = Cli::command();
        let mut listed: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let mut there: Vec<&str> = (command.get_subcommands())
            .filter(|it| !it.is_hide_set())
            .map(Command::get_name)
            .collect();
        listed.sort_unstable();
        there.sort_unstable();
        assert_eq!(listed, there);
        for it in command.get_subcommands() {
            let about = about(it);
            assert!((10..=72).contains(&about.len()), "{}: {about}", it.get_name());
            assert!(
                examples::ALL.iter().any(|(name, _)| *name == it.get_name()) || it.is_hide_set()
            );
        }
    }

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }
}
