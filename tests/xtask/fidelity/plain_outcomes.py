"""A plugin for plain pytest that writes what became of each test, and which exceptions ended tests: JSON, in the file
that a variable names."""

import json
import os
import traceback

OUTCOMES = {}
FAILURES = {}


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


def pytest_exception_interact(node, call, report):
    error = call.excinfo.value
    while type(error).__name__ == "CollectError" and error.__cause__ is not None:
        error = error.__cause__
    root = str(node.config.rootpath) + os.sep
    frames = traceback.extract_tb(error.__traceback__)
    lines = [(it.filename, it.lineno) for it in frames if it.filename.startswith(root)]
    if not lines and hasattr(node, "reportinfo"):
        path, line, _ = node.reportinfo()
        lines = [(str(path), (line or 0) + 1)]
    FAILURES[node.nodeid] = {"message": message(error, str(report.longrepr)), "lines": lines}


def message(error, shown):
    marked = [it[1:].strip() for it in shown.splitlines() if it.startswith("E  ")]
    text = (marked or str(error).strip().splitlines() or [""])[0]
    kind = type(error).__name__
    return text if kind in text else f"{kind}: {text}"


def pytest_sessionfinish(session, exitstatus):
    with open(os.environ["PLAIN_OUTCOMES"], "w") as file:
        json.dump({"status": int(exitstatus), "tests": OUTCOMES, "failures": FAILURES}, file)
