"""Files and folders that the project's ``addopts`` name, to which they limit a session."""

import os


def limiting(config):
    """Returns the paths, relative to the working folder; none if the command line itself names some.

    Names of packages (``--pyargs``) are no paths.
    """
    named = getattr(config.option, "file_or_dir", None)
    if not named or getattr(config.option, "pyargs", False):
        return []
    given = config._parser.parse_known_args(list(config.invocation_params.args))
    return [] if given.file_or_dir else [relative(each) for each in named]


def relative(name):
    path, separator, rest = name.partition("::")
    return os.path.relpath(path).replace(os.sep, "/") + separator + rest


def unlimited(config):
    """Returns the paths that pytest would take without those."""
    return list(config.getini("testpaths")) or [str(config.invocation_params.dir)]


def is_below(test, paths):
    """Returns whether a test has one of the paths or is below it."""
    return any(path == "." or test == path or test.startswith((path + "/", path + "::", path + "[")) for path in paths)
