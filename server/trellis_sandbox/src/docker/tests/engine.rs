//! Tests of finding and losing an engine.

use super::*;

#[tokio::test]
async fn an_engine_describes_itself_and_its_limits() {
    let Some(engine) = engine().await else { return };
    let text = engine.describe().to_string();
    assert!(text.starts_with("Docker ") && text.contains("API 1."), "{text}");
    let limits = engine.limits(&Limits::default());
    let names: Vec<&str> = limits.iter().map(|limit| limit.name).collect();
    for name in ["memory", "processes", "network", "file system", "daemons"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(limits.iter().all(|limit| limit.enforced), "{limits:?}");
}

#[tokio::test]
async fn where_nothing_answers_the_error_says_what_was_tried() {
    let error = Engine::at("unix:///no/such/socket").await.expect_err("nobody there");
    assert!(matches!(error, DockerError::Address(AddressError::Failed(_))), "{error}");
    assert!(error.to_string().contains("/no/such/socket"), "{error}");
    let error = Engine::at("tcp://127.0.0.1:1").await.expect_err("nobody there");
    assert!(error.to_string().contains("refused"), "{error}");
}

#[tokio::test]
async fn an_engine_that_says_nothing_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let _silent = tokio::net::UnixListener::bind(&path).expect("a socket");
    let error = Engine::at(&format!("unix://{}", path.display())).await.expect_err("silence");
    let error = error.to_string();
    assert!(error.contains("no answer within 3 s"), "{error}");
}

/// Relays between this process and the engine, and can disappear as an engine does.
async fn passage(engine: &Engine, path: &std::path::Path) -> tokio::task::JoinHandle<()> {
    let to = engine.describe().host.replacen("unix://", "", 1);
    let listener = tokio::net::UnixListener::bind(path).expect("a socket");
    tokio::spawn(async move {
        let mut both = tokio::task::JoinSet::new();
        while let Ok((mut here, _)) = listener.accept().await {
            let to = to.clone();
            both.spawn(async move {
                let mut there = tokio::net::UnixStream::connect(to).await.expect("the engine");
                let _ = tokio::io::copy_bidirectional(&mut here, &mut there).await;
            });
        }
    })
}

#[tokio::test]
async fn an_engine_that_goes_away_is_distinguished_from_a_worker_that_ends() {
    let Some(engine) = engine().await else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let between = passage(&engine, &path).await;
    let shaky = Engine::at(&format!("unix://{}", path.display())).await.expect("an engine");
    let tree = tree();
    let program = "import sys\nprint('up', flush=True)\nsys.stdin.read()";
    let (container, mut connection) = started(&shaky, &tree, program).await;
    assert_eq!(hear(&mut connection, 3).await, "up\n");
    let id = container.id().to_owned();
    between.abort();
    let mut rest = String::new();
    connection.output.read_to_string(&mut rest).await.expect("the end");
    let how = timeout(LONG, container.wait_end()).await.expect("an end");
    assert_eq!(how, ExitKind { exit_code: None, oom_killed: false, engine_gone: true });
    assert!(container.kill().await.is_err(), "nobody is there to do it");
    let again = launch(&engine, &tree, program).await;
    let error = start(&shaky, &again).await.map(|_| ()).expect_err("nobody there");
    assert!(matches!(error, StartError::EngineGone(_)), "{error}");
    assert!(gone(&engine, &id).await, "the worker's input was closed, so it ended");
}
