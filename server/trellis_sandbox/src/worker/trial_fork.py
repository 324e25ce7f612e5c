"""Forks of a session that tell their results through a pipe and leave nothing behind."""

import fcntl
import json
import os
import random
import select
import shutil
import signal
import tempfile
import time
from pathlib import Path

import channel
import processes

_write, _clock = os.write, time.monotonic
OFTEN = 0.05  # seconds between two writes
LARGEST = 4 << 20  # bytes that one fork may send
ENDED, DIED, LATE = "ended", "died", "late"


class Forks:
    """Starts one fork at a time."""

    def __init__(self, config):
        self._config = config
        self._outputs, self._base = self._descriptors_of_output(), Path(tempfile.mkdtemp())
        self._random, self._count = random.getstate(), 0
        self._owns_orphans = processes.prctl(processes.PR_SET_CHILD_SUBREAPER, 1)
        self._others = processes.descendants(os.getpid())

    @staticmethod
    def _descriptors_of_output():
        """Returns the descriptors of the run's own output, of which pytest keeps copies."""
        outputs, found = [os.fstat(1), os.fstat(2)], []
        for name in os.listdir("/proc/self/fd"):
            try:
                status = os.fstat(int(name))
            except OSError:
                continue
            if any(os.path.samestat(status, it) for it in outputs):
                found.append(int(name))
        return found

    def run(self, work, patience):
        """Calls `work` in a fork with a function that sends a message.

        ``patience``: seconds that the fork may work without a message. Returns the messages, and how the fork ended.
        """
        ends, self._count = os.pipe(), self._count + 1
        reader, writer = (fcntl.fcntl(it, fcntl.F_DUPFD_CLOEXEC, channel.KEPT) for it in ends)
        for end in ends:
            os.close(end)
        pid = os.fork()
        if pid == 0:
            self._become(writer, work)
        os.close(writer)
        try:
            return Messages(reader, patience).all()
        finally:
            os.close(reader)
            self._end(pid)

    def _become(self, writer, work):
        """Turns this process into the fork. Never returns."""
        outbox = Outbox(writer)
        try:
            os.setpgid(0, 0)
            processes.prctl(processes.PR_SET_PDEATHSIG, signal.SIGKILL)
            self._silence()
            random.setstate(self._random)
            self._use_own_folder()
            work(outbox.put)
            outbox.put(ENDED)
        except BaseException as error:
            outbox.put("raised", f"{type(error).__name__}: {error}"[:400])
        finally:
            outbox.flush()
            os._exit(0)

    def _silence(self):
        nothing = os.open(os.devnull, os.O_WRONLY)
        for descriptor in self._outputs:
            os.dup2(nothing, descriptor, inheritable=descriptor < 3)
        os.close(nothing)

    def _folder(self):
        return self._base / str(self._count)

    def _use_own_folder(self):
        """Makes `tmp_path` begin anew: pytest would search the folders of all forks."""
        factory = getattr(self._config, "_tmp_path_factory", None)
        if hasattr(factory, "_basetemp"):
            self._folder().mkdir()
            factory._basetemp = self._folder().resolve()

    def _end(self, pid):
        """Kills the fork with all processes that it has started."""
        for target in (-pid, pid):
            processes.signal_one(target, signal.SIGKILL)
        os.waitpid(pid, 0)
        while self._owns_orphans and self._has_children():
            orphans = processes.descendants(os.getpid()) - self._others
            for orphan in orphans:
                processes.signal_one(orphan, signal.SIGKILL)
            if not orphans and not self._reaped():
                break
        shutil.rmtree(self._folder(), ignore_errors=True)

    @staticmethod
    def _has_children():
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return False
        return True

    def _reaped(self):
        """Waits for orphans that have ended; children of the session itself are left to it."""
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None or ended.si_pid in self._others:
            return False
        os.waitpid(ended.si_pid, 0)
        return True


class Outbox:
    """Messages on their way to the session, several in one write: each wakes the session."""

    def __init__(self, descriptor):
        self._descriptor, self._waiting, self._sent = descriptor, [], _clock()

    def put(self, *message):
        self._waiting.append(json.dumps(message).encode() + b"\n")
        if _clock() - self._sent > OFTEN:
            self.flush()

    def flush(self):
        rest, self._waiting = memoryview(b"".join(self._waiting)), []
        while rest:
            rest = rest[_write(self._descriptor, rest) :]
        self._sent = _clock()


class Messages:
    """The messages of a fork, until its last one or the moment when it has been silent too long."""

    def __init__(self, reader, patience):
        self._reader, self._patience = reader, patience
        self._poll = select.poll()
        self._poll.register(reader, select.POLLIN)

    def all(self):
        found, text, size = [], b"", 0
        deadline = time.monotonic() + self._patience
        while size < LARGEST:
            left = deadline - time.monotonic()
            if left <= 0 or not self._poll.poll(left * 1000):
                return found, LATE
            part = os.read(self._reader, 1 << 16)
            if not part:
                return found, DIED
            size += len(part)
            *lines, text = (text + part).split(b"\n")
            for line in lines:
                found.append(json.loads(line))
                deadline = time.monotonic() + self._patience
            if found and found[-1][0] in (ENDED, "raised"):
                return found[:-1], ENDED if found[-1][0] == ENDED else DIED
        return found, DIED
