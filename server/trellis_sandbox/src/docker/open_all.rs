//! Opens the engines that a person named: each is checked, and gets the image and a store.

use std::path::Path;

use futures_util::{StreamExt, future::join_all};

use super::{
    Docker,
    address::{Variables, named},
    engine::Engine,
    image::{Image, ImageSpec, OnProgress, provide},
    store::{Store, remove_old},
    swarm,
    sweep::sweep,
};
use crate::error::{AbsentEngine, AddressError, DockerError, EngineFailure, ImageError};

/// The engines that can be used, and the others with the reasons.
#[derive(Debug)]
pub struct OpenedEngines {
    /// The engines that can be used, at least one.
    pub engines: Vec<Docker>,
    /// The engines that cannot be used.
    pub absent: Vec<AbsentEngine>,
}

impl Docker {
    /// Connects to the engines that `names` lists, each an address or the name of a context, and
    /// prepares each for tests of `project`, whose files are sent there. An engine that cannot get
    /// the image itself gets it from another one. `variable` reads the environment.
    ///
    /// # Errors
    ///
    /// None of the engines can be used.
    pub async fn open_all(
        names: &[String],
        variable: Variables<'_>,
        project: &Path,
        spec: &ImageSpec,
        cache: &Path,
        on_progress: OnProgress<'_>,
    ) -> Result<OpenedEngines, DockerError> {
        let met = join_all(names.iter().map(|name| meet(name, variable))).await;
        let mut absent = Vec::new();
        let mut present = Vec::new();
        for (name, met) in names.iter().zip(met) {
            match met.and_then(|it| like_the_first(it, present.first().map(|(_, it)| it))) {
                Ok(engine) => present.push((name.clone(), engine)),
                Err(error) => absent.push(missing(name, &error)),
            }
        }
        let images = present.iter().map(|(_, engine)| async {
            engine.working(provide(engine, spec, cache, on_progress)).await?
        });
        let images = join_all(images).await;
        let source = present
            .iter()
            .zip(&images)
            .find_map(|((_, engine), image)| Some((engine.clone(), image.as_ref().ok()?.clone())));
        let mut engines = Vec::new();
        for ((name, engine), image) in present.into_iter().zip(images) {
            let image = match (image, &source) {
                (Err(error), Some((from, image))) if error.is_of_engine() => {
                    copied(from, &engine, image, &spec.base, error).await
                }
                (Ok(own), Some((from, image))) if own != *image => {
                    same_in_swarm(from, &engine, own, image).await
                }
                (image, _) => image,
            };
            match ready(name.clone(), engine, image, project).await {
                Ok(docker) => engines.push(docker),
                Err(error) => absent.push(missing(&name, &error)),
            }
        }
        if engines.is_empty() {
            return Err(DockerError::NoEngines { absent });
        }
        let all: Vec<Engine> = engines.iter().map(|it| it.engine.clone()).collect();
        let swarms = swarm::swarms(&all).await;
        for swarm in &swarms {
            absent.extend(swarm.unnamed().await);
        }
        engines.iter_mut().for_each(|it| it.swarms.clone_from(&swarms));
        Ok(OpenedEngines { engines, absent })
    }
}

fn missing(name: &str, error: &DockerError) -> AbsentEngine {
    AbsentEngine { name: name.to_owned(), reason: error.to_string() }
}

async fn meet(name: &str, variable: Variables<'_>) -> Result<Engine, DockerError> {
    let address = named(name, variable)?;
    let engine = Engine::of(&address, variable).await.map_err(|error| match error {
        AddressError::Failed(failure) => AddressError::Unreached(failure),
        error => error,
    })?;
    engine.check_version()?;
    engine
        .working(async {
            if swarm::is_member(&engine).await {
                engine.check_version_in_swarm()?;
            }
            // Swarm would replace the containers of a service.
            swarm::sweep(&engine).await?;
            sweep(&engine).await?;
            Ok::<_, DockerError>(remove_old(&engine).await?)
        })
        .await??;
    Ok(engine)
}

/// Refuses an engine on another kind of processor: one image, and the same results, on all engines.
fn like_the_first(engine: Engine, first: Option<&Engine>) -> Result<Engine, DockerError> {
    let own = &engine.describe().architecture;
    match first.map(|it| &it.describe().architecture) {
        Some(other) if other != own => {
            let (own, other) = (own.clone(), other.clone());
            Err(AddressError::Architecture { own, other }.into())
        }
        _ => Ok(engine),
    }
}

async fn ready(
    name: String,
    engine: Engine,
    image: Result<Image, ImageError>,
    project: &Path,
) -> Result<Docker, DockerError> {
    let image = image?;
    let store = engine.working(Store::open(&engine, project, &image.name)).await??;
    let store = Some(store);
    let slots = engine.describe().processors.max(1);
    Ok(Docker { name, engine, image, store, slots, swarms: Vec::new() })
}

/// Returns the image after a copy from another engine, in place of the `error`.
async fn copied(
    from: &Engine,
    to: &Engine,
    image: &Image,
    base: &str,
    error: ImageError,
) -> Result<Image, ImageError> {
    match from.working(to.working(copy(from, to, image, &[base, &image.name]))).await {
        Ok(Ok(copied)) => copied.map_err(|source| {
            let from = from.describe().host.clone();
            ImageError::NotCopied { error: Box::new(error), from, source }
        }),
        Ok(Err(gone)) => Err(gone.into()),
        Err(_) => Err(error),
    }
}

/// Returns the image for an engine whose own differs, because its base does: on a node of a swarm
/// that of the first engine, since a service has one image for all nodes.
async fn same_in_swarm(
    from: &Engine,
    to: &Engine,
    own: Image,
    image: &Image,
) -> Result<Image, ImageError> {
    if !swarm::is_member(to).await {
        return Ok(own);
    }
    if to.docker.inspect_image(&image.name).await.is_ok() {
        return Ok(image.clone());
    }
    let names = [image.name.as_str()];
    from.working(to.working(copy(from, to, image, &names))).await??.map_err(|source| {
        ImageError::NotInSwarm {
            name: image.name.clone(),
            from: from.describe().host.clone(),
            source,
        }
    })
}

/// Copies the image from one engine to another, with all that the `names` have.
async fn copy(
    from: &Engine,
    to: &Engine,
    image: &Image,
    names: &[&str],
) -> Result<Image, EngineFailure> {
    let exported = from.docker.export_images(names);
    // The engine reads a broken stream to its end and refuses it.
    let exported = exported.take_while(|it| std::future::ready(it.is_ok()));
    let exported = exported.filter_map(|it| std::future::ready(it.ok())).boxed();
    let options = bollard::query_parameters::ImportImageOptionsBuilder::default().quiet(true);
    let mut steps = to.docker.import_image(options.build(), bollard::body_stream(exported), None);
    while let Some(step) = steps.next().await {
        step.map_err(EngineFailure)?;
    }
    to.docker.inspect_image(&image.name).await.map_err(EngineFailure)?;
    Ok(image.clone())
}
