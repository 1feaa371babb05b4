"""Private files and folders, regardless of the umask: new ones are created private, existing ones are tightened.

New ones are never readable by others, not even briefly. Permissions of existing ones are changed by path, not through
a descriptor: closing one would release the locks that SQLite holds on the same file.
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat
from pathlib import Path

FOLDER, FILE = 0o700, 0o600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_log = logging.getLogger("limnograph.state")


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents, readable by the owner only. An existing one is not changed: other
    programs may share it. Raises OSError.
    """
    missing = [folder, *folder.parents]
    missing = missing[: next((at for at, place in enumerate(missing) if place.exists()), len(missing))]
    for place in reversed(missing):
        with contextlib.suppress(FileExistsError):
            place.mkdir(FOLDER)
            place.chmod(FOLDER)  # the umask may have removed the owner's bits too
    if not folder.is_dir():
        raise NotADirectoryError(20, os.strerror(20), str(folder))


def make_file(path: Path) -> None:
    """Create a file if it is missing, empty and readable by the owner only. Raises OSError if that fails."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE)
    except FileExistsError:
        tighten(path)
        return
    try:
        os.fchmod(handle, FILE)
    finally:
        os.close(handle)


def make_database(path: Path) -> None:
    """The same for a SQLite database: SQLite gives its additional files the same mode. Raises OSError."""
    make_folder(path.parent)
    make_file(path)
    for suffix in ("-wal", "-shm", "-journal"):
        tighten(path.with_name(path.name + suffix))


def write(path: Path, content: bytes) -> None:
    """Write a new private file, replacing any existing one. Raises OSError."""
    path.unlink(missing_ok=True)
    make_file(path)
    path.write_bytes(content)


def tighten(path: Path) -> bool:
    """Remove other users' access to an existing file or folder, and log it. Returns whether it was changed."""
    changed = _tightened(path)
    if changed:
        _log.warning("%s was readable by other users of this machine; access is now restricted to its owner", path)
    return changed


def tighten_below(folder: Path) -> int:
    """Tighten one of Limnograph's own folders and everything in it, logged in one line; returns the number of changes.
    Reads no file and follows no link.
    """
    folder = folder.resolve()
    changed = int(_tightened(folder))
    for above, folders, files in os.walk(folder):
        changed += sum(_tightened(Path(above, name)) for name in (*folders, *files))
    if changed:
        told = (
            "%s: %d files and folders were readable by other users of this machine; access is now restricted to "
            "their owner"
        )
        _log.warning(told, folder, changed)
    return changed


def _tightened(path: Path) -> bool:
    """Whether the mode was changed. Symbolic links are skipped; a file with another owner is logged."""
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode) or not status.st_mode & _OTHERS:
            return False
        path.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS)
    except FileNotFoundError:
        return False
    except OSError as error:
        _log.warning(
            "%s is readable by other users of this machine, and its permissions cannot be changed: %s",
            path,
            error.strerror,
        )
        return False
    return True
