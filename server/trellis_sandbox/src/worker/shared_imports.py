"""Imports once what every fork would import again: installed modules that tests load only when they
run.
"""

import importlib
import os
import sys


def is_installed(module, root):
    """Returns whether a module comes from a file that is not the project's."""
    path = getattr(getattr(module, "__spec__", None), "origin", None)
    if not isinstance(path, str) or not os.path.isfile(path):
        return False
    path = os.path.realpath(path)
    return not path.startswith(os.path.join(os.path.realpath(root), "")) or "site-packages" in path.split(os.sep)


def since(before, root):
    """Returns the installed modules that were imported since the names ``before`` were taken."""
    new = [(name, it) for name, it in list(sys.modules.items()) if name not in before]
    return [name for name, it in new if is_installed(it, root)]


def repeat(names):
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException:
            pass  # the forks go on importing it themselves
