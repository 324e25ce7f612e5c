"""Tries several edits of functions in one fork, since forking takes longer than most tests.

What one edit leaves in memory could change the results of the next. So the failing tests run once
more without an edit at the end, caches of functions are emptied before each edit, and each edited
function notes that it ran. An edit counts as tried if all this is in order and every test still
fails; any other edit is tried again in a fork of its own.
"""

import builtins

from source_units import MARK
from trial_fork import ENDED

SIZE = 25  # edits in one fork
LONG = 1.0  # seconds of tests in one fork: results come at its end
TRIES = 3  # failed checks after which every edit has a fork of its own
TOO_LONG = "TestTookTooLong"


class Entry:
    """An edit of a batch with its failing tests and its results."""

    def __init__(self, edit, first, effect):
        self.edit, self.first, self.effect = edit, first, effect
        self.tests, self.has_begun, self.ran = [], False, False


class Batches:
    """``tests`` runs tests and forks, and tells Trellis the results."""

    def __init__(self, tests, code):
        self._tests, self._code = tests, code
        self._waiting, self._seconds, self._failed = [], 0, 0

    def add(self, edit, first, effect, seconds):
        """Adds an edit whose first tests take that long."""
        self._waiting.append(Entry(edit, first, effect))
        self._seconds += seconds
        if len(self._waiting) == SIZE or self._seconds > LONG:
            self.finish()

    def finish(self):
        waiting, self._waiting, self._seconds = self._waiting, [], 0
        self._try(waiting)

    def _try(self, entries):
        if self._failed >= TRIES or len(entries) < 2:
            for entry in entries:
                self._tests.try_alone(entry.edit, entry.effect)
            return
        for entry in entries:
            entry.tests, entry.has_begun, entry.ran = [], False, False
        messages, end = self._tests.fork(self._numbers(entries), lambda tell: self._work(entries, tell))
        is_clean = self._take(entries, messages)
        begun = [it for it in entries if it.has_begun]
        if end != ENDED and begun:
            self._tests.tell(begun[-1].edit, end, begun[-1].tests)
            # The last check is missing for those before.
            self._try(begun[:-1])
            self._try(entries[len(begun) :])
        elif not is_clean:
            self._failed += 1
            for entry in begun:
                self._tests.try_alone(entry.edit, entry.effect)
            self._try(entries[len(begun) :])
        else:
            self._accept(begun)
            self._try(entries[len(begun) :])

    @staticmethod
    def _numbers(entries):
        return sorted({number for it in entries for number in it.first})

    def _accept(self, entries):
        for entry in entries:
            if entry.ran and all(it[1] == "failed" for it in entry.tests):
                self._tests.tell(entry.edit, "ended", entry.tests)
            else:
                self._tests.try_alone(entry.edit, entry.effect)

    def _work(self, entries, tell):
        """Tries the edits; called in a fork. Ends after a test that took too long."""
        seen = []
        setattr(builtins, MARK, lambda: seen or seen.append(True))
        for at, entry in enumerate(entries):
            tell("edit", at)
            seen.clear()
            self._code.empty_caches()
            is_late = self._one(entry, tell)
            tell("ran", bool(seen))
            if is_late:
                break
        for number in self._numbers(entries[: at + 1]):
            tell("again", number, *self._tests.outcome(number))

    def _one(self, entry, tell):
        """Tries one edit. Returns whether a test took too long."""
        before = [(function, function.__code__) for function, _ in entry.effect.replaced]
        for function, code in entry.effect.replaced:
            function.__code__ = code
        try:
            for number in entry.first:
                outcome, exception, message = self._tests.outcome(number)
                tell("test", number, outcome, exception, message)
                if exception == TOO_LONG:
                    return True
            return False
        finally:
            for function, code in before:
                function.__code__ = code

    def _take(self, entries, messages):
        """Takes in the messages of a batch. Returns whether its last check was in order."""
        entry, again = None, {}
        for what, *rest in messages:
            if what == "edit":
                entry = entries[rest[0]]
                entry.has_begun = True
            elif what == "test":
                entry.tests.append(rest)
            elif what == "ran":
                entry.ran = rest[0]
            else:
                again[rest[0]] = tuple(rest[1:])
        return bool(again) and all(self._tests.is_as_before(number, it) for number, it in again.items())
