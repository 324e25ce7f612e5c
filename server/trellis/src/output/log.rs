//! The log: `tracing` events as lines on standard error, and in the file of `--log-file`.
//!
//! A line on standard error is `warning: MESSAGE`, as the notes of a command are; an editor maps the
//! first word to a level of its output channel. Only events of Trellis itself are logged, at
//! `warn` and above on standard error and at `debug` and above in a file; `RUST_LOG` changes both.
//! No event has a key or a prompt.

use std::fmt::{self, Write as _};
use std::fs::File;
use std::path::Path;
use std::sync::Mutex;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::{EnvFilter, FilterExt as _, filter_fn};
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::{Context, Filter, Layer, SubscriberExt as _};
use tracing_subscriber::registry::Registry;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::Output;
use trellis_workflows::fault::{Exit, Fault};

/// Environment variable with the levels to log, such as `trellis=debug`.
const VARIABLE: &str = "RUST_LOG";

/// Starts the log of this process.
///
/// # Errors
///
/// The file cannot be created, or `RUST_LOG` cannot be read.
pub(crate) fn start(file: Option<&Path>) -> Result<(), Fault> {
    let levels = std::env::var(VARIABLE).ok().filter(|it| !it.trim().is_empty());
    let levels = levels.as_deref();
    let screen = Lines.with_filter(filter(levels.unwrap_or("trellis=warn"))?);
    let mut layers: Vec<Box<dyn Layer<Registry> + Send + Sync>> = vec![Box::new(screen)];
    if let Some(path) = file {
        let lines = layer().with_ansi(false).with_writer(Mutex::new(open(path)?));
        layers.push(Box::new(lines.with_filter(filter(levels.unwrap_or("trellis=debug"))?)));
    }
    // Fails only where a log was started before, which no command does.
    let _ = tracing_subscriber::registry().with(layers).try_init();
    Ok(())
}

/// Returns a filter of Trellis's own events by `levels`.
fn filter(levels: &str) -> Result<impl Filter<Registry> + use<>, Fault> {
    let levels = EnvFilter::try_new(levels).map_err(|error| {
        Fault::new(Exit::Usage, format!("{VARIABLE} is not valid: {error}"))
            .hint("set it to a level such as `debug`, or unset it")
    })?;
    Ok(levels.and(filter_fn(|event: &Metadata<'_>| event.target().starts_with("trellis"))))
}

fn open(path: &Path) -> Result<File, Fault> {
    File::options().create(true).append(true).open(path).map_err(|error| {
        let error = trellis_os::wording::reason(&error);
        Fault::input(format!("cannot write the log to {}: {error}", path.display()))
            .hint("give a file in a folder that exists")
    })
}

/// A layer that prints each event as a line on standard error.
struct Lines;

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text::default();
        event.record(&mut text);
        let level = match *event.metadata().level() {
            Level::ERROR => "error",
            Level::WARN => "warning",
            Level::INFO => "info",
            Level::DEBUG => "debug",
            Level::TRACE => "trace",
        };
        Output::say(format_args!("{level}: {}{}", text.message, text.fields));
    }
}

/// An event's message, and its other fields as ` name=value`.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string does not fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
