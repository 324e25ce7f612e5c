"""What a forked child does before and after the run itself, so that the run sees a process started for it alone."""

import io
import json
import os
import resource
import select
import signal
import sys

import memory
import processes

REPORT, OUTPUT, ERRORS, STACK, LEARNED = b"E", b"O", b"R", b"S", b"L"
PRIVATE = (REPORT, STACK, LEARNED)
CHANNELS = (REPORT, OUTPUT, ERRORS, STACK, LEARNED)
KEPT = 200  # numbers of the private descriptors start here, out of the way of those that tests open
HARNESS_FAILED = 70


class Kinds:
    """The kinds of runs, with what the worker has made ready for them."""

    def __init__(self):
        import cold  # noqa: F401 (compiled once, here)
        import command_run  # noqa: F401
        import integrity
        import pytest_run
        import unittest
        import unittest_run  # noqa: F401

        self._pytest = pytest_run.prepare()
        # Some of its parts are imported when first used.
        for name in ("case", "loader", "main", "result", "runner", "signals", "suite", "async_case", "mock"):
            __import__("unittest." + name)
        self._unittest = integrity.Seal(integrity.UNITTEST)

    def run(self, order, private):
        import learn

        observer = learn.Observer()
        if order["kind"] == "pytest":
            import pytest_run

            return pytest_run.run(order, private, self._pytest, observer)
        if order["kind"] == "unittest":
            import unittest_run

            return unittest_run.run(order, private, self._unittest, observer)
        import command_run

        return command_run.run(order, private)

    def rewritten(self):
        """pytest's rewritten code, where it can be kept."""
        return self._pytest and self._pytest.prepared and self._pytest.prepared.rewritten

    def told(self):
        """For ``ready``."""
        coverage = sys.modules.get("coverage")
        return {
            "python": ".".join(map(str, sys.version_info[:3])),
            "pytest": self._pytest and self._pytest.version,
            "coverage": coverage and coverage.__version__,
            "fast": bool(self._pytest and self._pytest.fast),
        }


class Nursery:
    """All that a new process takes from the worker."""

    def __init__(self, bundle):
        import shadows

        sys.path[:] = [entry for entry in sys.path if entry]  # `-c` puts the working directory there
        self.bundle = bundle
        self.shadows = shadows.Shadows(set(bundle["from_start"]))
        self.kinds = Kinds()
        self.ranges = []


def become(orders, ends, nursery):
    """Turns this process into a run, once its order arrives. Never returns.

    What does not depend on the order is done before: the next run's process is usually forked while nothing is to do.
    """
    try:
        private = enter(ends)
        nursery.shadows.refresh()
        memory.populate(nursery.ranges, lambda: select.select([orders], [], [], 0)[0])
        order = awaited(orders)
        processes.prctl(processes.PR_SET_DUMPABLE, 1)
        be_killed_first()
        needs_fresh = order["kind"] != "command" and (order.get("cold") or nursery.shadows.found(order))
        if needs_fresh:
            import cold

            cold.replace(order, private, nursery.bundle)
        carry_out(nursery.kinds, order, private)
    except BaseException:
        fail()


def fail():
    import traceback

    os.write(2, ("the worker itself failed:\n" + traceback.format_exc()).encode("utf-8", "replace"))
    os._exit(HARNESS_FAILED)


def carry_out(kinds, order, private):
    """Never returns."""
    try:
        take_on(order)
        os._exit(kinds.run(order, private))
    except BaseException:
        fail()


def awaited(orders):
    """The order, from the worker. Without one there is nothing to do."""
    text = b""
    while not text.endswith(b"\n"):
        part = os.read(orders, 1 << 16)
        if not part:
            os._exit(0)
        text += part
    os.closerange(3, KEPT)  # the worker's own
    return json.loads(text)


def enter(ends):
    """The process's outer circumstances. Returns the private descriptors."""
    os.setsid()
    processes.prctl(processes.PR_SET_PDEATHSIG, signal.SIGKILL)
    private = move_descriptors(ends)
    processes.fresh_signals()
    renew_stdin()
    return private


def take_on(order):
    env = order.get("env") or {}
    os.environ.update(env)
    os.chdir(order["cwd"])
    renew_standard_library(env)
    limit(order.get("rlimits") or [])


def be_killed_first():
    """When memory runs out, the run shall go, not the worker."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass


def move_descriptors(ends):
    import fcntl

    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (ends[OUTPUT], 1), (ends[ERRORS], 2)):
        os.dup2(source, target)
    return {channel: fcntl.fcntl(ends[channel], fcntl.F_DUPFD_CLOEXEC, KEPT) for channel in PRIVATE}


def limit(limits):
    """The limits Trellis asks for, by their names in `resource`."""
    for name, soft, hard in limits:
        number = getattr(resource, name, None)
        if number is None:
            continue
        _, highest = resource.getrlimit(number)
        soft, hard = (resource.RLIM_INFINITY if value is None else value for value in (soft, hard))
        if highest != resource.RLIM_INFINITY and (hard == resource.RLIM_INFINITY or hard > highest):
            hard = highest
        if hard != resource.RLIM_INFINITY and (soft == resource.RLIM_INFINITY or soft > hard):
            soft = hard
        resource.setrlimit(number, (soft, hard))


def renew_standard_library(env):
    """State which modules took in when they were imported, long ago, in the worker."""
    if any(name == "TZ" for name in env):
        import time

        time.tzset()
    logging = sys.modules.get("logging")
    if logging is not None:
        import time

        logging._startTime = time.time_ns() if isinstance(logging._startTime, int) else time.time()
    threading = sys.modules.get("threading")
    if threading is not None:
        threading.main_thread()._set_native_id()  # which older versions forget after a fork
    multiprocessing = sys.modules.get("multiprocessing.process")
    if multiprocessing is not None:
        multiprocessing.current_process().authkey = os.urandom(32)
    numpy = sys.modules.get("numpy")
    if numpy is not None and "numpy.random" in sys.modules:
        numpy.random.seed()  # Python's own generator reseeds itself after a fork


def renew_stdin():
    """The old object remembers that it read from a pipe."""
    old = sys.stdin
    raw = io.FileIO(0, "rb", closefd=False)
    raw.name = "<stdin>"
    new = io.TextIOWrapper(io.BufferedReader(raw), encoding=old.encoding, errors=old.errors, newline="\n")
    new.mode = "r"
    sys.stdin = sys.__stdin__ = new


def become_main(module, argv, entries):
    """`__main__`, `sys.argv` and `sys.path` as `python -m MODULE` sets them up. Returns what runs the module."""
    if entries is None:
        entries = [] if getattr(sys.flags, "safe_path", False) else [os.getcwd()]
    sys.path[:0] = entries
    spec, code = main_spec(module)
    main = type(sys)("__main__")
    main.__dict__.update(
        __builtins__=sys.modules["builtins"],
        __spec__=spec,
        __loader__=spec.loader,
        __file__=spec.origin,
        __cached__=spec.cached,
        __package__=spec.parent,
    )
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    sys.modules["__main__"] = main
    sys.argv[:] = [spec.origin, *argv]
    if hasattr(sys, "orig_argv"):
        options = [each in ("-c", "-m") for each in sys.orig_argv].index(True)
        sys.orig_argv[options:] = ["-m", module, *argv]
    return lambda: exec(code, vars(main))


def main_spec(module, known={}):
    """Found once, in the worker."""
    import importlib.util

    if module not in known:
        spec = importlib.util.find_spec(module + ".__main__")
        known[module] = spec, spec.loader.get_code(spec.name)
    return known[module]


def call_main(function):
    """Calls the run's main function and does what Python does when a program ends. Returns the exit code."""
    try:
        code = exit_code(function())
    except SystemExit as error:
        code = exit_code(error.code)
    except KeyboardInterrupt as error:
        show(error)
        finish_threads_and_callbacks()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        code = 130
    except BaseException as error:
        show(error)
        code = 1
    return finish_threads_and_callbacks() or code


def show(error):
    """As an interpreter does with an exception that nobody caught. Frames of ours at its top are not the program's."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith("<trellis>"):
        trace = trace.tb_next
    try:
        sys.excepthook(type(error), error.with_traceback(trace), trace)
    except BaseException:
        pass  # a hook of the program's, or nowhere to write


def exit_code(value):
    if value is None:
        return 0
    if isinstance(value, int):
        return value & 0xFF
    print(value, file=sys.stderr)
    return 1


def finish_threads_and_callbacks():
    """The end of an interpreter, short of freeing its memory. A code of its own when output is lost."""
    import atexit
    import threading

    code = 0
    for last in (threading._shutdown, atexit._run_exitfuncs):
        try:
            last()
        except BaseException:
            pass  # `atexit` has printed it, and Python ends all the same
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except BaseException:
            code = 120 if stream is sys.stdout else code
    return code
