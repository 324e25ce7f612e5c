"""A run of another program than Python."""

import os
import signal

import channel


def run(order, private):
    argv = order["args"]
    for name in ("SIGPIPE", "SIGXFSZ"):  # Python ignores these, and so would the programs it starts
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        send = channel.opened(private[channel.REPORT], order["token"])
        send({"event": "not_started", "program": argv[0], "message": error.strerror})
        return 126 if isinstance(error, PermissionError) else 127
