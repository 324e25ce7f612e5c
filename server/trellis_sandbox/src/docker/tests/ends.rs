//! Tests that containers end and leave nothing behind.

use super::*;
use crate::docker::{
    owner::{HOST, OWNER, Owner},
    sweep,
};

const FOREVER: &str = "
import signal, sys, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
print('up', flush=True)
while True: time.sleep(1)
";

#[tokio::test]
async fn killing_ends_what_ignores_everything_else() {
    let Some(engine) = engine().await else { return };
    let tree = tree();
    let (container, mut connection) = started(&engine, &tree, FOREVER).await;
    assert_eq!(hear(&mut connection, 3).await, "up\n");
    container.kill().await.expect("killed");
    let how = timeout(LONG, container.wait_end()).await.expect("an end");
    assert_eq!(how, ExitKind { exit_code: Some(137), oom_killed: false, engine_gone: false });
    container.kill().await.expect("a second time is no error");
    let id = container.id().to_owned();
    container.end().await.expect("gone");
    assert!(!exists(&engine, &id).await);
}

const TALKER: &str = "
import os
while True: os.write(1, b'x' * 65536)
";

#[tokio::test]
async fn output_that_nobody_reads_does_not_keep_it() {
    let Some(engine) = engine().await else { return };
    let tree = tree();
    let (killed, _unread) = started(&engine, &tree, TALKER).await;
    let (ended, _unread_too) = started(&engine, &tree, TALKER).await;
    let (dropped, _never_read) = started(&engine, &tree, TALKER).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let began = std::time::Instant::now();
    ended.end().await.expect("gone");
    killed.kill().await.expect("killed");
    let how = timeout(LONG, killed.wait_end()).await.expect("an end");
    assert_eq!(how, ExitKind { exit_code: Some(137), oom_killed: false, engine_gone: false });
    let id = dropped.id().to_owned();
    drop(dropped);
    assert!(gone(&engine, &id).await);
    killed.end().await.expect("gone");
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

#[tokio::test]
async fn ending_removes_what_still_runs() {
    let Some(engine) = engine().await else { return };
    let tree = tree();
    let (container, mut connection) = started(&engine, &tree, FOREVER).await;
    assert_eq!(hear(&mut connection, 3).await, "up\n");
    let id = container.id().to_owned();
    container.end().await.expect("gone");
    assert!(!exists(&engine, &id).await);
}

#[tokio::test]
async fn dropping_removes_soon() {
    let Some(engine) = engine().await else { return };
    let tree = tree();
    let (container, mut connection) = started(&engine, &tree, FOREVER).await;
    assert_eq!(hear(&mut connection, 3).await, "up\n");
    let id = container.id().to_owned();
    drop(container);
    assert!(gone(&engine, &id).await);
}

#[test]
fn dropping_the_runtime_first_does_not_matter() {
    let runtime = || tokio::runtime::Runtime::new().expect("a runtime");
    let first = runtime();
    let Some(engine) = first.block_on(engine()) else { return };
    let tree = tree();
    let (container, connection) = first.block_on(started(&engine, &tree, FOREVER));
    let id = container.id().to_owned();
    drop(first);
    drop((container, connection));
    assert!(runtime().block_on(gone(&engine, &id)));
}

#[tokio::test]
async fn a_start_that_is_cancelled_leaves_nothing() {
    let Some(engine) = engine().await else { return };
    let tree = tree();
    let mut launch = launch(&engine, &tree, FOREVER).await;
    for wait in [1, 5, 20, 50, 100, 200] {
        launch.project = format!("cancelled after {wait}");
        let _ = timeout(Duration::from_millis(wait), start(&engine, &launch)).await;
        let label = format!("trellis.project={}", launch.project);
        let none = async {
            while !labelled(&engine, &label).await.is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(LONG, none).await.expect("no container is left");
    }
}

async fn labelled(engine: &Engine, label: &str) -> Vec<String> {
    let filters = std::collections::HashMap::from([("label", vec![label])]);
    let options = bollard::query_parameters::ListContainersOptionsBuilder::default();
    let options = options.all(true).filters(&filters).build();
    let found = engine.docker.list_containers(Some(options)).await.expect("a list");
    found.into_iter().filter_map(|container| container.id).collect()
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let Some(engine) = engine().await else { return };
    let tree = tree();
    let mut launch = launch(&engine, &tree, "").await;
    launch.command = vec!["/no/such/program".to_owned()];
    let error = start(&engine, &launch).await.map(|_| ()).expect_err("refused");
    assert!(
        matches!(&error, StartError::Refused(why) if why.to_string().contains("/no/such/program")),
        "{error}"
    );
    launch.image = "trellis-env:no-such".to_owned();
    let error = start(&engine, &launch).await.map(|_| ()).expect_err("refused");
    assert!(matches!(&error, StartError::ImageGone { .. }), "{error}");
    launch.tree = "/no/such/tree".into();
    launch.image = image(&engine).await.name;
    let error = start(&engine, &launch).await.map(|_| ()).expect_err("refused");
    assert!(
        matches!(&error, StartError::Refused(why) if why.to_string().contains("/no/such/tree")),
        "{error}"
    );
}

/// Starts a sleeping container with the given labels. It is not started by [`start`], which would
/// make this process its owner.
async fn abandoned(engine: &Engine, labels: &[(&str, String)]) -> String {
    let body = bollard::models::ContainerCreateBody {
        image: Some(image(engine).await.name),
        entrypoint: Some(["python3", "-c", FOREVER].map(str::to_owned).to_vec()),
        labels: Some(
            labels.iter().map(|(name, value)| (name.to_string(), value.clone())).collect(),
        ),
        ..Default::default()
    };
    let options = None::<bollard::query_parameters::CreateContainerOptions>;
    let id = engine.docker.create_container(options, body).await.expect("created").id;
    engine.docker.start_container(&id, None).await.expect("started");
    id
}

#[tokio::test]
async fn sweeping_takes_only_what_dead_owners_left() {
    let Some(engine) = engine().await else { return };
    let tree = tree();
    let (alive, _connection) = started(&engine, &tree, FOREVER).await;
    let [(_, own), (_, here)] = Owner::current().expect("/proc").labels();
    let dead = own.replacen(&std::process::id().to_string(), "4194305", 1);
    let far = "00-pid:[1]".to_owned();
    let left = abandoned(&engine, &[(OWNER, dead.clone()), (HOST, here.clone())]).await;
    let theirs = abandoned(&engine, &[(OWNER, dead), (HOST, far)]).await;
    let strange = abandoned(&engine, &[(OWNER, "me".to_owned()), (HOST, here)]).await;
    assert!(sweep(&engine).await.expect("swept") >= 1);
    assert!(!exists(&engine, &left).await);
    for id in [alive.id(), &theirs, &strange] {
        assert!(exists(&engine, id).await, "{id}");
    }
    for id in [&theirs, &strange] {
        crate::docker::removal::remove(&engine.docker, id).await.expect("gone");
    }
    alive.end().await.expect("gone");
}
