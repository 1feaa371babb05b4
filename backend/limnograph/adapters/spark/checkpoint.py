"""Location of a stream's checkpoint: an empty folder for every query, because no decision depends on its contents.

A checkpoint that was deleted, restored, copied or damaged is therefore never read.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

from limnograph.adapters import private_files

_NAMED = re.compile(r"(?P<host>.+)-(?P<pid>\d+)-\d+")
_COUNT = itertools.count(1)


def fresh_checkpoint(folder: Path, say: Callable[[str], None]) -> Path:
    """An empty folder of this process below `folder`; folders of dead processes are deleted. If `folder` is not
    writable (read-only, full), a temporary folder is used. Raises OSError if that fails too.
    """
    try:
        private_files.make_folder(folder)
        for entry in folder.iterdir():
            if not _in_use(entry.name):
                _remove(entry)
        made = folder / f"{socket.gethostname()}-{os.getpid()}-{next(_COUNT)}"
        _remove(made)
        private_files.make_folder(made)
        private_files.write(made / ".writable", b"1")
    except OSError as error:
        made = Path(tempfile.mkdtemp(prefix="limnograph-checkpoint-"))
        say(f"{folder} cannot be written ({error.strerror}); the stream's checkpoint, which holds no state, is {made}")
    return made


def _in_use(name: str) -> bool:
    """Whether another live process on this machine uses the folder."""
    found = _NAMED.fullmatch(name)
    if found is None:
        return False
    if found["host"] != socket.gethostname():
        return True
    try:
        os.kill(int(found["pid"]), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # alive, and owned by another user
    return int(found["pid"]) != os.getpid()


def _remove(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink(missing_ok=True)
