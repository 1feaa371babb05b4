"""Decodes PostgreSQL's pgoutput (protocol 1) into changes of Debezium's form: op, before, after, position, transaction.

Pure: bytes in, changes out. https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

EPOCH_US = 946_684_800_000_000
"""PostgreSQL counts from 2000-01-01."""
OPERATIONS = {"I": "c", "U": "u", "D": "d"}

Row = dict[str, str | None]


class Change(NamedTuple):
    """One changed row. `lsn` orders changes of a row; `commit_lsn` orders transactions, as the slot returns them."""

    table: str
    op: str
    lsn: int
    commit_lsn: int
    tx_id: int
    ts_us: int
    before: Row | None
    after: Row | None


class TransactionHead(NamedTuple):
    """What a begin message says of the changes that follow."""

    commit_lsn: int
    ts_us: int
    tx_id: int


def lsn_number(text: str) -> int:
    """`16/B374D848` as a number."""
    high, _, low = text.partition("/")
    return (int(high, 16) << 32) + int(low, 16)


class PgOutputDecoder:
    """Keeps the tables that the stream has described. Used by one thread."""

    def __init__(self) -> None:
        self._tables: dict[int, tuple[str, tuple[str, ...]]] = {}
        self._head = TransactionHead(0, 0, 0)

    def decode(self, lsn: str, message: bytes) -> Iterator[Change]:
        """The changes in a message: one for insert, update and delete, none for others."""
        kind = chr(message[0])
        if kind == "B":
            commit, at, tx_id = struct.unpack_from("!QqI", message, 1)
            self._head = TransactionHead(commit, at + EPOCH_US, tx_id)
        elif kind == "R":
            self._describe(message)
        elif kind in OPERATIONS:
            yield self._change(kind, lsn_number(lsn), message)

    def _describe(self, message: bytes) -> None:
        (oid,) = struct.unpack_from("!I", message, 1)
        space, at = _text(message, 5)
        name, at = _text(message, at)
        (count,), at = struct.unpack_from("!h", message, at + 1), at + 3
        columns = []
        for _ in range(count):
            column, at = _text(message, at + 1)
            columns.append(column)
            at += 8  # type and its modifier
        self._tables[oid] = (f"{space}.{name}", tuple(columns))

    def _change(self, kind: str, lsn: int, message: bytes) -> Change:
        (oid,), at = struct.unpack_from("!I", message, 1), 5
        table, columns = self._tables[oid]
        images: dict[str, Mapping[str, str | None]] = {}
        while at < len(message):
            tag = chr(message[at])
            images[tag], at = _row(columns, message, at + 1)
        before = images.get("O") or images.get("K")
        after = images.get("N")
        if before and after:
            # A long value that did not change is not sent again.
            after = {column: after.get(column, before.get(column)) for column in columns}
        commit, ts_us, tx_id = self._head
        return Change(table, OPERATIONS[kind], lsn, commit, tx_id, ts_us, _known(before), _known(after))


def _known(image: Mapping[str, str | None] | None) -> Row | None:
    return dict(image) if image else None


def _text(message: bytes, at: int) -> tuple[str, int]:
    end = message.index(0, at)
    return message[at:end].decode(), end + 1


def _row(columns: tuple[str, ...], message: bytes, at: int) -> tuple[Row, int]:
    (count,), at = struct.unpack_from("!h", message, at), at + 2
    row: Row = {}
    for column in columns[:count]:
        tag, at = chr(message[at]), at + 1
        if tag == "t":
            (size,) = struct.unpack_from("!i", message, at)
            row[column] = message[at + 4 : at + 4 + size].decode()
            at += 4 + size
        elif tag == "n":
            row[column] = None
    return row, at
