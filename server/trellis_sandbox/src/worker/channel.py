"""The report pipe, as the code under test must not get at it by chance."""

import json
import os

# Tests may well replace these; ours are taken when the worker starts.
_write, _getpid = os.write, os.getpid
_encode = json.JSONEncoder(ensure_ascii=False).encode

REPORT, OUTPUT, ERRORS, STACK, LEARNED = b"E", b"O", b"R", b"S", b"L"
PRIVATE = (REPORT, STACK, LEARNED)
ALL = (REPORT, OUTPUT, ERRORS, STACK, LEARNED)
KEPT = 200  # numbers of the private descriptors start here, out of the way of those that tests open
TRIES = 4  # handlers of signals that raise in the middle of one record, and then some


def opened(descriptor, token):
    """A function that sends events, several in one write. The token stays in its closure.

    A handler of a test's own signals may raise anywhere in it. The records are then sent again before that goes on its way:
    each has its number, so that the reader takes it once, and a line that was cut off is followed by its whole.
    """
    process, count = _getpid(), 0

    def send(*events):
        nonlocal count
        # A child forked by a test carries on with this very session when the test forgot to end it.
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
