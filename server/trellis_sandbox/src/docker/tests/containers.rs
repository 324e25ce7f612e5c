//! Tests of a container's pipes and limits.

use super::*;

const ECHO: &str = "
import sys
sys.stderr.write('ready'); sys.stderr.flush()
for line in sys.stdin:
    sys.stdout.write(line.upper()); sys.stdout.flush()
print('closed', flush=True)
sys.exit(3)
";

#[tokio::test]
async fn bytes_go_in_and_come_out() {
    let Some(engine) = engine().await else { return };
    let tree = tree();
    let (container, mut connection) = started(&engine, &tree, ECHO).await;
    say(&mut connection, "hello\n").await;
    assert_eq!(hear(&mut connection, 6).await, "HELLO\n");
    say(&mut connection, "again\n").await;
    assert_eq!(hear(&mut connection, 6).await, "AGAIN\n");
    let mut ready = [0; 5];
    connection.errors.read_exact(&mut ready).await.expect("errors");
    assert_eq!(&ready, b"ready");

    drop(connection.input);
    let mut rest = String::new();
    connection.output.read_to_string(&mut rest).await.expect("the end");
    assert_eq!(rest, "closed\n");
    let how = timeout(LONG, container.wait_end()).await.expect("an end");
    assert_eq!(how, ExitKind { exit_code: Some(3), oom_killed: false, engine_gone: false });
    assert!(gone(&engine, container.id()).await, "it removes itself");
    container.end().await.expect("gone already");
}

#[tokio::test]
async fn the_worker_sees_what_it_was_given_and_no_more() {
    let Some(engine) = engine().await else { return };
    let tree = tree();
    let program = format!(
        "
import os, resource, socket
def tries(action):
    try: return action()
    except OSError as error: return error.strerror
tree = {:?}
print(os.getpid(), os.getuid() != 0, os.environ['COLOUR'], 'HOME' in os.environ and os.environ['HOME'])
print(open(tree + '/seen.txt').read())
for path in [tree + '/new', '/new', '/etc/new', '/usr/new']:
    print(tries(lambda: open(path, 'w')))
for path in ['/tmp/new', '/home/t/new', '/dev/shm/new']:
    print(tries(lambda: open(path, 'w').write('x')))
print(tries(lambda: open('/tmp/big', 'wb').write(bytes(9 << 20))))
print([name for _, name in socket.if_nameindex()])
print(tries(lambda: socket.create_connection(('192.0.2.1', 80), 1)))
print(resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_FSIZE), resource.getrlimit(resource.RLIMIT_CORE))
print([line.split()[1] for line in open('/proc/self/status') if line.startswith(('CapBnd', 'CapEff', 'NoNewPrivs', 'Seccomp:'))])
",
        tree.path().display()
    );
    let (container, mut connection) = started(&engine, &tree, &program).await;
    let (mut output, mut errors) = (String::new(), String::new());
    connection.output.read_to_string(&mut output).await.expect("text");
    connection.errors.read_to_string(&mut errors).await.expect("text");
    container.end().await.expect("gone");
    let read_only = "Read-only file system\n".repeat(4);
    let limits = Limits::default();
    let expected = format!(
        "1 True blue green /\nfrom here\n{read_only}1\n1\n1\nNo space left on device\n['lo']\nNetwork is unreachable\n({open}, {open}) ({file}, {file}) (0, 0)\n['0000000000000000', '0000000000000000', '1', '2']\n",
        open = limits.open_files,
        file = limits.file_bytes,
    );
    assert_eq!((output.as_str(), errors.as_str()), (expected.as_str(), ""));
    let files: Vec<_> = std::fs::read_dir(tree.path()).expect("the tree").collect();
    assert_eq!(files.len(), 1, "nothing was written");
}

#[tokio::test]
async fn processes_are_bounded() {
    let Some(engine) = engine().await else { return };
    let (output, errors, how) = outcome(
        &engine,
        "
import os, time
for count in range(1000):
    try: child = os.fork()
    except BlockingIOError: break
    if child == 0: time.sleep(100)
print(count)
",
    )
    .await;
    assert_eq!((output.as_str(), errors.as_str()), ("31\n", ""), "32 with the worker");
    assert_eq!(how.exit_code, Some(0));
}

const HOG: &str = "kept = []\nwhile True: kept.append(bytearray(1 << 20))";

#[tokio::test]
async fn memory_is_bounded_and_the_kill_is_seen() {
    let Some(engine) = engine().await else { return };
    for _ in 0..5 {
        let (_, _, how) = outcome(&engine, HOG).await;
        let killed = ExitKind { exit_code: Some(137), oom_killed: true, engine_gone: false };
        assert_eq!(how, killed);
    }
}

#[tokio::test]
async fn a_child_killed_for_memory_is_seen_though_the_worker_lives() {
    let Some(engine) = engine().await else { return };
    let tree = tree();
    let program = format!(
        "
import os, sys
child = os.fork()
if child == 0:
    open('/proc/self/oom_score_adj', 'w').write('1000')
    exec({HOG:?})
os.waitpid(child, 0)
print('alive', flush=True)
sys.stdin.read()
"
    );
    let (container, mut connection) = started(&engine, &tree, &program).await;
    assert_eq!(hear(&mut connection, 6).await, "alive\n");
    drop(connection.input);
    let how = timeout(LONG, container.wait_end()).await.expect("an end");
    assert_eq!(how, ExitKind { exit_code: Some(0), oom_killed: true, engine_gone: false });
    assert!(container.memory_kills() >= 1);
    container.end().await.expect("gone");
}

/// Returns the peak memory of this process in bytes.
fn peak() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("/proc");
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number") << 10
}

#[tokio::test]
async fn a_gigabyte_of_output_takes_no_memory() {
    let Some(engine) = engine().await else { return };
    let tree = tree();
    let program = "
import os
block = b'x' * (1 << 20)
for _ in range(1024):
    left = memoryview(block)
    while left: left = left[os.write(1, left):]
";
    let (container, mut connection) = started(&engine, &tree, program).await;
    let before = peak();
    let mut block = vec![0; 1 << 16];
    let mut total = 0_u64;
    while let Ok(length @ 1..) = connection.output.read(&mut block).await {
        total += length as u64;
    }
    assert_eq!(total, 1 << 30);
    let grown = peak() - before;
    assert!(grown < 32 << 20, "{grown} bytes more");
    container.end().await.expect("gone");
}

#[tokio::test]
async fn a_writer_waits_for_its_reader() {
    let Some(engine) = engine().await else { return };
    let tree = tree();
    let program = "
import os, time
longest = 0
for _ in range(8 << 20 >> 12):
    began = time.monotonic()
    os.write(1, b'x' * 4096)
    longest = max(longest, time.monotonic() - began)
os.write(2, b'%f' % longest)
";
    let (container, mut connection) = started(&engine, &tree, program).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let mut sink = tokio::io::sink();
    let read = tokio::io::copy(&mut connection.output, &mut sink);
    let mut longest = String::new();
    let (read, errors) = tokio::join!(read, connection.errors.read_to_string(&mut longest));
    errors.expect("text");
    assert_eq!(read.expect("bytes"), 8 << 20, "nothing is lost");
    assert!(longest.parse::<f64>().expect("a number") > 1.0, "it was held up: {longest}");
    container.end().await.expect("gone");
}
