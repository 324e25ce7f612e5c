"""Line coverage of the tree, with the test as context."""

import ast
import os
import sys

from failure import message_of

LINES = 50_000  # maximum lines of all tests in one record, except for the lines of a single test

# Syntax of another Python version is no concern: worker and tests share the interpreter.
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def functions_of(source):
    """Returns ``[qualified name, first line, last line, first line of the body]`` per function.

    The first line is that of the first decorator. Nested names have dots.
    """
    found, waiting = [], [("", ast.parse(source))]
    while waiting:
        prefix, parent = waiting.pop()
        for node in ast.iter_child_nodes(parent):
            name = prefix
            if isinstance(node, FUNCTIONS + (ast.ClassDef,)):
                name = prefix + node.name + "."
            if isinstance(node, FUNCTIONS):
                first = min([node.lineno] + [each.lineno for each in node.decorator_list])
                found.append([name[:-1], first, node.end_lineno, node.body[0].lineno])
            waiting.append((name, node))
    return sorted(found, key=lambda each: (each[1], -each[2], each[0]))


def left_out(root):
    """Returns patterns of files outside the project: installed ones, and trees of Trellis below it.
    """
    patterns = ["*/site-packages/*"]
    if "[" not in sys.prefix:  # a bracket has a meaning in patterns
        patterns.append(os.path.join(sys.prefix, "*"))
    if ".trellis" not in root.split(os.sep):
        patterns.append("*/.trellis/*")
    return patterns


def started(coverage, root, scope):
    # The tracer that supports contexts; newer versions of Python use another by default.
    os.environ["COVERAGE_CORE"] = "ctrace"
    try:
        made = coverage.Coverage(data_file=None, config_file=False, omit=left_out(root), messages=False, **scope)
        made.start()
    finally:
        del os.environ["COVERAGE_CORE"]
    return made


class Coverage:
    """Measures lines; does nothing if no coverage.py works."""

    def __init__(self, send, order, found):
        self._send, self._found, self._coverage, self._context = send, found, None, ""
        self._prepare(order)
        if found.missing:
            self._give_up(found.missing)
            return
        try:
            with found.at_hand():
                self._coverage = started(found.module, order["root"], self._scope(order["root"]))
            self._begin()
        except Exception as error:
            self._give_up(message_of(error))

    def _prepare(self, order):
        """Prepares what a subclass needs before the measurement starts."""

    def _begin(self):
        """Prepares what a subclass needs once the measurement has started."""

    def _scope(self, root):
        """Returns the options that choose the files: all of the tree, executed or not."""
        return {"source": [root]}

    def apart(self):
        """Ends the recording for the present test, for work that other tests use as well."""
        return lambda: None

    def _give_up(self, why):
        self._coverage = None
        self._send({"event": "coverage_missing", "message": why})

    def context(self, name):
        if self._coverage and name != self._context:
            self._context = name
            self._coverage.switch_context(name)

    def pause(self):
        """Ends the recording for the present test; the result resumes it."""
        name = self._context
        self.context("")
        return lambda: self.context(name)

    def finish(self):
        if self._coverage:
            with self._found.at_hand():
                self._tell()

    def _tell(self):
        try:
            self._coverage.stop()
            data = self._coverage.get_data()
        except Exception as error:
            self._give_up(message_of(error))
            return
        for path in sorted(data.measured_files()):
            try:
                self._send(*self._file(path, data))
            except Exception as error:  # such as a file that a test wrote, imported and removed
                self._send({"event": "coverage_failed", "path": path, "message": message_of(error)})

    def _file(self, path, data):
        _, statements, _, missing, _ = self._coverage.analysis2(path)
        lines, tests = set(statements), {}
        for line, names in sorted(data.contexts_by_lineno(path).items()):
            for name in names:
                if name and line in lines:
                    tests.setdefault(name, []).append(line)
        with open(path, "rb") as file:
            functions = functions_of(file.read())
        parts = [{"event": "coverage_of_tests", "path": path, "tests": part} for part in in_parts(tests)]
        return *parts, {
            "event": "coverage",
            "path": path,
            "executed": sorted(lines - set(missing)),
            "missing": sorted(missing),
            "functions": functions,
        }


def in_parts(tests):
    """Yields the lines of many tests in parts, one for each record."""
    part, size = {}, 0
    for name, lines in tests.items():
        if part and size + len(lines) > LINES:
            yield part
            part, size = {}, 0
        part[name] = lines
        size += len(lines) + len(name) // 4
    if part:
        yield part
