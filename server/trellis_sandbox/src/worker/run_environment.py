"""The environment of a run: session, descriptors, limits, variables, and state cached in modules.
"""

import io
import json
import os
import resource
import signal
import sys

import channel
import processes

HARNESS_FAILED = 70


def fail():
    import traceback

    os.write(2, ("the worker itself failed:\n" + traceback.format_exc()).encode("utf-8", "replace"))
    os._exit(HARNESS_FAILED)


def carry_out(kinds, order, private):
    """Runs the order. Never returns."""
    try:
        take_on(order)
        os._exit(kinds.run(order, private))
    except BaseException:
        fail()


def awaited(orders):
    """Returns the order from the worker; exits if none comes."""
    text = b""
    while not text.endswith(b"\n"):
        part = os.read(orders, 1 << 16)
        if not part:
            os._exit(0)
        text += part
    os.closerange(3, channel.KEPT)  # descriptors of the worker
    return json.loads(text)


def enter(ends):
    """Sets up the process. Returns the private descriptors."""
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
    if order.get("cores"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: order["cores"]])
    renew_standard_library(env)
    limit(order.get("rlimits") or [])


def be_killed_first():
    """Makes the kernel kill the run, not the worker, when memory runs out."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass


def move_descriptors(ends):
    import fcntl

    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (ends[channel.OUTPUT], 1), (ends[channel.ERRORS], 2)):
        os.dup2(source, target)
    return {name: fcntl.fcntl(ends[name], fcntl.F_DUPFD_CLOEXEC, channel.KEPT) for name in channel.PRIVATE}


def limit(limits):
    """Sets the limits that Trellis requests, by their names in `resource`."""
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
    """Renews state that modules stored when the worker imported them."""
    if any(name == "TZ" for name in env):
        import time

        time.tzset()
    logging = sys.modules.get("logging")
    if logging is not None:
        import time

        logging._startTime = time.time_ns() if isinstance(logging._startTime, int) else time.time()
    threading = sys.modules.get("threading")
    if threading is not None:
        threading.main_thread()._set_native_id()  # older versions forget this after a fork
    multiprocessing = sys.modules.get("multiprocessing.process")
    if multiprocessing is not None:
        multiprocessing.current_process().authkey = os.urandom(32)
    numpy = sys.modules.get("numpy")
    if numpy is not None and "numpy.random" in sys.modules:
        numpy.random.seed()  # Python's own generator reseeds itself after a fork


def renew_stdin():
    """Replaces `sys.stdin`: the old object remembers that it read from a pipe."""
    old = sys.stdin
    raw = io.FileIO(0, "rb", closefd=False)
    raw.name = "<stdin>"
    new = io.TextIOWrapper(io.BufferedReader(raw), encoding=old.encoding, errors=old.errors, newline="\n")
    new.mode = "r"
    sys.stdin = sys.__stdin__ = new
