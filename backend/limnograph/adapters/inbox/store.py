"""Inbox on SQLAlchemy: SQLite by default, PostgreSQL for a team. An item is durable when `put` returns."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from limnograph.adapters import private_files
from limnograph.adapters.inbox.schema import ITEMS, prepare
from limnograph.domain.errors import SettingsError, SourceUnavailable
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.inbox import PASS_MARK, Backlog, InboxItem

_INSERT: dict[str, Callable[[sa.Table], Any]] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
_T = TypeVar("_T")


class SqlInbox:
    """Opens lazily; creates its table or upgrades an older one. Thread-safe; calls block.

    Raises SettingsError on a wrong URL.
    """

    def __init__(self, url: str) -> None:
        try:
            parsed = make_url(url)
            self._engine = sa.create_engine(parsed, pool_pre_ping=True)
        except (ArgumentError, ImportError, ValueError) as error:
            raise _no_url() from error
        dialect = parsed.get_backend_name()
        if dialect not in _INSERT:
            raise _no_url()
        self._file = Path(parsed.database) if dialect == "sqlite" and parsed.database else None
        self._folder = self._file.parent if self._file is not None else None
        if dialect == "sqlite":
            sa.event.listen(self._engine, "connect", _durable)
        self._insert = _INSERT[dialect](ITEMS).on_conflict_do_nothing(index_elements=["kind", "key"])
        self._preparing = threading.Lock()
        # SQLite allows one writer. Its own busy handler polls without a queue: under load some writers were starved.
        self._writing = threading.Lock() if dialect == "sqlite" else nullcontext()
        self._ready = False

    def put(self, items: Sequence[InboxItem]) -> int:
        # A fixed order for all writers: two transactions with common keys wait for each other instead of deadlocking.
        rows = [_row(item) for item in sorted(items, key=lambda item: (item.kind, item.key))]
        return self._write("store", lambda c: self._stored(c, rows))

    def _stored(self, connection: sa.Connection, rows: list[dict[str, object]]) -> int:
        """Number of new rows. SQLite's driver sums over all rows of a call; PostgreSQL's counts the last one."""
        if not rows or self._file is None:
            return sum(connection.execute(self._insert, row).rowcount for row in rows)
        return connection.execute(self._insert, rows).rowcount

    def items(self, kind: str, since: Micros = EPOCH) -> list[InboxItem]:
        return self._select(ITEMS.c.kind == kind, ITEMS.c.accepted_at >= since)

    def waiting(self, kinds: Collection[str], limit: int) -> list[InboxItem]:
        return self._select(ITEMS.c.kind.in_(kinds), ITEMS.c.committed_at.is_(None), limit=limit)

    def backlog(self, kinds: Collection[str]) -> Backlog:
        query = sa.select(sa.func.count(), sa.func.min(ITEMS.c.accepted_at))
        mine = query.where(ITEMS.c.kind.in_(kinds), ITEMS.c.committed_at.is_(None))
        return self._read(lambda c: Backlog(*c.execute(mine).one()))

    def mark(self, items: Sequence[InboxItem], at: Micros) -> None:
        mine = sa.and_(
            ITEMS.c.kind == sa.bindparam("k"), ITEMS.c.key == sa.bindparam("id"), ITEMS.c.committed_at.is_(None)
        )
        rows = [{"k": item.kind, "id": item.key} for item in sorted(items, key=lambda item: (item.kind, item.key))]
        if rows:
            self._write("mark", lambda c: c.execute(ITEMS.update().where(mine).values(committed_at=at), rows))

    def purge(self, before: Micros) -> int:
        newest = sa.select(sa.func.max(ITEMS.c.accepted_at)).where(ITEMS.c.kind == PASS_MARK).scalar_subquery()
        old = sa.and_(ITEMS.c.committed_at < before, sa.or_(ITEMS.c.kind != PASS_MARK, ITEMS.c.accepted_at < newest))
        return self._write("purge", lambda c: c.execute(ITEMS.delete().where(old)).rowcount)

    def newest(self, kind: str) -> Micros | None:
        query = sa.select(sa.func.max(ITEMS.c.accepted_at)).where(ITEMS.c.kind == kind)
        return self._read(lambda c: c.execute(query).scalar())

    def close(self) -> None:
        """Close pooled connections."""
        self._engine.dispose()

    def _select(self, *where: sa.ColumnElement[bool], limit: int | None = None) -> list[InboxItem]:
        order = (ITEMS.c.accepted_at, ITEMS.c.kind, ITEMS.c.key)
        query = sa.select(ITEMS).where(*where).order_by(*order).limit(limit)
        return self._read(lambda c: [_item(row) for row in c.execute(query)])

    def _read(self, ask: Callable[[sa.Connection], _T]) -> _T:
        return self._guarded("read", lambda: self._connected(ask))

    def _connected(self, ask: Callable[[sa.Connection], _T]) -> _T:
        with self._engine.connect() as connection:
            return ask(connection)

    def _write(self, what: str, act: Callable[[sa.Connection], _T]) -> _T:
        return self._guarded(what, lambda: self._committed(act))

    def _committed(self, act: Callable[[sa.Connection], _T]) -> _T:
        with self._writing, self._engine.begin() as connection:
            return act(connection)

    def _guarded(self, what: str, call: Callable[[], _T]) -> _T:
        try:
            with self._preparing:
                if not self._ready:
                    if self._file is not None:
                        private_files.make_database(self._file)
                    prepare(self._engine)
                    self._ready = True
            return call()
        except OSError as error:
            raise SourceUnavailable("inbox", f"cannot {what}: {error.strerror} ({self._folder})") from error
        except SQLAlchemyError as error:
            place = f" ({self._file})" if self._file is not None else ""
            raise SourceUnavailable("inbox", f"cannot {what}: {_reason(error)}{place}") from error


def _row(item: InboxItem) -> dict[str, object]:
    return {name: getattr(item, name) for name in item.__struct_fields__}


def _item(row: sa.Row[Any]) -> InboxItem:
    return InboxItem(row.kind, row.key, bytes(row.payload), row.accepted_at, row.committed_at)


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


def _reason(error: SQLAlchemyError) -> str:
    """The driver's message, without statement or address."""
    return str(getattr(error, "orig", None) or type(error).__name__)
