"""Tests of the copy for tests in a container, without a container: ``mirror.py
FOLDER-OF-THE-WORKER``.
"""

import mmap
import os
import pathlib
import shutil
import socket
import stat
import sys
import tempfile
import time
import types
import unittest

sys.path.insert(0, sys.argv.pop(1))
sys.dont_write_bytecode = True
import entries  # noqa: E402
import mirror  # noqa: E402


class Copy(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(self.remove)
        self.source, self.copy = self.root / "source", self.root / "copy"
        for folder in (self.source / "inner/deep", self.source / ".git", self.copy / ".git"):
            folder.mkdir(parents=True)
        self.write("a.txt", "old")
        self.write("inner/b.py", "pass")
        self.write("inner/deep/c.sh", "ls")
        self.write("empty", "")
        self.write(".git/HEAD", "main")
        (self.source / "inner/deep/c.sh").chmod(0o755)
        (self.source / "closed").mkdir()
        self.write("closed/d", "d")
        (self.source / "closed").chmod(0o555)
        (self.source / "link").symlink_to("inner/b.py")
        (self.source / "out").symlink_to("/etc/hostname")
        told = {"from": self.source, "to": self.copy, "mounted": [".git"]}
        self.mirror = mirror.Mirror(told)

    def remove(self):
        for folder, names, _ in os.walk(self.root):
            for name in names:
                if not os.path.islink(os.path.join(folder, name)):
                    os.chmod(os.path.join(folder, name), 0o700)
        shutil.rmtree(self.root)

    def write(self, name, text):
        (self.source / name).write_text(text)

    def picture(self, root):
        """Returns kinds, modes, modification times and contents by path, without the mounted
        folder.
        """
        found = {}
        for folder, names, files in os.walk(root):
            if ".git" in names:
                names.remove(".git")
            for name in (".", *names, *files):
                path = pathlib.Path(folder, name)
                status = path.lstat()
                is_link, is_file = path.is_symlink(), stat.S_ISREG(status.st_mode)
                text = os.readlink(path) if is_link else path.read_bytes() if is_file else None
                found[str(path.relative_to(root))] = status.st_mode, status.st_mtime_ns, text
        del found["."]
        return found

    def lay(self):
        self.assertEqual(self.mirror.lay({}), {"laid": None})
        self.assertEqual(self.picture(self.copy), self.picture(self.source))

    def after(self, harm):
        """A run's changes to the copy are undone before the next one, in idle time or right before
        it.
        """
        for in_spare_time in (False, True):
            self.lay()
            self.mirror.use()
            harm()
            if in_spare_time:
                self.mirror.tidy()
                self.assertFalse(self.mirror.wanted())
            self.lay()

    def trust_the_clock(self, window=-1):
        """Makes new sources count as unchanged; with a large window no source does."""
        for name in ("CLOSE", "COARSE"):
            self.addCleanup(setattr, entries, name, getattr(entries, name))
            setattr(entries, name, window)

    def numbers(self):
        names = ("a.txt", "inner", "inner/b.py", "inner/deep/c.sh", "closed", "closed/d", "link", "empty")
        return {name: os.lstat(self.copy / name)[1:2] + os.lstat(self.copy / name)[-3:] for name in names}

    def test_what_nobody_changed_is_not_made_anew(self):
        self.trust_the_clock()
        self.lay()
        before = self.numbers()
        self.mirror.use()
        self.lay()
        self.mirror.use()
        self.mirror.tidy()
        self.lay()
        self.assertEqual(self.numbers(), before)

    def test_a_source_that_has_just_changed_is_copied_again(self):
        """A source could be rewritten within one tick of the clock and keep its times."""
        self.trust_the_clock(1 << 62)
        for text in ("one", "two"):
            self.write("a.txt", text)
            seen = entries.identity
            entries.identity = lambda status: seen(status)[:3]  # a clock that stands still
            try:
                self.assertEqual(self.mirror.lay({}), {"laid": None})
            finally:
                entries.identity = seen
            self.assertEqual((self.copy / "a.txt").read_text(), text)

    def test_how_long_a_source_has_to_rest(self):
        now = time.time_ns() // entries.SECOND * entries.SECOND
        second = entries.SECOND
        for age, rests in [(1, False), (second // 2 + 1, True), (second, False), (3 * second, True)]:
            status = types.SimpleNamespace(
                st_mode=0, st_ino=1, st_size=2, st_mtime_ns=3, st_ctime_ns=now - age
            )
            clock, entries.time = entries.time, types.SimpleNamespace(time_ns=lambda: now)
            try:
                self.assertEqual(entries.lasting(status) is not None, rests, age)
            finally:
                entries.time = clock

    def test_what_changes_on_the_disk_is_followed(self):
        def replace():
            self.write("new", "new")
            os.replace(self.source / "new", self.source / "a.txt")

        def back_in_time():
            self.write("a.txt", "xxx")
            os.utime(self.source / "a.txt", ns=(0, 0))

        def other_kinds():
            shutil.rmtree(self.source / "inner")
            self.write("inner", "a file now")
            os.remove(self.source / "a.txt")
            (self.source / "a.txt/deep").mkdir(parents=True)
            (self.source / "link").unlink()
            (self.source / "link").mkdir()

        changes = [
            lambda: self.write("a.txt", "new"),
            back_in_time,
            replace,
            lambda: self.write("inner/deep/more", "x"),
            lambda: os.remove(self.source / "inner/b.py"),
            lambda: (self.source / "inner/deep/c.sh").chmod(0o600),
            lambda: (self.source / "inner").chmod(0o700),
            lambda: os.rename(self.source / "inner/deep", self.source / "moved"),
            other_kinds,
            lambda: shutil.rmtree(self.source / "a.txt"),
        ]
        self.lay()
        for change in changes:
            change()
            self.lay()

    def test_nothing_that_a_run_does_remains(self):
        self.trust_the_clock()
        copy = self.copy

        def mapped():
            """Changes contents without a trace in times or sizes, if the file lies in memory."""
            with open(copy / "a.txt", "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
                self.assertEqual(memory[:1], b"o")
                memory[:3] = b"bad"

        def put_back():
            times = os.stat(copy / "a.txt")
            (copy / "a.txt").write_text("bad")
            os.utime(copy / "a.txt", ns=(times.st_atime_ns, times.st_mtime_ns))

        def swapped():
            os.rename(copy / "inner", copy / "away")
            shutil.copytree(copy / "away", copy / "inner", symlinks=True)

        def closed():
            (copy / "new/deep").mkdir(parents=True)
            (copy / "new/deep/file").write_text("x")
            for name in ("new/deep/file", "new/deep", "new", "inner/deep", "inner", "a.txt", "."):
                (copy / name).chmod(0)

        def odd():
            os.mkfifo(copy / "pipe")
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(os.path.relpath(copy / "socket"))
            os.link(copy / "a.txt", copy / "inner/hard")
            (copy / "closed").chmod(0o755)
            (copy / "closed/new").write_text("x")

        def deep():
            descriptor = os.open(copy, os.O_RDONLY)
            for _ in range(3000):
                os.mkdir("d", dir_fd=descriptor)
                inner = os.open("d", os.O_RDONLY, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            os.close(descriptor)

        def attributes():
            try:
                os.setxattr(copy / "inner", "user.kept", b"x")
            except OSError as error:
                self.skipTest(f"no attributes here: {error}")

        harms = {
            "new": lambda: (copy / "inner/x.db").write_text("x"),
            "changed": lambda: (copy / "a.txt").write_text("new"),
            "put back": put_back,
            "mapped": mapped,
            "deleted": lambda: shutil.rmtree(copy / "inner"),
            "emptied": lambda: [os.remove(copy / "a.txt"), shutil.rmtree(copy / "inner/deep")],
            "unlinked": lambda: os.remove(copy / "link"),
            "moved": lambda: os.rename(copy / "inner", copy / "moved"),
            "swapped": swapped,
            "modes": lambda: (copy / "inner").chmod(0o777),
            "closed": closed,
            "odd": odd,
            "deep": deep,
            "attributes": attributes,
        }
        for name, harm in harms.items():
            with self.subTest(name):
                self.after(harm)
                self.assertEqual([*filter(None, os.listdir(copy / ".git"))], [])
        self.assertEqual(self.attributes_left(), [])

    def attributes_left(self):
        try:
            return [name for name in os.listxattr(self.copy / "inner") if name.startswith("user.")]
        except OSError:
            return []

    def test_links_lead_nowhere(self):
        outside = self.root / "outside"
        outside.mkdir()
        (outside / "b.py").write_text("safe")
        before = self.picture(outside)

        def plant():
            shutil.rmtree(self.copy / "inner")
            (self.copy / "inner").symlink_to(outside)
            os.remove(self.copy / "a.txt")
            (self.copy / "a.txt").symlink_to(outside / "b.py")
            (self.copy / "new").symlink_to(outside)

        self.after(plant)
        # On disk as well, a link is a link.
        shutil.rmtree(self.source / "inner")
        (self.source / "inner").symlink_to(outside)
        self.lay()
        self.assertEqual(self.picture(outside), before)

    def test_what_lay_there_before_is_removed(self):
        (self.copy / "before").mkdir()
        (self.copy / "a.txt").write_text("before")
        self.lay()

    def test_another_folder_in_place_of_a_mounted_one_is_refused(self):
        self.lay()
        self.mirror.use()
        (self.copy / ".git").rename(self.copy / "other")
        (self.copy / ".git").mkdir()
        self.assertIn(".git was replaced with another folder", self.mirror.lay({})["laid"])

    def test_what_does_not_fit_is_said_and_comes_later(self):
        pour = entries.poured

        def full(*_):
            raise OSError(28, "No space left on device")

        entries.poured = full
        try:
            self.assertIn("--read-only", self.mirror.lay({})["laid"])
        finally:
            entries.poured = pour
        self.lay()

    def test_what_may_not_be_read_is_there_and_closed(self):
        if os.geteuid() == 0:
            self.skipTest("everything is open to root")
        (self.source / "a.txt").chmod(0)
        (self.source / "inner").chmod(0o600)
        self.addCleanup((self.source / "inner").chmod, 0o700)
        for _ in range(2):
            self.assertEqual(self.mirror.lay({}), {"laid": None})
            self.mirror.use()
            self.assertRaises(PermissionError, (self.copy / "a.txt").read_text)
            self.assertRaises(PermissionError, os.listdir, self.copy / "inner")
        (self.source / "a.txt").chmod(0o600)
        (self.source / "inner").chmod(0o700)
        self.lay()


if __name__ == "__main__":
    unittest.main()
