"""Inbox on SQLAlchemy: SQLite by default, Postgres for a team. An item is on disk when `put` returns."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, IntegrityError, SQLAlchemyError

from limnograph.domain.errors import SettingsError, SourceUnavailable
from limnograph.ports.inbox import InboxItem

_METADATA = sa.MetaData()
_ITEMS = sa.Table(
    "inbox",
    _METADATA,
    sa.Column("kind", sa.String(32), primary_key=True),
    sa.Column("key", sa.String(1200), primary_key=True),
    sa.Column("payload", sa.LargeBinary, nullable=False),
    sa.Column("accepted_at", sa.BigInteger, nullable=False, index=True),
)


class SqlInbox:
    """Opens lazily and creates its one table. Thread-safe; calls block. Raises SettingsError on a wrong URL."""

    def __init__(self, url: str) -> None:
        try:
            parsed = make_url(url)
            self._engine = sa.create_engine(parsed, pool_pre_ping=True)
        except (ArgumentError, ImportError, ValueError) as error:
            detail = "is not a database URL of this installation; write sqlite:////path/inbox.db or postgresql://…"
            raise SettingsError("inbox.url", detail) from error
        if parsed.get_backend_name() == "sqlite" and parsed.database:
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        if parsed.get_backend_name() == "sqlite":
            sa.event.listen(self._engine, "connect", _durable)
        self._ready = False

    def put(self, items: list[InboxItem]) -> int:
        """Store what is new; returns how many."""
        try:
            self._create()
            return sum(self._put(item) for item in items)
        except SQLAlchemyError as error:
            raise SourceUnavailable("inbox", f"cannot store: {_reason(error)}") from error

    def items(self, kind: str, since: int = 0) -> list[InboxItem]:
        """Oldest first."""
        query = (
            sa.select(_ITEMS)
            .where(_ITEMS.c.kind == kind, _ITEMS.c.accepted_at >= since)
            .order_by(_ITEMS.c.accepted_at, _ITEMS.c.key)
        )
        try:
            self._create()
            with self._engine.connect() as connection:
                return [InboxItem(*row) for row in connection.execute(query)]
        except SQLAlchemyError as error:
            raise SourceUnavailable("inbox", f"cannot read: {_reason(error)}") from error

    def close(self) -> None:
        """Close pooled connections."""
        self._engine.dispose()

    def _create(self) -> None:
        if not self._ready:
            _METADATA.create_all(self._engine)
            self._ready = True

    def _put(self, item: InboxItem) -> int:
        row = {"kind": item.kind, "key": item.key, "payload": item.payload, "accepted_at": item.accepted_at}
        try:
            with self._engine.begin() as connection:
                connection.execute(_ITEMS.insert().values(row))
        except IntegrityError:
            return 0
        return 1


def _durable(connection: sa.engine.interfaces.DBAPIConnection, _record: object) -> None:
    """Write-ahead log with a sync per commit: readers do not wait, nothing accepted is lost with the machine."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA busy_timeout=5000")
    cursor.close()


def _reason(error: SQLAlchemyError) -> str:
    """The driver's own words, without statement or address."""
    return str(getattr(error, "orig", None) or type(error).__name__)
