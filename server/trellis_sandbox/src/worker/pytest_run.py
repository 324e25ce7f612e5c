"""A run of pytest: like ``python -m pytest``, with the reporter among its plugins."""

import sys

import channel
import program
from reporting import Budget, dump_stacks


class Ready:
    """pytest, imported and partly set up in the worker."""

    def __init__(self, version, prepared, seal):
        self.version, self.fast = version, prepared is not None
        self.prepared, self.seal = prepared, seal

    def plugins_loaded(self):
        if self.prepared is not None:
            self.prepared.plugins_loaded()


def prepare():
    """Imports everything that a run would import of pytest; returns None if pytest is not
    installed.
    """
    try:
        import pytest
    except ImportError:
        return None
    import_all_of_pytest()
    import_what_pytest_imports(int(pytest.__version__.split(".")[0]))
    warm_metadata()
    program.main_spec("pytest")
    import integrity
    import deadline  # noqa: F401 (compiled once, here)
    import pytest_config
    import reporter  # noqa: F401
    import selection  # noqa: F401

    return Ready(pytest.__version__, pytest_config.prepare(pytest.__version__), integrity.Seal(integrity.PYTEST))


def unprepared():
    """Returns the state for a run that imports pytest itself."""
    import importlib.util

    return Ready(None, None, None) if importlib.util.find_spec("pytest") else None


def import_all_of_pytest():
    """Imports all modules but the plugins that are not loaded by default.

    pytest warns about those if they are already imported.
    """
    import importlib
    import pkgutil
    import runpy  # noqa: F401 (as `-m` does)

    import _pytest
    import _pytest.config

    optional = getattr(_pytest.config, "builtin_plugins", set()) - set(_pytest.config.default_plugins)
    for module in pkgutil.walk_packages(_pytest.__path__, "_pytest."):
        if module.name.split(".")[1] not in optional:
            try:
                importlib.import_module(module.name)
            except Exception:  # a module for another system, or with a dependency that is not installed
                pass


def import_what_pytest_imports(major):
    """Imports modules of the standard library that each session imports at some point."""
    import importlib

    for name in ("pdb", "email.parser") + (("readline",) if major >= 8 else ()):
        try:
            importlib.import_module(name)
        except ImportError:
            pass


def warm_metadata():
    import importlib.metadata

    import pluggy

    # pluggy computes this from files on each access, unless it is set.
    pluggy.__version__ = pluggy.__version__
    for distribution in importlib.metadata.distributions():
        try:
            list(distribution.entry_points)
        except Exception:
            pass  # pytest itself reports a broken package


def run(order, private, ready, observer, measuring):
    """Runs pytest in the child. Returns the exit code."""
    if ready is None:
        return without_pytest()
    main = program.become_main("pytest", order["args"], order.get("path_entries"))
    dump_stacks(order, private[channel.STACK])
    send = channel.opened(private[channel.REPORT], order["token"])
    code = program.call_main(lambda: session(order, send, ready, observer, main, measuring))
    observer.tell(private[channel.LEARNED])
    return code


def measurement(order, send, measuring):
    """Returns what measures the lines of the run, else None."""
    import line_coverage

    if order.get("execution"):
        import execution_record

        return execution_record.Execution(send, order, measuring(order))
    return line_coverage.Coverage(send, order, measuring(order)) if order.get("coverage") else None


def without_pytest():
    sys.stderr.write(f"{sys.executable}: No module named pytest\n")
    sys.stderr.flush()
    return 1


def reporter_of(order):
    """Returns the class that reports the run."""
    if order.get("trials"):
        import trials

        return trials.TrialReporter
    import reporter

    return reporter.Reporter


def own_plugins(order, send, coverage, watcher):
    """Yields the other plugins of the run, with their names."""
    if order.get("execution"):
        import execution_record

        yield execution_record.Fixtures(coverage), execution_record.NAME
    if order.get("trace"):
        import execution_trace

        yield execution_trace.Tracing(send, order["root"]), execution_trace.NAME
    if order.get("deadline"):
        import deadline

        ends = deadline.Deadline(order["deadline"], order["deadline_is"])
        yield ends, deadline.NAME
        if order.get("trials"):
            import trials

            yield trials.Trials(order, send, watcher, ends), trials.NAME
    if order.get("also"):
        import extra_paths

        yield extra_paths.Also(order["also"]), extra_paths.NAME
    if order["selection"] != "project":
        import selection

        yield selection.Selection(order["selection"]), selection.NAME


def session(order, send, ready, observer, main, measuring):
    import _pytest.config

    import integrity

    send({"event": "phase", "doing": "start", "id": ""})
    coverage = measurement(order, send, measuring)
    watcher = reporter_of(order)(send, coverage, Budget(order.get("captured") or 0), observer)
    original = _pytest.config.get_config

    def get_config(*args, **options):
        """The only call that differs from plain pytest. Sessions within tests get the original."""
        _pytest.config.get_config = original
        config = ready.prepared and ready.prepared.take(args, options)
        config = config or original(*args, **options)
        watcher.attach(config, ready.seal or integrity.Seal(integrity.PYTEST), ready.plugins_loaded)
        for plugin, name in own_plugins(order, send, coverage, watcher):
            config.pluginmanager.register(plugin, name)
        return config

    _pytest.config.get_config = get_config
    try:
        return main()
    finally:
        _pytest.config.get_config = original
        ready.plugins_loaded()
