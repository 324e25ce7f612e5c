"""The copy of the project that tests may write to, updated from the project before each run.

Duty: whatever a run did to the copy, the next run finds the project as it is on disk. The project
itself is only read: a folder of this machine (`Disk`), or the entries that Trellis has sent to
another machine (`sent.py`). Every entry is reached from descriptors of folders, and no symbolic
link is followed: links are copied as links.

For each entry the kernel's metadata of both sides is recorded. Code under test cannot set the
change time (ctime), but it can change a file in memory without updating it, by a shared mapping: so
a digest of the contents is recorded as well.
"""

import errno
import os
import stat

import folders
import sent
from entries import WENT, closed_folder, copy_file, copy_link, identity, permissions

DEEPEST = 100  # maximum nesting of folders
FULL = (
    "the copy that tests may write to does not fit into its memory any more; "
    "run again so that Trellis measures it again, or run with `--read-only`"
)


class Folder:
    """A folder. ``copy`` is None as long as its mode and times are not set."""

    __slots__ = ("entries", "copy", "_source")

    def __init__(self):
        self.entries, self.copy, self._source = {}, None, None

    def is_current(self, status, closed):
        return stat.S_ISDIR(status.st_mode) and not closed

    def is_whole(self, parent, entry):
        """Returns whether this is the folder that was made; if so, tidies it up."""
        status = entry.stat(follow_symlinks=False)
        if self.copy is None or not stat.S_ISDIR(status.st_mode) or status.st_ino != self.copy[1]:
            return False
        if status.st_mode != self.copy[0]:
            os.chmod(entry.name, 0o700, dir_fd=parent)  # no process is alive that could put a link in its place
        inner = os.open(entry.name, folders.FOLDER, dir_fd=parent)
        try:
            self.tidy(inner)
        finally:
            os.close(inner)
        return True

    def open_up(self, descriptor):
        """Makes the folder writable, so that entries can be added and removed."""
        if self.copy is not None:
            os.chmod(descriptor, 0o700)
            self.copy = None

    def settle(self, descriptor, status):
        wanted = permissions(status, 0o500), status.st_mtime_ns
        if self.copy is None or self._source != wanted:
            os.chmod(descriptor, wanted[0])
            os.utime(descriptor, ns=(wanted[1], wanted[1]))
            self._source, self.copy = wanted, identity(os.fstat(descriptor))

    def tidy(self, descriptor, kept=frozenset()):
        """Removes entries that a run added or changed; changed ones are copied again. ``kept``:
        foreign names.
        """
        if identity(os.fstat(descriptor)) != self.copy:
            os.chmod(descriptor, 0o700)
            strip(descriptor)
            self.copy = None
        with os.scandir(descriptor) as entries:
            listed = [entry for entry in entries if entry.name not in kept]
        whole = {entry.name for entry in listed if self._knows(descriptor, entry)}
        self.keep(descriptor, whole, kept, len(whole) < len(listed))

    def _knows(self, descriptor, entry):
        known = self.entries.get(entry.name)
        return known is not None and known.is_whole(descriptor, entry)

    def keep(self, descriptor, names, kept, others):
        """Drops all entries but these from the record; removes the ``others``, if there are any."""
        self.entries = {name: known for name, known in self.entries.items() if name in names}
        if others:
            self.open_up(descriptor)
            while folders.clear(descriptor, {*names, *kept}):
                pass


class Disk:
    """A folder of the project on this machine."""

    def __init__(self, descriptor):
        self._descriptor = descriptor

    def status(self):
        return os.fstat(self._descriptor)

    def listed(self, kept):
        return listed(self._descriptor, kept)

    def enter(self, name):
        """Returns the folder below; None if it cannot be opened now."""
        try:
            return Disk(os.open(name, folders.FOLDER, dir_fd=self._descriptor))
        except OSError as error:
            if error.errno in (*WENT, errno.EACCES):
                return None
            raise

    def add(self, copy, name, status):
        """Copies an entry. Sockets, pipes and devices are left out."""
        kinds = {stat.S_IFREG: copy_file, stat.S_IFLNK: copy_link, stat.S_IFDIR: closed_folder}
        make = kinds.get(stat.S_IFMT(status.st_mode))
        return make and make(self._descriptor, copy, name, status)

    def close(self):
        os.close(self._descriptor)


class Mirror:
    """The copy at ``to`` of the project: the folder ``from``, or what was sent to ``store``.

    ``mounted``: folders in the copy that are mounted from the project itself.
    """

    def __init__(self, told):
        self._sent = sent.Sent(told["store"]) if "store" in told else None
        self._source = self._sent.top if self._sent else Disk(os.open(told["from"], folders.FOLDER))
        self._copy = os.open(told["to"], folders.FOLDER)
        self._mounted = {name: self._numbers(name) for name in told["mounted"]}
        self._top, self._at = Folder(), "."
        self._used, self._tried = True, True  # nothing in the copy is recorded yet

    def _numbers(self, name):
        status = os.stat(name, dir_fd=self._copy, follow_symlinks=False)
        return status.st_dev, status.st_ino

    def use(self):
        """Notes that a run begins."""
        self._used, self._tried = True, False

    def wanted(self):
        """Returns whether `tidy` has something to do."""
        return self._used and not self._tried

    def tidy(self):
        """Undoes the last run's changes, in idle time. `lay` reports a failure."""
        self._tried = True
        try:
            self._tidy()
        except OSError:
            pass  # `lay` tries again

    def _tidy(self):
        self._at = "."
        self._top.tidy(self._copy, self._mounted.keys())
        for name, numbers in self._mounted.items():
            if self._numbers(name) != numbers:
                raise OSError(errno.ESTALE, f"{name} was replaced with another folder")
        self._used = False

    def lay(self, order):
        """Makes the copy equal to the project. Returns the reply: what is missing of the sent
        contents, or the obstacle, for people.
        """
        try:
            if self._sent:
                self._sent.take(order)
                missing = self._sent.missing()
                if missing:
                    return {"missing": missing}
            if self._used:
                self._tidy()
            self._follow(self._top, self._source, self._copy, ".", self._mounted.keys())
        except sent.Damaged as error:
            self.use()
            return {"missing": [error.digest]}
        except OSError as error:
            self.use()
            return {"laid": self._obstacle(error)}
        return {"laid": None}

    def _obstacle(self, error):
        if error.errno in (errno.ENOSPC, errno.EFBIG):
            return FULL
        return f"{self._at}: {error.strerror or error}".encode("utf-8", "replace").decode()

    def _follow(self, folder, source, copy, path, kept=frozenset()):
        found = source.listed(kept)
        current = {
            name for name, known in folder.entries.items() if name in found and known.is_current(*found[name])
        }
        folder.keep(copy, current, kept, len(current) < len(folder.entries))
        for name, (status, closed) in found.items():
            if stat.S_ISDIR(status.st_mode) and not closed:
                self._enter(folder, source, copy, name, f"{path}/{name}")
            elif name not in folder.entries:
                self._at = f"{path}/{name}"
                folder.open_up(copy)
                entry = source.add(copy, name, status)
                if entry is not None:
                    folder.entries[name] = entry
        folder.settle(copy, source.status())

    def _enter(self, folder, source, copy, name, path):
        self._at = path
        if path.count("/") > DEEPEST:
            raise OSError(errno.ELOOP, f"more than {DEEPEST} folders within folders; run with `--read-only`")
        inner = source.enter(name)
        if inner is None:
            return  # the next run tries again
        try:
            if name not in folder.entries:
                folder.open_up(copy)
                os.mkdir(name, 0o700, dir_fd=copy)
                folder.entries[name] = Folder()
            below = os.open(name, folders.FOLDER, dir_fd=copy)
            try:
                self._follow(folder.entries[name], inner, below, path)
            finally:
                os.close(below)
        finally:
            inner.close()


def listed(source, kept):
    """Returns the entries of a folder: by name, the status, and whether it is a folder without
    access.
    """
    found = {}
    with os.scandir(source) as entries:
        for entry in entries:
            if entry.name in kept:
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # removed in the meantime
            is_folder = stat.S_ISDIR(status.st_mode)
            closed = is_folder and not os.access(entry.name, os.R_OK | os.X_OK, dir_fd=source)
            found[entry.name] = status, closed
    return found


def strip(descriptor):
    """Removes extended attributes, which may hold rights that new entries inherit."""
    try:
        for name in os.listxattr(descriptor):
            if not name.startswith("security."):
                os.removexattr(descriptor, name)
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
