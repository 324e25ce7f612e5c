"""The project as Trellis has sent it to another machine: its entries with their digests, and the
contents, which the orders or a folder (the store) hold by digest.

The store is read-only here and may have been damaged by a transfer that broke off: contents count
only if their digest is right.
"""

import base64
import errno
import hashlib
import os
import stat

import folders
from entries import MAKE, READ, Entry, identity, parts, permissions

KINDS = {"file": stat.S_IFREG, "link": stat.S_IFLNK, "folder": stat.S_IFDIR}


class Damaged(Exception):
    """Contents in the store are not those of their digest."""

    def __init__(self, digest):
        super().__init__(digest)
        self.digest = digest


class Item:
    """An entry, with the fields of a status that `entries.identity` reads. The digest or the target
    takes the place of the inode.
    """

    __slots__ = ("st_mode", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns", "closed", "_sent", "_items")

    def __init__(self, sent, told):
        self._sent, self._items = sent, {}
        self.st_mode = KINDS[told["kind"]] | told["mode"]
        self.st_ino, self.st_size = told.get("content"), told.get("size", 0)
        self.st_mtime_ns, self.st_ctime_ns = told["modified"], 0
        self.closed = told.get("closed", False)

    def status(self):
        return self

    def listed(self, kept):
        items = ((name, item) for name, item in self._items.items() if name not in kept)
        return {name: (item, item.closed and stat.S_ISDIR(item.st_mode)) for name, item in items}

    def enter(self, name):
        return self._items[name]

    def add(self, copy, name, status):
        if stat.S_ISLNK(status.st_mode):
            os.symlink(status.st_ino, name, dir_fd=copy)
            times = (status.st_mtime_ns, status.st_mtime_ns)
            os.utime(name, ns=times, dir_fd=copy, follow_symlinks=False)
        elif stat.S_ISDIR(status.st_mode):
            os.mkdir(name, 0, dir_fd=copy)
        else:
            return self._sent.write(copy, name, status)
        return Entry(identity(status), os.stat(name, dir_fd=copy, follow_symlinks=False))

    def close(self):
        pass

    def put(self, name, item):
        known = self._items.get(name)
        if known is not None and stat.S_ISDIR(known.st_mode) and stat.S_ISDIR(item.st_mode):
            item._items = known._items
        self._items[name] = item

    def drop(self, name):
        self._items.pop(name, None)

    def files(self):
        """Yields the files with contents, at any depth."""
        for item in self._items.values():
            if stat.S_ISDIR(item.st_mode):
                yield from item.files()
            elif stat.S_ISREG(item.st_mode) and not item.closed:
                yield item


class Sent:
    """All entries below ``top``, and the sources of their contents."""

    def __init__(self, store):
        self._store = os.open(store, folders.FOLDER)
        self._given, self._unseen = {}, {}
        self.top = Item(self, {"kind": "folder", "mode": 0o755, "modified": 0})

    def take(self, order):
        """Applies the differences of an order."""
        for path in order["gone"]:
            folder, name = self._folder(path)
            if folder is not None:
                folder.drop(name)
        for path, told in order["set"]:
            folder, name = self._folder(path)
            item = Item(self, told)
            folder.put(name, item)
            if told["kind"] == "file" and not item.closed:
                self._unseen[item.st_ino] = item.st_size
        for digest, text in order["contents"].items():
            self._given[digest] = base64.b64decode(text)
        if self._given:
            wanted = {item.st_ino for item in self.top.files()}
            self._given = {digest: text for digest, text in self._given.items() if digest in wanted}

    def _folder(self, path):
        *above, name = path.split("/")
        folder = self.top
        for part in above:
            folder = folder._items.get(part)
            if folder is None:
                return None, name
        return folder, name

    def missing(self):
        """Returns the digests of contents that are nowhere."""
        self._unseen = {digest: size for digest, size in self._unseen.items() if not self._has(digest, size)}
        return sorted(self._unseen)

    def _has(self, digest, size):
        if digest in self._given or not size:
            return True
        try:
            return os.stat(digest, dir_fd=self._store).st_size == size
        except FileNotFoundError:
            return False

    def write(self, copy, name, status):
        """Writes a file of the copy; returns its entry."""
        if status.closed:
            os.close(os.open(name, MAKE, 0, dir_fd=copy))
            return Entry(identity(status), os.stat(name, dir_fd=copy, follow_symlinks=False))
        writer = os.open(name, MAKE, 0o600, dir_fd=copy)
        try:
            kept = self._pour(writer, status)
            os.chmod(writer, permissions(status, 0o400))
            os.utime(writer, ns=(status.st_mtime_ns, status.st_mtime_ns))
            return Entry(identity(status), os.fstat(writer), kept)
        finally:
            os.close(writer)

    def _pour(self, writer, status):
        """Writes the contents; returns the digest with which a later change is noticed."""
        right, kept = hashlib.sha256(), hashlib.blake2b()
        for part in self._parts(status.st_ino, status.st_size):
            right.update(part)
            kept.update(part)
            rest = memoryview(part)
            while rest:
                rest = rest[os.write(writer, rest) :]
        if right.hexdigest() != status.st_ino:
            self._given.pop(status.st_ino, None)
            raise Damaged(status.st_ino)
        return kept.digest() if status.st_size else None

    def _parts(self, digest, size):
        if digest in self._given:
            yield self._given[digest]
            return
        try:
            reader = os.open(digest, READ, dir_fd=self._store)
        except OSError as error:
            if error.errno == errno.ENOENT:
                return
            raise
        try:
            yield from parts(reader, size)
        finally:
            os.close(reader)
