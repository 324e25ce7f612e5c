//! Tests of building the image.

use std::sync::Mutex;

use super::*;
use crate::docker::Progress;

fn spec(requirement: &str) -> ImageSpec {
    ImageSpec { base: base(), requirements: vec![requirement.to_owned()] }
}

#[tokio::test]
async fn an_image_is_made_once() {
    let Some(engine) = engine().await else { return };
    let made = Mutex::new(Vec::new());
    let note = |progress| made.lock().expect("whole").push(progress);
    // pip is already installed, so no network is needed; the version makes a hash that no other
    // test has.
    let spec = spec(&format!("pip>={}", std::process::id() % 7 + 1));
    let cache = tempfile::tempdir().expect("a folder");
    let first = provide(&engine, &spec, cache.path(), &note).await.expect("an image");
    let _ = made.lock().expect("whole").drain(..).collect::<Vec<_>>();
    let second = provide(&engine, &spec, cache.path(), &note).await.expect("an image");
    assert_eq!(first, second);
    assert_eq!(*made.lock().expect("whole"), []);
    assert_ne!(first, image(&engine).await, "other requirements, another image");
}

#[tokio::test]
async fn one_builder_at_a_time() {
    let Some(engine) = engine().await else { return };
    let steps = Mutex::new(Vec::new());
    let note = |progress| steps.lock().expect("whole").push(progress);
    let unlike = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let spec = spec(&format!("pip!=0.{}", unlike.expect("a clock").as_nanos()));
    let cache = tempfile::tempdir().expect("a folder");
    let (one, other) = tokio::join!(
        provide(&engine, &spec, cache.path(), &note),
        provide(&engine, &spec, cache.path(), &note)
    );
    assert_eq!(one.expect("an image"), other.expect("an image"));
    let steps = steps.into_inner().expect("whole");
    let builds = steps.iter().filter(|step| matches!(step, Progress::Building { .. })).count();
    assert_eq!((builds, steps.contains(&Progress::Waiting)), (1, true), "{steps:?}");
}

#[tokio::test]
async fn failures_carry_pips_own_words() {
    let Some(engine) = engine().await else { return };
    let wanted = spec("pytest=>7");
    let error = provide(&engine, &wanted, &cache(), &|_| {}).await.expect_err("not a version");
    assert!(error.to_string().contains("Invalid requirement"), "{error}");
    let wanted = spec("no-such-package-of-trellis");
    let error = provide(&engine, &wanted, &cache(), &|_| {}).await.expect_err("no such package");
    assert!(error.to_string().contains("no-such-package-of-trellis"), "{error}");
    let wanted = spec("--index-url=x");
    let error = provide(&engine, &wanted, &cache(), &|_| {}).await.expect_err("an option");
    assert!(matches!(error, ImageError::Requirement(_)), "{error}");
}

#[tokio::test]
async fn a_base_that_is_nowhere_is_named() {
    let Some(engine) = engine().await else { return };
    let spec = ImageSpec { base: "localhost:1/no/such".to_owned(), requirements: Vec::new() };
    let seen = Mutex::new(Vec::new());
    let note = |progress| seen.lock().expect("whole").push(progress);
    let error = provide(&engine, &spec, &cache(), &note).await.expect_err("nowhere");
    let ImageError::NotPulled { name, problem, .. } = &error else { panic!("{error}") };
    assert_eq!((name, *problem), (&spec.base, PullProblem::Offline), "{error}");
    let pulling = Progress::Pulling { image: "localhost:1/no/such".to_owned(), done: 0, total: 0 };
    assert_eq!(seen.into_inner().expect("whole"), [pulling]);
}
