"""Other processes: protection from them, and killing all of them."""

import os
import signal
import time

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
PATIENCE = 5.0  # seconds for killed processes to end
# Signals that Python ignores, and signals that cannot be ignored.
SPECIAL = {signal.SIGPIPE, signal.SIGXFSZ, signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}


def library():
    """Returns the C library; None where ctypes is missing."""
    try:
        import ctypes

        return ctypes.CDLL(None, use_errno=True)
    except (ImportError, OSError):
        return None


C = library()


def prctl(option, value):
    """Calls prctl; returns False if it failed."""
    return C is not None and C.prctl(option, value, 0, 0, 0) == 0


def hide():
    """Hides this process's memory and descriptors from other processes of the same user."""
    return prctl(PR_SET_DUMPABLE, 0)


def keep_rights():
    """Keeps programs from gaining rights by their mode bits. Services of earlier engines cannot ask for it."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def ignorable():
    faults = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP}
    return set(signal.valid_signals()) - SPECIAL - faults


def ignore_signals():
    """Ignores signals: tests may signal their parent, but only Trellis decides when the worker
    ends.
    """
    for number in ignorable():
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass  # a signal that the C library reserves for itself


def fresh_signals():
    """Sets up signal handlers as Python does at its start."""
    signal.set_wakeup_fd(-1)
    for number in ignorable() | {signal.SIGCHLD}:
        try:
            signal.signal(number, signal.SIG_DFL)
        except (OSError, ValueError):
            pass
    signal.signal(signal.SIGINT, signal.default_int_handler)


def signal_one(pid, number):
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError, ValueError):
        pass


def was_killed(status):
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def descendants(root):
    """Returns the live processes below ``root``."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except OSError:
            continue
        if state not in b"ZX":
            parents[int(name)] = int(parent)
    found, grown = set(), {root}
    while grown:
        grown = {pid for pid, parent in parents.items() if parent in grown and pid not in found}
        found |= grown
    return found


class Alarm:
    """A pipe that becomes readable when a child has ended."""

    def __init__(self):
        self.descriptor, writer = os.pipe()
        for end in (self.descriptor, writer):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def clear(self):
        try:
            while os.read(self.descriptor, 4096):
                pass
        except BlockingIOError:
            pass


class Reaper:
    """Kills runs with all processes they started, and waits for them."""

    def __init__(self):
        # The first process of a namespace inherits all orphans and can signal every process with
        # one call.
        self.first = os.getpid() == 1
        self.owns_orphans = self.first or prctl(PR_SET_CHILD_SUBREAPER, 1)

    def reap(self):
        """Returns the processes that have ended, with their status."""
        dead = []
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return dead
                dead.append((pid, status))
        except ChildProcessError:
            return dead

    def wait_for(self, pid):
        """Waits for a process that was killed."""
        try:
            os.waitpid(pid, 0)
        except ChildProcessError:
            pass

    def childless(self):
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return True
        return False

    def kill(self, main):
        if self.first:
            return signal_one(-1, signal.SIGKILL)
        if main is not None:
            signal_one(-main, signal.SIGKILL)
        for pid in descendants(os.getpid()):
            signal_one(pid, signal.SIGKILL)

    def end(self, main):
        """Cleans up after the main process has ended.

        Returns how many other processes had to be killed, and a sentence if some remain.
        """
        self.reap()  # these ended by themselves
        killed, deadline, pause = 0, time.monotonic() + PATIENCE, 0.0005
        while not self.childless():
            if time.monotonic() > deadline:
                return killed, "a process could not be killed"
            self.kill(main)
            time.sleep(pause)
            pause = min(pause * 2, 0.05)
            killed += sum(was_killed(status) for _, status in self.reap())
        return killed, None
