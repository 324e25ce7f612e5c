"""Caches the entry points of installed packages.

pytest reads them from a file of each package in each session.
"""

import importlib.metadata
import os

FILE = "entry_points.txt"


class EntryPoints:
    """The files' contents as the worker read them. A package whose folder has changed is read
    again.
    """

    def __init__(self):
        self._kept, self._original = {}, importlib.metadata.PathDistribution.read_text
        for distribution in importlib.metadata.distributions():
            folder = str(getattr(distribution, "_path", ""))
            changed = self._changed(folder)
            if changed is not None and type(distribution) is importlib.metadata.PathDistribution:
                self._kept[folder] = changed, self._original(distribution, FILE)

    @staticmethod
    def _changed(folder):
        try:
            return os.stat(folder).st_mtime_ns if os.path.isabs(folder) else None
        except OSError:
            return None

    def install(self):
        """Makes `read_text` answer from memory, until the plugins are loaded."""
        kept, original, changed = self._kept, self._original, self._changed

        def read_text(distribution, filename):
            if filename == FILE:
                folder = str(distribution._path)
                if folder in kept and kept[folder][0] == changed(folder):
                    return kept[folder][1]
            return original(distribution, filename)

        importlib.metadata.PathDistribution.read_text = read_text

    def remove(self):
        importlib.metadata.PathDistribution.read_text = self._original
