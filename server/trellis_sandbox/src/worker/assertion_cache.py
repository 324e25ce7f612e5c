"""Caches the code of third-party plugins after pytest has rewritten its assertions.

pytest itself keeps this code in files where it may write bytecode. A cached entry is used under the
same condition: the file is the same and unchanged since.
"""

import os
import pathlib
import sys

from _pytest.assertion import rewrite


class Rewritten:
    def __init__(self):
        self._kept, self._original = {}, rewrite._read_pyc

    def install(self):
        """Patches pytest. Call this before the seal is made; the patched function never appears in
        a traceback.
        """
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
            # Without a configuration, the only option that matters here has its default.
            self._kept[path] = self._identity(path), rewrite._rewrite_test(pathlib.Path(path), None)[1]
        except Exception:  # the error shows when a run imports the plugin
            self._kept[path] = (), None
