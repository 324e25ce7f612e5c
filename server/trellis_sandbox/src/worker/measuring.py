"""Finds the coverage.py that measures lines: the environment's own, else one from elsewhere.

The one from elsewhere is hidden from the project: it is in ``sys.modules`` only while it works, so
the project's imports succeed and fail as they would without it.
"""

import contextlib
import importlib.util
import os
import sys

from failure import message_of

NAME = "coverage"
OLDEST = (6, 0)  # the oldest version with all options that `line_coverage` uses


class Found:
    """A coverage.py, or the reason there is none."""

    def __init__(self, module, missing, parts):
        self.module, self.missing, self._parts = module, missing, parts

    @property
    def version(self):
        return self.module and self.module.__version__

    @contextlib.contextmanager
    def at_hand(self):
        """Makes coverage.py importable, so that it may import parts of itself."""
        if self._parts is None:
            yield
            return
        others = taken_out()
        sys.modules.update(self._parts)
        try:
            yield
        finally:
            self._parts = taken_out()
            sys.modules.update(others)


def taken_out():
    """Removes all modules of coverage.py from the loaded ones and returns them."""
    names = [name for name in sys.modules if name.partition(".")[0] == NAME]
    return {name: sys.modules.pop(name) for name in names}


def find(lent, root=None):
    """Finds the environment's own coverage.py if it works, else the one in the given folder.

    A module in `root` belongs to the project.
    """
    before = taken_out()
    try:
        if belongs_to(root):
            raise ImportError(f"the project has its own module {NAME}")
        sys.modules.update(before)
        return Found(imported(), None, None)
    except (Exception, SystemExit) as error:
        missing = message_of(error)
    taken_out()
    try:
        return found_in(lent) if lent else Found(None, missing, None)
    except (Exception, SystemExit) as error:
        return Found(None, f"{missing}; the one from elsewhere: {message_of(error)}", None)
    finally:
        sys.modules.update(before)


def belongs_to(root):
    spec = importlib.util.find_spec(NAME)
    place = spec and (spec.origin or next(iter(spec.submodule_search_locations or ()), ""))
    inner = os.path.join(root or "", "")
    return bool(root and place and place.startswith(inner)) and "site-packages" not in place[len(inner) :].split(os.sep)


def found_in(folder):
    path = sys.path[:]
    sys.path.insert(0, folder)
    try:
        return Found(imported(), None, taken_out())
    finally:
        taken_out()
        sys.path[:] = path


def imported():
    """Imports coverage.py and checks that it supports everything needed."""
    import coverage

    if coverage.version_info[:2] < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise ImportError(f"coverage {coverage.__version__} is too old: {oldest} or newer is needed")
    coverage.Coverage(data_file=None, config_file=False, messages=False)
    return coverage
