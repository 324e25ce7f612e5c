"""The parts of a source file that an edit can be compiled with: outermost functions and simple
statements outside of functions.
"""

import __future__
import ast

MARK = "_trellis_ran"
FUNCTIONS = ast.FunctionDef, ast.AsyncFunctionDef


class Unsupported(Exception):
    """An edit that only a new import can bring into effect."""


class Source:
    """A file with its modules and the name that code objects have for it."""

    def __init__(self, path, text):
        self.path = self.filename = path
        self.text, self.modules = text.encode(), []
        self._tree, self._units = None, {}
        self.starts = [0]
        for line in self.text.split(b"\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)

    @property
    def tree(self):
        if self._tree is None:
            self._tree = ast.parse(self.text.decode())
            if b"\r" in self.text.replace(b"\r\n", b""):
                raise Unsupported("the file has unusual line ends")
        return self._tree

    @property
    def flags(self):
        """Returns the compiler flags of the file's imports from `__future__`.

        All features but one are in force anyway, and their flags would show in the code.
        """
        for statement in self.tree.body:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                if any(it.name == "annotations" for it in statement.names):
                    return __future__.annotations.compiler_flag
        return 0

    def compiled(self, edit):
        """Compiles the whole text with an edit."""
        text = self.text[: edit["start"]] + edit["new"].encode() + self.text[edit["end"] :]
        return compile(text, self.filename, "exec", dont_inherit=True)

    def unit(self, start, end):
        """Returns the outermost function around a range, or the simple statement around it."""
        blocks, body = [], self.tree.body
        while True:
            around = [it for it in body if self._surrounds(it, start, end)]
            if len(around) != 1:
                raise Unsupported("the edit is not inside of one statement")
            statement = around[0]
            inner = [] if isinstance(statement, FUNCTIONS) else list(inner_statements(statement))
            if not inner:
                if statement not in self._units:
                    self._units[statement] = Unit(self, blocks, statement)
                return self._units[statement]
            blocks.append(statement)
            body = inner

    def _surrounds(self, statement, start, end):
        first, last = self.starts[first_line(statement) - 1], self.starts[statement.end_lineno] - 1
        return first <= start and (end <= last or end == last + 1 and start < last)


def first_line(statement):
    return min([statement.lineno, *(it.lineno for it in getattr(statement, "decorator_list", ()))])


def inner_statements(statement):
    """Yields the statements in the blocks of a compound statement."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for each in getattr(statement, field, None) or ():
            if isinstance(each, ast.stmt):
                yield each
            else:
                yield from inner_statements(each)


class Unit:
    """A statement with the blocks around it, outermost first."""

    def __init__(self, source, blocks, statement):
        self._source, self.blocks, self.statement = source, blocks, statement
        self._first = first_line(statement)
        self._start, self._end = source.starts[self._first - 1], source.starts[statement.end_lineno]
        self.text, self._original = source.text[self._start : self._end], None

    @property
    def is_function(self):
        return isinstance(self.statement, FUNCTIONS)

    @property
    def classes(self):
        return [it.name for it in self.blocks if isinstance(it, ast.ClassDef)]

    def edited(self, edit):
        start, end = edit["start"] - self._start, edit["end"] - self._start
        return self.text[:start] + edit["new"].encode() + self.text[end:]

    def placed(self, text):
        """Returns a text of the unit at its own lines, below short headers of its blocks."""
        out, line = "", 1
        for block in self.blocks:
            at = self._source.starts[block.lineno - 1]
            indentation = self._source.text[at : at + block.col_offset].decode()
            header = f"class {block.name}:" if isinstance(block, ast.ClassDef) else "if __name__:"
            if indentation.strip() or block is not self.blocks[0] and block.lineno == line:
                raise Unsupported("several statements on one line")
            out += "\n" * (block.lineno - line) + indentation + header
            line = block.lineno
        if self.blocks and line == self._first:
            raise Unsupported("several statements on one line")
        return out + "\n" * (self._first - line) + text.decode()

    @property
    def original(self):
        """Returns the result of `compiled` for the unit's own text."""
        if self._original is None:
            self._original = self.compiled(self.text)
        return self._original

    def compiled(self, text, marked=False):
        """Compiles a text of a function. Returns the module's code, those of the classes, and the
        function's.

        ``marked``: the function calls `MARK` first.
        """
        source = self._source
        placed = self._marked(text) if marked else self.placed(text)
        code = compile(placed, source.filename, "exec", source.flags, dont_inherit=True)
        found = [code]
        for name in [*self.classes, self.statement.name]:
            inner = (it for it in found[-1].co_consts if getattr(it, "co_name", None) == name)
            found.append(next(inner, None))
            if found[-1] is None:
                raise Unsupported("the function has no code of its own")
        return found

    def _marked(self, text):
        """Parses a text of a function and adds a call of `MARK` to its body."""
        tree = ast.parse(self.placed(text))
        body = tree.body
        for _ in self.blocks:
            body = body[0].body
        body = body[0].body
        call = ast.Expr(ast.Call(ast.Name(MARK, ast.Load()), [], []))
        at = 1 if len(body) > 1 and ast.get_docstring(ast.Module(body, [])) is not None else 0
        body.insert(at, ast.copy_location(call, body[at]))
        return ast.fix_missing_locations(tree)

    def parsed(self, text):
        """Parses a text of the unit. Returns its statements."""
        body = ast.parse(self.placed(text)).body
        for _ in self.blocks:
            body = body[0].body
        return body
