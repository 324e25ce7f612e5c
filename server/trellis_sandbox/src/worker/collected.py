"""Passes on the report file of a run once the run is over."""

import os
import stat

LARGEST = 64 << 20
PORTION = 1 << 18


def pass_on(path, take):
    """Passes the file's bytes to `take`, in at least one portion.

    Returns a sentence if the path holds no file of this run, or one that is too large.
    """
    try:
        # Without following a symbolic link, and without waiting for the writer of a pipe.
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"the report cannot be opened: {error.strerror}"
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            return "the report is not a file that this run wrote"
        if status.st_size > LARGEST:
            return f"the report is larger than {LARGEST >> 20} MiB"
        left = LARGEST
        while True:
            part = os.read(file, min(PORTION, left))
            left -= len(part)
            take(part)
            if not part or not left:
                return None
    except OSError as error:
        return f"the report cannot be read: {error.strerror}"
    finally:
        os.close(file)
