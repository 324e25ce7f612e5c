//! Engines that fail: each fault gets one clear line, and the others do the work.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt, path::Path, sync::Arc};

use tempfile::TempDir;
use tokio::{sync::Barrier, time::timeout};
use tokio_util::sync::CancellationToken;
use trellis_sandbox::{
    Config, Docker, ImageSpec, OpenedEngines, Outcome, Report, Request, Runner, Tree,
};

use crate::{
    fake_engine::{FULL, FakeEngine, Fault},
    support::{patience, project, scratch},
};

const FREE: &str =
    "the engine's disk is full: free space there, for instance with `docker system prune`";

async fn open(
    names: &[&str],
    project: &Path,
) -> Result<OpenedEngines, trellis_sandbox::error::DockerError> {
    let names: Vec<String> = names.iter().map(|it| (*it).to_owned()).collect();
    let spec = ImageSpec { base: "base:1".to_owned(), requirements: Vec::new() };
    let cache = tempfile::tempdir().expect("a folder");
    let opening = Docker::open_all(&names, &|_| None, project, &spec, cache.path(), &|_| {});
    timeout(patience(), opening).await.expect("it ends")
}

/// Engines with the project that is tested on them.
struct Bed {
    runner: Runner,
    folder: TempDir,
    engines: Vec<FakeEngine>,
    /// The lines about the engines that cannot be used.
    absent: Vec<String>,
}

impl Bed {
    async fn new(faults: &[Fault]) -> Bed {
        let engines: Vec<FakeEngine> = faults.iter().map(|it| FakeEngine::new(*it)).collect();
        let folder = project();
        fs::write(folder.path().join("test_a.py"), "def test_a(): pass\n").expect("written");
        let names: Vec<&str> = engines.iter().map(|it| it.name.as_str()).collect();
        let opened = open(&names, folder.path()).await.expect("an engine");
        let absent = opened.absent.iter().map(ToString::to_string).collect();
        let config = Config { scratch: scratch(), ..Config::from_environment() };
        let runner = Runner::on_engines(opened.engines, &config);
        Bed { runner, folder, engines, absent }
    }

    fn name(&self, engine: usize) -> &str {
        &self.engines[engine].name
    }

    async fn run(&self) -> Report {
        self.run_with(|_| {}).await
    }

    async fn run_with(&self, change: impl FnOnce(&mut Request)) -> Report {
        let mut request = Request::new(Tree::Folder(self.folder.path().to_owned()));
        change(&mut request);
        let cancel = CancellationToken::new();
        timeout(patience(), self.runner.run(&request, &cancel)).await.expect("the run ends")
    }

    /// Runs the tests and checks that they pass on an engine; returns the notes.
    async fn passes_on(&self, engine: usize) -> Vec<String> {
        let report = self.run().await;
        assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
        assert_eq!(report.engine.as_deref(), Some(self.name(engine)));
        report.notes
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_runs_on_an_engine_without_faults() {
    let bed = Bed::new(&[Fault::None]).await;
    assert_eq!(bed.absent, Vec::<String>::new());
    assert_eq!(bed.passes_on(0).await, Vec::<String>::new());
    assert_eq!(bed.passes_on(0).await, Vec::<String>::new());
    assert_eq!(bed.engines[0].requests("POST", "containers/create"), 1, "the worker stays warm");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_cannot_be_used_is_named_with_the_reason_and_the_remedy() {
    let cases = [
        (
            Fault::Old,
            "it is Docker 18.09.1 (API 1.39), and Trellis needs Docker 19.03 or newer: update it",
        ),
        (
            Fault::OldInSwarm,
            "it is Docker 19.03.15 (API 1.40) in a swarm, and a swarm needs Docker 20.10 or newer: \
             update it, or name engines that are in none",
        ),
        (
            Fault::Architecture,
            "its processors are aarch64, those of the first engine x86_64, so that results could \
             differ: name engines of one kind",
        ),
        (
            Fault::Tls,
            "it requires TLS; set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH, or make a Docker \
             context with its certificates and name that",
        ),
        (Fault::Silent, "no answer within 3 s; check it with `docker info`"),
        (Fault::SilentAfter("/images/"), "no answer within 5 s; check it with `docker info`"),
    ];
    let faults: Vec<Fault> = [Fault::None].into_iter().chain(cases.map(|it| it.0)).collect();
    let bed = Bed::new(&faults).await;
    let mut absent = bed.absent.clone();
    absent.sort();
    let name = |index: usize| bed.name(index + 1);
    let mut expected: Vec<String> = cases
        .iter()
        .enumerate()
        .map(|(index, (_, reason))| format!("{}: {reason}", name(index)))
        .collect();
    expected.sort();
    assert_eq!(absent, expected);
    assert_eq!(bed.passes_on(0).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_that_are_not_supported_say_what_is() {
    let (good, folder) = (FakeEngine::new(Fault::None), project());
    let names = [
        "ssh://-oProxyCommand=x",
        "https://box/path",
        "npipe://box",
        "no-such-context",
        "unix:///nowhere.sock",
        &good.name,
    ];
    let opened = open(&names, folder.path()).await.expect("one engine");
    assert_eq!(opened.engines.len(), 1);
    let signs = [
        "the address is malformed: it is not ssh://USER@HOST:PORT",
        "the address is malformed: it is not HOST or HOST:PORT",
        "supports addresses with unix://, tcp://, http://, https:// and ssh://",
        "choose another with `docker context use`",
        "cannot be reached: Socket not found: /nowhere.sock; start it, or check the address",
    ];
    let absent: Vec<String> = opened.absent.iter().map(ToString::to_string).collect();
    assert_eq!(absent.len(), signs.len(), "{absent:?}");
    for ((line, sign), name) in absent.iter().zip(signs).zip(names) {
        assert!(line.starts_with(name) && line.contains(sign), "{line}");
    }
    let error = open(&names[..5], folder.path()).await.expect_err("none").to_string();
    assert!(error.starts_with("none of the engines can be used: ssh://-o"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_reaches_no_registry_gets_the_image_from_another() {
    let bed = Bed::new(&[Fault::NoImage, Fault::None]).await;
    assert_eq!(bed.absent, Vec::<String>::new());
    assert_eq!(bed.engines[0].requests("POST", "images/load"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_without_space_for_the_image_is_left_out() {
    let bed = Bed::new(&[Fault::NoSpaceForImages, Fault::None]).await;
    let [line] = bed.absent.as_slice() else { panic!("{:?}", bed.absent) };
    assert!(line.starts_with(&format!("{}: the base image base:1 ", bed.name(0))), "{line}");
    let copy = format!("; it could not be copied from {} either: {FULL}; {FREE}", bed.name(1));
    assert!(line.ends_with(&copy), "{line}");
    bed.passes_on(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_to_another_engine_if_there_is_no_space_for_its_files() {
    let bed = Bed::new(&[Fault::NoSpaceForFiles, Fault::None]).await;
    fs::write(bed.folder.path().join("large.bin"), vec![7; 100 << 10]).expect("written");
    let notes = bed.passes_on(1).await;
    let reason = format!(
        "the sandbox cannot show the project to the tests: the engine did not take the project's \
         files: {FULL}; {FREE}"
    );
    let note = format!("the run on {} was lost ({reason}) and repeated", bed.name(0));
    assert_eq!(notes, [note]);
    let asked = bed.engines[0].requests("POST", "containers/create");
    assert_eq!(bed.passes_on(1).await, Vec::<String>::new());
    assert_eq!(bed.engines[0].requests("POST", "containers/create"), asked, "it rests");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_to_another_engine_if_one_starts_no_container() {
    let bed = Bed::new(&[Fault::NoContainers, Fault::None]).await;
    let reason = "the Docker engine could not start a container: failed to create shim task";
    let note = format!("{} did not take the run: {reason}", bed.name(0));
    assert_eq!(bed.passes_on(1).await, [note]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_refuses_a_run_ends_those_that_it_has() {
    let bed = Bed::new(&[Fault::None, Fault::None]).await;
    let barrier = Arc::new(Barrier::new(3));
    bed.engines.iter().for_each(|it| it.state().barrier = Some(barrier.clone()));
    let third = async {
        barrier.wait().await;
        bed.engines[0].state().fault = Fault::NoContainers;
        let report = bed.run().await;
        barrier.wait().await;
        report
    };
    let (one, two, third) = tokio::join!(bed.run(), bed.run(), third);
    for report in [&one, &two, &third] {
        assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    }
    assert_eq!([one.engine, two.engine].map(Option::unwrap), [bed.name(0), bed.name(1)]);
    assert_eq!([one.notes, two.notes], [Vec::<String>::new(), Vec::new()]);
    assert_eq!(third.engine.as_deref(), Some(bed.name(1)));
    assert!(third.notes[0].starts_with(&format!("{} did not take the run", bed.name(0))));
    let mut used =
        [(bed.name(0), 1), (bed.name(1), 2)].map(|(name, runs)| format!("{name} ({runs})"));
    used.sort_unstable();
    let said = format!("test runs by engine: {}", used.join(", "));
    assert_eq!(bed.runner.engines_used(), Some(said));
}

const HANGS: &str = "no answer within 5 s; check it with `docker info`";

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_to_another_engine_if_one_hangs_before_it() {
    let bed = Bed::new(&[Fault::SilentAfter("/containers/create"), Fault::None]).await;
    let note = format!("{} did not take the run: {HANGS}", bed.name(0));
    assert_eq!(bed.passes_on(1).await, [note]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_to_another_engine_if_one_hangs_in_it() {
    let bed = Bed::new(&[Fault::SilentInRun, Fault::None]).await;
    let note = format!("the run on {} was lost ({HANGS}) and repeated", bed.name(0));
    assert_eq!(bed.passes_on(1).await, [note]);
}

/// The worker's end names coverage.py, but the engine is the cause.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_to_another_engine_if_one_dies_before_lines_are_measured() {
    let bed = Bed::new(&[Fault::SilentInMeasuring, Fault::None]).await;
    let report = bed.run_with(|it| it.coverage = true).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    assert_eq!(report.engine.as_deref(), Some(bed.name(1)));
    let refusal = format!("{} did not take the run: ", bed.name(0));
    assert!(report.notes[0].starts_with(&refusal), "{:?}", report.notes);
    let alone = Bed::new(&[Fault::SilentInMeasuring]).await;
    let outcome = alone.run_with(|it| it.coverage = true).await.outcome;
    let Outcome::SandboxUnavailable { reason } = outcome else { panic!("{outcome:?}") };
    assert!(reason.starts_with("no engine is left: ") && reason.contains(HANGS), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_engine_is_left_each_is_named() {
    let bed = Bed::new(&[Fault::NoContainers, Fault::NoContainers]).await;
    let Outcome::SandboxUnavailable { reason } = bed.run().await.outcome else {
        panic!("no engine runs anything")
    };
    assert!(reason.starts_with("no engine is left: "), "{reason}");
    assert!(reason.contains(bed.name(0)) && reason.contains(bed.name(1)), "{reason}");
    assert!(reason.ends_with("or name others with `--engine`"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_cannot_be_sent_is_named() {
    let bed = Bed::new(&[Fault::None]).await;
    let link = bed.folder.path().join("link");
    std::os::unix::fs::symlink(OsStr::from_bytes(b"caf\xe9"), &link).expect("a link");
    let Outcome::SandboxUnavailable { reason } = bed.run().await.outcome else {
        panic!("the link was left out")
    };
    let sign = format!("the target of the link {} is not valid Unicode", link.display());
    assert!(reason.contains(&sign), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn old_volumes_of_this_machine_are_removed() {
    let bed = Bed::new(&[Fault::None]).await;
    let engine = &bed.engines[0];
    let (own, other) = {
        let mut state = engine.state();
        let (own, labels) = state.volumes.pop_first().expect("the volume of the project");
        let old = |host: Option<&str>| {
            let mut labels = labels.clone();
            labels.insert("trellis.created".to_owned(), "1".to_owned());
            labels.extend(host.map(|it| ("trellis.host".to_owned(), it.to_owned())));
            labels
        };
        state.volumes.insert(own.clone(), old(None));
        state.volumes.insert("trellis-files-lost-project".to_owned(), old(None));
        state.volumes.insert("trellis-files-other".to_owned(), old(Some("other-machine")));
        (own, "trellis-files-other".to_owned())
    };
    open(&[&engine.name], bed.folder.path()).await.expect("an engine");
    let state = engine.state();
    assert_eq!(state.volumes.keys().collect::<Vec<_>>(), [&own, &other]);
    assert_ne!(state.volumes[&own]["trellis.created"], "1", "it is a new one");
}
