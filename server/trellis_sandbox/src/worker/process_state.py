"""All state of a process, besides `sys.modules`, that importing a module might change."""

import builtins
import gc
import locale
import logging
import os
import random
import signal
import socket
import sys
import threading
import types
import warnings


class Output:
    """Catches printed output, at the level of descriptors."""

    def __init__(self):
        self._file = os.memfd_create("output")
        for number in (1, 2):
            os.dup2(self._file, number)

    def any(self):
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        return os.fstat(self._file).st_size > 0


class Warnings:
    """Counts warnings, including those that are filtered out."""

    def __init__(self):
        self._seen = []
        warnings.resetwarnings()
        warnings.simplefilter("always")
        warnings.showwarning = lambda *args, **options: self._seen.append(args)

    def any(self):
        return bool(self._seen)


def taken():
    """Returns a snapshot of the state."""
    return settings(), dict(sys.modules), {name: contents(module) for name, module in list(sys.modules.items())}


def same(before):
    """Returns whether the state is unchanged except for new modules."""
    old_settings, old_modules, old_contents = before
    if settings() != old_settings:
        return False
    return all(
        sys.modules.get(name) is module and unchanged(name, module, old_contents[name])
        for name, module in old_modules.items()
    )


def contents(module):
    # Holds the values, not their addresses: an address may be used again.
    return dict(vars(module)) if isinstance(module, types.ModuleType) else None


def unchanged(name, module, old):
    """Returns whether a module's contents are unchanged. A package may gain its submodules."""
    if old is None:
        return True
    new = vars(module)
    for key in set(new) | set(old):
        if key in new and key in old and new[key] is old[key]:
            continue
        if key in new and key not in old and sys.modules.get(f"{name}.{key}") is new[key]:
            continue
        if key in old and key in new and isinstance(old[key], (int, float)) and type(old[key]) is type(new[key]):
            continue  # a counter
        if key in ("__warningregistry__", "__annotations__", "_cache"):
            continue
        return False
    return True


def settings():
    root = logging.getLogger()
    return {
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "path": (list(sys.path), list(sys.meta_path), list(sys.path_hooks)),
        "signals": [signal.getsignal(number) for number in signal.valid_signals()],
        "warnings": (list(warnings.filters), warnings.showwarning, warnings.formatwarning),
        "locale": locale.setlocale(locale.LC_ALL),
        "hooks": (sys.excepthook, sys.displayhook, sys.breakpointhook, sys.unraisablehook, threading.excepthook),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "tracing": (sys.gettrace(), sys.getprofile()),
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval(), gc.isenabled(), gc.get_threshold()),
        "logging": (list(root.handlers), root.level, logging.raiseExceptions, logging.getLoggerClass()),
        "builtins": {name: id(value) for name, value in vars(builtins).items()},
        "random": random.getstate(),
        "network": socket.getdefaulttimeout(),
        "threads": (threading.active_count(), len(os.listdir("/proc/self/task"))),
        "descriptors": sorted(os.listdir("/proc/self/fd"))[:-1],
        "mask": os.umask(os.umask(0o22)),
        "children": childless(),
    }


def childless():
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False
