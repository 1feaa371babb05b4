"""Files and folders for their owner alone, whatever the umask: what is new is made so, what is older is tightened.

New ones are never wider for an instant. Existing ones are changed by their path and not through a descriptor: closing
one would end the locks that SQLite holds on the same file.
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
    """The folder, and what is missing above it, for us alone. One that is there stays as it is: it may be shared with
    other programs. Raises OSError.
    """
    missing = [folder, *folder.parents]
    missing = missing[: next((at for at, place in enumerate(missing) if place.exists()), len(missing))]
    for place in reversed(missing):
        with contextlib.suppress(FileExistsError):
            place.mkdir(FOLDER)
            place.chmod(FOLDER)  # a umask may have taken bits from the owner too
    if not folder.is_dir():
        raise NotADirectoryError(20, os.strerror(20), str(folder))


def make_file(path: Path) -> None:
    """The file, empty when it is new, for us alone. Raises OSError when it cannot be made."""
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
    """The same for a SQLite database: SQLite gives the files beside it its mode. Raises OSError."""
    make_folder(path.parent)
    make_file(path)
    for suffix in ("-wal", "-shm", "-journal"):
        tighten(path.with_name(path.name + suffix))


def write(path: Path, content: bytes) -> None:
    """A new file with this content; one of that name is replaced. Raises OSError."""
    path.unlink(missing_ok=True)
    make_file(path)
    path.write_bytes(content)


def tighten(path: Path) -> bool:
    """Take a file or folder that is there from others; the log says so. Returns whether it was changed."""
    changed = _tightened(path)
    if changed:
        _log.warning("%s was readable by other users of this machine; access is now restricted to its owner", path)
    return changed


def tighten_below(folder: Path) -> int:
    """A folder of our own with all that is in it, in one line of the log; how much was changed. Nothing is read, and no
    link is followed.
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
    """Whether the mode was changed. A symbolic link is left alone; a file of another owner is logged."""
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
