"""A forked child: the state it takes from the worker, and its transformation into a run.

The run must look as if its process had been started for it alone.
"""

import select
import sys

import memory
import processes
import run_environment


class Kinds:
    """The kinds of runs, with the state that the worker has prepared for them."""

    def __init__(self, lent):
        import fresh_interpreter  # noqa: F401 (compiled once, here)
        import command_run  # noqa: F401
        import pytest_run

        self._lent, self._measuring, self._unittest = lent, None, None
        self._pytest = pytest_run.prepare()

    def prepare(self, kind):
        """Imports what runs of this kind need, if that is not needed by all. Returns whether it did.
        """
        if kind != "unittest" or self._unittest is not None:
            return False
        import integrity
        import unittest
        import unittest_run  # noqa: F401

        # unittest imports some of its parts on first use.
        for name in ("case", "loader", "main", "result", "runner", "signals", "suite", "async_case", "mock"):
            __import__("unittest." + name)
        self._unittest = integrity.Seal(integrity.UNITTEST)
        return True

    def measure(self):
        """Finds coverage.py for runs that measure lines. Returns the reason there is none."""
        import line_coverage  # noqa: F401 (compiled once, here)
        import measuring

        self._measuring = self._measuring or measuring.find(self._lent)
        return self._measuring.missing

    def run(self, order, private):
        import import_preload

        observer = import_preload.Observer()
        if order["kind"] == "pytest":
            import pytest_run

            return pytest_run.run(order, private, self._pytest, observer, self._measured_by)
        if order["kind"] == "unittest":
            import unittest_run

            return unittest_run.run(order, private, self._unittest, observer, self._measured_by)
        import command_run

        return command_run.run(order, private)

    def _measured_by(self, order):
        return self._measuring

    def rewritten(self):
        """Returns the cache of pytest's rewritten code, if there is one."""
        return self._pytest and self._pytest.prepared and self._pytest.prepared.rewritten

    def told(self):
        """Returns the fields of the message ``ready``."""
        return {
            "python": ".".join(map(str, sys.version_info[:3])),
            "pytest": self._pytest and self._pytest.version,
            "fast": bool(self._pytest and self._pytest.fast),
        }


class Nursery:
    """All state that a new process takes from the worker."""

    def __init__(self, bundle):
        import module_shadowing

        sys.path[:] = [entry for entry in sys.path if entry]  # `-c` puts the working directory there
        self.bundle = bundle
        self.shadows = module_shadowing.Shadows(set(bundle["from_start"]))
        self.kinds = Kinds(bundle.get("lent"))
        self.ranges = []


def become(orders, ends, nursery):
    """Turns this process into a run, once its order arrives. Never returns.

    Work that does not depend on the order is done before: the next run's process is usually forked
    while the worker is idle.
    """
    try:
        private = run_environment.enter(ends)
        nursery.shadows.refresh()
        memory.populate(nursery.ranges, lambda: select.select([orders], [], [], 0)[0])
        order = run_environment.awaited(orders)
        processes.prctl(processes.PR_SET_DUMPABLE, 1)
        run_environment.be_killed_first()
        needs_fresh = order["kind"] != "command" and (order.get("cold") or nursery.shadows.found(order))
        if needs_fresh:
            import fresh_interpreter

            fresh_interpreter.replace(order, private, nursery.bundle)
        run_environment.carry_out(nursery.kinds, order, private)
    except BaseException:
        run_environment.fail()
