"""Whether a database can hold the states of plans: executors and the server must see one state, and one clock."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.engine import make_url

from limnograph.domain.errors import SettingsError

_REMOTE = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "davfs", "glusterfs", "gpfs", "lustre", "nfs", "nfs4", "smb3", "smbfs"}
)


def check_database(url: str, mounts: Path = Path("/proc/mounts")) -> None:
    """Raises SettingsError for SQLite on a file system that several machines share: its locks do not hold there."""
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        return
    kind = _file_system(Path(parsed.database), mounts)
    if kind in _REMOTE or kind.startswith("fuse."):
        raise SettingsError(
            "inbox.url",
            f"is SQLite on {kind}, where leases do not hold; use a local disk that the server and this program share, "
            "or PostgreSQL",
        )


def _file_system(file: Path, mounts: Path) -> str:
    """Type of the file system that a file is on; empty: the system does not say."""
    try:
        lines = [line.split() for line in mounts.read_text().splitlines()]
    except OSError:
        return ""
    path = file.absolute()
    found = [(len(parts[1]), parts[2]) for parts in lines if len(parts) > 2 and _is_below(path, parts[1])]
    return max(found, default=(0, ""))[1]


def _is_below(path: Path, mount: str) -> bool:
    return path.is_relative_to(mount.replace("\\040", " "))
