"""The memory a forked process shares with the worker until either writes to it.

Every object that Python looks at is written to (its reference count), and each first write to a page costs a fault. A
process that waits for its order takes all of them beforehand, in a few system calls.
"""

from processes import C

MADV_POPULATE_WRITE = 23  # since Linux 5.14; elsewhere the call fails and nothing is lost


def ranges():
    """Start and length of this process's own memory that is mostly in use."""
    found, current = [], None
    try:
        with open("/proc/self/smaps") as file:
            for line in file:
                words = line.split()
                if len(words) >= 5 and "-" in words[0]:
                    start, end = (int(each, 16) for each in words[0].split("-"))
                    current = (start, end - start) if words[1] == "rw-p" else None
                elif words[0] == "Rss:" and current and int(words[1]) * 1024 * 2 >= current[1]:
                    found.append(current)
    except (OSError, ValueError):
        pass
    return found


def populate(found, hurry):
    """Stops as soon as ``hurry`` says so: the order has come."""
    if C is None:
        return
    import ctypes

    for start, length in found:
        if hurry():
            return
        C.madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), MADV_POPULATE_WRITE)
