//! Opening of a [`Model`] from its name and settings.

use std::path::Path;

use crate::http_model::HttpModel;
use crate::model::{Backend, Model};
use crate::open_error::OpenError;
use crate::providers;
use crate::recording::{Recorder, Recording};
use crate::settings::Settings;

/// Opens the model named `spec`, one of the forms in [`crate::PROVIDERS`]. `env` looks up
/// environment variables.
///
/// # Errors
///
/// An unknown provider, a missing key, an unusable base URL, a missing or malformed recording: see
/// [`OpenError`].
pub fn open(
    spec: &str,
    settings: &Settings,
    env: impl Fn(&str) -> Option<String>,
) -> Result<Model, OpenError> {
    let (name, model) = spec.split_once(':').unwrap_or((spec, ""));
    let kind = settings.like.as_deref().unwrap_or(name);
    if model.is_empty() && (kind == "recorded" || providers::find(kind).is_some()) {
        return Err(OpenError::NoModelName { spec: spec.to_owned() });
    }
    let gate = || Some(settings.gates.of(name, &settings.pace));
    let (backend, retry, gate) = match (kind, providers::find(kind)) {
        (_, Some(provider)) => {
            let live = HttpModel::open(spec, provider, model, settings, &env)?;
            (Backend::Live(Box::new(live)), settings.retry.clone(), gate())
        }
        ("editor", _) => (from_editor(spec, model, settings)?, settings.retry.clone(), gate()),
        ("recorded", _) => (recorded(spec, model, settings)?, settings.retry.without_waits(), None),
        _ => {
            return Err(OpenError::UnknownProvider {
                spec: spec.to_owned(),
                known: providers::FORMS.join(", "),
            });
        }
    };
    let recorder = settings.record.as_deref().map(record).transpose()?;
    Ok(Model { name: spec.to_owned(), backend, retry, gate, recorder })
}

fn from_editor(spec: &str, model: &str, settings: &Settings) -> Result<Backend, OpenError> {
    let none = || OpenError::NoEditor { spec: spec.to_owned() };
    let editor = settings.editor.clone().ok_or_else(none)?;
    Ok(Backend::Editor { editor, name: spec.to_owned(), model: model.to_owned() })
}

fn recorded(spec: &str, file: &str, settings: &Settings) -> Result<Backend, OpenError> {
    let path = Path::new(file);
    if let Some(record) = settings.record.as_deref().filter(|record| same_file(record, path)) {
        return Err(OpenError::RecordsOnItself { path: record.to_owned() });
    }
    Recording::open(spec, path, settings.replay_latency).map(Backend::Recorded)
}

fn record(path: &Path) -> Result<Recorder, OpenError> {
    Recorder::open(path).map_err(|reason| OpenError::Unrecordable { path: path.to_owned(), reason })
}

/// Returns whether both paths lead to the same existing file.
fn same_file(a: &Path, b: &Path) -> bool {
    a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}
