"""A plugin for plain pytest that writes what became of each test: lines of JSON, in the file that a variable names."""

import json
import os

OUTCOMES = {}


def pytest_runtest_logreport(report):
    known = OUTCOMES.get(report.nodeid)
    if known in ("failed", "error"):
        return
    xfail = hasattr(report, "wasxfail")
    if report.failed:
        OUTCOMES[report.nodeid] = "failed" if report.when == "call" else "error"
    elif report.skipped:
        OUTCOMES[report.nodeid] = "xFailed" if xfail else "skipped"
    elif report.when == "call":
        OUTCOMES[report.nodeid] = "xPassed" if xfail else "passed"


def pytest_sessionfinish(session, exitstatus):
    with open(os.environ["PLAIN_OUTCOMES"], "w") as file:
        json.dump({"status": int(exitstatus), "tests": OUTCOMES}, file)
