"""Selects the tests of a run that is to prove something: see ``request.rs``."""

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
    """``which``: ``chosen`` by the project's options and hooks, ``left_out`` by them, or ``all``.
    """

    def __init__(self, which):
        self._which = which

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config):
        """Resets options to those of the command line itself, without the project's `addopts`.

        Plugins configure themselves later.
        """
        given = config._parser.parse_known_args(list(config.invocation_params.args))
        for name in CURTAILING:
            if hasattr(config.option, name) and hasattr(given, name):
                setattr(config.option, name, getattr(given, name))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        found = list(items)
        yield
        kept = {item.nodeid for item in items}
        rest = [item for item in found if item.nodeid not in kept]
        if self._which == "all":
            items.extend(rest)
        elif self._which == "left_out":
            items[:] = rest
