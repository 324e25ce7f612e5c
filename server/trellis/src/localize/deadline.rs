//! A plugin for pytest that ends a test where it stands, so that the lines it executed are known and the
//! tests after it still run. A run that is killed from outside tells neither.

use std::time::Duration;

/// The module, and the file at the root of the tree that holds it.
pub(super) const MODULE: &str = "trellis_deadline";
pub(super) const FILE: &str = "trellis_deadline.py";
/// What a test that took too long fails with.
pub(super) const EXCEPTION: &str = "TestTookTooLong";

/// What a test may take after another one took too long.
const AFTERWARDS: f64 = 0.5;

/// Its text. After the first test that took too long the others get less: those that hang in the same loop
/// would each take as long.
pub(super) fn plugin(limit: Duration) -> String {
    let limit = limit.as_secs_f64();
    let later = limit.min(AFTERWARDS);
    format!(
        r#""""Put here by `trellis localize`: ends a test that takes too long where it stands."""

import signal
import time

import pytest


class {EXCEPTION}(BaseException):
    """Not an Exception, which code under test may catch."""


allowed = {limit}
longest = 0.0


def late(number, frame):
    # Again, should it be caught all the same.
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    raise {EXCEPTION}("still running after %.2f s" % allowed)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    global allowed, longest
    before = signal.signal(signal.SIGALRM, late)
    started = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, allowed)
    outcome = yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    if outcome.excinfo is not None and outcome.excinfo[0] is {EXCEPTION}:
        allowed = min(allowed, max({later}, 5 * longest))
    else:
        longest = max(longest, time.monotonic() - started)
"#
    )
}
