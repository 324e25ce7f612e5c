"""A run in a fresh interpreter of its own.

It is used on request, and for projects with modules whose names the worker uses.
"""

import binascii
import json
import marshal
import os
import sys

import channel
import run_environment
import processes


def replace(order, private, bundle):
    """Replaces this process by a fresh interpreter.

    The interpreter reads the bundle, with the order in it, from standard input as workers do. It
    need not compile what the worker has compiled.
    """
    again = {"modules": bundle["modules"], "main": "fresh_interpreter", "order": order}
    again.update(added=bundle["added"], lent=bundle["lent"])
    again["compiled"] = {name: text_of(code) for name, code in bundle["codes"].items()}
    again["private"] = {name.decode(): number for name, number in private.items()}
    text = json.dumps(again).encode()
    memory = os.memfd_create("bundle")
    os.write(memory, b"%d\n" % len(text))
    rest = memoryview(text)
    while rest:
        rest = rest[os.write(memory, rest) :]
    os.lseek(memory, 0, os.SEEK_SET)
    os.dup2(memory, 0)
    for number in private.values():
        os.set_inheritable(number, True)
    with open("/proc/self/cmdline", "rb") as file:
        arguments = file.read().split(b"\0")[:-1]  # still those of the worker: the same options, the same boot text
    os.environ["PYTHONHASHSEED"] = str(order.get("hash_seed", 0))
    os.execv(sys.executable, arguments)


def text_of(code):
    return binascii.b2a_base64(marshal.dumps(code), newline=False).decode()


def main(bundle):
    """Starts the run in the fresh interpreter."""
    order = bundle["order"]
    private = {name.encode(): number for name, number in bundle["private"].items()}
    for number in private.values():
        os.set_inheritable(number, False)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.closerange(3, channel.KEPT)
    sys.path[:] = [entry for entry in sys.path if entry]
    run_environment.renew_stdin()
    processes.fresh_signals()
    run_environment.carry_out(Kinds(bundle["lent"]), order, private)


class Kinds:
    """The kinds of runs, with as few imports as possible before the project's folders are on the
    path.
    """

    def __init__(self, lent):
        self._lent = lent

    def _measured_by(self, order):
        import measuring

        return measuring.find(self._lent, order["root"])

    def run(self, order, private):
        if order["kind"] == "pytest":
            import pytest_run

            return pytest_run.run(order, private, pytest_run.unprepared(), Observer(), self._measured_by)
        import integrity
        import unittest_run

        return unittest_run.run(order, private, integrity.Seal(integrity.UNITTEST), Observer(), self._measured_by)


class Observer:
    """An observer that learns nothing."""

    def collected(self):
        pass

    def tell(self, descriptor):
        pass
