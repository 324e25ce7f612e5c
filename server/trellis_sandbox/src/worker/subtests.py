"""Describes parts of tests: of unittest's ``subTest``, and of pytest's fixture ``subtests``."""

from failure import cut, described, failure_of, textual_failure

MOST = 1_000  # parts of one test that are reported
NAME = 300  # characters of a description
REPORTS = ("SubtestReport", "SubTestReport")  # of pytest 9, and of the plugin pytest-subtests


def described_report(report, excinfo, compared):
    """Returns a part of a test as data; None for other reports.

    ``excinfo`` belongs to the call that pytest reported just before.
    """
    context = getattr(report, "context", None)
    if type(report).__name__ not in REPORTS or context is None:
        return None
    outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
    failure = None
    if report.failed:
        text = report.longreprtext
        failure = failure_of(excinfo.value, text, compared) if excinfo else textual_failure(text)
    values = getattr(context, "kwargs", None)
    if isinstance(values, dict) and type(report).__name__ == REPORTS[0]:
        values = {name: Shown(value) for name, value in values.items()}
    return {"name": name_of(getattr(context, "msg", None), values), "outcome": outcome, "failure": failure}


class Shown:
    """A value that pytest 9 has already replaced by its ``repr``."""

    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return str(self._text)


def name_of(message, values):
    """Returns a description as unittest writes it: ``[message] (i=1)``."""
    parts = [f"[{message}]"] if isinstance(message, str) else []
    if isinstance(values, dict) and values:
        shown = ", ".join(f"{name}={described(value, NAME)}" for name, value in values.items())
        parts.append(f"({shown})")
    return cut(" ".join(parts) or "(<subtest>)", NAME)
