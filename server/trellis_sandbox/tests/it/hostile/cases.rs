//! Attempts of hostile code under test.

use std::{
    env, fs,
    io::ErrorKind,
    net::{TcpListener, UdpSocket},
    path::{Path, PathBuf},
};

use trellis_sandbox::{Outcome, TestOutcome};

use super::{Bed, limit_of_seconds};
use crate::support::{failure, left_in, only, peak_memory, processes_named, scratch, unique};

pub(crate) async fn an_endless_loop(bed: &Bed) {
    let report = bed.run_with("def test_a():\n    while True: pass\n", limit_of_seconds).await;
    assert_eq!(report.outcome, Outcome::TimedOut, "{report:#?}");
    assert_eq!(failure(&report).line, Some(2));
}

pub(crate) async fn a_fork_bomb(bed: &Bed) {
    let name = unique();
    let text = format!(
        "import ctypes, os, time\n\
         def test_a():\n    ctypes.CDLL(None).prctl(15, b'{name}')\n    while True:\n        \
         try: os.fork()\n        except OSError: time.sleep(0.1)\n"
    );
    let report = bed
        .run_with(&text, |request| {
            limit_of_seconds(request);
            request.limits.processes = 64;
        })
        .await;
    assert_eq!(report.outcome, Outcome::TimedOut, "{report:#?}");
    let held = report.limits.iter().any(|it| it.name == "processes" && it.enforced);
    assert!(held, "{:?}", report.limits);
    assert_eq!(processes_named(&name), 0);
}

pub(crate) async fn a_memory_hog(bed: &Bed) {
    for text in [
        "def test_a():\n    hog = []\n    while True: hog.append(bytearray(10_000_000))\n",
        "import mmap\ndef test_a():\n    hog = []\n    while True: hog.append(mmap.mmap(-1, 100_000_000))\n",
    ] {
        let report = bed.run_with(text, |request| request.limits.memory_bytes = 256 << 20).await;
        if report.outcome == Outcome::KilledForMemory {
            continue; // the run could not report any more
        }
        assert_eq!(report.outcome, Outcome::Failed, "{report:#?}");
        let failure = failure(&report);
        let expected = failure.exception == "MemoryError"
            || failure.message.contains("Cannot allocate memory");
        assert!(expected, "{failure:?}");
    }
}

/// Each process stays within its own limits.
pub(crate) async fn many_memory_hogs(bed: &Bed) {
    let text = "import os, time\n\
                def test_a():\n    for _ in range(8):\n        if os.fork() == 0:\n            \
                hog = bytearray(b'x' * 200_000_000)\n            time.sleep(1000)\n    hog = bytearray(b'x' * 200_000_000)\n    \
                time.sleep(1000)\n";
    let report = bed
        .run_with(text, |request| {
            limit_of_seconds(request);
            request.limits.memory_bytes = 512 << 20;
        })
        .await;
    let expected = [Outcome::KilledForMemory, Outcome::TimedOut];
    assert!(expected.contains(&report.outcome), "{report:#?}");
}

pub(crate) async fn gigabytes_of_output(bed: &Bed) {
    let before = peak_memory();
    let text = "import sys\ndef test_a(capfd):\n    with capfd.disabled():\n        \
                for _ in range(2000): sys.stdout.write('x' * 1_000_000)\n        sys.stdout.write('the end')\n";
    let report = bed.run_with(text, |request| request.limits.output_bytes = 100_000).await;
    match report.outcome {
        Outcome::Passed => assert!(report.stdout.contains("the end"), "{report:#?}"),
        ref other => assert_eq!(*other, Outcome::TimedOut, "{report:#?}"), // on a slow machine
    }
    assert!(report.stdout.len() < 101_000 && report.stdout.contains("bytes cut ...]"));
    assert!(peak_memory().saturating_sub(before) < 100 << 20, "grew from {before}");
}

pub(crate) async fn writing_to_the_repository(bed: &Bed) {
    bed.write("precious.txt", "precious");
    let text = "import os\nimport pytest\n\
                def test_new(): open('new', 'x')\n\
                def test_old(): open('precious.txt', 'a').write('spoiled')\n\
                def test_mode(): os.chmod('precious.txt', 0o777)\n\
                def test_moved(): os.rename('precious.txt', 'other')\n\
                def test_gone(): os.remove('other')\n";
    // Writes that are allowed are discarded: the second run finds what the first one found.
    for _ in 0..2 {
        let report = bed.run(text).await;
        let failed = report.tests.iter().filter(|it| it.outcome == TestOutcome::Failed).count();
        // Landlock does not control modes, which the report says.
        let expected = if bed.has_layer { 0 } else { 5 - usize::from(bed.bare) };
        assert_eq!(failed, expected, "{report:#?}");
    }
    assert_eq!(fs::read_to_string(bed.root().join("precious.txt")).expect("there"), "precious");
    assert!(!bed.root().join("new").exists() && !bed.root().join("other").exists());
}

pub(crate) async fn writing_to_the_home_directory(bed: &Bed) {
    let name = unique();
    let home = env::var("HOME").expect("a home");
    let text = format!(
        "import os\nimport pytest\n\
         def test_own():\n    open(os.path.expanduser('~/{name}'), 'w').write('x')\n\
         def test_real():\n    with pytest.raises(OSError): open('{home}/{name}', 'w')\n"
    );
    let report = bed.run(&text).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    assert!(!PathBuf::from(home).join(name).exists());
    let text = "import os\ndef test_a(): assert os.listdir(os.path.expanduser('~')) == []\n";
    assert_eq!(bed.run(text).await.outcome, Outcome::Passed, "what one run left, the next one saw");
}

pub(crate) async fn writing_to_tmp(bed: &Bed) {
    let name = unique();
    let text = format!(
        "import os, tempfile\n\
         def test_own():\n    open(os.path.join(tempfile.gettempdir(), '{name}'), 'w').write('x')\n\
         def test_real():\n    for folder in ('/tmp', '/var/tmp', '/dev/shm', '/run'):\n        \
         try: open(f'{{folder}}/{name}', 'w')\n        except OSError: pass\n"
    );
    let report = bed.run(&text).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    for folder in ["/tmp", "/var/tmp", "/dev/shm", "/run"] {
        assert!(!PathBuf::from(folder).join(&name).exists(), "{folder}");
    }
    let text = "import os, tempfile\ndef test_a(): assert not [it for it in os.listdir(tempfile.gettempdir()) if it.startswith('trellis-t')]\n";
    assert_eq!(bed.run(text).await.outcome, Outcome::Passed, "what one run left, the next one saw");
}

/// Cargo sets many variables for this test; they stand for secrets in the environment.
pub(crate) async fn reading_secrets(bed: &Bed) {
    assert!(env::var_os("CARGO_MANIFEST_DIR").is_some());
    let secrets = tempfile::tempdir_in(scratch()).expect("a folder");
    let key = secrets.path().join("id_rsa");
    fs::write(&key, "the key").expect("a file");
    let home = env::var("HOME").expect("a home");
    let mut hidden = left_in(Path::new(&home));
    hidden.retain(|it| !bed.interpreter.starts_with(Path::new(&home).join(it)));
    let text = format!(
        "import glob, os\nimport pytest\n\
         def test_file():\n    with pytest.raises(OSError): open('{}').read()\n\
         def test_home():\n    try: seen = os.listdir('{}')\n    except OSError: return\n    assert not set(seen) & set({hidden:?})\n\
         def test_shadow():\n    with pytest.raises(OSError): open('/etc/shadow').read()\n\
         def test_environment():\n    assert not [it for it in os.environ if it.startswith('CARGO')]\n\
         def test_others():\n    for file in glob.glob('/proc/[0-9]*/environ'):\n        \
         try: text = open(file, 'rb').read()\n        except OSError: continue\n        \
         assert b'CARGO_MANIFEST' not in text, file\n",
        key.display(),
        home,
    );
    let report = bed.run(&text).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
}

pub(crate) async fn opening_sockets(bed: &Bed) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let datagrams = UdpSocket::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("set");
    datagrams.set_nonblocking(true).expect("set");
    let text = format!(
        "import socket\nimport pytest\n\
         @pytest.mark.parametrize('place', [('127.0.0.1', {}), ('192.0.2.1', 80), ('1.1.1.1', 53)])\n\
         def test_connecting(place):\n    with pytest.raises(OSError): socket.create_connection(place, timeout=3)\n\
         def test_datagrams():\n    try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {}))\n    \
         except OSError: pass\n\
         def test_names():\n    with pytest.raises(OSError): socket.getaddrinfo('example.org', 80)\n",
        listener.local_addr().expect("bound").port(),
        datagrams.local_addr().expect("bound").port(),
    );
    let report = bed.run(&text).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    assert_eq!(listener.accept().expect_err("nobody came").kind(), ErrorKind::WouldBlock);
    assert_eq!(
        datagrams.recv(&mut [0; 8]).expect_err("nothing came").kind(),
        ErrorKind::WouldBlock
    );
}

pub(crate) async fn leaving_a_daemon(bed: &Bed) {
    let name = unique();
    // Without a process namespace, a process that also clears its environment cannot be found, and
    // the report says so.
    let environment = if bed.bare { "dict(os.environ)" } else { "{}" };
    let text = format!(
        "import os, sys, time\n\
         def test_a():\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            \
         code = 'import time; time.sleep(1000) # {name}'\n            \
         os.execve(sys.executable, [sys.executable, '-c', code], {environment})\n        os._exit(0)\n    time.sleep(0.3)\n"
    );
    let report = bed.run(&text).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    assert_eq!(processes_named(&name), 0);
    assert!(
        report.notes.iter().any(|it| it.contains("1 process was still running after the tests")),
        "{:?}",
        report.notes
    );
}

/// Whatever the outcome, a run does not pass by killing its parent, and the next run works.
pub(crate) async fn killing_the_parent(bed: &Bed) {
    let text = "import os, signal\n\
                def test_a():\n    for pid in (os.getppid(), 1, -1):\n        \
                try: os.kill(pid, signal.SIGKILL)\n        except OSError: pass\n    assert False, 'still here'\n";
    let report = bed.run(text).await;
    assert_ne!(report.outcome, Outcome::Passed, "{report:#?}");
}

pub(crate) async fn ignoring_signals(bed: &Bed) {
    let text = "import signal\n\
                def test_a():\n    for number in range(1, 65):\n        \
                try: signal.signal(number, signal.SIG_IGN)\n        except (OSError, ValueError): pass\n    \
                signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n    while True:\n        \
                try: signal.pause()\n        except BaseException: pass\n";
    let report = bed.run_with(text, limit_of_seconds).await;
    assert_eq!(report.outcome, Outcome::TimedOut, "{report:#?}");
}

pub(crate) async fn leaving_in_the_middle(bed: &Bed) {
    for leave in [
        "os._exit(0)",
        "os.kill(os.getpid(), 9)",
        "os.execv(sys.executable, [sys.executable, '-c', 'pass'])",
    ] {
        let report = bed
            .run(&format!(
                "import os, sys\ndef test_a(): pass\ndef test_b(): {leave}\ndef test_c(): assert False\n"
            ))
            .await;
        assert!(matches!(report.outcome, Outcome::Crashed { .. }), "{leave}: {report:#?}");
        let outcomes: Vec<TestOutcome> = report.tests.iter().map(|it| it.outcome).collect();
        assert_eq!(outcomes, [TestOutcome::Passed, TestOutcome::Crashed], "{leave}");
    }
}

pub(crate) async fn patching_pytest(bed: &Bed) {
    for patch in [
        "import _pytest.runner\n_pytest.runner.call_and_report = lambda *args, **rest: None\n",
        "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n",
        "import _pytest.reports\n_pytest.reports.TestReport.from_item_and_call = classmethod(lambda *args: None)\n",
        "import pluggy\npluggy._hooks.HookCaller.__call__ = lambda self, **rest: []\n",
    ] {
        let report = bed.run(&format!("{patch}def test_a(): assert False\n")).await;
        assert_ne!(report.outcome, Outcome::Passed, "{patch}: {report:#?}");
        bed.write("conftest.py", patch);
        let report = bed.run("def test_a(): assert False\n").await;
        assert_ne!(report.outcome, Outcome::Passed, "conftest, {patch}: {report:#?}");
        fs::remove_file(bed.root().join("conftest.py")).expect("removed");
    }
}

pub(crate) async fn changing_a_report(bed: &Bed) {
    for hook in [
        "def pytest_runtest_makereport(item, call):\n    \
         outcome = yield\n    report = outcome.get_result()\n    report.outcome, report.longrepr = 'passed', None\n",
        "def pytest_runtest_makereport(item, call):\n    call.excinfo = None\n    yield\n",
        "def pytest_runtest_call(item):\n    outcome = yield\n    outcome.force_result(None)\n",
    ] {
        bed.write(
            "conftest.py",
            &format!("import pytest\n@pytest.hookimpl(hookwrapper=True)\n{hook}"),
        );
        let report = bed.run("def test_a(): assert False\n").await;
        assert!(matches!(report.outcome, Outcome::Tampered { .. }), "{hook}: {report:#?}");
    }
    fs::remove_file(bed.root().join("conftest.py")).expect("removed");
}

/// A test with made-up reports has not run.
pub(crate) async fn making_up_reports(bed: &Bed) {
    for conftest in [
        "from _pytest.reports import TestReport\n\
         def pytest_runtest_protocol(item, nextitem):\n    \
         for when in ('setup', 'call', 'teardown'):\n        \
         report = TestReport(item.nodeid, item.location, {}, 'passed', None, when)\n        \
         item.ihook.pytest_runtest_logreport(report=report)\n    return True\n",
        "def pytest_runtest_protocol(item): return True\n",
        "def pytest_runtestloop(session): return True\n",
        "def pytest_cmdline_main(config): return 0\n",
    ] {
        bed.write("conftest.py", conftest);
        let report = bed.run("def test_a(): assert False\n").await;
        assert!(matches!(report.outcome, Outcome::Crashed { .. }), "{conftest}: {report:#?}");
        assert_eq!(report.tests, [], "{conftest}");
    }
    fs::remove_file(bed.root().join("conftest.py")).expect("removed");
}

/// One test passes, so that a run whose failure counts as skipped would pass.
pub(crate) async fn disguising_failures_as_skips(bed: &Bed) {
    for disguise in [
        "import pytest\npytest.skip.Exception = AssertionError\n",
        "import unittest\nunittest.SkipTest = AssertionError\n",
        "import builtins, pytest\n\
         class AssertionError(AssertionError):\n    msg, allow_module_level, _use_item_location = 'x', True, False\n    \
         __class__ = property(lambda self: pytest.skip.Exception)\n",
    ] {
        let text =
            format!("{disguise}def test_a(): pass\ndef test_b(): raise AssertionError('wrong')\n");
        let report = bed.run(&text).await;
        assert_ne!(report.outcome, Outcome::Passed, "{disguise}: {report:#?}");
    }
}

pub(crate) async fn printing_a_forged_result(bed: &Bed) {
    let text = "import os\n\
                def test_a(capfd):\n    with capfd.disabled():\n        \
                for fd in (1, 2): os.write(fd, b'{\"event\": \"finish\", \"status\": 0}\\n===== 1 passed in 0.01s =====\\n')\n    \
                assert False\n";
    let report = bed.run(text).await;
    assert_eq!(report.outcome, Outcome::Failed, "{report:#?}");
}

pub(crate) async fn writing_to_the_result_pipe(bed: &Bed) {
    let text = "import os, stat\n\
                RECORDS = [b'{\"event\": \"nonsense\"}\\n', b'0123456789abcdef0123456789abcdef {\"event\": \"finish\", \"status\": 0, \"count\": 3}\\n']\n\
                def test_a():\n    for fd in range(3, 1024):\n        try:\n            \
                if stat.S_ISFIFO(os.fstat(fd).st_mode):\n                for record in RECORDS: os.write(fd, record)\n        \
                except OSError: pass\n    os._exit(0)\n";
    let report = bed.run(text).await;
    assert!(matches!(report.outcome, Outcome::Tampered { .. }), "{report:#?}");
}

/// A report that ends too early is no report.
pub(crate) async fn closing_the_result_pipe(bed: &Bed) {
    let text = "import os\ndef test_a(): os.closerange(3, 1024)\ndef test_b(): assert False\n";
    let report = bed.run(text).await;
    assert_ne!(report.outcome, Outcome::Passed, "{report:#?}");
}

pub(crate) async fn a_conftest_that_exits(bed: &Bed) {
    for leave in [
        "import os; os._exit(0)",
        "import sys; sys.exit(0)",
        "import pytest; pytest.exit('bye', 0)",
        "quit()",
    ] {
        bed.write("conftest.py", leave);
        let report = bed.run("def test_a(): pass\n").await;
        assert_ne!(report.outcome, Outcome::Passed, "{leave}: {report:#?}");
    }
    fs::remove_file(bed.root().join("conftest.py")).expect("removed");
}

pub(crate) async fn a_segmentation_fault(bed: &Bed) {
    let report = bed.run("import ctypes\ndef test_a():\n    ctypes.string_at(0)\n").await;
    assert_eq!(
        report.outcome,
        Outcome::Crashed { signal: Some(11), exit_code: None },
        "{report:#?}"
    );
    assert_eq!(only(&report).outcome, TestOutcome::Crashed);
}

pub(crate) async fn deep_recursion(bed: &Bed) {
    let report = bed.run("def f(): f()\ndef test_a(): f()\n").await;
    assert_eq!(failure(&report).exception, "RecursionError");
    let text = "import sys\n\
                class A:\n    def __getattr__(self, name): return getattr(self, name + 'x')\n\
                def test_a():\n    sys.setrecursionlimit(10**8)\n    f = lambda x: f(x)\n    repr_of = []\n    \
                for _ in range(10**6): repr_of = [repr_of]\n    repr(repr_of)\n";
    let report = bed.run_with(text, limit_of_seconds).await;
    assert_ne!(report.outcome, Outcome::Passed, "{report:#?}");
}

pub(crate) async fn deleting_its_own_file(bed: &Bed) {
    let report = bed.run("import os\ndef test_a(): os.remove(__file__)\n").await;
    let expected = if bed.has_layer { Outcome::Passed } else { Outcome::Failed };
    assert_eq!(report.outcome, expected, "{report:#?}");
    assert!(bed.root().join("test_a.py").exists());
}

/// The process that reports the end of every run is out of reach.
pub(crate) async fn looking_into_the_worker(bed: &Bed) {
    let text = "import glob, os\nimport pytest\n\
                def test_a():\n    parent = os.getppid()\n    for name in ('mem', 'environ', 'maps'):\n        \
                with pytest.raises(OSError): open(f'/proc/{parent}/{name}', 'rb').read(1)\n    \
                for number in range(100):\n        with pytest.raises(OSError): os.open(f'/proc/{parent}/fd/{number}', os.O_RDWR)\n";
    let report = bed.run(text).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
}

/// The next run does not inherit changes that this one made to the worker.
pub(crate) async fn changing_the_workers_limits(bed: &Bed) {
    let seen =
        "[os.nice(0), len(os.sched_getaffinity(0)), resource.getrlimit(resource.RLIMIT_CORE)[0]]";
    let look = format!("import os, resource\ndef test_a(): print({seen})\n");
    let before = bed.run(&look).await;
    for change in [
        "os.setpriority(os.PRIO_PROCESS, worker, 19)",
        "os.sched_setaffinity(worker, list(os.sched_getaffinity(0))[:1])",
        "resource.prlimit(worker, resource.RLIMIT_NPROC, (0, 0))",
        "resource.prlimit(worker, resource.RLIMIT_FSIZE, (0, 0))",
    ] {
        let text = format!(
            "import os, resource\ndef test_a():\n    worker = os.getppid()\n    \
             try: {change}\n    except OSError: pass\n"
        );
        bed.run(&text).await;
        let after = bed.run(&look).await;
        assert_eq!(after.outcome, Outcome::Passed, "{change}: {after:#?}");
        assert_eq!(only(&after).stdout, only(&before).stdout, "{change}");
    }
}

pub(crate) async fn escaping_by_namespaces(bed: &Bed) {
    let text = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n\
                def test_unshare(): assert libc.unshare(0x10000000) == -1  # CLONE_NEWUSER\n\
                def test_mount(): assert libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == -1\n\
                def test_ptrace(): assert libc.ptrace(16, 1, 0, 0) == -1\n\
                def test_keys(): assert libc.syscall(250, 0, -3, 1) == -1\n";
    let report = bed.run(text).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
}
