"""A run that is any other program."""

import os
import sys


def run(order):
    argv = order["args"]
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        sys.stderr.write(f"{argv[0]} could not be started: {error.strerror}\n")
        sys.stderr.flush()
        return 126 if isinstance(error, PermissionError) else 127
