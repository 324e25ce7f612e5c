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


def opened(descriptor, token):
    """A function that sends events, several in one write. The token stays in its closure."""
    process, prefix, count = _getpid(), token + " ", 0

    def send(*events):
        nonlocal count
        # A child forked by a test carries on with this very session when the test forgot to end it.
        if _getpid() != process:
            return
        text = ""
        for event in events:
            if event["event"] == "finish":
                event["count"] = count
            text += f"{prefix}{_encode(event)}\n"
            count += 1
        rest = memoryview(text.encode("utf-8", "replace"))
        while rest:
            rest = rest[_write(descriptor, rest) :]

    return send
