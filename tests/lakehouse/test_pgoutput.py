"""The decoder of PostgreSQL's changes, on messages laid out as its documentation describes them."""

from __future__ import annotations

import struct

from lakehouse.bronze.append import change_row
from lakehouse.ingest.pgoutput import EPOCH_US, PgOutputDecoder, lsn_number

OID, COMMIT_LSN, AT_US, TX = 16_385, 0x1_0000_0200, 1_000_000, 731
COLUMNS = ("id", "email", "note")


def text(value: str) -> bytes:
    return value.encode() + b"\0"


def begin() -> bytes:
    return b"B" + struct.pack("!QqI", COMMIT_LSN, AT_US, TX)


def relation() -> bytes:
    columns = b"".join(b"\0" + text(column) + struct.pack("!Ii", 25, -1) for column in COLUMNS)
    return b"R" + struct.pack("!I", OID) + text("public") + text("customers") + b"f" + struct.pack("!h", 3) + columns


def row(*values: str | None) -> bytes:
    """`~` stands for a long value that did not change."""
    cells = (
        b"n"
        if value is None
        else b"u"
        if value == "~"
        else b"t" + struct.pack("!i", len(value.encode())) + value.encode()
        for value in values
    )
    return struct.pack("!h", len(values)) + b"".join(cells)


def change(kind: str, *images: tuple[str, bytes]) -> bytes:
    return kind.encode() + struct.pack("!I", OID) + b"".join(tag.encode() + image for tag, image in images)


def decoded(message: bytes):
    decoder = PgOutputDecoder()
    for each in (begin(), relation()):
        assert list(decoder.decode("1/100", each)) == []
    return list(decoder.decode("1/180", message))


def test_an_insert_has_its_row_its_position_and_its_transaction() -> None:
    (found,) = decoded(change("I", ("N", row("7", "ä@example.org", None))))
    assert (found.table, found.op, found.before) == ("public.customers", "c", None)
    assert found.after == {"id": "7", "email": "ä@example.org", "note": None}
    assert (found.lsn, found.commit_lsn, found.tx_id) == (0x1_0000_0180, COMMIT_LSN, TX)
    assert found.ts_us == AT_US + EPOCH_US


def test_an_update_has_both_images_and_a_long_value_that_did_not_change() -> None:
    (found,) = decoded(change("U", ("O", row("7", "a", "long")), ("N", row("7", "b", "~"))))
    assert (found.op, found.before["email"], found.after) == ("u", "a", {"id": "7", "email": "b", "note": "long"})


def test_a_delete_has_what_it_deleted() -> None:
    (found,) = decoded(change("D", ("O", row("7", "a", None))))
    assert (found.op, found.before["id"], found.after) == ("d", "7", None)


def test_other_messages_are_no_changes() -> None:
    assert decoded(b"C" + bytes(25)) == []


def test_a_position_is_a_number_of_64_bits() -> None:
    assert lsn_number("16/B374D848") == (0x16 << 32) + 0xB374D848


def test_a_row_of_bronze_is_named_as_debezium_names_its_topics() -> None:
    from datetime import UTC, datetime

    (found,) = decoded(change("D", ("O", row("7", "a", None))))
    values = change_row(found, datetime(2026, 5, 1, tzinfo=UTC))
    assert values[:3] == ("shop.public.customers", '{"id": "7"}', "d")
    assert values[8] is None
