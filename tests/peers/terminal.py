"""Runs a program at a terminal of its own, and answers as a person would.

terminal.py STEPS PROGRAM [ARGUMENT…]

STEPS is JSON: [[what has to be shown, what is typed then], …]; each is looked for behind the one before. Prints one object,
{"code": exit code, "shown": all that was to be seen}; ends with 3 where what has to be shown never comes.
"""

import json
import os
import pty
import select
import signal
import sys

#: Seconds in which a program has to show something new.
PATIENCE = 120


def main() -> int:
    steps = json.loads(sys.argv[1])
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.argv[2], sys.argv[2:])
    shown = b""
    read_to = 0
    for wanted, typed in steps:
        while (place := shown.find(wanted.encode(), read_to)) < 0:
            more = read(terminal)
            if not more:
                print(f"{wanted!r} was not shown:\n{shown.decode(errors='replace')}", file=sys.stderr)
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return 3
            shown += more
        read_to = place + len(wanted.encode())
        os.write(terminal, typed.encode())
    while more := read(terminal):
        shown += more
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    print(json.dumps({"code": code, "shown": shown.decode(errors="replace")}))
    return 0


def read(terminal: int) -> bytes:
    """What is new; nothing at the end, or where nothing comes."""
    ready, _, _ = select.select([terminal], [], [], PATIENCE)
    try:
        return os.read(terminal, 65536) if ready else b""
    except OSError:  # The program closed its side.
        return b""


if __name__ == "__main__":
    sys.exit(main())
