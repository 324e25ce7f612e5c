//! Small projects; `#- path` begins a file. Output of a test is part of the comparison.

pub(super) const ALL: &[(&str, &str)] = &[
    ("options in pytest.ini", r#"
#- pytest.ini
[pytest]
addopts = -rA --durations=1 --durations-min=0.01 -k "not left_out" --tb=short
testpaths = checks
python_files = check_*.py
#- checks/check_a.py
import time
def test_slow(): time.sleep(0.3)
def test_left_out(): assert 0
def test_fails():
    value = {"a": [1, 2, 3]}
    assert value == {"a": [1, 2, 4]}
#- other/check_b.py
def test_b(): assert 0
"#),
    ("options in pyproject.toml", r#"
#- pyproject.toml
[tool.pytest.ini_options]
addopts = ["-v", "-l", "--maxfail=2", "--import-mode=importlib"]
pythonpath = ["source"]
#- source/thing.py
def thing(): return 5
#- tests/test_a.py
from thing import thing
def test_a():
    seen = thing()
    assert seen == 6
def test_b(): assert thing() == 5
#- tests/more/test_a.py
import sys
def test_a(): assert __name__ == "tests.more.test_a", (__name__, sorted(sys.path))
def test_c(): assert 0
def test_d(): assert 0
"#),
    ("options in tox.ini", "
#- tox.ini
[pytest]
addopts = --strict-markers -q -rs
markers = slow: takes its time
#- test_a.py
import pytest
@pytest.mark.slow
def test_a(): pytest.skip('not now')
def test_b(): pytest.importorskip('no_such_module')
"),
    ("options in setup.cfg", "
#- setup.cfg
[tool:pytest]
addopts = -vv --no-header --no-summary
usefixtures = always
#- conftest.py
import pytest
@pytest.fixture
def always(): print('always there'); yield; print('always gone')
#- test_a.py
def test_a(): assert 1 == 2
"),
    ("an unknown mark under --strict-markers", "
#- pytest.ini
[pytest]
addopts = --strict-markers
#- test_a.py
import pytest
@pytest.mark.unheard
def test_a(): pass
#- test_b.py
def test_b(): pass
"),
    ("an option that does not exist", "
#- pytest.ini
[pytest]
addopts = --no-such-option
#- test_a.py
def test_a(): pass
"),
    ("an ini file that cannot be read", "
#- pytest.ini
[pytest
addopts = -v
#- test_a.py
def test_a(): pass
"),
    ("a setting of a wrong kind", "
#- pytest.ini
[pytest]
addopts = --strict-config
unheard_of = 1
#- test_a.py
def test_a(): pass
"),
    ("a plugin that does not exist", "
#- pytest.ini
[pytest]
addopts = -p no_such_plugin
#- test_a.py
def test_a(): pass
"),
    ("nothing to run", "
#- helper.py
def test_a(): pass
"),
    ("everything deselected", "
#- pytest.ini
[pytest]
addopts = -k nothing_has_this_name
#- test_a.py
def test_a(): pass
"),
    ("collection errors", "
#- test_a.py
import nowhere
#- test_b.py
def test_b(:
#- test_c.py
raise ValueError('at import')
#- test_d.py
def test_d(): pass
#- test_e.py
import pytest
pytest.skip('the whole module', allow_module_level=True)
#- test_f.py
import pytest
pytest.skip('not allowed here')
"),
    ("collection errors that do not matter", "
#- pytest.ini
[pytest]
addopts = --continue-on-collection-errors
#- test_a.py
import nowhere
#- test_b.py
def test_b(): pass
"),
    ("only collecting", "
#- pytest.ini
[pytest]
addopts = --collect-only -q
#- test_a.py
import pytest
@pytest.mark.parametrize('a', ['x', 1, 2.5, None, True, b'bytes', 'é', '', 'a b', object, ('t', 1), pytest.param(1, id='own')])
def test_a(a): pass
class TestB:
    class TestC:
        def test_d(self): pass
"),
    ("a conftest that fails", "
#- conftest.py
import nowhere
#- test_a.py
def test_a(): pass
"),
    ("an internal error", "
#- conftest.py
def pytest_runtest_logreport(report):
    if report.when == 'setup': raise ValueError('from a hook')
#- test_a.py
def test_a(): pass
def test_b(): pass
"),
    ("another internal error", "
#- conftest.py
def pytest_collection_modifyitems(items): items[0].no_such_attribute
#- test_a.py
def test_a(): pass
"),
    ("an error in a protocol", "
#- conftest.py
def pytest_runtest_protocol(item): raise ValueError('no protocol')
#- test_a.py
def test_a(): pass
"),
    ("fixtures of all scopes", "
#- pytest.ini
[pytest]
addopts = --setup-show -s
#- conftest.py
import pytest
@pytest.fixture(scope='session', params=['one', 'two'])
def session(request): yield request.param; print('session ends')
@pytest.fixture(scope='package')
def package(session): yield session + ' package'; print('package ends')
@pytest.fixture(scope='module', autouse=True)
def module(package): yield package + ' module'; print('module ends')
#- pkg/__init__.py
#- pkg/conftest.py
import pytest
@pytest.fixture(scope='class')
def kind(module): yield module + ' class'; print('class ends')
@pytest.fixture
def function(kind, tmp_path): return kind + ' function ' + tmp_path.name
#- pkg/test_a.py
class TestA:
    def test_a(self, function): print(function)
    def test_b(self, function): assert function == ''
#- pkg/test_b.py
def test_b(function): print(function)
"),
    ("hooks and plugins of the project", "
#- pytest.ini
[pytest]
addopts = -p own.plugin --shout
#- own/__init__.py
#- own/plugin.py
import pytest
def pytest_addoption(parser): parser.addoption('--shout', action='store_true'); parser.addini('volume', 'how loud', default='11')
def pytest_configure(config): config.addinivalue_line('markers', 'loud: is loud')
def pytest_report_header(config): return [f\"volume {config.getini('volume')} {config.option.shout}\"]
@pytest.fixture
def loud(): return 'LOUD'
def check(value): assert value == 'quiet'
#- own/other.py
import pytest
@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    print('before', item.name)
    try: return (yield)
    finally: print('after', item.name)
#- conftest.py
pytest_plugins = ['own.other']
def pytest_collection_modifyitems(items): items.reverse()
def pytest_generate_tests(metafunc):
    if 'made' in metafunc.fixturenames: metafunc.parametrize('made', [1, 2])
def pytest_assertrepr_compare(op, left, right): return [f'own words for {left} {op} {right}'] if left == 3 else None
def pytest_terminal_summary(terminalreporter): terminalreporter.write_line('a line of our own')
def pytest_unconfigure(config): print('unconfigured')
def pytest_make_parametrize_id(val): return f'<{val}>' if val == 2 else None
#- test_a.py
from own.plugin import check
def test_a(loud, made): assert loud == 'LOUD' and made == 1
def test_b(): assert 3 == 4
def test_c(loud): check(loud)
"),
    ("a hook that changes the exit status", "
#- conftest.py
def pytest_sessionfinish(session, exitstatus):
    print('status', int(exitstatus)); session.exitstatus = 7
#- test_a.py
def test_a(): pass
"),
    ("pytest within pytest", "
#- pytest.ini
[pytest]
addopts = -rP
#- conftest.py
pytest_plugins = 'pytester'
#- test_a.py
import pytest
def test_inside(pytester):
    pytester.makepyfile('import pytest\\n@pytest.fixture\\ndef f(): return 1\\ndef test_a(f): assert f == 2\\ndef test_b(): pass')
    pytester.makeconftest('def pytest_configure(config): print(sorted(n for n, p in config.pluginmanager.list_name_plugin() if p and \"trellis\" in n))')
    pytester.runpytest_inprocess().assert_outcomes(passed=1, failed=1)
    pytester.runpytest_inprocess('-p', 'no:cacheprovider').assert_outcomes(passed=1, failed=1)
def test_outside(pytester):
    pytester.makepyfile('def test_a(): pass')
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
def test_main(tmp_path):
    path = tmp_path / 'test_inner.py'
    path.write_text('def test_a(): pass')
    assert pytest.main([str(path), '-q']) == 0
"),
    ("classes and unittest", "
#- pytest.ini
[pytest]
addopts = -v -rA
#- test_a.py
import unittest
class TestPlain:
    def setup_method(self): self.x = 1
    def teardown_method(self): print('torn down')
    def test_a(self): assert self.x == 1
class TestWithInit:
    def __init__(self): pass
    def test_b(self): pass
def setUpModule(): print('module up')
def tearDownModule(): print('module down')
class Old(unittest.TestCase):
    @classmethod
    def setUpClass(cls): print('class up'); cls.addClassCleanup(print, 'class cleaned')
    def setUp(self): self.addCleanup(print, 'cleaned')
    def test_c(self): self.assertEqual([1, 2], [1, 3])
    def test_sub(self):
        for n in range(3):
            with self.subTest('each', n=n): self.assertNotEqual(n, 1)
    @unittest.expectedFailure
    def test_known(self): self.fail('known')
    @unittest.expectedFailure
    def test_unexpected(self): pass
    @unittest.skip('later')
    def test_later(self): pass
class Async(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self): self.y = 2
    async def test_d(self): self.assertEqual(self.y, 2)
"),
    ("doctests", "
#- pytest.ini
[pytest]
addopts = --doctest-modules --doctest-glob=*.md
#- thing.py
'''
>>> 1 + 1
2
'''
def f():
    '''
    >>> f()
    4
    '''
    return 3
#- read.md
>>> import sys; print(__name__, sys.argv[0] != '')
__main__ True
>>> {}['x']
"),
    ("warnings", "
#- test_a.py
import warnings, pytest
def test_a(): warnings.warn('plain'); warnings.warn('old', DeprecationWarning)
def test_b(): warnings.warn('soon', PendingDeprecationWarning)
@pytest.mark.filterwarnings('ignore')
def test_c(): warnings.warn('unseen')
def test_d(recwarn):
    warnings.warn('seen', UserWarning); assert len(recwarn) == 1
def test_e():
    with pytest.warns(UserWarning, match='yes'): warnings.warn('yes')
def test_f(): open(__file__)
def test_g(): assert '\\d'
def test_h(): return 1
async def test_i(): pass
"),
    ("warnings are errors", "
#- pytest.ini
[pytest]
filterwarnings = error
#- test_a.py
import pytest, sys
@pytest.mark.parametrize('name', ['imp', 'cgi', 'asynchat', 'telnetlib', 'lib2to3', 'distutils', 'pipes', 'uu', 'audioop', 'xml.dom', 'sched'])
def test_import(name): __import__(name)
def test_unclosed(): open(__file__)
def test_unraisable():
    class A:
        def __del__(self): raise ValueError('in del')
    A()
def test_thread():
    import threading
    thread = threading.Thread(target=lambda: 1 / 0); thread.start(); thread.join()
def test_regex():
    import re; re.compile('[[a]')
def test_utcnow():
    import datetime; datetime.datetime.utcnow()
def test_fork():
    import os
    pid = os.fork()
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
def test_loop():
    import asyncio; asyncio.get_event_loop()
"),
    ("captured output", "
#- pytest.ini
[pytest]
addopts = -rA
log_level = INFO
#- test_a.py
import logging, os, sys, subprocess
def test_sys(capsys): print('out'); print('err', file=sys.stderr); assert capsys.readouterr() == ('out\\n', 'err\\n')
def test_fd(capfd): os.write(1, b'raw'); subprocess.run(['echo', 'child']); assert capfd.readouterr().out == 'rawchild\\n'
def test_binary(capsysbinary): sys.stdout.buffer.write(b'\\xff'); assert capsysbinary.readouterr().out == b'\\xff'
def test_log(caplog):
    logging.getLogger('x').info('info'); logging.debug('unseen')
    with caplog.at_level(logging.DEBUG): logging.debug('seen')
    assert [it.message for it in caplog.records] == ['info', 'seen']
def test_shown(): print('é ☃ \\U0001f600'); os.write(2, b'\\xff\\xfe raw'); logging.warning('warned'); assert 0
def test_streams():
    for stream in (sys.stdin, sys.stdout, sys.stderr, sys.__stdin__, sys.__stdout__, sys.__stderr__):
        print(type(stream).__name__, *(getattr(stream, name, None) for name in ('name', 'mode', 'encoding', 'errors', 'newlines', 'line_buffering', 'write_through', 'closed')))
def test_input(): input()
"),
    ("nothing captured", "
#- pytest.ini
[pytest]
addopts = -s
#- test_a.py
import os, sys, subprocess
def test_streams():
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        print(type(stream).__name__, *(getattr(stream, name, None) for name in ('name', 'mode', 'encoding', 'errors', 'newlines', 'line_buffering', 'write_through', 'closed')), stream.isatty(), stream.fileno())
    print(type(sys.stdin.buffer), type(sys.stdin.buffer.raw), sys.stdin.buffer.raw.name, sys.stdin.buffer.raw.mode, sys.stdin.buffer.raw.closefd)
    print(type(sys.stdout.buffer), type(sys.stdout.buffer.raw), sys.stdout.buffer.raw.name, sys.stdout.buffer.raw.mode, sys.stdout.buffer.raw.closefd)
    print(sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__)
def test_read(): print(repr(sys.stdin.read()), os.read(0, 10))
def test_mixed():
    print('one', flush=True); subprocess.run(['echo', 'two']); os.write(1, b'three\\n'); print('four')
"),
    ("built-in fixtures", "
#- pytest.ini
[pytest]
addopts = -rA
own = 5
tmp_path_retention_policy = failed
#- conftest.py
def pytest_addoption(parser): parser.addini('own', 'ours')
#- side/inner.py
x = 1
#- test_a.py
import os, sys
def test_paths(tmp_path, tmp_path_factory, tmpdir):
    print(tmp_path, tmpdir, tmp_path_factory.mktemp('made'), tmp_path_factory.getbasetemp(), oct(tmp_path.stat().st_mode))
def test_patch(monkeypatch, tmp_path):
    monkeypatch.setenv('OWN', '1'); monkeypatch.delenv('LANG'); monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(os.path.join(os.path.dirname(__file__), 'side'))
    import inner
    assert inner.x == 1 and os.getcwd() == str(tmp_path)
def test_unpatched():
    print(os.getcwd(), 'OWN' in os.environ, os.environ['LANG'], [it for it in sys.path if it.endswith('side')])
def test_request(request, pytestconfig, cache):
    config = request.config
    print(config.rootpath, config.inipath, config.getini('own'), config.args, config.invocation_params.dir)
    print(config.invocation_params.plugins, config.option.verbose, config.option.color, config.cache is cache)
    print([it for it in config.invocation_params.args if 'junitxml' not in it])
    print(sorted(name for name, plugin in config.pluginmanager.list_name_plugin() if plugin and not name.isdigit() and 'trellis' not in name))
    cache.set('own/key', 1)
    assert cache.get('own/key', 0) == 1 and cache.get('own/left', None) is None
    cache.set('own/left', 1)
"),
    ("the last run's failures first", "
#- pytest.ini
[pytest]
addopts = --ff -v
#- test_a.py
def test_a(): pass
def test_b(): assert 0
"),
    ("circumstances", r##"
#- pytest.ini
[pytest]
addopts = -rP
#- test_a.py
import builtins, contextvars, gc, locale, os, signal, sys, threading, tracemalloc, warnings
def test_interpreter():
    print([it for it in sys.argv if "junitxml" not in it], [it for it in sys.orig_argv if "junitxml" not in it])
    print(sys.path, sys.executable, sys.prefix, sys.base_prefix, sys.flags, sys.warnoptions, sys._xoptions)
    print(*(type(it).__name__ if not isinstance(it, type) else it.__name__ for it in sys.meta_path), len(sys.path_hooks))
    print(sys.getrecursionlimit(), sys.getswitchinterval(), sys.getprofile(), sys.gettrace(), sys.dont_write_bytecode, sys.pycache_prefix)
    print(sys.excepthook, sys.displayhook, sys.breakpointhook, sys.unraisablehook.__name__, threading.excepthook.__name__, sys.getdlopenflags())
    print(sys.get_asyncgen_hooks(), sys.get_coroutine_origin_tracking_depth(), hasattr(sys, "last_value"), hasattr(sys, "ps1"), sys.stdlib_module_names is not None)
def test_main():
    import __main__
    print(sorted(vars(__main__)), __main__.__file__, __main__.__spec__.name, __main__.__package__, __main__.__name__, sys.modules["__main__"] is __main__)
    print(sorted(name for name in sys.modules if "trellis" in name or name in ("worker", "child", "channel", "reporter", "loader")))
    print(sorted(set(vars(builtins)) - {"_"}), builtins.__import__)
def test_process():
    print(os.getcwd(), sorted(os.environ.items()))
    print([(n, signal.getsignal(n)) for n in sorted(signal.valid_signals())], signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.getitimer(signal.ITIMER_REAL))
    status = dict(line.split(":\t") for line in open("/proc/self/status"))
    # The C library's own signals are as the one who started pytest had them.
    print([status[name] for name in ("SigPnd", "ShdPnd", "Threads", "Umask", "TracerPid")], [int(status[name], 16) & ~(3 << 31) for name in ("SigBlk", "SigIgn")])
    print(os.nice(0), os.getpriority(os.PRIO_PROCESS, 0), len(os.sched_getaffinity(0)), os.sched_getscheduler(0), oct(os.umask(0o22)), os.cpu_count())
    # From 10 on: what the one who started pytest has left open, and what Trellis keeps out of the way.
    print([(fd, os.readlink(f"/proc/self/fd/{fd}").split(":")[0].split("#")[0]) for fd in sorted(map(int, os.listdir("/proc/self/fd"))) if fd < 10 and os.path.exists(f"/proc/self/fd/{fd}")])
    print(open("/proc/self/comm").read())
def test_threads():
    print(threading.active_count(), threading.current_thread() is threading.main_thread(), threading.main_thread().name, os.listdir("/proc/self/task") == [str(os.getpid())])
    print(threading.get_native_id() == os.getpid(), threading.Thread().name, threading.stack_size(), threading.main_thread().ident == threading.get_ident(), threading.main_thread().native_id == os.getpid())
def test_state():
    print(gc.isenabled(), gc.get_threshold(), gc.callbacks, gc.get_debug(), gc.garbage, tracemalloc.is_tracing())
    print(locale.setlocale(locale.LC_ALL), locale.getlocale(), locale.getpreferredencoding(), sys.getfilesystemencoding(), sys.getdefaultencoding())
    print(len(contextvars.copy_context()), [it[:3] for it in warnings.filters], warnings.showwarning.__module__)
    import logging; print(logging.getLogger().handlers != [], logging.getLogger().level, logging.lastResort.level, logging.raiseExceptions)
    import random; print(random.Random(5).random())
    import decimal, socket, time, datetime; print(decimal.getcontext(), socket.getdefaulttimeout(), time.tzname, time.timezone, datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc).astimezone())
    import tempfile; print(tempfile.gettempdir(), tempfile.tempdir)
    import asyncio; print(asyncio.get_event_loop_policy().__class__.__name__, asyncio._get_running_loop())
    import faulthandler; print(faulthandler.is_enabled())
    import atexit; print(atexit._ncallbacks() >= 0)
    import time; print(time.process_time() < 5, time.thread_time() < 5, logging._startTime > 0)
def test_usage():
    import resource
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(usage.ru_utime, usage.ru_stime, usage.ru_maxrss)
    try: print(os.waitpid(-1, os.WNOHANG))
    except ChildProcessError as error: print(error)
"##),
    ("hash order", "
#- pytest.ini
[pytest]
addopts = -rP
#- test_a.py
import hashlib, os, sys
def test_a(): print(hash('text'), list({'a', 'b', 'c', 'd', 'e'}), sys.flags.hash_randomization, sys.hash_info)
"),
    ("chance", "
#- pytest.ini
[pytest]
addopts = -s
#- test_a.py
import random, uuid, secrets, os, tempfile, multiprocessing, ssl, email.utils, email.generator, threading, queue, sched, time, asyncio, socket, http.client, urllib.request, xmlrpc.client, mimetypes, concurrent.futures, smtplib, imaplib, unittest.mock
def test_a(tmp_path):
    print()
    for value in (random.random(), random.SystemRandom().random(), uuid.uuid4(), uuid.uuid1(), secrets.token_hex(), os.urandom(4), next(tempfile._get_candidate_names()),
                  multiprocessing.current_process().authkey, ssl.RAND_bytes(8), email.utils.make_msgid(), email.generator._make_boundary(),
                  random.sample(range(10 ** 9), 2), random.getstate()[1][:5], random.Random().random()):
        print('unique', value)
    print(uuid.UUID(int=5), random.Random(5).random(), multiprocessing.Process().name, multiprocessing.current_process().name, threading.Thread().name)
    print(concurrent.futures.ThreadPoolExecutor()._thread_name_prefix, asyncio.new_event_loop().get_debug())
    async def name(): return asyncio.current_task().get_name()
    print(asyncio.run(name()))
#- test_b.py
def test_b(): pass
"),
    ("processes", "
#- pytest.ini
[pytest]
addopts = -rP -s
#- helper.py
def double(x): return 2 * x
#- test_a.py
import concurrent.futures, multiprocessing, os, subprocess, sys
import pytest
from helper import double
def where(_): import __main__, sys; return __name__, __main__.__name__, getattr(__main__, '__file__', None), [it for it in sys.argv if 'junit' not in it], sys.path, os.getcwd()
@pytest.mark.parametrize('method', ['fork', 'spawn', 'forkserver'])
def test_pool(method):
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool: print(pool.map(double, range(4)), pool.map(where, [0]))
def test_executor():
    with concurrent.futures.ProcessPoolExecutor(2) as pool: print(list(pool.map(double, range(3))))
def test_default(): print(multiprocessing.get_start_method(), multiprocessing.parent_process(), multiprocessing.active_children())
def test_interpreter():
    code = 'import os, sys; print(sys.path, sys.argv, sys.flags, sorted(os.environ), os.listdir(\"/proc/self/fd\"), sorted(sys.modules))'
    print(subprocess.run([sys.executable, '-c', code, 'x'], capture_output=True, text=True))
def test_module():
    print(subprocess.run([sys.executable, '-m', 'helper'], capture_output=True, text=True))
def test_shell(): print(subprocess.run('echo $0 $PPID | cut -c1-3; cat; trap; ulimit -c', shell=True, capture_output=True, text=True))
def test_popen():
    with subprocess.Popen(['sleep', '10']) as process: process.terminate()
    print(process.returncode)
def test_manager():
    with multiprocessing.Manager() as manager: print(manager.dict(a=1))
    value = multiprocessing.Value('i', 3); print(value.value)
def test_shared():
    from multiprocessing import shared_memory
    memory = shared_memory.SharedMemory(create=True, size=10); memory.close(); memory.unlink()
"),
    ("threads that outlive the tests", "
#- test_a.py
import sys, threading, time
after = threading.Event()
def late(): after.wait(); print('late'); print('late error', file=sys.stderr)
def test_a(): threading.Thread(target=late).start()
def test_b(): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
def test_c():
    timer = threading.Timer(0.1, lambda: (print('timed'), after.set())); timer.start()
"),
    ("exit handlers", "
#- conftest.py
import atexit, sys, tempfile, threading, weakref
atexit.register(print, 'first registered')
@atexit.register
def fails(): raise ValueError('at exit')
atexit.register(lambda: sys.stderr.write('last\\n'))
class Kept: pass
kept = Kept()
weakref.finalize(kept, print, 'finalized')
kept.folder = tempfile.TemporaryDirectory()
threading._register_atexit(print, 'threads end')
#- test_a.py
def test_a(): pass
"),
    ("logging at exit", "
#- conftest.py
import atexit, logging, logging.handlers, sys
stream = logging.StreamHandler(sys.__stdout__)
logging.getLogger('own').addHandler(logging.handlers.MemoryHandler(100, target=stream))
logging.getLogger('own').propagate = False
atexit.register(logging.getLogger('own').warning, 'at exit')
#- test_a.py
import logging
def test_a(): logging.getLogger('own').warning('from a test')
def test_late():
    import atexit; atexit.register(logging.warning, 'to nobody')
"),
    ("exit handlers that exit", "
#- test_a.py
import atexit, sys
def leave(): sys.exit(9)
def test_a(): atexit.register(leave)
"),
    ("an exit in a thread's hook and a bad status", "
#- conftest.py
def pytest_sessionfinish(session): session.exitstatus = 300
#- test_a.py
def test_a(): pass
"),
    ("names of the standard library", "
#- queue.py
own = 'queue'
#- calendar.py
own = 'calendar'
#- code.py
own = 'code'
#- test_a.py
import queue, calendar, code
def test_a(): print(queue.__file__, calendar.__file__, code.__file__); assert queue.own == 'queue'
def test_b(): assert code.own == 'code'
def test_c(): assert calendar.own == 'calendar'
"),
    ("modules of the standard library, to be learned", "
#- test_a.py
import sched, wave, plistlib, mailbox, colorsys, chunk, cmd, shelve, sqlite3, unittest.mock, statistics
def test_a(): pass
"),
    ("their names in a folder of tests", "
#- checks/deep/sched.py
own = 'sched'
#- checks/deep/test_a.py
import sched
def test_a(): assert sched.own == 'sched', sched
#- vendored/more/wave.py
own = 'wave'
#- vendored/more/plistlib/__init__.py
own = 'plistlib'
#- package/__init__.py
#- package/colorsys.py
own = 'inner'
#- conftest.py
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), 'vendored', 'more'))
#- other/test_b.py
import colorsys, plistlib, wave
from package import colorsys as inner
def test_b(): assert wave.own == 'wave' and plistlib.own == 'plistlib' and inner.own == 'inner' and not hasattr(colorsys, 'own')
"),
    ("a name that an installed package has", "
#- lib/iniconfig.py
own = 'iniconfig'
#- lib/coverage.py
own = 'coverage'
#- conftest.py
import sys; sys.path.insert(0, 'lib')
#- test_a.py
import coverage
def test_a(): assert coverage.own == 'coverage'
"),
    ("a src layout", "
#- pyproject.toml
[project]
name = 'thing'
#- src/thing/__init__.py
from .part import value
#- src/thing/part.py
value = 3
#- tests/conftest.py
import os, sys
sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), '..', 'src')))
#- tests/test_a.py
import thing, sys
def test_a(): print(thing.__file__, sys.path); assert thing.value == 4
"),
    ("namespace packages", "
#- pytest.ini
[pytest]
addopts = -rA
consider_namespace_packages = true
pythonpath = one two
#- one/space/a.py
x = 1
#- two/space/b.py
y = 2
#- one/space/test_a.py
import space.a, space.b
def test_a(): print(__name__, list(space.__path__)); assert space.a.x + space.b.y == 3
"),
    ("two test modules of one name", "
#- a/test_same.py
def test_a(): pass
#- b/test_same.py
def test_b(): pass
"),
    ("two packages with test modules of one name", "
#- a/__init__.py
#- a/test_same.py
def test_a(): assert __name__ == 'a.test_same'
#- b/__init__.py
#- b/test_same.py
def test_b(): assert __name__ == 'b.test_same'
"),
    ("stopping at the first failure", "
#- pytest.ini
[pytest]
addopts = -x
#- test_a.py
def test_a(): pass
def test_b(): assert 0
def test_c(): pass
"),
    ("stopping at an error", "
#- pytest.ini
[pytest]
addopts = --maxfail=1 -v
#- test_a.py
import pytest
@pytest.fixture
def broken(): raise OSError('set-up')
def test_a(broken): pass
def test_b(): pass
"),
    ("expected failures", "
#- pytest.ini
[pytest]
xfail_strict = true
addopts = -rxX
#- test_a.py
import pytest
@pytest.mark.xfail(reason='known')
def test_a(): assert 0
@pytest.mark.xfail
def test_b(): pass
@pytest.mark.xfail(strict=False)
def test_c(): pass
@pytest.mark.xfail(raises=ValueError)
def test_d(): raise TypeError
@pytest.mark.xfail(run=False)
def test_e(): raise SystemExit
def test_f(): pytest.xfail('on the way')
@pytest.mark.xfail(condition=False, reason='')
def test_g(): assert 0
"),
    ("failing set-up and tear-down", "
#- test_a.py
import pytest
@pytest.fixture
def late(): yield; raise RuntimeError('tear-down')
def test_a(late): pass
def test_b(late): assert 0
def test_c(no_such_fixture): pass
def teardown_module(): raise OSError('the module')
"),
    ("pytest.exit", "
#- test_a.py
import pytest
def test_a(): pass
def test_b(): pytest.exit('enough', returncode=3)
def test_c(): pass
"),
    ("pytest.exit while collecting", "
#- test_a.py
import pytest
pytest.exit('no further')
"),
    ("exits", "
#- test_a.py
import sys, os
def test_a(): sys.exit(0)
def test_b(): sys.exit('words')
def test_c(): raise SystemExit(3)
def test_d(): exit()
def test_e(): raise GeneratorExit
"),
    ("an exit while collecting", "
#- test_a.py
import sys
sys.exit(3)
"),
    ("an exit in a hook", "
#- conftest.py
import sys
def pytest_runtest_setup(item): sys.exit(6)
def pytest_sessionstart(session): print('starts')
#- test_a.py
def test_a(): pass
"),
    ("an exit at the end", "
#- conftest.py
import sys
def pytest_unconfigure(config): sys.exit('the end')
#- test_a.py
def test_a(): pass
"),
    ("an interrupt", "
#- test_a.py
def test_a(): pass
def test_b(): raise KeyboardInterrupt('stop')
def test_c(): pass
"),
    ("an interrupt by signal", "
#- test_a.py
import os, signal, time
def test_b(): os.kill(os.getpid(), signal.SIGINT); time.sleep(5)
"),
    ("an interrupt at the end", "
#- conftest.py
def pytest_unconfigure(config): raise KeyboardInterrupt
#- test_a.py
def test_b(): pass
"),
    ("signals", "
#- pytest.ini
[pytest]
addopts = -s
#- test_a.py
import os, signal, time
import pytest
def test_handled():
    seen = []
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGALRM, signal.SIGCHLD, signal.SIGWINCH, signal.SIGHUP):
        old = signal.signal(number, lambda n, _: seen.append(n)); os.kill(os.getpid(), number); signal.signal(number, old)
    print([int(it) for it in seen])
def test_alarm():
    def late(*_): raise TimeoutError
    signal.signal(signal.SIGALRM, late); signal.setitimer(signal.ITIMER_REAL, 0.05)
    with pytest.raises(TimeoutError): time.sleep(5)
def test_pipe():
    r, w = os.pipe(); os.close(r)
    with pytest.raises(BrokenPipeError): os.write(w, b'x')
    os.close(w)
def test_children():
    for number in (2, 15, 9, 13):
        pid = os.fork()
        if pid == 0: signal.signal(number, signal.SIG_DFL) if number != 9 else 0; os.kill(os.getpid(), number); os._exit(1)
        print(os.waitpid(pid, 0)[1])
"),
    ("death by signal", "
#- test_a.py
import os, signal
def test_a(): os.kill(os.getpid(), signal.SIGTERM)
"),
    ("long output and unicode", "
#- pytest.ini
[pytest]
addopts = -rA
#- test_naïve.py
import pytest
def test_long(): print('x' * 20000); print('\\n'.join(map(str, range(3000)))); assert 0
@pytest.mark.parametrize('word', ['é', '☃', 'a\\nb', 'a\\x00b', '\\ud800', '🎉', 'x' * 200, '[', ']', '::', 'a/b', '\\x1b[31m'])
def test_word(word): print(ascii(word)); assert word != '☃', '日本語'
def test_müller(): assert 'ß' == 'ẞ'
def test_error(): raise ValueError('\\ud800 lone')
"),
    ("time zones", "
#- pytest.ini
[pytest]
addopts = -s
#- test_a.py
import datetime, os, time, zoneinfo
def test_a(monkeypatch):
    print(time.tzname, time.localtime(0), time.strftime('%Z %z', time.localtime(0)))
    monkeypatch.setenv('TZ', 'America/New_York'); time.tzset()
    print(time.tzname, datetime.datetime.fromtimestamp(0))
def test_b(): print(time.tzname, datetime.datetime.fromtimestamp(0, zoneinfo.ZoneInfo('Europe/Paris')))
"),
    ("locale", "
#- pytest.ini
[pytest]
addopts = -s
#- test_a.py
import locale, os, sys
def test_a():
    print(locale.localeconv(), locale.setlocale(locale.LC_ALL, 'C'), locale.getlocale(), sys.flags.utf8_mode, os.device_encoding(1))
    print(open(__file__).encoding, f'{1234567.5:n}', os.fsencode('é'), 'ä' < 'b', locale.strcoll('a', 'B'))
def test_b(): print(locale.setlocale(locale.LC_CTYPE, None))
"),
    ("asyncio", "
#- pytest.ini
[pytest]
addopts = -s
#- test_a.py
import asyncio, contextvars
variable = contextvars.ContextVar('variable', default='none')
async def inner(): await asyncio.sleep(0); return variable.get()
def test_run(): variable.set('set'); print(asyncio.run(inner()))
def test_after(): print(variable.get())
def test_process():
    async def main():
        process = await asyncio.create_subprocess_exec('echo', 'x', stdout=asyncio.subprocess.PIPE)
        return await process.communicate(), process.returncode
    print(asyncio.run(main()))
def test_thread():
    async def main(): return await asyncio.to_thread(lambda: 5), (await asyncio.get_running_loop().getaddrinfo('127.0.0.1', 1))[0][4]
    print(asyncio.run(main()))
def test_signals():
    import signal
    async def main():
        loop, done = asyncio.get_running_loop(), asyncio.Event()
        loop.add_signal_handler(signal.SIGUSR1, done.set); signal.raise_signal(signal.SIGUSR1); await done.wait(); return 'signalled'
    print(asyncio.run(main()))
def test_pending():
    async def main(): asyncio.create_task(asyncio.sleep(50)); raise ValueError('inside')
    asyncio.run(main())
"),
    ("assorted modules", "
#- pytest.ini
[pytest]
addopts = -rP
#- test_a.py
import ctypes, decimal, functools, gc, inspect, io, json, pickle, sqlite3, copy, tracemalloc, weakref, dataclasses, enum, importlib, zipimport, timeit
@dataclasses.dataclass
class Point: x: int = 0
class TestKind:
    def test_pickle(self): print(pickle.loads(pickle.dumps(TestKind)), pickle.loads(pickle.dumps(Point(3))), __name__)
def test_database(tmp_path):
    with sqlite3.connect(tmp_path / 'x.db') as db: db.execute('create table t (a)'); db.execute('insert into t values (1)'); print(list(db.execute('select * from t')))
def test_memory():
    tracemalloc.start(); data = bytearray(1 << 20); print(tracemalloc.get_traced_memory()[0] > 1 << 20); tracemalloc.stop()
def test_source(): print(inspect.getsource(Point), inspect.getfile(TestKind))
def test_collect():
    class Loop: pass
    loop = Loop(); loop.self = loop; ref = weakref.ref(loop); del loop; gc.collect(); print(ref())
def test_import():
    import importlib.metadata, importlib.resources
    print(importlib.metadata.version('pytest') != '', sorted(it.metadata['Name'] for it in importlib.metadata.distributions()))
def test_reload():
    import colorsys; importlib.reload(colorsys); import string; importlib.reload(string)
def test_mock():
    from unittest import mock
    with mock.patch('os.getcwd', return_value='elsewhere'): import os; print(os.getcwd())
    with mock.patch('builtins.open', mock.mock_open(read_data='data')): print(open('x').read())
def test_float(): print(decimal.Decimal(1) / 3, 0.1 + 0.2, json.dumps({'é': 1}))
"),
    ("standard library replaced by tests", "
#- conftest.py
import os, time, sys, json, builtins
real = os.write
os.write = lambda *args: real(*args)
os.getpid = lambda: 1
time.time = lambda: 5.0
time.perf_counter = lambda: 1.0
json.dumps = lambda *args, **rest: 'no'
sys.exit = lambda *args: None
builtins.len = lambda thing: thing.__len__()
#- test_a.py
import io, os, sys
def test_a(): pass
def test_b(): assert os.getpid() == 2
def test_c(): sys.stdout = io.StringIO(); print('lost')
def test_d(): sys.modules.pop('os'); sys.modules.pop('json', None); import json
"),
    ("descriptors closed by tests", "
#- pytest.ini
[pytest]
addopts = -p no:cacheprovider
#- test_a.py
import os
def test_a(): os.closerange(20, 100)
def test_b(): assert 0
"),
    ("standard streams closed by a test", "
#- pytest.ini
[pytest]
addopts = -s
#- test_a.py
import sys, os
def test_a(): os.close(0)
def test_b(): sys.stderr.close()
"),
    ("results written elsewhere", "
#- pytest.ini
[pytest]
addopts = --junitxml=/tmp/own.xml -o junit_family=xunit1 --capture=sys --show-capture=no --tb=line --no-header
#- test_a.py
import sys
def test_a(): print('unseen'); assert 0, 'one line'
"),
    ("ways to show failures", "
#- pytest.ini
[pytest]
addopts = --tb=long --showlocals -vv
#- helper.py
def deep(n): return deep(n - 1) if n else 1 / 0
#- test_a.py
import helper
def test_a():
    local = 'value'
    try: helper.deep(2)
    except ZeroDivisionError as error: raise KeyError('outer') from error
def test_group(): raise ExceptionGroup('several', [ValueError(1), TypeError(2)])
def test_compare(): assert list(range(30)) == list(range(29)) + [31]
def test_text(): assert 'a\\nb\\nc' == 'a\\nx\\nc'
def test_note():
    error = ValueError('with a note'); error.add_note('the note'); raise error
def test_recursion():
    def f(): f()
    f()
"),
    ("tracebacks in Python's own words", "
#- pytest.ini
[pytest]
addopts = --tb=native
#- test_a.py
def test_a(): assert 0
def test_b(nothing): pass
"),
    ("help", "
#- pytest.ini
[pytest]
addopts = --help
#- conftest.py
def pytest_addoption(parser): parser.getgroup('own').addoption('--own-option', help='an option of our own')
#- test_a.py
def test_a(): pass
"),
    ("fixtures and marks listed", "
#- pytest.ini
[pytest]
addopts = --fixtures -v
#- test_a.py
def test_a(): pass
"),
    ("the version", "
#- pytest.ini
[pytest]
addopts = --version --version
#- test_a.py
def test_a(): pass
"),
    ("plugins switched off", "
#- pytest.ini
[pytest]
addopts = -p no:logging -p no:doctest -p no:warnings -p no:unittest -p no:faulthandler -p no:threadexception
#- test_a.py
import unittest, warnings
def test_a(): warnings.warn('unseen')
class Old(unittest.TestCase):
    def test_b(self): pass
"),
    ("assertions that are not rewritten", "
#- pytest.ini
[pytest]
addopts = --assert=plain --import-mode=append
#- test_a.py
def test_a():
    x = 1
    assert x == 2
"),
    ("tests by steps", "
#- pytest.ini
[pytest]
addopts = --sw -v
#- test_a.py
def test_a(): pass
def test_b(): assert 0
def test_c(): assert 0
"),
    ("a debugger in the way", "
#- pytest.ini
[pytest]
addopts = --pdbcls=own:Debugger
#- own.py
class Debugger:
    def __init__(self, *args, **rest): pass
    def set_trace(self, *args): print('traced')
#- test_a.py
def test_a(): breakpoint()
def test_b():
    import pdb; pdb.set_trace()
"),
];
