"""Brings edits outside of function bodies into effect: constants of modules, attributes of classes,
default values.

The importing code has already used the old values where they are read at import; such edits are
`Unsupported`.
"""

import ast
import sys
from abc import ABCMeta
from functools import partial

from source_units import FUNCTIONS, Unsupported


def read_at_import(tree):
    """Returns the names that a module reads outside of function bodies."""
    names, waiting = set(), [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.add(node.id)
        if isinstance(node, FUNCTIONS):
            waiting += [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
        elif isinstance(node, ast.Lambda):
            waiting += [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        else:
            waiting += ast.iter_child_nodes(node)
    return names


def assignment(body):
    """Returns the name and value of a statement that only assigns to one name."""
    statement = body[0] if len(body) == 1 else None
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    plain = isinstance(statement, (ast.Assign, ast.AnnAssign)) and len(targets) == 1
    if not plain or not isinstance(targets[0], ast.Name) or statement.value is None:
        raise Unsupported("not an assignment to one name")
    return targets[0].id, statement.value


def evaluated(source, expression, namespace, inner):
    wrapped = ast.fix_missing_locations(ast.Expression(expression))
    return eval(compile(wrapped, source.filename, "eval", source.flags, dont_inherit=True), namespace, inner)


def class_of(module, names):
    """Returns the class of a qualified name, if creating it did nothing but run its body."""
    found = module
    for name in names:
        found = vars(found).get(name)
        if type(found) not in (type, ABCMeta):
            raise Unsupported("a class with a metaclass, or none")
    if found.__qualname__ != ".".join(names) or "__dataclass_fields__" in vars(found):
        raise Unsupported("a class that was made from another")
    return found


def assigned(source, unit, text):
    """Returns functions that each repeat an edited assignment of a module or class."""
    name, value = assignment(unit.parsed(text))
    before, old_value = assignment([unit.statement])
    if name != before or name.startswith("__") or name in read_at_import(source.tree):
        raise Unsupported("the name is read at import")
    if len(unit.classes) != len(unit.blocks):
        raise Unsupported("an assignment on a condition")
    if ast.dump(value) == ast.dump(old_value):
        return []
    assign = assign_attribute if unit.classes else assign_constant
    return [partial(assign, source, it, unit, name, value) for it in source.modules]


def assign_attribute(source, module, unit, name, value):
    owner = class_of(module, unit.classes)
    if name not in vars(owner):
        raise Unsupported("the class no longer has the attribute")
    new = evaluated(source, value, vars(module), dict(vars(owner)))
    if any(hasattr(type(it), "__set_name__") for it in (new, vars(owner)[name])):
        raise Unsupported("an attribute that knows its class")
    setattr(owner, name, new)


def assign_constant(source, module, unit, name, value):
    space = vars(module)
    if name not in space:
        raise Unsupported("the module no longer has the name")
    old, new = space[name], evaluated(source, value, space, space)
    for other in list(sys.modules.values()):
        names = getattr(other, "__dict__", None)
        if isinstance(names, dict) and name in names and names[name] is old:
            names[name] = new
    space[name] = new


def new_defaults(source, unit, text, functions):
    """Returns a function that sets the default values of functions as an edit has changed them."""
    body, old = unit.parsed(text), unit.statement
    new = body[0] if len(body) == 1 else None
    if not isinstance(new, FUNCTIONS) or signature(old) != signature(new):
        raise Unsupported("the edit changes a decorator or the parameters")

    def change():
        for function in functions:
            inner = {}
            if unit.classes:
                inner = dict(vars(class_of(sys.modules[function.__module__], unit.classes)))
            values = Values(source, function.__globals__, inner)
            function.__defaults__ = values.of_positions(function.__defaults__, old.args.defaults, new.args.defaults)
            function.__kwdefaults__ = values.of_names(function.__kwdefaults__, old.args, new.args)

    return change


def signature(function):
    arguments = function.args
    named = [it.arg for it in (*getattr(arguments, "posonlyargs", ()), *arguments.args, *arguments.kwonlyargs)]
    decorators = [ast.dump(it) for it in function.decorator_list]
    given = len(arguments.defaults), [it is not None for it in arguments.kw_defaults]
    return function.name, named, decorators, given


class Values:
    """Default values: the old ones, and new ones where the expression has changed."""

    def __init__(self, source, space, inner):
        self._source, self._space, self._inner = source, space, inner

    def _value(self, value, old, new):
        same = ast.dump(old) == ast.dump(new)
        return value if same else evaluated(self._source, new, self._space, self._inner)

    def of_positions(self, values, old, new):
        if len(values or ()) != len(old):
            raise Unsupported("the default values were changed since")
        return tuple(map(self._value, values, old, new)) if values else values

    def of_names(self, values, old, new):
        if not values:
            return values
        names = [it.arg for it in old.kwonlyargs]
        changed = zip(names, old.kw_defaults, new.kw_defaults)
        return {**values, **{name: self._value(values.get(name), a, b) for name, a, b in changed if a is not None}}
