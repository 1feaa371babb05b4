"""One rebuildable SQLite file of values by key. Losing it costs time: with whatever goes wrong it is as if empty."""

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
"""Tables of the file. `files` is the large one and only read for shapes."""
_AT_ONCE = 500
_SLACK = 64
_WAIT_SECONDS = 1.0
_SPOILT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT}
"""Results that say the file itself is useless; others (locked, full, read-only) pass."""


class CacheFile:
    """Several processes may use the same file at once; each call is a connection of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._added: int | None = None

    def get(self, kind: str, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """Values of the keys that are there."""
        if not keys or not self.path.exists():
            return {}
        return self._tried(lambda connection: _select(connection, kind, list(keys)), {})

    def put(self, values: dict[str, dict[bytes, bytes]]) -> None:
        """Add values by kind and key."""
        self._tried(lambda connection: _insert(connection, values), None)
        if self._added is not None:
            self._added += sum(map(len, values.values()))

    def prune(self, live: int, kept: Mapping[str, Callable[[], Collection[bytes]]]) -> None:
        """Forget other keys of a kind once they are more than the `live` ones, which are only then computed.
        Counts at the first call, then when _SLACK values were added: counting costs as much as adding one.
        """
        if self._added is not None and self._added < _SLACK:
            return
        self._added = 0
        self._tried(lambda connection: _prune(connection, live, kept), None)

    def remove(self) -> None:
        """Start over."""
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
    """A killed process must leave a sound file (WAL); a lost machine may leave a spoilt one (no syncing)."""
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
    """Remove the files that were not written for longest until the others take at most `budget_bytes`."""
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
    """The part of `[cache] dir` that is Iceberg's."""
    return Path(folder) / "iceberg"


def file_of(folder: Path, name: str) -> Path:
    """Where the values of the table of that name lie."""
    return folder / f"{name}.sqlite"


def learn(cache_dir: str, name: str, rows: Iterable[CacheRow]) -> None:
    """Put values that others read into a table's file."""
    values: dict[str, dict[bytes, bytes]] = {kind: {} for kind in KINDS}
    for row in rows:
        if row.kind in values:
            values[row.kind][row.key] = row.value
    if any(values.values()):
        CacheFile(file_of(iceberg_folder(cache_dir), name)).put(values)
