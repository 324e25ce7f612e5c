"""Lists definitions below the current folder as JSON: functions, methods, classes, parameters, attributes.

Left out are names that a rename must not change by itself: special names, tests (their ids would change), and the first
parameter of methods. Lines and columns count from 0, columns in code points.
"""

import ast
import io
import json
import os
import re
import sys

SPECIAL = re.compile(r"__\w+__|_+")
CALLED_BY_PYTEST = re.compile("test|Test|pytest_|set_?up|tear_?down|setUp|tearDown")
LEFT_OUT = {"docs", "doc", "examples", "example", "benchmarks", "bench", "build", "dist", "tools", "scripts", "fuzz"}
LEFT_OUT |= {"vendor", "_vendor", "vendored", "third_party", "node_modules", "typing-examples"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def files():
    for folder, folders, names in os.walk("."):
        folders[:] = sorted(it for it in folders if it not in LEFT_OUT and not it.startswith("."))
        folders[:] = [it for it in folders if not os.path.exists(os.path.join(folder, it, "pyvenv.cfg"))]
        yield from (os.path.normpath(os.path.join(folder, it)) for it in sorted(names) if it.endswith(".py"))


class Finder(ast.NodeVisitor):
    def __init__(self, file, text):
        self.file = file
        self.lines = list(io.StringIO(text, newline=None))
        self.tests = any(re.match(r"tests?\b|tests?_|conftest", it) for it in file.split(os.sep))
        self.found = []
        self.around = [None]
        self.known = set()

    def add(self, kind, name, line, column):
        if SPECIAL.fullmatch(name) or (self.tests and CALLED_BY_PYTEST.match(name)):
            return
        place = {"file": self.file, "line": line, "column": column}
        self.found.append({"kind": kind, "name": name, **place, "tests": self.tests})

    def units(self, line, offset):
        return len(self.lines[line].encode()[:offset].decode())

    def defined(self, kind, node):
        line = node.lineno - 1
        match = re.search(rf"\b(?:def|class)\s+({re.escape(node.name)})\b", self.lines[line])
        if match:
            self.add(kind, node.name, line, match.start(1))

    def inside(self, node):
        self.around.append(node)
        self.generic_visit(node)
        self.around.pop()

    def visit_ClassDef(self, node):
        self.defined("class", node)
        self.inside(node)

    def visit_FunctionDef(self, node):
        method = isinstance(self.around[-1], ast.ClassDef)
        self.defined("method" if method else "function", node)
        arguments = node.args.posonlyargs + node.args.args
        static = any(isinstance(it, ast.Name) and it.id == "staticmethod" for it in node.decorator_list)
        for it in arguments[1 if method and not static else 0:] + node.args.kwonlyargs:
            self.add("parameter", it.arg, it.lineno - 1, self.units(it.lineno - 1, it.col_offset))
        self.inside(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Name(self, node):
        if isinstance(self.around[-1], ast.ClassDef) and isinstance(node.ctx, ast.Store):
            self.attribute(self.around[-1], node.id, node)

    def visit_Attribute(self, node):
        owner, method = ([None] + self.around)[-2:]
        if isinstance(node.ctx, ast.Store) and isinstance(method, FUNCTIONS) and isinstance(owner, ast.ClassDef):
            arguments = method.args.posonlyargs + method.args.args
            if arguments and isinstance(node.value, ast.Name) and node.value.id == arguments[0].arg:
                self.attribute(owner, node.attr, node)
        self.generic_visit(node)

    def attribute(self, owner, name, node):
        if (owner, name) not in self.known:
            self.known.add((owner, name))
            line = node.end_lineno - 1
            self.add("attribute", name, line, self.units(line, node.end_col_offset) - len(name))


def main():
    found = []
    for file in files():
        if os.path.basename(file) == "setup.py":
            continue
        try:
            with open(file, encoding="utf-8", newline="") as stream:
                text = stream.read()
            finder = Finder(file, text)
            finder.visit(ast.parse(text))
        except (SyntaxError, UnicodeDecodeError):
            continue
        found += finder.found
    json.dump(found, sys.stdout)


main()
