"""A sandbox's worker: takes orders from Trellis, forks a child per run, passes on the pipes'
output, cleans up.

Duty: whatever a run does, the next one finds a clean sandbox, or Trellis learns that it is not
clean. ``wire.rs`` describes the protocol. This process never runs project code.
"""

import json
import os
import select
import signal
import sys

import channel
import child
import collected
import folders
import import_preload
import kernel_info
import memory
import processes

CHUNK = 1 << 18
PAUSE = 0.003  # seconds between two reads of a run's pipes: waking up for each of its lines would slow the run down
FULL = 1 << 15  # bytes of a portion after which no pause is made
IDLE = 0.05  # seconds without an order before idle time is used for learning
LEARNED = 1 << 20  # bytes of module names taken from one run
FILE = b"F"  # the channel of a run's report file
OWN_DESCRIPTORS = 40  # descriptors below this number belong to tests; see `channel.KEPT`


class Lost(Exception):
    """Trellis is gone."""


class Wire:
    """Takes orders and sends frames.

    Both descriptors are moved away from 0 and 1, which belong to the runs.
    """

    def __init__(self):
        import fcntl

        self.orders = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, OWN_DESCRIPTORS)
        self._frames = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, OWN_DESCRIPTORS)
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.close(nothing)
        self._text = b""

    def send(self, name, payload):
        rest = memoryview(name + len(payload).to_bytes(4, "big") + payload)
        while rest:
            try:
                rest = rest[os.write(self._frames, rest) :]
            except BlockingIOError:
                select.select([], [self._frames], [])
            except OSError as error:
                raise Lost() from error

    def control(self, **message):
        self.send(b"C", json.dumps(message).encode())

    def take(self):
        """Returns the orders that have arrived."""
        part = os.read(self.orders, CHUNK)
        if not part:
            raise Lost()
        *lines, self._text = (self._text + part).split(b"\n")
        return [json.loads(line) for line in lines if line.strip()]


class Run:
    """A run in progress, or a process that waits for one."""

    def __init__(self, pid, orders, pipes):
        self.pid, self.orders, self.pipes = pid, orders, pipes
        self.order = None
        self.status, self.learned = None, b""
        self.killed, self.left_behind = False, 0


class Worker:
    def __init__(self, bundle):
        self._wire, self._bundle = Wire(), bundle
        self._waiting, self._run, self._next = [], None, None
        self._places = folders.known(bundle.get("wipe") or [])
        self._reaper = processes.Reaper()
        self._poll, self._urgent, self._ipc = select.poll(), select.poll(), kernel_info.ipc_objects()
        self._bounds, self._rest, self._mirror = kernel_info.bounds(), False, None

    def serve(self):
        folders.check(self._bundle.get("tree"))
        if self._bundle.get("mirror"):
            import mirror

            self._mirror = mirror.Mirror(self._bundle["mirror"])
        self._nursery = child.Nursery(self._bundle)
        processes.ignore_signals()
        processes.keep_rights()
        hidden = processes.hide()
        self._learning = import_preload.Learning(self._bundle.get("learn", True), self._nursery.kinds.rewritten())
        self._alarm = processes.Alarm()
        for descriptor in (self._wire.orders, self._alarm.descriptor):
            self._poll.register(descriptor, select.POLLIN)
            self._urgent.register(descriptor, select.POLLIN)
        pid1 = self._reaper.first
        self._settle()
        self._wire.control(ready={**self._nursery.kinds.told(), "pid1": pid1, "hidden": hidden})
        while True:
            self._turn()

    def _settle(self):
        import_preload.settle()
        self._nursery.ranges = memory.ranges()

    def _turn(self):
        if self._run is None and self._waiting:
            self._start(self._waiting.pop(0))
        if self._run is None and self._next is None:
            self._prepare_next()
        untidy = self._mirror is not None and self._mirror.wanted()
        idle = self._run is None and (untidy or self._learning.wanted())
        ready = self._urgent.poll(PAUSE * 1000) if self._rest else []
        self._rest = False
        ready = ready or self._poll.poll(IDLE * 1000 if idle else None)
        if idle and not ready:
            if untidy:
                return self._mirror.tidy()
            self._drop_next()
            self._learning.one_step(self._wire.orders, self._reaper.wait_for)
            self._settle()
            return
        for descriptor, _ in ready:
            self._attend(descriptor)
        if self._run is not None and self._run.status is not None:
            self._end()

    def _attend(self, descriptor):
        if descriptor == self._wire.orders:
            for order in self._wire.take():
                self._obey(order)
        elif descriptor == self._alarm.descriptor:
            self._alarm.clear()
            for pid, status in self._reaper.reap():
                self._ended(pid, status)
        elif self._run is not None and descriptor in self._run.pipes:
            self._pass_on(descriptor)

    def _ended(self, pid, status):
        run = self._run
        if self._next is not None and pid == self._next.pid:
            self._drop_next()
        elif run is not None and pid == run.pid:
            run.status = status
        elif run is not None and run.killed:
            run.left_behind += processes.was_killed(status)

    def _obey(self, order):
        what = order.get("op")
        if what == "kill" and self._run is None and self._waiting:
            self._start(self._waiting.pop(0))  # both orders came at once
        if what == "run":
            self._waiting.append(order)
        elif what == "measure":  # sent before the first run that measures lines
            self._drop_next()
            missing = self._nursery.kinds.measure()
            self._settle()
            self._wire.control(measuring=missing)
        elif what == "lay":  # sent before a run, while there is none
            self._wire.control(**self._mirror.lay(order))
        elif self._run is not None and self._run.status is None:
            if what == "kill":
                self._run.killed = True
                self._reaper.kill(self._run.pid)
            elif what == "stack":
                processes.signal_one(self._run.pid, self._run.order["stack_signal"])

    def _prepare_next(self):
        """Forks the process of the next run in advance, while no other process is in the sandbox.
        """
        ends = {name: os.pipe() for name in channel.ALL}
        orders, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(writer)
            writers = {name: end for name, (_, end) in ends.items()}
            child.become(orders, writers, self._nursery)
        os.close(orders)
        for _, end in ends.values():
            os.close(end)
        self._next = Run(pid, writer, {reader: name for name, (reader, _) in ends.items()})

    def _drop_next(self):
        """Drops the prepared process, which has died or is out of date."""
        run, self._next = self._next, None
        if run is not None:
            for descriptor in (run.orders, *run.pipes):
                os.close(descriptor)
            processes.signal_one(run.pid, signal.SIGKILL)
            self._reaper.wait_for(run.pid)

    def _start(self, order):
        if self._nursery.kinds.prepare(order["kind"]):
            self._drop_next()
            self._settle()
        if self._next is None:
            self._prepare_next()
        self._kills_before = kernel_info.memory_kills()
        run, self._next = self._next, None
        self._run, run.order = run, order
        if self._mirror is not None:
            self._mirror.use()
        try:
            rest = memoryview(json.dumps(order).encode() + b"\n")
            while rest:
                rest = rest[os.write(run.orders, rest) :]
        except BrokenPipeError:
            pass  # the end of the process is noticed elsewhere
        os.close(run.orders)
        for reader in run.pipes:
            os.set_blocking(reader, False)
            self._poll.register(reader, select.POLLIN)

    def _pass_on(self, descriptor):
        """Passes on one portion of a pipe. Returns False at its end, None if it is empty at
        present.
        """
        run = self._run
        try:
            part = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return None
        if not part:
            self._poll.unregister(descriptor)
            os.close(descriptor)
            del run.pipes[descriptor]
            return False
        name, self._rest = run.pipes[descriptor], len(part) < FULL
        if name != channel.LEARNED:
            self._wire.send(name, part)
        elif len(run.learned) < LEARNED:
            run.learned += part
        return True

    def _end(self):
        run, why = self._run, []
        left_behind, stubborn = self._reaper.end(run.pid)
        if stubborn:
            why.append(stubborn)
        for descriptor in list(run.pipes):
            while self._pass_on(descriptor):
                pass
            if descriptor in run.pipes:  # a process that cannot be killed still holds the other end
                self._poll.unregister(descriptor)
                os.close(descriptor)
        uncollected = self._collect(run.order.get("collect"))
        why += folders.empty(self._places)
        why += kernel_info.ipc_left(self._ipc) if self._reaper.first else []
        why += ["the worker's own limits were changed"] if kernel_info.bounds() != self._bounds else []
        self._run, self._rest = None, False
        self._wire.control(
            ended={
                "id": run.order.get("id"),
                "code": os.WEXITSTATUS(run.status) if os.WIFEXITED(run.status) else None,
                "signal": os.WTERMSIG(run.status) if os.WIFSIGNALED(run.status) else None,
                "left_behind": run.left_behind + left_behind,
                "clean": not why,
                "why": "; ".join(why) or None,
                "uncollected": uncollected,
                "memory_kill": kernel_info.memory_kills() > self._kills_before,
            }
        )
        self._learning.take(run.learned)

    def _collect(self, path):
        return collected.pass_on(path, lambda part: self._wire.send(FILE, part)) if path else None

    def stop(self):
        self._drop_next()
        if self._run is not None:
            self._reaper.kill(self._run.pid)
        self._reaper.end(None if self._run is None else self._run.pid)


def main(bundle):
    worker = Worker(bundle)
    try:
        worker.serve()
    except Lost:
        worker.stop()
        os._exit(0)
    except BaseException as error:
        import traceback

        traceback.print_exc(file=sys.stderr)
        sys.stderr.flush()
        worker.stop()
        try:
            worker._wire.control(failed=f"{type(error).__name__}: {error}")
        except Lost:
            pass
        os._exit(70)
