"""One rebuildable SQLite file of values by key. Losing it costs only time: on any error it behaves as if empty."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

from limnograph.adapters import private_files
from limnograph.domain.metadata.manifests import CacheRow

_T = TypeVar("_T")
KINDS = ("sums", "files")
"""Tables of the file. `files` is the large one, and is read only for shapes."""
_AT_ONCE = 500
_SLACK = 64
_WAIT_SECONDS = 1.0
_SPOILT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT}
"""Results that mean the file is unusable; others (locked, full, read-only) are temporary."""


class CacheFile:
    """Several processes may use the same file at once; each call opens a connection."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._added: int | None = None

    def get(self, kind: str, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """Values of the keys that are stored."""
        if not keys or not self.path.exists():
            return {}
        return self._tried(lambda connection: _select(connection, kind, list(keys)), {})

    def put(self, values: dict[str, dict[bytes, bytes]]) -> None:
        """Add values by kind and key."""
        self._tried(lambda connection: _insert(connection, values), None)
        if self._added is not None:
            self._added += sum(map(len, values.values()))

    def prune(self, live: int, kept: Mapping[str, Callable[[], Collection[bytes]]]) -> None:
        """Delete other keys of a kind once they outnumber the `live` ones, whose keys are computed only then. Counts at
        the first call, then after every _SLACK added values: counting costs as much as adding one.
        """
        if self._added is not None and self._added < _SLACK:
            return
        self._added = 0
        self._tried(lambda connection: _prune(connection, live, kept), None)

    def remove(self) -> None:
        """Delete the file."""
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                self.path.with_name(self.path.name + suffix).unlink()

    def _tried(self, act: Callable[[sqlite3.Connection], _T], otherwise: _T) -> _T:
        try:
            if not self.path.exists():
                private_files.make_database(self.path)
            with closing(sqlite3.connect(self.path, timeout=_WAIT_SECONDS, isolation_level=None)) as connection:
                _prepare(connection)
                return act(connection)
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_BUSY) & 0xFF in _SPOILT:
                self.remove()
        except OSError:
            pass
        return otherwise


def _prepare(connection: sqlite3.Connection) -> None:
    """A killed process leaves a valid file (WAL); a machine crash may corrupt it (no sync)."""
    connection.execute("pragma journal_mode=wal")
    connection.execute("pragma synchronous=off")
    for kind in KINDS:
        connection.execute(f"create table if not exists {kind} (key blob primary key, value blob not null)")


def _select(connection: sqlite3.Connection, kind: str, keys: list[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        marks = ",".join("?" * len(some))
        rows: Iterable[tuple[bytes, bytes]] = connection.execute(
            f"select key, value from {kind} where key in ({marks})",  # noqa: S608 - kind is ours, keys are bound
            some,
        )
        found.update((key, value) for key, value in rows if isinstance(value, bytes))
    return found


def _insert(connection: sqlite3.Connection, values: dict[str, dict[bytes, bytes]]) -> None:
    connection.execute("begin immediate")
    for kind, rows in values.items():
        connection.executemany(f"insert or replace into {kind} values (?, ?)", rows.items())  # noqa: S608 - kind is ours
    connection.execute("commit")


def _prune(connection: sqlite3.Connection, live: int, kept: Mapping[str, Callable[[], Collection[bytes]]]) -> None:
    for kind, keys in kept.items():
        (count,) = connection.execute(f"select count(*) from {kind}").fetchone()  # noqa: S608 - kind is ours
        if count <= 2 * live + _SLACK:
            continue
        connection.execute("create temp table if not exists kept (key blob primary key)")
        connection.execute("delete from kept")
        connection.executemany("insert or ignore into kept values (?)", ((key,) for key in keys()))
        connection.execute(f"delete from {kind} where key not in (select key from kept)")  # noqa: S608 - kind is ours


def trim(folder: Path, budget_bytes: int) -> None:
    """Remove the least recently written files until the others take at most `budget_bytes`."""
    sizes: list[tuple[float, int, Path]] = []
    with suppress(OSError):
        for path in folder.glob("*.sqlite"):
            with suppress(OSError):
                stat = path.stat()
                sizes.append((stat.st_mtime, stat.st_size, path))
    total = sum(size for _, size, _ in sizes)
    for _, size, path in sorted(sizes):
        if total <= budget_bytes:
            return
        CacheFile(path).remove()
        total -= size


def iceberg_folder(folder: str) -> Path:
    """Iceberg's folder below `[cache] dir`."""
    return Path(folder) / "iceberg"


def file_of(folder: Path, name: str) -> Path:
    """Location of the file with the values of this table."""
    return folder / f"{name}.sqlite"


def learn(cache_dir: str, name: str, rows: Iterable[CacheRow]) -> None:
    """Store values that other readers computed in a table's file."""
    values: dict[str, dict[bytes, bytes]] = {kind: {} for kind in KINDS}
    for row in rows:
        if row.kind in values:
            values[row.kind][row.key] = row.value
    if any(values.values()):
        CacheFile(file_of(iceberg_folder(cache_dir), name)).put(values)
