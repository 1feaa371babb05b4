"""Whether a database can hold the states of plans: server and executors must see one state, one lease and one clock.

SQLite can only if they share a machine and a local disk: its locks do not hold on network file systems, and a file in a
container is another file in the next one.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from limnograph.domain.errors import SettingsError

_NETWORK = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "davfs", "fuse", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs"}
    | {"nfs", "nfs4", "ocfs2", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs", "webdav"}
)
_OF_ONE_CONTAINER = frozenset({"overlay", "overlayfs", "aufs", ""})
_ESCAPED = re.compile(r"\\([0-7]{3})")
_REMEDY = "use PostgreSQL, for example postgresql+psycopg2://user@host/limnograph"


def require_shared_database(url: str, master: str = "local[*]", mounts: Path = Path("/proc/mounts")) -> None:
    """Raises SettingsError with the remedy. `master`: Spark's, of a maintainer; `mounts`: the mounted file systems."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        return  # refused by the inbox itself, with its own message
    if parsed.get_backend_name() != "sqlite":
        return
    if not parsed.database or parsed.database == ":memory:":
        raise SettingsError("inbox.url", f"is SQLite in memory, which no other process sees; {_REMEDY}")
    kind = file_system(Path(parsed.database), mounts)
    if kind in _NETWORK or kind.startswith("fuse."):
        raise SettingsError(
            "inbox.url",
            f"is SQLite on {kind}, a file system that machines share: leases do not hold there; move the file to a "
            f"disk of the machine that runs the server and the maintainer, or {_REMEDY}",
        )
    if kind in _OF_ONE_CONTAINER and not master.startswith("local"):
        where = f"on {kind}, the file system of one container" if kind else "on a file system that is not known"
        raise SettingsError(
            "inbox.url",
            f"is SQLite {where}, and Spark's master is {_plain(master)}: the server may not see the same file; "
            f"{_REMEDY}",
        )


def file_system(file: Path, mounts: Path = Path("/proc/mounts")) -> str:
    """Type of the file system that a file is, or would be, on; empty: the system does not say."""
    try:
        lines = [line.split() for line in mounts.read_text(errors="replace").splitlines()]
    except OSError:
        return ""
    path = Path(os.path.realpath(file))
    best, kind = -1, ""
    for parts in lines:
        place = _ESCAPED.sub(lambda found: chr(int(found[1], 8)), parts[1]) if len(parts) > 2 else ""
        # Of two at the same place, the later one covers the other.
        if place and path.is_relative_to(place) and len(place) >= best:
            best, kind = len(place), parts[2]
    return kind


def _plain(master: str) -> str:
    """The kind of master, without an address."""
    return master.partition(":")[0]
