"""Findings of columns from rows of the meta table: with the commit, recorded once, frozen while it cannot be read."""

from __future__ import annotations

from typing import Any

import polars as pl
from msgspec.structs import replace

from limnograph.adapters.embedded import frames
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.column_stats import ColumnStat, ColumnStatsFact
from limnograph.domain.finding_limits import FindingLimits
from limnograph.services.findings.column_findings import ColumnFindings
from serving_kit import BIG, MINUTE, NOW, UUID, FixedClock, lake, moved, parts, row

AMOUNT = ColumnStat(1, "amount", "double", 1000, 10, None, "0", "100")
BAD = replace(AMOUNT, nulls=400)


def commit(number: int, stat: ColumnStat = AMOUNT, **columns: Any) -> ColumnStatsFact:
    at = NOW - 60 * MINUTE + number * MINUTE
    given = {"table_uuid": UUID, "snapshot_id": BIG + number, "committed_at": at, "observed_at": at, "writer": "etl"}
    return ColumnStatsFact(columns=[stat], **(given | columns))


def engine_of(*facts: ColumnStatsFact) -> MemoryEngine:
    engine = lake([row(BIG, NOW - 90 * MINUTE)], [moved(BIG, NOW - 90 * MINUTE)])
    engine.roll("column_stats", frames.frame("column_stats", facts))
    return engine


def usual(count: int = 20) -> list[ColumnStatsFact]:
    return [commit(number) for number in range(count)]


def test_a_jump_is_a_finding_of_the_table_with_its_commit() -> None:
    made = parts(engine_of(*usual(), commit(20, BAD)))
    made.observers.columns.observe(made.evaluator)
    made.evaluator.evaluate()
    (finding,) = [each for each in made.evaluator.board.by_id.values() if each.code == "null_share_jump"]
    assert (finding.subject, finding.state, finding.severity) == ("amount", "open", "warning")
    assert (finding.cause_snapshot_ids, finding.cause_writer) == ([BIG + 20], "etl")
    assert (finding.evidence or {})["null_share"] == "0.4"


def test_rows_that_arrive_later_or_out_of_order_give_the_same_findings() -> None:
    facts = [*usual(), commit(20, BAD), commit(21, BAD), commit(22), commit(23), commit(24), commit(30, BAD)]
    whole = episodes(facts, [])
    assert [each.stretch.closed_by for each in whole] == [str(BIG + 24), None]
    assert episodes(facts[:18], facts[18:]) == whole
    late = [replace(fact, observed_at=NOW + MINUTE) for fact in facts[5:9]]
    assert episodes([*facts[:5], *facts[9:]], late) == whole


def test_a_private_column_has_no_bounds_to_judge() -> None:
    wide = replace(AMOUNT, lower="-99999")
    assert [each.code for each in episodes([*usual(), commit(20, wide)], [])] == ["bounds_jump"]
    assert episodes([*usual(), commit(20, wide)], [], private=("amount",)) == []


def test_a_recorded_finding_stays_while_the_meta_tables_cannot_be_read() -> None:
    made = parts(engine_of(*usual(), commit(20, BAD)))
    made.observers.columns.observe(made.evaluator)
    made.evaluator.evaluate()
    again = parts(made.store._engine, inbox=made.runs._inbox)  # type: ignore[arg-type]
    assert [each.state for each in again.evaluator.board.by_id.values() if each.code == "null_share_jump"] == ["open"]


def episodes(first: list[ColumnStatsFact], then: list[ColumnStatsFact], private: tuple[str, ...] = ()) -> list[Any]:
    """Episodes after a second read."""
    clock, engine = FixedClock(NOW), engine_of(*first)
    columns = ColumnFindings(engine, clock, FindingLimits(), private)
    told = _Told()
    columns.observe(told)  # type: ignore[arg-type]
    clock.micros += MINUTE
    if then:
        engine.roll("column_stats", frames.frame("column_stats", [*first, *(_now(fact) for fact in then)]))
    columns.observe(told)  # type: ignore[arg-type]
    return told.found.get(UUID, [])


def _now(fact: ColumnStatsFact) -> ColumnStatsFact:
    return replace(fact, observed_at=NOW + 30_000_000)


class _Told:
    """Takes what is observed."""

    def __init__(self) -> None:
        self.found: dict[str, list[Any]] = {}

    def observed(self, found: dict[str, list[Any]], _source: str) -> None:
        self.found = found


class _Down:
    def select(self, _query: object) -> pl.DataFrame:
        raise SourceUnavailable("meta", "down")


def test_without_the_meta_tables_nothing_is_reported() -> None:
    told = _Told()
    told.found = {UUID: ["before"]}
    ColumnFindings(_Down(), FixedClock(NOW), FindingLimits()).observe(told)  # type: ignore[arg-type]
    assert told.found == {UUID: ["before"]}
