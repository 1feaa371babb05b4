"""Inbox on SQLAlchemy: SQLite by default, PostgreSQL for a team. An item is durable when `put` returns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa

from limnograph.adapters.inbox.database import InboxDatabase
from limnograph.adapters.inbox.schema import ITEMS
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.inbox import PASS_MARK, Backlog, InboxItem


class SqlInbox:
    """`database`: shared with the states of plans. Thread-safe; calls block. Raises SettingsError on a wrong URL."""

    def __init__(self, url: str) -> None:
        self.database = InboxDatabase(url)
        self._insert = self.database.insert(ITEMS).on_conflict_do_nothing(index_elements=["kind", "key"])

    def put(self, items: Sequence[InboxItem]) -> int:
        # A fixed order for all writers: two transactions with common keys wait for each other instead of deadlocking.
        rows = [row_of(item) for item in sorted(items, key=lambda item: (item.kind, item.key))]
        return self.database.write("store", lambda c: self._stored(c, rows))

    def _stored(self, connection: sa.Connection, rows: list[dict[str, object]]) -> int:
        """Number of new rows. SQLite's driver sums over all rows of a call; PostgreSQL's counts the last one."""
        if not rows or self.database.file is None:
            return sum(connection.execute(self._insert, row).rowcount for row in rows)
        return connection.execute(self._insert, rows).rowcount

    def items(self, kind: str, since: Micros = EPOCH) -> list[InboxItem]:
        return self._select(ITEMS.c.kind == kind, ITEMS.c.accepted_at >= since)

    def waiting(self, kinds: Collection[str], limit: int) -> list[InboxItem]:
        return self._select(ITEMS.c.kind.in_(kinds), ITEMS.c.committed_at.is_(None), limit=limit)

    def backlog(self, kinds: Collection[str]) -> Backlog:
        query = sa.select(sa.func.count(), sa.func.min(ITEMS.c.accepted_at))
        mine = query.where(ITEMS.c.kind.in_(kinds), ITEMS.c.committed_at.is_(None))
        return self.database.read(lambda c: Backlog(*c.execute(mine).one()))

    def mark(self, items: Sequence[InboxItem], at: Micros) -> None:
        mine = sa.and_(
            ITEMS.c.kind == sa.bindparam("k"), ITEMS.c.key == sa.bindparam("id"), ITEMS.c.committed_at.is_(None)
        )
        rows = [{"k": item.kind, "id": item.key} for item in sorted(items, key=lambda item: (item.kind, item.key))]
        if rows:
            self.database.write("mark", lambda c: c.execute(ITEMS.update().where(mine).values(committed_at=at), rows))

    def purge(self, before: Micros) -> int:
        newest = sa.select(sa.func.max(ITEMS.c.accepted_at)).where(ITEMS.c.kind == PASS_MARK).scalar_subquery()
        old = sa.and_(ITEMS.c.committed_at < before, sa.or_(ITEMS.c.kind != PASS_MARK, ITEMS.c.accepted_at < newest))
        return self.database.write("purge", lambda c: c.execute(ITEMS.delete().where(old)).rowcount)

    def newest(self, kind: str) -> Micros | None:
        query = sa.select(sa.func.max(ITEMS.c.accepted_at)).where(ITEMS.c.kind == kind)
        return self.database.read(lambda c: c.execute(query).scalar())

    def close(self) -> None:
        """Close pooled connections."""
        self.database.close()

    def _select(self, *where: sa.ColumnElement[bool], limit: int | None = None) -> list[InboxItem]:
        order = (ITEMS.c.accepted_at, ITEMS.c.kind, ITEMS.c.key)
        query = sa.select(ITEMS).where(*where).order_by(*order).limit(limit)
        return self.database.read(lambda c: [_item(row) for row in c.execute(query)])


def row_of(item: InboxItem) -> dict[str, object]:
    """Columns of an item."""
    return {name: getattr(item, name) for name in item.__struct_fields__}


def _item(row: sa.Row[Any]) -> InboxItem:
    return InboxItem(row.kind, row.key, bytes(row.payload), row.accepted_at, row.committed_at)
