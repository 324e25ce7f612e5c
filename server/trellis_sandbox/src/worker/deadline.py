"""Ends a test that takes too long where it stands, as a failure of its own.

So the lines it executed are known, and the tests after it still run, each with all of its time. It takes a signal of the
process, and code that blocks it or never returns from a library is not reached: the deadline from outside is for that.
"""

import signal
import time

import pytest
from reporting import own_time_out

NAME = "_trellis_deadline"
AGAIN = 0.05  # seconds after which it is raised again, should code under test catch it
LEAST = 0.001  # seconds; nought would switch the timer off


class TestTookTooLong(BaseException):
    """Not an Exception, which code under test may catch."""

    __test__ = False


def waited():
    """Seconds that this process could have run and had no processor: on a busy machine they are nobody's fault."""
    try:
        with open("/proc/self/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


class Deadline:
    def __init__(self, seconds, limit):
        self._seconds = seconds
        self._limit = limit

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        own = own_time_out(item)
        allowed = max(self._seconds, own)
        limit = "the timeout that the test sets itself" if own > self._seconds else self._limit
        start = time.perf_counter() - waited()

        def late(number, frame):
            left = allowed - (time.perf_counter() - waited() - start)
            signal.setitimer(signal.ITIMER_REAL, max(left, LEAST) if left > 0 else AGAIN)
            if left <= 0:
                raise TestTookTooLong(f"still running after {allowed:g} s ({limit})")

        before = signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, allowed)
        yield
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
