"""Functions and classes shared by the reporters of all kinds of runs."""

import faulthandler
import signal

from failure import cut

CAPTURED = 32_000  # characters of one stream of one test
IDS = 500  # test ids in one line
ID_CHARACTERS = 200_000  # characters of all ids in one line, except for a single longer id
SCANNED = 2_000_000  # bytes of a file that is read to find its `def` lines


def dump_stacks(order, descriptor):
    # Trellis sends this signal at a deadline; the reply comes from C and needs no interpreter lock.
    faulthandler.register(order["stack_signal"], file=descriptor, all_threads=False)
    faulthandler.register(signal.SIGXCPU, file=descriptor, all_threads=False, chain=True)


def in_parts(ids):
    """Yields lists of ids, each for one line."""
    part, size = [], 0
    for each in ids:
        if part and (len(part) == IDS or size + len(each) > ID_CHARACTERS):
            yield part
            part, size = [], 0
        part.append(each)
        size += len(each)
    if part:
        yield part


class Budget:
    """The limit for captured output of all tests together.

    Without it a large suite could fill the memory of Trellis.
    """

    def __init__(self, characters):
        self._left = characters

    def take(self, text):
        if not text:
            return ""
        text = cut(text, CAPTURED)
        if len(text) > self._left:
            return f"[{len(text)} characters of output left out: the run's output limit is reached]"
        self._left -= len(text)
        return text


class Definitions:
    """Lines of ``def``, where pytest gives those of the first decorator.

    The lines of one file are kept at a time, as its tests come one after another.
    """

    def __init__(self):
        self._path, self._lines = None, []

    def line(self, path, line):
        if path != self._path:
            self._path, self._lines = path, self._read(path)
        for number, text in enumerate(self._lines[line - 1 : line + 99], line):
            if text.lstrip().startswith((b"def ", b"async def ", b"class ")):
                return number
        return line

    @staticmethod
    def _read(path):
        try:
            with open(path, "rb") as file:
                return file.read(SCANNED).splitlines()
        except (OSError, ValueError):
            return []


def own_time_out(item):
    """Returns the seconds after which the test ends itself, plus a margin; 0 if it has no timeout.

    Like pytest-timeout, this reads a mark, the command line and the project's settings.
    """
    mark = item.get_closest_marker("timeout")
    given = [mark.args[0] if mark.args else mark.kwargs.get("timeout")] if mark else []
    given.append(item.config.getoption("timeout", None))
    try:
        given.append(item.config.getini("timeout"))
    except (KeyError, ValueError):
        pass  # the setting does not exist without the plugin
    for seconds in given:
        try:
            seconds = float(seconds)
        except (TypeError, ValueError):
            continue
        return seconds * 1.1 + 1 if 0 < seconds < float("inf") else 0
    return 0
