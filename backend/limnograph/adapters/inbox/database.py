"""The database of the inbox: its engine, its clock, and transactions whose errors are those of Limnograph."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from limnograph.adapters import private_files
from limnograph.adapters.inbox.schema import prepare
from limnograph.domain.errors import SettingsError, SourceUnavailable

_INSERT: dict[str, Callable[[sa.Table], Any]] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
_CLOCKS = {
    "sqlite": "(cast(round((julianday('now') - 2440587.5) * 86400000) as integer) * 1000)",
    "postgresql": "cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)",
}
ABANDONED_S, WAIT_S = 5.0, 15.0
"""How long a transaction of a client that does nothing may hold its locks in PostgreSQL, and how long another waits for
them. A client that was stopped within a transaction, such as that of a suspended machine, would else block all others
until its connection ends. SQLite waits for 5 s.
"""
_T = TypeVar("_T")


class InboxDatabase:
    """SQLite or PostgreSQL. Opens lazily; creates its tables or upgrades older ones. Thread-safe: `_ready` is guarded
    by `_preparing`; calls block and raise SourceUnavailable.

    insert  INSERT of the dialect, for ON CONFLICT
    clock   epoch microseconds by the database's clock, as an expression
    file    of SQLite; None: PostgreSQL, or in memory

    `abandoned_s`: after which PostgreSQL ends a transaction whose client does nothing.

    Raises SettingsError on a wrong URL.
    """

    def __init__(self, url: str, abandoned_s: float = ABANDONED_S) -> None:
        try:
            parsed = make_url(url)
            self._engine = sa.create_engine(parsed, pool_pre_ping=True)
        except (ArgumentError, ImportError, ValueError) as error:
            raise _no_url() from error
        dialect = parsed.get_backend_name()
        if dialect not in _INSERT:
            raise _no_url()
        self.file = Path(parsed.database) if dialect == "sqlite" and parsed.database else None
        self._folder = self.file.parent if self.file is not None else None
        if dialect == "sqlite":
            sa.event.listen(self._engine, "connect", _durable)
        else:
            sa.event.listen(self._engine, "connect", partial(_bounded, abandoned_s))
        self.insert = _INSERT[dialect]
        self.clock: sa.ColumnElement[int] = sa.literal_column(_CLOCKS[dialect], sa.BigInteger)
        self._preparing = threading.Lock()
        # SQLite allows one writer. Its own busy handler polls without a queue: under load some writers were starved.
        self._writing = threading.Lock() if dialect == "sqlite" else nullcontext()
        self._ready = False

    def read(self, ask: Callable[[sa.Connection], _T]) -> _T:
        """Answer of a query."""
        return self._guarded("read", lambda: self._connected(ask))

    def write(self, what: str, act: Callable[[sa.Connection], _T]) -> _T:
        """Result of a transaction, durable when it returns. `what`: the verb in the message of an error."""
        return self._guarded(what, lambda: self._committed(act))

    def close(self) -> None:
        """Close pooled connections."""
        self._engine.dispose()

    def _connected(self, ask: Callable[[sa.Connection], _T]) -> _T:
        with self._engine.connect() as connection:
            return ask(connection)

    def _committed(self, act: Callable[[sa.Connection], _T]) -> _T:
        with self._writing, self._engine.begin() as connection:
            return act(connection)

    def _guarded(self, what: str, call: Callable[[], _T]) -> _T:
        try:
            with self._preparing:
                if not self._ready:
                    if self.file is not None:
                        private_files.make_database(self.file)
                    prepare(self._engine)
                    self._ready = True
            return call()
        except OSError as error:
            raise SourceUnavailable("inbox", f"cannot {what}: {error.strerror} ({self._folder})") from error
        except SQLAlchemyError as error:
            place = f" ({self.file})" if self.file is not None else ""
            raise SourceUnavailable("inbox", f"cannot {what}: {_reason(error)}{place}") from error


def _no_url() -> SettingsError:
    detail = "is not a database URL of this installation; write sqlite:////path/inbox.db or postgresql://…"
    return SettingsError("inbox.url", detail)


def _durable(connection: sa.engine.interfaces.DBAPIConnection, _record: object) -> None:
    """Write-ahead log with a sync per commit: readers do not wait, and no accepted item is lost in a crash."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout=5000")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def _bounded(abandoned_s: float, connection: sa.engine.interfaces.DBAPIConnection, _record: object) -> None:
    """Locks end with a client that does not go on, and no other waits for ever."""
    cursor = connection.cursor()
    for name, seconds in (("idle_in_transaction_session_timeout", abandoned_s), ("lock_timeout", WAIT_S)):
        cursor.execute("SELECT set_config(%s, %s, false)", (name, str(round(seconds * 1000))))
    cursor.close()
    connection.commit()


def _reason(error: SQLAlchemyError) -> str:
    """The driver's message, without statement or address."""
    return str(getattr(error, "orig", None) or type(error).__name__)
