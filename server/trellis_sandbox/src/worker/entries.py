"""Entries of a copied folder: their state on both sides, and copying them."""

import errno
import hashlib
import os
import stat
import time

READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
PART = 1 << 20  # bytes read at once
SECOND = 1_000_000_000
CLOSE, COARSE = SECOND // 10, 2 * SECOND  # two changes within this time may have the same time stamp
WENT = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO)  # the entry is gone or was replaced since


def identity(status):
    return status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def lasting(status):
    """Returns the identity of a source; None if one more change could leave the identity as it is.

    An entry without an identity is copied again.
    """
    window = CLOSE if status.st_ctime_ns % SECOND else COARSE
    return identity(status) if time.time_ns() - status.st_ctime_ns > window else None


def permissions(status, least):
    """Returns the mode for the copy, whose owner is the user who could read the source."""
    return stat.S_IMODE(status.st_mode) & 0o777 | least


class Entry:
    """A file, a link, or an entry that may not be read, which is copied empty and without rights.
    """

    __slots__ = ("_source", "_copy", "_digest")

    def __init__(self, source, copy, digest=None):
        """``source``: the lasting identity of the source before it was read."""
        self._source, self._copy, self._digest = source, identity(copy), digest

    def is_current(self, status, closed):
        return identity(status) == self._source

    def is_whole(self, parent, entry):
        """Returns whether the copy is unchanged since it was made."""
        if identity(entry.stat(follow_symlinks=False)) != self._copy:
            return False
        return self._digest is None or digest_of(parent, entry.name, self._copy[2]) == self._digest


def copy_file(source, copy, name, status):
    """Copies a file; returns None if it was removed or replaced in the meantime."""
    try:
        reader = os.open(name, READ, dir_fd=source)
    except PermissionError:
        return closed_file(copy, name, status)
    except OSError as error:
        if error.errno in WENT:
            return None
        raise
    try:
        status = os.fstat(reader)
        if not stat.S_ISREG(status.st_mode):
            return None
        writer = os.open(name, MAKE, 0o600, dir_fd=copy)
        try:
            known = lasting(status)
            digest = poured(reader, writer, status.st_size)
            os.chmod(writer, permissions(status, 0o400))
            os.utime(writer, ns=(status.st_mtime_ns, status.st_mtime_ns))
            return Entry(known, os.fstat(writer), digest)
        finally:
            os.close(writer)
    finally:
        os.close(reader)


def closed_file(copy, name, status):
    writer = os.open(name, MAKE, 0, dir_fd=copy)
    try:
        return Entry(identity(status), os.fstat(writer))
    finally:
        os.close(writer)


def closed_folder(source, copy, name, status):
    os.mkdir(name, 0, dir_fd=copy)
    return Entry(identity(status), os.stat(name, dir_fd=copy, follow_symlinks=False))


def copy_link(source, copy, name, status):
    known = lasting(status)
    try:
        target = os.readlink(name, dir_fd=source)
    except OSError as error:
        if error.errno in (*WENT, errno.EINVAL):  # EINVAL: no longer a link
            return None
        raise
    os.symlink(target, name, dir_fd=copy)
    os.utime(name, ns=(status.st_mtime_ns, status.st_mtime_ns), dir_fd=copy, follow_symlinks=False)
    return Entry(known, os.stat(name, dir_fd=copy, follow_symlinks=False))


def parts(descriptor, size):
    """Yields the contents, up to the size that was seen, since another process may go on writing.
    """
    while size > 0:
        part = os.read(descriptor, min(size, PART))
        if not part:
            return
        size -= len(part)
        yield part


def poured(reader, writer, size):
    """Copies the contents; returns their digest, or None if they are empty."""
    digest = None
    for part in parts(reader, size):
        digest = digest or hashlib.blake2b()
        digest.update(part)
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(writer, rest) :]
    return digest and digest.digest()


def digest_of(parent, name, size):
    descriptor = os.open(name, READ, dir_fd=parent)
    try:
        digest = hashlib.blake2b(os.read(descriptor, min(size, PART)))
        for part in parts(descriptor, size - PART):
            digest.update(part)
        return digest.digest()
    finally:
        os.close(descriptor)
