"""Keeps what shows or follows a failure out of recordings.

A failing assertion shows its values: `__repr__` and all that it calls then run in failing tests
alone, and would look like the cause. The same holds for what a failed test cleans up.
"""

import functools
import sys

# The functions by which pytest and unittest render values, by module.
RENDERING = (
    ("_pytest.assertion.rewrite", "_saferepr"),
    ("_pytest.assertion.rewrite", "_call_reprcompare"),
    ("_pytest.assertion.rewrite", "_format_assertmsg"),
    ("unittest.case", "safe_repr"),
    ("unittest.case", "_common_shorten_repr"),
)


# Modules of unittest and their classes of tests; those that no test imports are not imported here.
CASES = (("unittest.case", "TestCase"), ("unittest.async_case", "IsolatedAsyncioTestCase"))


class Limits:
    """Pauses a recording while values are rendered, and ends it where a test of unittest fails,
    before it cleans up. ``pause`` returns a function that resumes the recording.

    Make one before the state of the test framework is sealed.
    """

    def __init__(self, pause):
        self._pause, self._limited = pause, set()
        for module, name in RENDERING:
            owner = sys.modules.get(module)
            original = getattr(owner, name, None)
            if original is not None:
                setattr(owner, name, paused(original, pause))
        self.extend()

    def extend(self):
        """Takes in the classes of tests that were imported since. Call this once the test modules
        are imported.
        """
        for module, name in CASES:
            kind = getattr(sys.modules.get(module), name, None)
            if kind is not None and kind not in self._limited:
                self._limited.add(kind)
                self._end(kind)

    def _end(self, kind):
        for name in ("_callSetUp", "_callTestMethod"):
            if name in vars(kind):
                setattr(kind, name, ended(vars(kind)[name], self._pause))


def paused(function, pause):
    @functools.wraps(function)
    def call(*args, **options):
        resume = pause()
        try:
            return function(*args, **options)
        finally:
            resume()

    return call


def ended(function, pause):
    @functools.wraps(function)
    def call(*args):
        try:
            return function(*args)
        except BaseException:
            pause()
            raise

    return call
