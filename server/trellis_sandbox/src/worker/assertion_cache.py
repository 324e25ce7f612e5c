"""The code of third-party plugins after pytest has rewritten its assertions, kept in memory.

pytest itself keeps it in files where it may write bytecode. What is kept here serves under the same conditions: it is
the same file, unchanged since.
"""

import os
import pathlib
import sys

from _pytest.assertion import rewrite


class Rewritten:
    def __init__(self):
        self._kept, self._original = {}, rewrite._read_pyc

    def install(self):
        """Before the seal is made, for this changes pytest. In a place that never stands in a traceback."""
        kept, original, identity = self._kept, self._original, self._identity

        def _read_pyc(source, *args, **options):
            entry = kept.get(str(source))
            if entry is not None and entry[0] == identity(str(source)):
                config = getattr(sys._getframe(1).f_locals.get("self"), "config", None)
                if config is not None and not config.getini("enable_assertion_pass_hook"):
                    return entry[1]
            return original(source, *args, **options)

        rewrite._read_pyc = _read_pyc

    @staticmethod
    def _identity(path):
        try:
            status = os.stat(path)
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def wanted(self, path):
        return path not in self._kept

    def remember(self, path):
        try:
            # Without a configuration the one option that matters here has its default.
            self._kept[path] = self._identity(path), rewrite._rewrite_test(pathlib.Path(path), None)[1]
        except Exception:  # not ours to complain about
            self._kept[path] = (), None
