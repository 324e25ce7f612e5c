"""Learns which installed modules the runs import, and imports them in the worker for later runs.

Fidelity comes first. A module is only taken if it belongs to the standard library or an installed
package, if a probe showed that importing it changes only `sys.modules`, and if the project does not
influence its imports (variables in the environment, patched libraries). A module that fails the
probe is never imported in advance.
"""

import functools
import gc
import importlib
import importlib.machinery
import importlib.util
import json
import os
import select
import signal
import sys
import sysconfig

MOST = 2000  # names taken from one run
PROBE_SECONDS = 20.0
LOADERS = (importlib.machinery.SourceFileLoader, importlib.machinery.ExtensionFileLoader)
# Modules that act on import, and modules that replace parts of others.
NEVER = {
    "__main__", "_distutils_hack", "antigravity", "distutils", "idlelib", "lib2to3", "pkg_resources", "setuptools",
    "site", "sitecustomize", "test", "this", "tkinter", "turtle", "usercustomize",
}  # fmt: skip
PATCHERS = {"eventlet", "gevent"}  # they warn about modules imported before them


def settle():
    """Moves all objects to where the garbage collector of a child never looks."""
    gc.collect()
    gc.freeze()


@functools.lru_cache(1)
def roots():
    """Returns folders of the standard library and of installed packages on the worker's path."""
    paths = sysconfig.get_paths()
    standard = {paths.get("stdlib"), paths.get("platstdlib")}
    known = [each for each in sys.path if os.path.basename(each) in ("site-packages", "dist-packages", "lib-dynload")]
    return tuple({os.path.join(os.path.abspath(each), "") for each in [*standard, *known] if each})


def acceptable(name, spec, folders):
    """Returns whether the module comes from one of the folders through an ordinary loader."""
    if spec is None or spec.name != name or name.split(".")[0] in NEVER:
        return False
    if spec.origin in ("built-in", "frozen"):
        return True
    return type(spec.loader) in LOADERS and isinstance(spec.origin, str) and spec.origin.startswith(folders)


class Observer:
    """The child's part: records the imports of a run, and whether its project influenced them."""

    def __init__(self):
        self._before, self._calm, self._marked = set(sys.modules), False, set()
        self._ground = self._prepared()

    @staticmethod
    def _prepared():
        env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        return env, os.getcwd(), list(sys.path_hooks)

    def collected(self):
        """Call this once all test modules are imported, before any test runs."""
        self._calm = self._prepared() == self._ground and not PATCHERS.intersection(sys.modules)
        for finder in sys.meta_path:
            # pytest warns about modules that it should rewrite but that are already loaded.
            self._marked |= set(getattr(finder, "_must_rewrite", ()))

    def tell(self, descriptor):
        if not self._calm:
            return
        folders, found, rewritten = roots(), [], []
        for name in list(sys.modules):
            file = getattr(sys.modules[name], "__file__", None)
            loader = type(getattr(sys.modules[name], "__loader__", None))
            if loader.__name__ == "AssertionRewritingHook" and isinstance(file, str) and file.startswith(folders):
                rewritten.append(file)
            elif name in self._before or any(name == each or name.startswith(each + ".") for each in self._marked):
                continue
            elif acceptable(name, getattr(sys.modules[name], "__spec__", None), folders):
                found.append(name)
        try:
            os.write(descriptor, json.dumps([found[:MOST], rewritten[:MOST]]).encode())
        except OSError:
            pass


class Learning:
    """The worker's part: probes and imports modules."""

    def __init__(self, enabled, rewritten):
        self._enabled, self._tried, self._groups = enabled, set(), {}
        self._folders, self._rewritten, self._files = roots(), rewritten, []

    def wanted(self):
        return bool(self._groups or self._files)

    def take(self, text):
        """Takes names from a run. Code under test may have written them: each is looked up anew."""
        try:
            names, files = json.loads(text) if text and self._enabled else ([], [])
            names, files = [str(each) for each in names[:MOST]], [str(each) for each in files[:MOST]]
        except (ValueError, TypeError):
            return
        if self._rewritten is not None:
            usable = [each for each in files if os.path.abspath(each).startswith(self._folders)]
            self._files = [each for each in usable if each.endswith(".py") and self._rewritten.wanted(each)]
        for name in names:
            if name not in sys.modules and name not in self._tried:
                self._groups.setdefault(name.split(".")[0], []).append(name)

    def one_step(self, orders, wait_for):
        """Probes the waiting modules; stops at once when an order arrives."""
        while self._files and not select.select([orders], [], [], 0)[0]:
            self._rewritten.remember(self._files.pop())
        if not self._groups:
            return
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            probe(self._groups, writer, self._folders)
        os.close(writer)
        answers, finished = self._answers(reader, orders)
        os.close(reader)
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        wait_for(pid)
        self._adopt(answers, finished)

    @staticmethod
    def _answers(reader, orders):
        """Returns the lines of the probe, and whether it ended by itself."""
        text, poll = b"", select.poll()
        poll.register(reader, select.POLLIN)
        poll.register(orders, select.POLLIN)
        while True:
            ready = [descriptor for descriptor, _ in poll.poll(PROBE_SECONDS * 1000)]
            if orders in ready:
                return text, False
            part = os.read(reader, 1 << 16) if reader in ready else b""
            if not part:
                return text, True
            text += part

    def _adopt(self, answers, finished):
        clean = [line[3:] for line in answers.decode().splitlines() if line.startswith("ok ")]
        done = [line.partition(" ")[2] for line in answers.decode().splitlines()]
        if finished and len(done) == len(clean) < len(self._groups):
            done.append(next(each for each in self._groups if each not in done))  # this group ended the probe
        for group in done:
            names = self._groups.pop(group, [])
            self._tried.update(names)
            if group in clean:
                import_all(names, self._folders)


def import_all(names, folders):
    for name in names:
        try:
            if acceptable(name, importlib.util.find_spec(name), folders):
                importlib.import_module(name)
        except Exception:
            return


def probe(groups, writer, folders):
    """Runs in a child: imports the groups and reports which of them left everything else unchanged.

    Never returns.
    """
    try:
        import process_state

        os.setsid()
        signal.alarm(0)
        output = process_state.Output()
        noise = process_state.Warnings()
        for group, names in groups.items():
            before = process_state.taken()
            for name in names:
                if name not in sys.modules and acceptable(name, importlib.util.find_spec(name), folders):
                    importlib.import_module(name)
            clean = process_state.same(before) and not output.any() and not noise.any()
            os.write(writer, f"{'ok' if clean else 'bad'} {group}\n".encode())
            if not clean:
                break
    except BaseException:
        os.write(writer, f"bad {group}\n".encode())
    finally:
        os._exit(0)
