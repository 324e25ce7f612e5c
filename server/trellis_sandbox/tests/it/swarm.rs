//! Tests on a swarm of three engines on this machine, which `cargo xtask test` starts: their addresses
//! are in `TRELLIS_TEST_SWARM`, the manager first. The tests run one after the other.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    future::Future,
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use futures_util::future::join_all;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use trellis_sandbox::{
    Config, Docker, ImageSpec, OpenedEngines, Outcome, Report, Request, Runner, TestOutcome, Tree,
};

use crate::support::{cache, files, patience, project, results, scratch};

const SERVICE: &str = "label=com.docker.swarm.service.name";

/// Passes, and shows from inside that there is no network.
const ISOLATED: &str = "import os, socket, subprocess, pytest\n\
    def test_network():\n\
    \x20   assert [name for _, name in socket.if_nameindex()] == ['lo']\n\
    \x20   for address in (('192.0.2.1', 80), ('172.17.0.1', 2377), ('127.0.0.1', 2375)):\n\
    \x20       with pytest.raises(OSError): socket.create_connection(address, 5)\n\
    \x20   with pytest.raises(OSError): socket.getaddrinfo('tasks.trellis', 80)\n\
    def test_rights():\n\
    \x20   status = dict(line.split(':', 1) for line in open('/proc/self/status'))\n\
    \x20   assert os.getuid() and int(status['CapBnd'], 16) == 0 and int(status['NoNewPrivs'])\n\
    \x20   with pytest.raises(OSError): open('/etc/new', 'w')\n\
    \x20   with pytest.raises(OSError): open('/run/store/new', 'w')\n\
    def test_programs():\n\
    \x20   assert os.path.getsize('large.bin') == 300 << 10\n\
    \x20   open('run.sh', 'w').write('#!/bin/sh\\necho started'); os.chmod('run.sh', 0o755)\n\
    \x20   assert subprocess.check_output(['./run.sh']) == b'started\\n'\n";

/// Waits in its second test until a file exists.
const WAITS: &str = "import os, time\ndef test_a(): pass\n\
    def test_b():\n    while not os.path.exists('/tmp/go'): time.sleep(0.01)\n\
    def test_c(): open('made.txt', 'w')\n";

/// The engines of the swarm, the manager first.
#[derive(Clone)]
struct Machines(Vec<String>);

impl Machines {
    /// Returns `None`, and prints that the test is skipped, if there is no swarm.
    fn given() -> Option<Machines> {
        let given = std::env::var("TRELLIS_TEST_SWARM").unwrap_or_default();
        let all: Vec<String> =
            given.split(',').filter(|it| !it.is_empty()).map(str::to_owned).collect();
        if all.is_empty() {
            eprintln!("SKIPPED: no swarm, see `cargo xtask test`");
            return None;
        }
        Some(Machines(all))
    }

    /// Returns the output of the Docker client on a machine.
    fn docker(&self, machine: usize, arguments: &[&str]) -> String {
        let mut docker = Command::new("docker");
        docker.args(["--host", &self.0[machine]]).args(arguments).stdin(Stdio::null());
        let output = docker.output().expect("a client");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn node(&self, machine: usize) -> String {
        self.docker(machine, &["info", "--format", "{{.Swarm.NodeID}}"]).trim().to_owned()
    }

    fn availability(&self, machine: usize, availability: &str) {
        let node = self.node(machine);
        self.docker(0, &["node", "update", "--availability", availability, &node]);
    }

    /// Returns the names of the services of Trellis.
    fn services(&self) -> BTreeSet<String> {
        let all = self.docker(0, &["service", "ls", "--format", "{{.Name}}"]);
        all.lines().filter(|it| it.starts_with("trellis-")).map(str::to_owned).collect()
    }

    /// Returns the ids of all containers of services on a machine.
    fn tasks(&self, machine: usize) -> Vec<String> {
        let all = self.docker(machine, &["ps", "--quiet", "--no-trunc", "--filter", SERVICE]);
        all.split_whitespace().map(str::to_owned).collect()
    }

    fn containers(&self, machine: usize) -> Vec<String> {
        let all = self.docker(machine, &["ps", "--all", "--quiet", "--no-trunc"]);
        all.split_whitespace().map(str::to_owned).collect()
    }

    /// Lets the waiting tests of a machine end.
    fn go(&self, machine: usize) {
        for id in self.tasks(machine) {
            let touch = ["exec", &id, "python3", "-c", "open('/tmp/go', 'w')"];
            let mut docker = Command::new("docker");
            docker.args(["--host", &self.0[machine]]).args(touch).stdin(Stdio::null());
            // A task may end meanwhile.
            let _ = docker.output();
        }
    }
}

struct Bed {
    machines: Machines,
    runner: Runner,
    folder: TempDir,
}

async fn open(
    names: &[String],
    folder: &TempDir,
) -> Result<OpenedEngines, trellis_sandbox::error::DockerError> {
    let base = std::env::var("TRELLIS_TEST_IMAGE").expect("set");
    let spec = ImageSpec { base, requirements: Vec::new() };
    Docker::open_all(names, &|_| None, folder.path(), &spec, &cache(), &|_| {}).await
}

impl Bed {
    async fn new() -> Option<Bed> {
        let machines = Machines::given()?;
        let folder = project();
        let opened = open(&machines.0, &folder).await.expect("engines");
        assert_eq!(opened.absent, []);
        let config = Config { scratch: scratch(), ..Config::from_environment() };
        Some(Bed { machines, runner: Runner::on_engines(opened.engines, &config), folder })
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.folder.path().join(name), text).expect("written");
    }

    async fn run(&self, on_test: impl Fn() + Send) -> Report {
        self.run_tree(Tree::Folder(self.folder.path().to_owned()), on_test).await
    }

    async fn run_tree(&self, tree: Tree, on_test: impl Fn() + Send) -> Report {
        // A test waits until its run is disturbed, which takes Swarm a while.
        let request = Request { test_timeout: patience(), ..Request::new(tree) };
        let (cancel, mut on_test) = (CancellationToken::new(), move |_: &_| on_test());
        let ran = timeout(patience(), self.runner.run_telling(&request, &cancel, &mut on_test));
        ran.await.expect("the run ends by itself")
    }

    /// Runs as often as the swarm takes runs at once; returns the machines that did the work.
    async fn everywhere(&self) -> BTreeSet<usize> {
        let reports = join_all((0..8).map(|_| self.run(|| ()))).await;
        for report in &reports {
            assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
        }
        reports.iter().map(|it| self.machine(it)).collect()
    }

    fn machine(&self, report: &Report) -> usize {
        let name = report.engine.as_ref().expect("an engine");
        self.machines.0.iter().position(|it| it == name).expect("one of them")
    }

    /// Ends the runner; no service and no container of it is left.
    async fn close(&self) {
        assert_eq!(self.runner.close().await, Vec::<String>::new());
        assert_eq!(self.machines.services(), BTreeSet::new());
        for machine in 0..3 {
            assert_eq!(self.machines.containers(machine), Vec::<String>::new());
        }
    }
}

/// Waits until a look succeeds.
async fn until(what: &str, look: impl Fn() -> bool) {
    let looking = async {
        while !look() {
            sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(patience(), looking).await.unwrap_or_else(|_| panic!("never: {what}"));
}

/// Does `work` beside a task that lets waiting tests on the given machines end.
async fn while_going<T>(
    machines: &Machines,
    which: Vec<usize>,
    work: impl Future<Output = T>,
) -> T {
    let machines = machines.clone();
    let going = async {
        loop {
            let (machines, which) = (machines.clone(), which.clone());
            let go = move || which.iter().for_each(|it| machines.go(*it));
            tokio::task::spawn_blocking(go).await.expect("no panic");
            sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::select! {
        done = work => done,
        () = going => unreachable!("it goes on for ever"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_are_tasks_of_a_service_on_all_nodes_without_a_network() {
    let Some(bed) = Bed::new().await else { return };
    bed.write("large.bin", vec![7; 300 << 10]);
    bed.write("test_a.py", ISOLATED);
    assert_eq!(bed.everywhere().await, BTreeSet::from([0, 1, 2]));
    assert_eq!(bed.machines.services().len(), 1);
    for machine in 0..3 {
        let (tasks, all) = (bed.machines.tasks(machine), bed.machines.containers(machine));
        assert!(all.iter().all(|it| tasks.contains(it)), "no container besides tasks");
    }
    bed.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn results_and_trees_are_those_of_one_engine() {
    let Some(bed) = Bed::new().await else { return };
    let suite = "import pathlib\ndef test_passes(): assert __file__ == str(pathlib.Path(__file__).resolve())\n\
                 def test_fails(): assert sorted(p.name for p in pathlib.Path('.').iterdir()) == []\n\
                 def test_writes(): open('new.txt', 'w').write('x')\n";
    bed.write("test_a.py", suite);
    let one = project();
    fs::write(one.path().join("test_a.py"), suite).expect("written");
    let config = Config { scratch: scratch(), ..Config::from_environment() };
    let name = &bed.machines.0[..1];
    let opened = open(name, &one).await.expect("an engine");
    let lines: Vec<String> = opened.absent.iter().map(ToString::to_string).collect();
    assert_eq!(lines.len(), 2, "the other nodes are not named: {lines:?}");
    assert!(lines[0].contains("as long as its engine is not named"), "{lines:?}");
    let alone = Runner::on_engines(opened.engines, &config);
    let request = Request::new(Tree::Folder(one.path().to_owned()));
    let expected = alone.run(&request, &CancellationToken::new()).await;
    assert_eq!(expected.engine.as_ref(), Some(&bed.machines.0[0]));
    assert_eq!(bed.machines.tasks(1), Vec::<String>::new(), "its engine was not named");
    assert_eq!(alone.close().await, Vec::<String>::new());
    let outcomes: Vec<TestOutcome> = expected.tests.iter().map(|it| it.outcome).collect();
    assert_eq!(outcomes, [TestOutcome::Passed, TestOutcome::Failed, TestOutcome::Passed]);

    for report in join_all((0..8).map(|_| bed.run(|| ()))).await {
        assert_eq!(results(&report), results(&expected));
        let text = |it: &Report| it.tests[1].failure.as_ref().map(|it| it.message.clone());
        assert_eq!(text(&report), text(&expected));
    }
    let left: Vec<_> = fs::read_dir(bed.folder.path()).expect("there").flatten().collect();
    assert_eq!(left.len(), 1, "the project is as it was");

    let report = bed.run_tree(files(&[("test_b.py", "def test_b(): pass\n")]), || ()).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    let report = bed.run_tree(files(&[("test_c.py", "def test_c(): assert 0\n")]), || ()).await;
    assert_eq!(report.outcome, Outcome::Failed, "{report:#?}");
    assert_eq!(bed.machines.services().len(), 2, "one for the folder, one for all texts");
    bed.close().await;
}

/// Begins a run on one machine while the others are drained, does `what` to that machine once another
/// one works again, and returns the report.
async fn disturbed(bed: &Bed, machine: usize, what: impl FnOnce()) -> Report {
    bed.write("test_a.py", WAITS);
    let others: Vec<usize> = (0..3).filter(|it| *it != machine).collect();
    others.iter().for_each(|it| bed.machines.availability(*it, "drain"));
    let begun = CancellationToken::new();
    let run = bed.run(|| begun.cancel());
    let disturb = async {
        begun.cancelled().await;
        others.iter().for_each(|it| bed.machines.availability(*it, "active"));
        // Another run goes to another machine once one is there again.
        let tree = || files(&[("test_b.py", "def test_b(): pass\n")]);
        while bed.machine(&bed.run_tree(tree(), || ()).await) == machine {
            assert_eq!(bed.runner.forget_copies().await, Vec::<String>::new());
        }
        what();
        while_going(&bed.machines, others.clone(), std::future::pending::<()>()).await;
    };
    let report = tokio::select! { report = run => report, () = disturb => unreachable!() };
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    assert_ne!(bed.machine(&report), machine);
    assert_eq!(report.tests.len(), 3);
    let says = |text: &str| report.notes.iter().any(|it| it.contains(text));
    assert!(says(&bed.machines.0[machine]) && says("repeated"), "{:?}", report.notes);
    report
}

/// Waits until all three machines take runs.
async fn whole(bed: &Bed) {
    bed.write("test_a.py", "def test_a(): pass\n");
    let all = async { while bed.everywhere().await.len() < 3 {} };
    timeout(patience(), all).await.expect("the nodes work again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_on_a_drained_node_is_repeated_on_another_and_an_active_one_works_again() {
    let Some(bed) = Bed::new().await else { return };
    disturbed(&bed, 1, || bed.machines.availability(1, "drain")).await;
    bed.machines.availability(1, "active");
    whole(&bed).await;
    bed.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_on_a_killed_engine_is_repeated_on_another_and_a_new_one_works_again() {
    let Some(bed) = Bed::new().await else { return };
    let Some(daemon) = Daemon::of(&bed.machines.0[2]) else {
        eprintln!("SKIPPED: the swarm's engines do not run on this machine");
        return;
    };
    disturbed(&bed, 2, || daemon.kill()).await;
    daemon.restart().await;
    whole(&bed).await;
    bed.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_are_in_containers_of_their_own_while_no_manager_answers() {
    let Some(bed) = Bed::new().await else { return };
    let Some(manager) = Daemon::of(&bed.machines.0[0]) else {
        eprintln!("SKIPPED: the swarm's engines do not run on this machine");
        return;
    };
    bed.write("test_a.py", "def test_a(): pass\n");
    manager.signal("-STOP");
    let report = bed.run(|| ()).await;
    manager.signal("-CONT");
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    assert_ne!(bed.machine(&report), 0);
    let said =
        "is in a container of its own, outside of its swarm: no manager of the swarm answers";
    assert!(report.notes.iter().any(|it| it.contains(said)), "{:?}", report.notes);
    whole(&bed).await;
    bed.close().await;
}

/// Gives the role of a manager from one machine to another.
async fn hand_over(machines: &Machines, from: usize, to: usize) {
    let (old, new) = (machines.node(from), machines.node(to));
    machines.docker(from, &["node", "promote", &new]);
    let manages = |machine| {
        machines.docker(machine, &["info", "--format", "{{.Swarm.ControlAvailable}}"]).trim()
            == "true"
    };
    until("the node is a manager", || manages(to)).await;
    machines.docker(to, &["node", "demote", &old]);
    until("the other one is none", || !manages(from)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_became_the_manager_gives_workers_their_tasks() {
    let Some(bed) = Bed::new().await else { return };
    hand_over(&bed.machines, 0, 1).await;
    bed.write("test_a.py", "def test_a(): pass\n");
    let worked = bed.everywhere().await;
    let tasks = [0, 1, 2].map(|it| bed.machines.tasks(it).is_empty());
    let closed = bed.runner.close().await;
    hand_over(&bed.machines, 1, 0).await;
    assert_eq!(worked, BTreeSet::from([0, 1, 2]));
    assert_eq!(tasks, [false; 3], "workers are tasks");
    assert_eq!(closed, Vec::<String>::new());
    bed.close().await;
}

/// The process of an engine.
struct Daemon {
    folder: PathBuf,
    pid: String,
    command: Vec<String>,
    /// Its network, which stays as long as this is open.
    network: fs::File,
}

impl Daemon {
    fn of(host: &str) -> Option<Daemon> {
        let folder = Path::new(host.strip_prefix("unix://")?).parent()?.to_owned();
        let pid = fs::read_to_string(folder.join("docker.pid")).ok()?.trim().to_owned();
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
        let command = line.split_terminator('\0').map(str::to_owned).collect();
        let network = fs::File::open(format!("/proc/{pid}/ns/net")).ok()?;
        Some(Daemon { folder, pid, command, network })
    }

    fn kill(&self) {
        self.signal("-KILL");
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.pid]).status();
        assert!(sent.expect("it starts").success());
    }

    /// Ends containerd of the killed engine, which dies a moment after it: as long as its process is
    /// not reaped, the next engine would take it for its own and wait for it in vain.
    async fn end_helper(&self) {
        let file = self.folder.join("exec/containerd/containerd.pid");
        let pid = fs::read_to_string(&file).expect("there").trim().to_owned();
        let line = || fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        until("containerd has ended", || {
            let lives = line().contains(&*self.folder.to_string_lossy());
            if lives {
                let _ = Command::new("kill").args(["-KILL", &pid]).status();
            }
            !lives
        })
        .await;
        fs::remove_file(file).expect("there");
    }

    /// Starts the same command again, in a session of its own, so that it outlives this test.
    async fn restart(&self) {
        self.end_helper().await;
        fs::remove_file(self.folder.join("docker.pid")).expect("there");
        let network = format!("--net=/proc/{}/fd/{}", std::process::id(), self.network.as_raw_fd());
        let log = fs::File::options().append(true).open(self.folder.join("log")).expect("a log");
        let mut command = Command::new("setsid");
        command.args(["--fork", "nsenter", &network]).args(&self.command).current_dir("/");
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
        assert!(command.status().expect("it starts").success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_joins_the_swarm_gets_tasks() {
    let Some(bed) = Bed::new().await else { return };
    bed.write("test_a.py", "def test_a(): pass\n");
    let token = bed.machines.docker(0, &["swarm", "join-token", "--quiet", "worker"]);
    let manager = bed.machines.docker(0, &["info", "--format", "{{.Swarm.NodeAddr}}"]);
    let address = bed.machines.docker(2, &["info", "--format", "{{.Swarm.NodeAddr}}"]);
    let old = bed.machines.node(2);
    bed.machines.docker(2, &["swarm", "leave", "--force"]);
    until("its node is down", || {
        let state = bed.machines.docker(0, &["node", "inspect", "-f", "{{.Status.State}}", &old]);
        state.trim() == "down"
    })
    .await;
    assert_eq!(bed.everywhere().await, BTreeSet::from([0, 1, 2]), "it still is an engine");
    assert_eq!(bed.machines.tasks(2), Vec::<String>::new());
    assert_eq!(bed.runner.forget_copies().await, Vec::<String>::new());

    let manager = format!("{}:2377", manager.trim());
    let join = ["swarm", "join", "--token", token.trim(), "--advertise-addr", address.trim()];
    bed.machines.docker(2, &[&join[..], &[&manager]].concat());
    bed.machines.docker(0, &["node", "rm", &old]);
    assert_eq!(bed.everywhere().await, BTreeSet::from([0, 1, 2]));
    assert_ne!(bed.machines.tasks(2), Vec::<String>::new());
    bed.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn services_of_a_process_that_was_killed_are_swept() {
    let Some(machines) = Machines::given() else { return };
    let folder = project();
    let service = |name: &str, labels: &BTreeMap<&str, String>| {
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("--label={name}={value}")).collect();
        let image = std::env::var("TRELLIS_TEST_IMAGE").expect("set");
        let mut create =
            vec!["service", "create", "--detach", "--no-resolve-image", "--name", name];
        create.extend(labels.iter().map(String::as_str));
        create.extend([&image, "sleep", "1000"]);
        machines.docker(0, &create);
    };
    let opened = open(&machines.0, &folder).await.expect("engines");
    let config = Config { scratch: scratch(), ..Config::from_environment() };
    let runner = Runner::on_engines(opened.engines, &config);
    fs::write(folder.path().join("test_a.py"), "def test_a(): pass\n").expect("written");
    let request = Request::new(Tree::Folder(folder.path().to_owned()));
    let report = runner.run(&request, &CancellationToken::new()).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    let own = machines.services();
    let name = own.first().expect("a service").clone();
    let format = "{{index .Spec.Labels \"trellis.owner\"}} {{index .Spec.Labels \"trellis.host\"}}";
    let labels = machines.docker(0, &["service", "inspect", "--format", format, &name]);
    let (owner, host) = labels.trim().split_once(' ').expect("two labels");
    let (_, rest) = owner.split_once('-').expect("a process and more");
    let gone = format!("4194305-{rest}");
    let host = host.to_owned();
    service(
        "trellis-stale",
        &BTreeMap::from([("trellis.owner", gone), ("trellis.host", host.clone())]),
    );
    assert_eq!(machines.services().len(), 2);
    open(&machines.0, &folder).await.expect("engines");
    assert_eq!(machines.services(), own, "that of a living process stays");
    assert_eq!(runner.close().await, Vec::<String>::new());
    assert_eq!(machines.services(), BTreeSet::new());
}
