//! A progress line on a terminal, shown once a command has run for two seconds.

use std::sync::OnceLock;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use trellis_store::journal;
use trellis_workflows::reporter::Progress;

/// Delay before the line appears; shorter commands show none.
const AFTER: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(120);

/// The line of this process. Hidden if standard error is no terminal.
static LINE: OnceLock<ProgressBar> = OnceLock::new();

/// Schedules the line to appear after [`AFTER`].
pub(crate) fn start(command: &'static str) {
    let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    line.set_style(style());
    line.set_message(command);
    if LINE.set(line).is_ok() {
        tokio::spawn(async {
            tokio::time::sleep(AFTER).await;
            show();
        });
    }
}

/// Removes the line for good.
pub(crate) fn end() {
    LINE.get().into_iter().for_each(ProgressBar::finish_and_clear);
}

fn hide() {
    if let Some(line) = LINE.get() {
        line.disable_steady_tick();
        line.set_draw_target(ProgressDrawTarget::hidden());
    }
}

fn show() {
    if let Some(line) = LINE.get().filter(|it| !it.is_finished()) {
        line.set_draw_target(ProgressDrawTarget::stderr());
        line.enable_steady_tick(TICK);
    }
}

/// Prints something with the line out of the way.
pub(super) fn around<T>(print: impl FnOnce() -> T) -> T {
    match LINE.get() {
        Some(line) => line.suspend(print),
        None => print(),
    }
}

/// Shows the current activity of the command.
pub(super) fn update(report: &Progress<'_>) {
    let Some(line) = LINE.get() else { return };
    if let Progress::Prompt { is_open } = report {
        return if *is_open { hide() } else { show() };
    }
    let text = match report {
        // The last note describes the current activity.
        Progress::Note(text) => text.lines().next_back().unwrap_or_default().trim().to_owned(),
        Progress::Test { test, .. } => test.id.clone(),
        Progress::Journaled(journal::Event::Stage { work, stage, .. }) => {
            format!("{work}: {stage}")
        }
        Progress::Count { done, total, .. } => format!("{done} of {total} done"),
        _ => return,
    };
    line.set_message(trellis_os::terminal::escape(&text).replace('\n', " "));
}

fn style() -> ProgressStyle {
    let template = "{spinner} {elapsed} {wide_msg}";
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
