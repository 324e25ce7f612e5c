"""pytest's configuration object with its own plugins registered, made once in the worker.

Only parts that no project can influence are made in advance. Orders that name plugins (``-p``) use
pytest's ordinary way.
"""

import os
import pathlib
import sys

import metadata
import reporter
import assertion_cache

# Versions whose `get_config` and `FixtureManager` were read and whose runs were compared.
VERIFIED = ("7.4", "8.3", "8.4", "9.0", "9.1", "9.2")


def prepare(version):
    """Prepares a configuration; returns None for versions that were not verified."""
    if ".".join(version.split(".")[:2]) not in VERIFIED or os.environ.get("PYTEST_DEBUG"):
        return None
    return Prepared()


class Prepared:
    def __init__(self):
        import _pytest.config

        import program

        # Names of programs in usage messages come from these.
        program.become_main("pytest", [], [])
        options = {}
        if hasattr(_pytest.config, "_get_prog_name"):
            options["prog"] = _pytest.config._get_prog_name(sys.argv)
        self._options = options
        self._config = _pytest.config.get_config((), None, **options)
        self._names, self._parsers = Names(self._config), Parsers(self._config._parser)
        self._metadata = metadata.EntryPoints()
        self.rewritten = assertion_cache.Rewritten()
        self.rewritten.install()

    def plugins_loaded(self):
        self._metadata.remove()

    def take(self, args, options):
        """Returns the configuration for these arguments of `get_config`, or None."""
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
        self._names.install()
        self._parsers.install()
        self._metadata.install()
        return config


class Names:
    """Caches which names of pytest's own plugins are fixtures, and which of any plugin can be
    hooks.

    `FixtureManager.parsefactories` and `PluginManager.register` examine each name that `dir`
    returns for a plugin. In their modules `dir` is replaced by a function that leaves out names
    without a match.
    """

    def __init__(self, config):
        from _pytest import fixtures
        from pluggy import _manager

        self._fixtures, self._plugins, self._manager = fixtures, _manager, type(config.pluginmanager)
        self._modules, self._classes = {}, {}
        for name, module in list(sys.modules.items()):
            if name.startswith("_pytest.") and module is not None:
                self._remember(module)
        self._remember(reporter)

    def _remember(self, module):
        names = [each for each in dir(module) if self._is_fixture(getattr(module, each, None))]
        self._modules[id(module)] = (module, len(vars(module)), names)
        for value in vars(module).values():
            if isinstance(value, type) and value.__module__ == module.__name__:
                if not any(self._is_fixture(each) for kind in value.__mro__ for each in vars(kind).values()):
                    self._classes[value] = {name for kind in value.__mro__ for name in vars(kind)}

    def _is_fixture(self, value):
        kind = getattr(self._fixtures, "FixtureFunctionDefinition", None)
        if kind is not None:
            return type(value) is kind
        return self._fixtures.getfixturemarker(value) is not None

    def install(self):
        modules, classes, manager = self._modules, self._classes, self._manager

        def fixture_names(holder):
            module, length, names = modules.get(id(holder), (None, 0, ()))
            if module is holder and len(vars(holder)) == length:
                return list(names)
            known = classes.get(type(holder))
            if known is None:
                return dir(holder)
            return sorted({name for each in type(holder).__mro__ for name in vars(each) if name not in known})

        def hook_names(plugin):
            # Plugin managers of other programs, in a test, have other rules; so have specifications
            # of hooks.
            caller = sys._getframe(1)
            if caller.f_code.co_name != "register" or type(caller.f_locals.get("self")) is not manager:
                return dir(plugin)
            return [name for name in dir(plugin) if name.startswith("pytest_")]

        self._fixtures.dir, self._plugins.dir = fixture_names, hook_names


class Parsers:
    """Argument parsers, built in advance.

    Up to version 8 a `Parser` builds a new argparse parser from its options each time it parses the
    arguments, six times in a session. The parsers built here are used as long as no option was
    added.
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
            parser.extra_info = self._parser.extra_info or {}  # as the constructor of pytest's parser does
            return parser
        return self._build()
