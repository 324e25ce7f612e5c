"""Detects modules of a project with the name of one that the worker has already imported.

In a fresh interpreter the project's module would be found, since its folder comes first on the
path. Such a run has to start from a fresh interpreter.
"""

import os
import sys

# Folders that projects commonly put on the path, even if they are packages.
USUAL = ("", "src", "lib", "test", "tests")
MOST = 300  # maximum folders examined, outer ones first: about 20 µs each


class Shadows:
    def __init__(self, from_start):
        self._from_start = from_start  # modules loaded before any path of a project could matter

    def refresh(self):
        """Collects the names that are in use, before the order arrives."""
        self._taken = {name for name in sys.modules if "." not in name} - self._from_start

    def found(self, order):
        """Returns the first clash, or None."""
        taken = self._taken
        for folder in self._folders(order):
            for name in self._modules_in(folder):
                if name in taken:
                    return os.path.join(folder, name)
        return None

    @staticmethod
    def _folders(order):
        cwd, root = order["cwd"], order["root"]
        folders = {os.path.join(each, usual) for each in (cwd, root) for usual in USUAL}
        folders.update(order.get("path_entries") or ())
        for target in order["args"]:
            folder = os.path.dirname(os.path.join(cwd, target.split("::")[0]))
            while folder.startswith(root) and folder not in folders:
                folders.add(folder)
                folder = os.path.dirname(folder)
        folders.update(plain_folders(root))
        return folders

    @staticmethod
    def _modules_in(folder):
        try:
            with os.scandir(folder or ".") as entries:
                names = [entry.name for entry in entries]
        except OSError:
            return
        for name in names:
            stem, dot, rest = name.partition(".")
            if (dot and rest.endswith(("py", "so", "pyc"))) or (
                not dot and stem in sys.modules and os.path.isfile(os.path.join(folder, name, "__init__.py"))
            ):
                yield stem


def plain_folders(root):
    """Returns the folders that are no packages.

    pytest puts any of them on the path that holds a test module or a ``conftest.py``.
    """
    found, waiting = [], [root]
    for folder in waiting:
        try:
            with os.scandir(folder) as entries:
                entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError:
            continue
        names = {name for name, _ in entries}
        if "pyvenv.cfg" in names:
            continue
        if "__init__.py" not in names:
            found.append(folder)
        inner = (name for name, is_folder in entries if is_folder and not name.startswith((".", "__")))
        waiting.extend(os.path.join(folder, name) for name in inner if name != "node_modules")
        del waiting[MOST:]
    return found
