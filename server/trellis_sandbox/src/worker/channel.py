"""The report pipe, protected from accidental access by the code under test."""

import json
import os

# Tests may replace these; the originals are taken when the worker starts.
_write, _getpid = os.write, os.getpid
_encode = json.JSONEncoder(ensure_ascii=False).encode

REPORT, OUTPUT, ERRORS, STACK, LEARNED = b"E", b"O", b"R", b"S", b"L"
PRIVATE = (REPORT, STACK, LEARNED)
ALL = (REPORT, OUTPUT, ERRORS, STACK, LEARNED)
KEPT = 200  # the private descriptors start at this number, away from those that tests open
TRIES = 4  # attempts to send one record, more than any number of signal handlers that raise in the middle of it


def opened(descriptor, token):
    """Returns a function that sends events, several in one write. The token stays in its closure.

    A test's own signal handler may raise an exception anywhere in this function. The records are
    then sent again before the exception propagates. Each has its number, so that the reader takes
    it once, and a line that was cut off is followed by the whole one.
    """
    process, count = _getpid(), 0

    def send(*events):
        nonlocal count
        # A child forked by a test continues with this very session if the test forgot to end the
        # child.
        if _getpid() != process:
            return
        first, after, raised = count, count + len(events), None
        for _ in range(TRIES):
            try:
                records = [f"{token} {first + index} {_encode(event)}\n" for index, event in enumerate(events)]
                text = "".join(records if raised is None else ["\n", *records])
                rest = memoryview(text.encode("utf-8", "replace"))
                while rest:
                    rest = rest[_write(descriptor, rest) :]
                count = after
                break
            except BaseException as error:
                raised = error if raised is None else raised
        if raised is not None:
            raise raised

    return send
