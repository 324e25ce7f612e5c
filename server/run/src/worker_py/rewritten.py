"""The code of third-party plugins after pytest has rewritten its assertions, kept in memory.

pytest itself keeps it in files where it may write bytecode. What is kept here serves under the same conditions: the same
file, unchanged since.
"""

import os
import pathlib

from _pytest.assertion import rewrite


class Rewritten:
    def __init__(self):
        self._kept, self._original = {}, rewrite._rewrite_test

    def install(self):
        """Before the seal is made, for this changes pytest."""
        kept, original, identity = self._kept, self._original, self._identity

        def _rewrite_test(fn, config):
            entry = kept.get(str(fn))
            if entry is None or config.getini("enable_assertion_pass_hook") or entry[0] != identity(str(fn)):
                return original(fn, config)
            return entry[1]

        rewrite._rewrite_test = _rewrite_test

    @staticmethod
    def _identity(path):
        status = os.stat(path)
        return status.st_mtime_ns, status.st_size, status.st_ino

    def wanted(self, path):
        return path not in self._kept

    def remember(self, path):
        try:
            # Without a configuration the one option that matters here has its default.
            self._kept[path] = self._identity(path), self._original(pathlib.Path(path), None)
        except Exception:  # not ours to complain about
            self._kept[path] = None, None
