//! Tests against a real engine: the one at `TRELLIS_TEST_DOCKER_HOST`, with the image
//! `TRELLIS_TEST_IMAGE`, as `cargo xtask test` sets them. Without these variables the tests print
//! that they are skipped.

mod containers;
mod ends;
mod engine;
mod images;

use std::{collections::BTreeMap, env, path::PathBuf, time::Duration};

use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use super::{
    Connection, Container, Engine, Launch,
    container::{ExitKind, start},
    image::{Image, ImageSpec, provide},
};
use crate::{
    error::{AddressError, DockerError, ImageError, PullProblem, StartError},
    request::Limits,
};

/// Time limit far beyond what any step here takes.
const LONG: Duration = Duration::from_secs(60);

/// Returns the value of a variable, or prints that the test is skipped.
fn given(name: &str) -> Option<String> {
    let value = env::var(name).ok().filter(|value| !value.is_empty());
    if value.is_none() {
        eprintln!("SKIPPED: {name} is not set, so nothing is tested against a Docker engine");
    }
    value
}

async fn engine() -> Option<Engine> {
    let host = given("TRELLIS_TEST_DOCKER_HOST")?;
    given("TRELLIS_TEST_IMAGE")?;
    Some(Engine::at(&host).await.unwrap_or_else(|error| panic!("{host}: {error}")))
}

fn base() -> String {
    env::var("TRELLIS_TEST_IMAGE").expect("looked at before")
}

fn cache() -> PathBuf {
    env::temp_dir().join("trellis-docker-tests")
}

async fn image(engine: &Engine) -> Image {
    let spec = ImageSpec { base: base(), requirements: Vec::new() };
    provide(engine, &spec, &cache(), &|_| {}).await.unwrap_or_else(|error| panic!("{error}"))
}

/// Makes a folder that the container's user can read.
fn tree() -> TempDir {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("seen.txt"), "from here").expect("a file");
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("a mode");
    folder
}

/// Returns the launch of a Python program as the container's worker.
async fn launch(engine: &Engine, tree: &TempDir, program: &str) -> Launch {
    let image = image(engine).await;
    Launch {
        image: image.name,
        command: [&image.python, "-c", program].map(str::to_owned).to_vec(),
        tree: tree.path().to_owned(),
        copied: None,
        volume: None,
        working: PathBuf::from("/"),
        environment: BTreeMap::from([("COLOUR".to_owned(), "blue green".to_owned())]),
        user: super::user(),
        limits: Limits { memory_bytes: 128 << 20, processes: 32, ..Limits::default() },
        scratch: vec![("/tmp".to_owned(), 8 << 20), ("/home/t".to_owned(), 1 << 20)],
        executable: false,
        project: "tests".to_owned(),
    }
}

async fn started(engine: &Engine, tree: &TempDir, program: &str) -> (Container, Connection) {
    let launch = launch(engine, tree, program).await;
    start(engine, &launch).await.unwrap_or_else(|error| panic!("{error}"))
}

/// Returns both outputs of a program that ends by itself, and the end.
async fn outcome(engine: &Engine, program: &str) -> (String, String, ExitKind) {
    let tree = tree();
    let (container, mut connection) = started(engine, &tree, program).await;
    drop(connection.input);
    let (mut output, mut errors) = (String::new(), String::new());
    let both = async {
        tokio::join!(
            connection.output.read_to_string(&mut output),
            connection.errors.read_to_string(&mut errors)
        )
    };
    let (first, second) = timeout(LONG, both).await.expect("an end");
    first.and(second).expect("text");
    let how = timeout(LONG, container.wait_end()).await.expect("an end");
    container.end().await.expect("gone");
    (output, errors, how)
}

async fn say(connection: &mut Connection, line: &str) {
    connection.input.write_all(line.as_bytes()).await.expect("it listens");
    connection.input.flush().await.expect("it listens");
}

/// Reads the next `length` bytes.
async fn hear(connection: &mut Connection, length: usize) -> String {
    let mut bytes = vec![0; length];
    let read = timeout(LONG, connection.output.read_exact(&mut bytes)).await;
    read.expect("an answer").expect("whole");
    String::from_utf8(bytes).expect("text")
}

/// Returns whether the engine knows the container.
async fn exists(engine: &Engine, id: &str) -> bool {
    engine.docker.inspect_container(id, None).await.is_ok()
}

/// Waits until the container is removed in the background.
async fn gone(engine: &Engine, id: &str) -> bool {
    let look = async {
        while exists(engine, id).await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LONG, look).await.is_ok()
}
