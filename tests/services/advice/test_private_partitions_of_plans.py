"""Values of private columns are in no plan: such a table can only be planned as a whole."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from limnograph.adapters.iceberg.planning.planner import IcebergPlanner
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.advice.prices import Prices
from limnograph.domain.ids import TableName
from limnograph.domain.time import Millis
from limnograph.services.advice.reading import advice_reading
from limnograph.services.advice.table_advice import JudgedTable, KnownOfTable, advise_table
from metadata_writer import MetadataTable

NEEDLE = "ada@example.org"
DAY_MS = 86_400_000
KNOWN = KnownOfTable(name=TableName("lake", "sales", "orders"))


def judged(table: MetadataTable, private: tuple[str, ...], quiet_ms: int = DAY_MS) -> tuple[bytes, JudgedTable]:
    storage = FileStorage({})
    metadata = IcebergReader(storage).metadata(table.metadata_location)
    now = Millis(table.now_ms + quiet_ms)
    reading = advice_reading(metadata, IcebergPlanner(storage), now, private=private)
    return msgspec.json.encode(reading), advise_table(reading, KNOWN, Prices())


@pytest.fixture
def table(tmp_path: Path) -> MetadataTable:
    made = MetadataTable(tmp_path)
    made.append(*[made.file(NEEDLE, size=1_000) for _ in range(40)])
    return made


def plans(found: JudgedTable) -> bytes:
    return msgspec.json.encode(found.advised) + b"".join(found.arguments.values())


def test_a_value_is_in_the_plan_of_a_column_that_is_not_private(table: MetadataTable) -> None:
    message, found = judged(table, ())
    assert NEEDLE.encode() in message
    assert NEEDLE.encode() in plans(found)


@pytest.mark.parametrize("by_property", [True, False])
def test_a_private_value_leaves_the_parser_in_no_form(table: MetadataTable, *, by_property: bool) -> None:
    if by_property:
        table.set_property("limnograph.private-columns", "region")
    message, found = judged(table, () if by_property else ("region",))
    assert NEEDLE.encode() not in message
    (plan,) = found.advised.recommendations
    assert (plan.scope.partitions, plan.scope.where, plan.predicted.files_in) == ([], None, 40)
    assert plan.statements.spark is not None
    assert NEEDLE.encode() not in plans(found)


def test_a_private_table_that_was_just_written_waits(table: MetadataTable) -> None:
    table.append(table.file("bob@example.org", size=1_000))
    _, found = judged(table, ("region",), quiet_ms=1)
    assert not [plan for plan in found.advised.recommendations if plan.rule == "compact"]
