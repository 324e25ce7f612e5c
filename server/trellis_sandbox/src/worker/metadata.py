"""The entry points of installed packages, which pytest reads from a file of each package in each session."""

import importlib.metadata
import os

FILE = "entry_points.txt"


class EntryPoints:
    """What the files said when the worker read them. A package whose folder has changed since is read again."""

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
        """Until the plugins are loaded, `read_text` answers from memory."""
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
