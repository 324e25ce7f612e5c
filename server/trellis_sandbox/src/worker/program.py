"""The start and end of a program under Python: `__main__`, arguments, exit code, threads,
callbacks.
"""

import os
import signal
import sys


def become_main(module, argv, entries):
    """Sets up `__main__`, `sys.argv` and `sys.path` as `python -m MODULE` does.

    Returns a function that runs the module.
    """
    if entries is None:
        entries = [] if getattr(sys.flags, "safe_path", False) else [os.getcwd()]
    sys.path[:0] = entries
    spec, code = main_spec(module)
    main = type(sys)("__main__")
    main.__dict__.update(
        __builtins__=sys.modules["builtins"],
        __spec__=spec,
        __loader__=spec.loader,
        __file__=spec.origin,
        __cached__=spec.cached,
        __package__=spec.parent,
    )
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    sys.modules["__main__"] = main
    sys.argv[:] = [spec.origin, *argv]
    if hasattr(sys, "orig_argv"):
        options = [each in ("-c", "-m") for each in sys.orig_argv].index(True)
        sys.orig_argv[options:] = ["-m", module, *argv]
    return lambda: exec(code, vars(main))


def main_spec(module, known={}):
    """Returns the module's spec and code, which the worker looks up once."""
    import importlib.util

    if module not in known:
        spec = importlib.util.find_spec(module + ".__main__")
        known[module] = spec, spec.loader.get_code(spec.name)
    return known[module]


def call_main(function):
    """Calls the run's main function and does what Python does when a program ends.

    Returns the exit code.
    """
    try:
        code = exit_code(function())
    except SystemExit as error:
        code = exit_code(error.code)
    except KeyboardInterrupt as error:
        show(error)
        finish_threads_and_callbacks()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        code = 130
    except BaseException as error:
        show(error)
        code = 1
    return finish_threads_and_callbacks() or code


def show(error):
    """Shows an uncaught exception as an interpreter does, without the frames of Trellis at its top.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith("<trellis>"):
        trace = trace.tb_next
    try:
        sys.excepthook(type(error), error.with_traceback(trace), trace)
    except BaseException:
        pass  # the hook is the program's, or the output is closed


def exit_code(value):
    if value is None:
        return 0
    if isinstance(value, int):
        return value & 0xFF
    print(value, file=sys.stderr)
    return 1


def finish_threads_and_callbacks():
    """Ends the interpreter without freeing its memory. Returns a nonzero code if output is lost."""
    import atexit
    import threading

    code = 0
    for last in (threading._shutdown, atexit._run_exitfuncs):
        try:
            last()
        except BaseException:
            pass  # `atexit` has printed the error, and Python ends all the same
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except BaseException:
            code = 120 if stream is sys.stdout else code
    return code
