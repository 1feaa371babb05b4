"""What maintenance would save: one table and the fleet, and the values that the dashboard's own formula must reach."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from advised_lake import MIB, AdvisedLake, evaluate
from limnograph.analysis.advice.money import comparison
from limnograph.domain.advice.comparison import TableLoad
from limnograph.domain.advice.document import AdvisedTable, TableBytes
from limnograph.domain.advice.prices import Prices
from limnograph.domain.ids import TableName
from limnograph.domain.time import Millis
from limnograph.services.advice.board import TableAdvice
from limnograph.services.advice.comparing import compare_fleet, compare_table
from limnograph.services.advice.table_advice import unreadable

RECORDED = Path(__file__).parents[3] / "frontend/src/lib/maintenance/savings/compared.json"
"""Inputs and costs; `savings.test.ts` computes the same."""
GB = 2**30


def advised(size: TableBytes | None, load: TableLoad) -> TableAdvice:
    document: AdvisedTable = msgspec.structs.replace(unreadable("iceberg", Prices()), bytes=size)
    return TableAdvice(document, "s3://lake/1.json", Millis(0), load=load)


def size(live: int, held: int) -> TableBytes:
    return TableBytes(live=live * GB, held=held * GB, metadata=0, by_ref={}, by_age=[])


@pytest.mark.parametrize("case", json.loads(RECORDED.read_text()), ids=lambda case: case["name"])
def test_the_recorded_costs_are_those_of_the_formula(case: dict[str, Any]) -> None:
    stored = case["bytes"] and TableBytes(**case["bytes"], by_ref={}, by_age=[])
    prices = Prices(**case["prices"])
    load = msgspec.convert(case["load"], TableLoad)
    rows = comparison(stored, load.live_files, load.compacted_files, load.reads_per_day, prices)
    assert [row.situation for row in rows] == [row["situation"] for row in case["rows"]]
    for row, recorded in zip(rows, case["rows"], strict=True):
        assert msgspec.to_builtins(row.cost) == pytest.approx(recorded["cost"])
        assert row.per_gb_month == pytest.approx(recorded["per_gb_month"])


def test_a_table_has_the_files_that_a_compaction_would_leave(tmp_path: Path) -> None:
    world = AdvisedLake(tmp_path)
    world.add("orders", 40)
    made = world.start()
    evaluate(made)
    pages = made.backend.maintenance
    assert pages is not None
    found = pages.table(TableName("lake", "sales", "orders")).comparison
    assert found is not None
    assert found.load == TableLoad(live_files=40, compacted_files=1, reads_per_day=None)
    now, expired, *_ = found.rows
    assert now.cost.storage == pytest.approx(40 * 5 * MIB / GB * 0.023, rel=0.01)
    assert (now.cost.requests, now.cost.total, expired.cost.held) == (None, None, 0.0)


def test_the_fleet_is_the_sum_of_its_tables() -> None:
    tables = [
        advised(size(100, 100), TableLoad(live_files=50_000, compacted_files=200, reads_per_day=24)),
        advised(size(120, 10), TableLoad(live_files=1_200, compacted_files=235, reads_per_day=1)),
    ]
    found = compare_fleet(tables, Prices())
    each = [compare_table(table, Prices()).rows for table in tables]
    assert [row.cost.total for row in found.rows] == pytest.approx(
        [sum(row.cost.total or 0 for row in rows) for rows in zip(*each, strict=True)]
    )
    assert (found.tables, found.opened_per_day, found.compacted_per_day) == (2, 1_201_200, 5_035)


def test_what_is_known_of_no_table_is_null_and_of_some_is_counted() -> None:
    known = advised(size(10, 1), TableLoad(live_files=5, compacted_files=None, reads_per_day=3))
    found = compare_fleet([known, advised(None, TableLoad())], Prices())
    assert (found.tables, found.bytes_known, found.reads_known) == (2, 1, 0)
    assert (found.live_bytes, found.opened_per_day, found.compacted_per_day) == (10 * GB, None, None)
    assert [row.cost.total for row in found.rows] == [None] * 4
    assert compare_fleet([], Prices()).live_bytes is None
