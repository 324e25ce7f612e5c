"""pytest's configuration object with its own plugins registered, made once in the worker.

Only what no project can influence is made beforehand. Orders that name plugins (``-p``) are carried out the ordinary way.
"""

import os
import pathlib
import sys

# Versions whose `get_config` and `FixtureManager` were read and compared run by run.
VERIFIED = ("7.4", "8.3", "8.4", "9.0", "9.1", "9.2")


def prepare(version):
    """None for versions that nobody has looked at."""
    if ".".join(version.split(".")[:2]) not in VERIFIED or os.environ.get("PYTEST_DEBUG"):
        return None
    return Prepared()


class Prepared:
    def __init__(self):
        import _pytest.config

        import child

        # Names of programs in usage messages come from these.
        child.become_main("pytest", [], [])
        options = {}
        if hasattr(_pytest.config, "_get_prog_name"):
            options["prog"] = _pytest.config._get_prog_name(sys.argv)
        self._options = options
        self._config = _pytest.config.get_config((), None, **options)
        self._fixtures, self._parsers = FixtureNames(self._config), Parsers(self._config._parser)

    def take(self, args, options):
        """The configuration for these arguments of `get_config`, or None."""
        config, self._config = self._config, None
        given = list(args[0] or ())
        rest = {name: value for name, value in options.items() if name != "plugins"}
        if config is None or rest != self._options or os.environ.get("PYTEST_DEBUG"):
            return None
        if any(not isinstance(each, str) or each.startswith("-p") for each in given):
            return None
        plugins = args[1] if len(args) > 1 else options.get("plugins")
        params = type(config).InvocationParams(args=given, plugins=plugins, dir=pathlib.Path.cwd())
        config.invocation_params = params
        self._fixtures.install()
        self._parsers.install()
        return config


class FixtureNames:
    """Which names in pytest's own plugins are fixtures.

    `FixtureManager.parsefactories` looks at each name that `dir` gives for a plugin. In its module `dir` is replaced by
    one that leaves out names that were seen to be no fixtures.
    """

    def __init__(self, config):
        from _pytest import fixtures

        self._module, self._kept = fixtures, {}
        for plugin in config.pluginmanager.get_plugins():
            name = getattr(plugin, "__name__", "")
            if isinstance(plugin, type(sys)) and name.startswith("_pytest."):
                names = [each for each in dir(plugin) if self._is_fixture(getattr(plugin, each, None))]
                self._kept[id(plugin)] = (plugin, len(vars(plugin)), names)

    def _is_fixture(self, value):
        kind = getattr(self._module, "FixtureFunctionDefinition", None)
        if kind is not None:
            return type(value) is kind
        return self._module.getfixturemarker(value) is not None

    def install(self):
        kept = self._kept

        def fixture_names(holder):
            plugin, size, names = kept.get(id(holder), (None, 0, ()))
            if plugin is holder and len(vars(holder)) == size:
                return list(names)
            return dir(holder)

        self._module.dir = fixture_names


class Parsers:
    """Argument parsers, built before they are asked for.

    Up to version 8 a `Parser` builds a new one of argparse's from its options for every look at the arguments, six times
    in a session. Those built here serve as long as no option was added.
    """

    COUNT = 6

    def __init__(self, parser):
        self._parser, self._ready = parser, []
        self._build = getattr(parser, "_getparser", None)
        if self._build is not None:
            self._state = self._options()
            self._ready = [self._build() for _ in range(self.COUNT)]

    def _options(self):
        groups = [*self._parser._groups, self._parser._anonymous]
        return self._parser.prog, [(group.name, group.description, list(group.options)) for group in groups]

    def install(self):
        if self._ready:
            self._parser._getparser = self._next

    def _next(self):
        if self._ready and self._options() == self._state:
            parser = self._ready.pop()
            parser.extra_info = self._parser.extra_info or {}  # as its constructor does
            return parser
        return self._build()
