"""Tries small edits of the code under test, each in a fork of a session that has collected its
tests once.

A fork runs the failing tests of the first look, and if one of them passes, the other failing tests
and then passing ones. Tests that give the other result without any edit count for nothing: forks
without an edit show which. ``trials.rs`` describes the plan, ``events.rs`` the event of each trial.
"""

import gc
import os
import re
import sys
import threading
import time
import warnings

import loaded_code
import pytest
import reporter
import shared_imports
import trial_batch
import trial_fork
from failure import cut
from source_units import Unsupported

NAME = "_trellis_trials"
ENOUGH = 5  # passing tests that fail, after which no more are run
MESSAGE = 400  # characters of the message of a failure
TRACED = 5  # factor for time limits of tests whose lines are watched
SLOW = 1.0  # seconds after which a test runs only once without an edit, and has forks of its own
SLOWER = 10  # factor by which a test may take longer with an edit
PATIENCE, LEAST = 2, 1.0  # factor for a test's limit, and seconds more, after which a silent fork is killed
PASSED, GONE = ("passed", "xpassed"), ("passed", "xpassed", "skipped", "xfailed")


def no_text(excinfo, style=None):
    """Stands for the text of a failure: nobody reads it, and it takes longer than most tests."""
    return ""


def is_same(result, other):
    """Returns whether two results are equal but for addresses."""
    return other is not None and [re.sub("0x[0-9a-fA-F]+", "", it or "") for it in result] == [
        re.sub("0x[0-9a-fA-F]+", "", it or "") for it in other
    ]


class TrialReporter(reporter.Reporter):
    """A reporter that keeps the result of a test, since forks send nothing to Trellis."""

    result = None

    def _without_rival_tracer(self, early_config):
        self._drop_rival_tracer(early_config)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session):
        self._observer.collected()

    def _after(self, item, nextitem):
        self._announced = None
        self.result = self._test if self._test.ended() else None


class Trials:
    """The plugin that runs trials in place of the session's tests."""

    def __init__(self, order, send, watcher, ends):
        self._plan, self._root = order["trials"], order["root"]
        self._send, self._reporter, self._deadline = send, watcher, ends
        self.unedited = {}  # outcome, exception and message of tests without an edit
        self._steady = set()  # tests that give the same result twice in one process
        self._seconds = {}  # durations of the second runs

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        found = {item.nodeid: (at, item) for at, item in enumerate(session.items)}
        known = [(number, found[each]) for number, each in enumerate(self._plan["tests"]) if each in found]
        self._items = {number: item for number, (_, item) in known}
        self._places = {number: at for number, (at, _) in known}
        self._groups = [self._in_order(group) for group in self._plan["groups"]]
        self._send({"event": "phase", "doing": "test", "id": "trials"})
        self._code = loaded_code.LoadedCode(self._root, self._plan["files"])
        self._forks = trial_fork.Forks(session.config)
        gc.collect()
        gc.freeze()  # or each fork would copy all of memory in its first collection
        batches = trial_batch.Batches(self, self._code)
        for edit in self._plan["edits"]:
            self._try(edit, batches)
        batches.finish()
        return True

    def _in_order(self, group):
        """Returns the tests of a group that exist, in the order of collection."""
        return sorted((it for it in group if it in self._places), key=self._places.get)

    def _failing(self, numbers):
        """Returns the tests that fail without an edit."""
        self._run_unedited(numbers)
        return [it for it in numbers if self.unedited[it][0] == "failed"]

    def _run_unedited(self, numbers):
        unknown = [it for it in numbers if it not in self.unedited]
        if not unknown:
            return
        messages, _ = self.fork(unknown, lambda tell: self._work_unedited(unknown, tell))
        for names in [it[1] for it in messages if it[0] == "imported"]:
            shared_imports.repeat(names)
        tests = [it[1:] for it in messages if it[0] == "test"]
        self.unedited.update((it, (None, "", "")) for it in unknown)
        self.unedited.update((number, tuple(result)) for number, *result in tests)
        again = {it[1]: tuple(it[3:]) for it in messages if it[0] == "again"}
        self._seconds.update(it[1:3] for it in messages if it[0] == "again")
        self._steady.update(it for it in unknown if is_same(self.unedited[it], again.get(it)))
        self._send({"event": "trial", "edit": None, "how": "unedited", "tests": tests})

    def _work_unedited(self, numbers, tell):
        before, durations = set(sys.modules), {}
        for number in numbers:
            start = time.perf_counter()
            self._each([number], tell)
            durations[number] = time.perf_counter() - start
        tell("imported", shared_imports.since(before, self._root))
        for number in (it for it in numbers if durations[it] < SLOW):
            before = time.perf_counter()
            result = self.outcome(number)
            tell("again", number, time.perf_counter() - before, *result)

    def _try(self, edit, batches):
        """Tries an edit, or adds it to a batch."""
        first = self._failing(self._groups[edit["first"]])
        effect = self._prepared(edit) if first else "unsupported"
        if isinstance(effect, str):
            self.tell(edit, effect)
        elif effect.replaced and self._steady.issuperset(first):
            batches.add(edit, first, effect, sum(self._seconds[it] for it in first))
        else:
            self.try_alone(edit, effect)

    def _prepared(self, edit):
        """Returns the effect of an edit, or the reason it cannot be tried here."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # those about the source were shown at import
                return self._code.prepared(edit) or "unchanged"
        except SyntaxError:
            return "invalid"
        except Unsupported:
            return "unsupported"

    def try_alone(self, edit, effect):
        """Tries an edit in a fork of its own, with all tests that it may concern."""
        first, rest = (self._failing(self._groups[edit[it]]) for it in ("first", "rest"))
        passing = self._groups[edit["passing"]]
        work = lambda tell: self._work(effect, (first, rest, passing), tell)  # noqa: E731
        messages, end = self.fork([*first, *rest, *passing], work)
        if any(it[0] != "test" for it in messages):
            return self.tell(edit, "unsupported")
        tests = self._caused([it[1:] for it in messages], set(passing))
        repaired = [it[0] for it in tests if it[0] not in passing and it[1] == "passed"]
        self.tell(edit, end, tests, self._still_reached(edit, effect, repaired))

    def is_as_before(self, number, result):
        """Returns whether a test has the same result as without an edit."""
        return is_same(self.unedited[number], result)

    def _caused(self, tests, passing):
        """Returns the results without failures of tests that fail without the edit as well."""
        failed = {it[0] for it in tests if it[0] in passing and it[1] == "failed"}
        self._run_unedited(failed)
        return [it for it in tests if it[0] not in failed or self.unedited[it[0]][0] == "passed"]

    def fork(self, numbers, work):
        """Runs work on tests in a fork, which may take some time longer than the tests' limits.

        Returns its messages, and how it ended.
        """
        slowest = max(map(self._limit, numbers))
        return self._forks.run(work, PATIENCE * slowest + LEAST)

    def _limit(self, number):
        """Returns the time limit of a test: less than planned if it was slow only in its first run.
        """
        limits = self._plan["limits"]
        return min(limits[number], max(min(limits), SLOWER * self._seconds.get(number, limits[number])))

    def tell(self, edit, how, tests=(), reached=None):
        self._send({"event": "trial", "edit": edit["number"], "how": how, "tests": tests, "still_reached": reached})

    def _work(self, effect, stages, tell):
        """Brings an edit into effect and runs the tests; called in a fork."""
        try:
            effect.bring()
        except Unsupported as why:
            return tell("unsupported", str(why))
        first, rest, passing = stages
        following = [*first, *rest, *passing]
        if self._each(first, tell, following, until_late=True):
            self._each(rest, tell, following)
            self._each(passing, tell, following, enough=ENOUGH)

    def _each(self, numbers, tell, following=None, until_late=False, enough=None):
        """Runs tests. Returns how many of them passed."""
        following, counts = following or numbers, {"passed": 0, "failed": 0}
        after = dict(zip(following, following[1:]))
        for number in numbers:
            outcome, exception, message = self.outcome(number, after.get(number))
            tell("test", number, outcome, exception, message)
            counts[outcome] = counts.get(outcome, 0) + 1
            if until_late and exception == trial_batch.TOO_LONG or counts["failed"] == enough:
                break
        return counts["passed"]

    def outcome(self, number, after=None, slowness=1):
        """Runs a test. Returns its outcome, exception and message. ``after``: the next test."""
        item, self._reporter.result = self._items[number], None
        item.repr_failure = item._repr_failure_py = no_text
        self._deadline.seconds = self._limit(number) * slowness
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=self._items.get(after))
        result = self._reporter.result
        if result is None:
            return "failed", "", ""
        failure = result.failure or {"exception": "", "message": result.reason or ""}
        outcome = "passed" if result.outcome in PASSED else "skipped" if result.outcome in GONE else "failed"
        return outcome, failure["exception"], cut(failure["message"], MESSAGE)

    def _still_reached(self, edit, effect, repaired):
        """Returns whether the lines that raised the failures still run in the repaired tests.

        None if no failure has such a line.
        """
        places = [each for each in self._plan["raised"] if each["test"] in repaired]
        if not places:
            return None

        def work(tell):
            effect.bring()
            for place in places:
                seen = Watch(self._path(place), self._moved(place, edit))
                self.outcome(place["test"], None, TRACED)
                tell("reached", seen.stop())

        messages, _ = self.fork({each["test"] for each in places}, work)
        return all(it[1] for it in messages) if messages else None

    def _path(self, place):
        return os.path.realpath(os.path.join(self._root, place["path"]))

    def _moved(self, place, edit):
        """Returns the line of a place once the edit has added or removed lines before it."""
        before = place["path"] == self._plan["files"][edit["file"]]["path"] and edit["line"] < place["line"]
        return place["line"] + (edit["lines"] if before else 0)


class Watch:
    """Notices whether one line runs."""

    def __init__(self, path, line):
        self._path, self._line, self._seen, self._known = path, line, False, {}
        threading.settrace(self._calls)
        sys.settrace(self._calls)

    def _calls(self, frame, event, argument):
        name = frame.f_code.co_filename
        if name not in self._known:
            self._known[name] = os.path.realpath(name) == self._path
        return self._lines if self._known[name] else None

    def _lines(self, frame, event, argument):
        self._seen = self._seen or frame.f_lineno == self._line and event != "call"
        return self._lines

    def stop(self):
        sys.settrace(None)
        threading.settrace(None)
        return self._seen
