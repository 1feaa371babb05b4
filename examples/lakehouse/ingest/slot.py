"""The replication slot: peeked, and advanced only after the rows are in the lake."""

from __future__ import annotations

from typing import Any, NamedTuple

from lakehouse.ingest.pgoutput import Change, PgOutputDecoder
from lakehouse.sources.shop import PUBLICATION, SLOT

PEEK = (
    "select lsn::text, data from pg_logical_slot_peek_binary_changes(%s, null, null,"
    " 'proto_version', '1', 'publication_names', %s)"
)


class PeekedChanges(NamedTuple):
    """Changes in the order of their commits, and the position to which the slot may be advanced; None: nothing new."""

    changes: list[Change]
    upto: str | None


def peek(connection: Any) -> PeekedChanges:
    """What the slot holds. It stays there."""
    with connection.cursor() as cursor:
        cursor.execute(PEEK, (SLOT, PUBLICATION))
        messages = cursor.fetchall()
    decoder = PgOutputDecoder()
    changes = [change for lsn, data in messages for change in decoder.decode(lsn, bytes(data))]
    return PeekedChanges(changes, messages[-1][0] if messages else None)


def advance(connection: Any, upto: str | None) -> None:
    """Let PostgreSQL forget what the lake has."""
    if upto is not None:
        with connection.cursor() as cursor:
            cursor.execute("select pg_replication_slot_advance(%s, %s::pg_lsn)", (SLOT, upto))


def lag_bytes(connection: Any) -> int:
    """Bytes of WAL that the slot holds back."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn) from pg_replication_slots"
            " where slot_name = %s",
            (SLOT,),
        )
        return int(cursor.fetchone()[0])
