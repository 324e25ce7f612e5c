"""Selects the tests of a run that is to prove something: see ``request.rs``."""

import option_paths
import pytest

NAME = "_trellis_selection"
# Options that end a session early, run nothing, or depend on the results of an earlier session.
CURTAILING = (
    "maxfail",
    "lf",
    "failedfirst",
    "newfirst",
    "stepwise",
    "stepwise_skip",
    "stepwise_reset",
    "collectonly",
    "setuponly",
    "setupplan",
)


class Selection:
    """``which``: ``chosen`` by the project's options and hooks, ``left_out`` by them, ``all``, or
    ``listed``: all are found and none runs.

    What ends a session early does not, be it an option or a hook, unless the command line itself
    asks for it.
    """

    def __init__(self, which):
        self._which, self._session, self._given, self._is_cut = which, None, {}, False
        self._limiting = []  # paths to which the project's options limit the session

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config):
        """Resets options to those of the command line itself, without the project's `addopts`.

        Plugins configure themselves later.
        """
        given = config._parser.parse_known_args(list(config.invocation_params.args))
        self._given = {name: getattr(given, name) for name in CURTAILING if hasattr(given, name)}
        self._is_cut = any(self._given.values())
        self._reset(config)
        if self._which in ("left_out", "listed"):
            self._widen(config)

    def _widen(self, config):
        self._limiting = option_paths.limiting(config)
        if self._limiting:
            config.args[:] = option_paths.unlimited(config)

    def _reset(self, config):
        for name, value in self._given.items():
            if hasattr(config.option, name):
                setattr(config.option, name, value)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionstart(self, session):
        """Resets options that hooks have set since."""
        self._session = session
        yield
        self._reset(session.config)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collectreport(self):
        yield
        self._continue()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self):
        yield
        self._continue()

    def _continue(self):
        """Takes back a wish to end the session. From version 8 on the attributes cannot be reset."""
        if self._is_cut:
            return
        for name in ("shouldfail", "shouldstop"):
            if getattr(self._session, name):
                private = "_" + name
                setattr(self._session, private if hasattr(self._session, private) else name, False)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        found = list(items)
        yield
        kept = {item.nodeid for item in items if self._is_chosen(item)}
        rest = [item for item in found if item.nodeid not in kept]
        if self._which == "all":
            items.extend(rest)
        elif self._which == "left_out":
            items[:] = rest
        elif self._which == "listed":
            items[:] = []

    def _is_chosen(self, item):
        return not self._limiting or option_paths.is_below(item.nodeid, self._limiting)
