"""Exceptions as data. Nothing here may fail, whatever the exception does to its own text."""

import operator

MESSAGE = 8_000  # characters of an exception's message
TRACEBACK = 32_000  # characters of pytest's own text about a failure
FRAMES = 60  # frames of one traceback; the middle of a longer one is left out


def cut(text, limit):
    """``text`` within ``limit`` characters, with a note where something was left out."""
    text = str(text)
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters cut ...]\n{text[-half:]}"


def whole(value, otherwise=None):
    """A number of a line as JSON and the reader have it: plugins, tests and odd code give others."""
    try:
        number = operator.index(value)
    except Exception:
        return otherwise
    return number if 0 <= number < 2**32 else otherwise


def seconds(value):
    """A duration that is finite and not negative."""
    try:
        number = float(value)
    except Exception:
        return 0.0
    return number if 0 <= number < float("inf") else 0.0


def words(value, limit=MESSAGE):
    """None, or a text: plugins and marks give whatever there is."""
    if value is None:
        return None
    try:
        return cut(value, limit)
    except Exception:
        return described(value, limit)


def described(value, limit):
    """``repr`` for people: never fails, never long."""
    try:
        return cut(repr(value), limit)
    except Exception as error:
        return f"<{type(value).__name__} whose repr raised {type(error).__name__}>"


def message_of(error):
    try:
        return cut(error, MESSAGE)
    except Exception as second:
        return f"<str() of the exception raised {type(second).__name__}>"


def frames_of(traceback):
    """Outermost first: ``[path, line, function]``."""
    found = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        # Instructions that a compiler or a tool made up have no line.
        line = whole(traceback.tb_lineno, whole(code.co_firstlineno, 0))
        found.append([cut(code.co_filename, MESSAGE), line, cut(code.co_name, MESSAGE)])
        traceback = traceback.tb_next
    if len(found) > FRAMES:
        found = found[: FRAMES // 3] + found[-(FRAMES - FRAMES // 3) :]
    return found


def quoted(text, index):
    """The ``index``-th quoted word of a message of Python's own, for what older versions say in no other way."""
    parts = text.split("'")
    return parts[2 * index + 1] if len(parts) > 2 * index + 2 else None


def missing_of(error):
    """What the failing line asked for and did not find, where that can be told."""
    try:
        missing = missing_by_name(error)
    except Exception:
        return None  # its attributes are properties of somebody's own
    texts = missing is None or all(it is None or isinstance(it, str) and len(it) <= MESSAGE for it in missing.values())
    return missing if texts else None


def missing_by_name(error):
    text = message_of(error)
    if isinstance(error, ModuleNotFoundError):
        return {"kind": "module", "name": error.name} if error.name else None
    if isinstance(error, ImportError):
        name = getattr(error, "name_from", None) or (quoted(text, 0) if text.startswith("cannot import name") else None)
        return {"kind": "imported", "name": name, "owner": error.name} if name else None
    if isinstance(error, UnboundLocalError):
        return None  # the name exists; no import would help
    if isinstance(error, NameError):
        name = getattr(error, "name", None) or quoted(text, 0)
        return {"kind": "name", "name": name} if name else None
    if isinstance(error, AttributeError):
        name = getattr(error, "name", None) or quoted(text, 1)
        return {"kind": "attribute", "name": name, "owner": quoted(text, 0)} if name and quoted(text, 1) else None
    return None


def real_cause(error):
    """pytest wraps what a test module or ``conftest.py`` raised while it was imported."""
    kind = type(error).__name__
    if kind == "CollectError" and error.__cause__ is not None:
        return error.__cause__
    if kind == "ConftestImportFailure":
        return getattr(error, "cause", None) or error.excinfo[1]
    return error


def failure_of(error, text, compared=None):
    """An exception object as data. ``text`` is pytest's rendering of it."""
    error = real_cause(error)
    frames = frames_of(error.__traceback__)
    at = None
    if isinstance(error, SyntaxError) and isinstance(error.filename, str) and whole(error.lineno):
        at = [cut(error.filename, MESSAGE), whole(error.lineno)]
    shown = message_of(error)
    if type(error).__name__ == "FixtureLookupError":
        shown = cut(text, MESSAGE)  # its str() is a tuple; the useful sentence is in the rendering
    comparison = None
    if compared and isinstance(error, AssertionError) and frames and compared["at"] == frames[-1]:
        comparison = {key: compared[key] for key in ("operator", "left", "right")}
    return {
        "exception": cut(type(error).__name__, MESSAGE),
        "message": shown,
        "frames": frames,
        "at": at,
        "traceback": cut(text, TRACEBACK),
        "missing": missing_of(error),
        "comparison": comparison,
    }


def textual_failure(text, exception="Failed"):
    """A failure for which pytest has words only, such as a strict xfail that passed."""
    return {"exception": exception, "message": cut(text, MESSAGE), "frames": [], "traceback": cut(text, TRACEBACK)}
