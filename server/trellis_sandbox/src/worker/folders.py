"""Empties the folders in which runs may write. Symbolic links are removed, never followed."""

import os
import stat

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def check(tree):
    """Checks that the sandbox shows this machine's files: an engine on another machine shows
    others.
    """
    if not tree:
        return
    try:
        seen = set(os.listdir(tree["path"]))
    except OSError as error:
        raise OSError(f"the project cannot be read in the sandbox: {error}") from error
    # Some entries may be added or removed at any time, but not all of them.
    if tree["names"] and not seen.intersection(tree["names"]):
        raise OSError(f"{tree['path']} in the sandbox is another folder: the engine does not share this machine's files")


def known(paths):
    """Returns the existing folders with their identities, since a run may replace a folder.

    Entries that exist at the start stay: they are the folders that lead to a project mounted below
    one of them.
    """
    places = {}
    for path in paths:
        try:
            status = os.lstat(path)
        except OSError:
            continue
        if stat.S_ISDIR(status.st_mode):
            names = os.listdir(path)
            places[path] = (status.st_dev, status.st_ino, stat.S_IMODE(status.st_mode), frozenset(names))
            inner = (os.path.join(path, name) for name in names)
            places.update(known([it for it in inner if os.lstat(it).st_dev == status.st_dev]))
    return places


def empty(places):
    """Empties all folders; returns sentences about those that could not be emptied."""
    problems = []
    for path, identity in places.items():
        try:
            empty_one(path, identity)
        except OSError as error:
            problems.append(f"{path} could not be emptied: {error}")
    return problems


def empty_one(path, identity):
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode) or (status.st_dev, status.st_ino) != identity[:2]:
        raise OSError("something else is in its place")
    if stat.S_IMODE(status.st_mode) != identity[2]:
        os.chmod(path, identity[2])
    top = os.open(path, FOLDER)
    try:
        while clear(top, identity[3]):
            pass
    finally:
        os.close(top)


def clear(top, kept):
    """Removes the contents of the folder, and moves subfolders of its subfolders up a level.

    So any depth can be removed. Returns whether there may be more to do.
    """
    with os.scandir(top) as entries:
        names = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries if entry.name not in kept]
    for name, is_folder in names:
        if is_folder:
            remove_folder(top, name)
        else:
            os.unlink(name, dir_fd=top)
    return bool(names)


def remove_folder(top, name):
    try:
        return os.rmdir(name, dir_fd=top)
    except OSError:
        pass  # most likely not empty
    # No process that could swap the folder for a link is alive by now.
    os.chmod(name, 0o700, dir_fd=top)
    inner = os.open(name, FOLDER, dir_fd=top)
    try:
        with os.scandir(inner) as entries:
            names = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        for number, (entry, is_folder) in enumerate(names):
            if is_folder:
                os.chmod(entry, 0o700, dir_fd=inner)
                free = unused(top, f"{name[:80]}.{number}")
                os.rename(entry, free, src_dir_fd=inner, dst_dir_fd=top)
            else:
                os.unlink(entry, dir_fd=inner)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=top)


def unused(top, name):
    number = 0
    while True:
        candidate = f"{name[-80:]}_{number}"
        try:
            os.stat(candidate, dir_fd=top, follow_symlinks=False)
        except FileNotFoundError:
            return candidate
        number += 1
