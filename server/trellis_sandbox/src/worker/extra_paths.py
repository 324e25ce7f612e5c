"""Runs tests besides those that the project's settings name: see ``request.rs``."""

import os

import pytest

NAME = "_trellis_also"


class Also:
    """Adds ``paths``, files and folders relative to the working folder."""

    def __init__(self, paths):
        self._paths = paths

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config):
        """Adds the paths. `config.args` is now what ``testpaths`` or ``addopts`` name, or the
        working folder.
        """
        named = [os.path.abspath(each.split("::")[0]) for each in config.args]
        for path in self._paths:
            whole = os.path.abspath(path)
            if os.path.exists(whole) and not any(is_within(whole, each) for each in named):
                config.args.append(path)


def is_within(path, folder):
    return path == folder or path.startswith(os.path.join(folder, ""))
