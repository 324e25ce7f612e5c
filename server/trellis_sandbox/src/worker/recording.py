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


def limit(pause):
    """Pauses a recording while values are rendered, and ends it where a test of unittest fails,
    before it cleans up. ``pause`` returns a function that resumes the recording.

    Call this before the state of the test framework is sealed.
    """
    for module, name in RENDERING:
        owner = sys.modules.get(module)
        original = getattr(owner, name, None)
        if original is not None:
            setattr(owner, name, paused(original, pause))
    unittest = sys.modules.get("unittest")
    for kind in (getattr(unittest, "TestCase", None), getattr(unittest, "IsolatedAsyncioTestCase", None)):
        for name in ("_callSetUp", "_callTestMethod"):
            if kind is not None and name in vars(kind):
                setattr(kind, name, ended(vars(kind)[name], pause))


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
