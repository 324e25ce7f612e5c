//! Pulls a base image.

use std::collections::HashMap;

use bollard::{models::CreateImageInfo, query_parameters::CreateImageOptionsBuilder};
use futures_util::StreamExt;

use super::{Engine, OnProgress, Progress};
use crate::error::{EngineFailure, ImageError, PullProblem};

/// Pulls `name` and reports the progress.
pub(super) async fn pull(
    engine: &Engine,
    name: &str,
    on_progress: OnProgress<'_>,
) -> Result<(), ImageError> {
    let (repository, tag) = parts(name);
    let options = CreateImageOptionsBuilder::default().from_image(repository).tag(tag).build();
    on_progress(Progress::Pulling { image: name.to_owned(), done: 0, total: 0 });
    let mut layers = Layers::default();
    let mut steps = Box::pin(engine.docker.create_image(Some(options), None, None));
    while let Some(step) = steps.next().await {
        let step = step.map_err(|error| failed(name, EngineFailure(error)))?;
        if layers.note(&step) {
            let (done, total) = layers.sum();
            on_progress(Progress::Pulling { image: name.to_owned(), done, total });
        }
    }
    Ok(())
}

/// Splits a name into repository and tag; without a tag, the engine would pull all of them. A
/// digest stays in the name.
fn parts(name: &str) -> (&str, &str) {
    let tag = name.rsplit_once(':').filter(|(_, tag)| !tag.contains('/'));
    match tag {
        _ if name.contains('@') => (name, ""),
        Some(parts) => parts,
        None => (name, "latest"),
    }
}

/// Bytes of each layer: downloaded and total.
#[derive(Default)]
struct Layers(HashMap<String, (u64, u64)>);

impl Layers {
    /// Updates the bytes of a layer. Returns whether the step reports a download.
    fn note(&mut self, step: &CreateImageInfo) -> bool {
        let (Some(id), Some(detail)) = (&step.id, &step.progress_detail) else { return false };
        if step.status.as_deref() != Some("Downloading") {
            return false;
        }
        let bytes = |value: Option<i64>| value.and_then(|it| u64::try_from(it).ok()).unwrap_or(0);
        self.0.insert(id.clone(), (bytes(detail.current), bytes(detail.total)));
        true
    }

    fn sum(&self) -> (u64, u64) {
        self.0.values().fold((0, 0), |all, layer| (all.0 + layer.0, all.1 + layer.1))
    }
}

fn failed(name: &str, source: EngineFailure) -> ImageError {
    let problem = PullProblem::of(&source.to_string());
    ImageError::NotPulled { name: name.to_owned(), source, problem }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn names_have_one_tag() {
        assert_eq!(parts("python:3.12-slim"), ("python", "3.12-slim"));
        assert_eq!(parts("box:5000/team/python"), ("box:5000/team/python", "latest"));
        assert_eq!(parts("box:5000/python:3"), ("box:5000/python", "3"));
        assert_eq!(parts("python@sha256:12"), ("python@sha256:12", ""));
    }
}
