"""Writes a root file system with this interpreter, pytest, coverage.py, and the packages that install a
generated library to a tar archive.

    python3 base_image.py OUT.tar

For machines that can reach no registry of images. `docker import` makes an image of it.
"""

import io
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile

LEFT_OUT = {"test", "idlelib", "tkinter", "turtledemo", "ensurepip", "site-packages", "dist-packages"}
PACKAGES = ["pytest>=7", "coverage>=7", "pip", "setuptools>=70.1"]
PROGRAMS = ["/bin/sh", "/bin/cat", "/bin/sleep", "/usr/bin/env"]
TEXTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
}
FOLDERS = {"tmp": 0o1777, "proc": 0o755, "sys": 0o755, "dev": 0o755, "etc": 0o755, "usr/local/bin": 0o755}


def main(out):
    interpreter = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    paths = sysconfig.get_paths(vars={"base": sys.base_prefix, "platbase": sys.base_exec_prefix})
    libraries = {paths["stdlib"], paths["platstdlib"]}
    with tempfile.TemporaryDirectory() as folder, tarfile.open(out, "w") as tar:
        packages, home = environment(interpreter, folder)
        root = Root(tar)
        for name, mode in FOLDERS.items():
            root.folder(name, mode)
        for name, text in TEXTS.items():
            root.text(name, text)
        root.link("usr/local/bin/python3", interpreter)
        root.link("usr/local/bin/python", interpreter)
        for library in libraries:
            root.tree(library, library, LEFT_OUT)
        root.tree(packages, home, set())
        programs = [path for path in PROGRAMS if os.path.exists(path)]
        extensions = [path for path in root.done if path.endswith(".so")]
        for path in [interpreter, *programs]:
            root.file(path)
        for path in needed([interpreter, *programs, *extensions]):
            root.file(path)


def environment(interpreter, folder):
    """Where the packages were installed, and where the interpreter looks for such packages."""
    subprocess.run([interpreter, "-I", "-m", "venv", folder], check=True)
    python = os.path.join(folder, "bin", "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    ask = "import site, sysconfig; print(sysconfig.get_paths()['purelib']); print(site.getsitepackages()[0])"
    installed = subprocess.check_output([python, "-I", "-c", ask], text=True).splitlines()[0]
    home = subprocess.check_output([interpreter, "-I", "-c", ask], text=True).splitlines()[1]
    return installed, home


def needed(paths):
    """The shared libraries that programs and libraries are linked to, the loader among them."""
    found = set()
    for path in paths:
        listing = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
        found.update(re.findall(r"(/\S+) \(0x", listing))
    return sorted(found)


class Root:
    """The archive; everything in it belongs to root and can be read by all."""

    def __init__(self, tar):
        self.tar = tar
        self.done = set()

    def entry(self, name, mode):
        info = tarfile.TarInfo(name.strip("/"))
        info.mode = mode
        return info

    def folder(self, name, mode):
        info = self.entry(name, mode)
        info.type = tarfile.DIRTYPE
        self.tar.addfile(info)

    def text(self, name, text):
        info = self.entry(name, 0o644)
        info.size = len(text)
        self.tar.addfile(info, io.BytesIO(text.encode()))

    def link(self, name, target):
        info = self.entry(name, 0o777)
        info.type, info.linkname = tarfile.SYMTYPE, target
        self.tar.addfile(info)

    def file(self, path, name=None):
        name = name or path
        if name in self.done or not os.path.isfile(path):
            return
        self.done.add(name)
        status = os.stat(path)
        info = self.entry(name, 0o755 if status.st_mode & 0o100 else 0o644)
        # Compiled files are valid only beside a source of the same time.
        info.size, info.mtime = status.st_size, int(status.st_mtime)
        with open(path, "rb") as content:
            self.tar.addfile(info, content)

    def tree(self, source, target, left_out):
        for folder, folders, files in os.walk(source):
            folders[:] = [name for name in folders if name not in left_out and not name.startswith("config-")]
            inside = os.path.join(target, os.path.relpath(folder, source))
            for name in files:
                self.file(os.path.join(folder, name), os.path.normpath(os.path.join(inside, name)))


if __name__ == "__main__":
    main(sys.argv[1])
