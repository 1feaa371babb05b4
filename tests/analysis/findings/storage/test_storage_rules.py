"""Rules about storage that follow from commits: each at its edges, with look-alikes, and how it closes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from limnograph.analysis.findings.episodes import Episode, episodes
from limnograph.analysis.findings.storage.partition_fields import splits_by_value
from limnograph.analysis.findings.table_state import TableState, advance, due
from limnograph.domain.finding_limits import ERASURE_DAYS, FindingLimits
from limnograph.domain.time import Micros
from table_facts import DAY, GIB, HOUR, MIB, MINUTE, START, FactsBuilder

LIMITS = FindingLimits()
ROWS = {"total_records": 1_000_000, "total_data_files": 100}


def found(made: FactsBuilder, code: str, until: int) -> list[Episode]:
    return [each for each in episodes(made.facts, LIMITS, Micros(START + until)) if each.code == code]


def deleted(made: FactsBuilder, at: int, rows: int = 1_000, oldest: int | None = 0, **more: float) -> FactsBuilder:
    age = {} if oldest is None else {"oldest_delete_at": START + oldest}
    return made.commit(at, total_delete_files=5, total_position_deletes=rows, **age, **{**ROWS, **more})


def repaired(made: FactsBuilder, at: int, **more: float) -> FactsBuilder:
    row = {"total_delete_files": 0, "removed_delete_files": 5, "total_position_deletes": 0, **ROWS, **more}
    return made.commit(at, "replace", **row)


CODE = "deletes_not_materialized"


def test_a_delete_file_of_thirty_days_opens_without_a_commit() -> None:
    made = deleted(FactsBuilder(), 0)
    assert found(made, CODE, 30 * DAY - MINUTE) == []
    (episode,) = found(made, CODE, 30 * DAY)
    assert (episode.stretch.began, episode.stretch.opened) == (START + 30 * DAY, START + 30 * DAY)
    assert episode.evidence["oldest_delete"] == START // 1_000
    state = advance(TableState(), made.facts, until=Micros(START + DAY), limits=LIMITS)
    assert due(state, LIMITS) <= START + 30 * DAY


def test_a_tenth_of_the_rows_for_three_days_opens_and_less_does_not() -> None:
    (episode,) = found(deleted(FactsBuilder(), 0, 100_000), CODE, 3 * DAY)
    assert (episode.stretch.began, episode.stretch.opened) == (START, START + 3 * DAY)
    assert found(deleted(FactsBuilder(), 0, 100_000), CODE, 3 * DAY - MINUTE) == []
    assert found(deleted(FactsBuilder(), 0, 99_999), CODE, 20 * DAY) == []


def test_a_rewrite_closes_it_and_a_share_between_both_limits_does_not() -> None:
    made = deleted(deleted(FactsBuilder(), 0, 120_000), 4 * DAY, 85_000)
    assert found(made, CODE, 5 * DAY)[0].stretch.closed is None
    (closed,) = found(repaired(made, 5 * DAY), CODE, 6 * DAY)
    assert (closed.stretch.closed, closed.stretch.closed_by) == (START + 5 * DAY, "3")


def test_a_delete_file_whose_commit_expired_is_still_there_until_one_is_removed() -> None:
    made = deleted(FactsBuilder(), 0)
    for day in range(6, 31, 6):
        deleted(made, day * DAY, oldest=None, oldest_snapshot_at=START + (day - 5) * DAY)
    assert len(found(made, CODE, 31 * DAY)) == 1
    made = deleted(FactsBuilder(), 0)
    deleted(made, 6 * DAY, oldest=None, removed_delete_files=1, oldest_snapshot_at=START + 1 * DAY)
    assert found(made, CODE, 30 * DAY) == [], "the oldest one may be gone"
    assert len(found(made, CODE, 31 * DAY)) == 1, "what is left is as old as the oldest snapshot"


def test_where_erasure_is_promised_old_snapshots_keep_it_open() -> None:
    made = FactsBuilder().change(-HOUR, "property", None, "3", subject=ERASURE_DAYS)
    deleted(made, 0, oldest_snapshot_at=START - 9 * DAY)
    assert found(made, CODE, 3 * DAY - MINUTE) == []
    repaired(made, 4 * DAY, oldest_snapshot_at=START - 9 * DAY)
    (held,) = found(made, CODE, 5 * DAY)
    assert (held.stretch.closed, held.evidence["rewritten"]) == (None, (START + 4 * DAY) // 1_000)
    repaired(made, 6 * DAY, oldest_snapshot_at=START + 4 * DAY)
    assert found(made, CODE, 7 * DAY)[0].stretch.closed == START + 6 * DAY
    alone = repaired(deleted(FactsBuilder().change(-HOUR, "property", None, "3", subject=ERASURE_DAYS), 0), 4 * DAY)
    assert found(alone, CODE, 5 * DAY)[0].stretch.closed == START + 4 * DAY, "no other snapshot is left"


def test_portions_of_deletes_change_nothing() -> None:
    made = repaired(deleted(deleted(FactsBuilder(), 0, 120_000), 2 * DAY, 130_000), 6 * DAY)
    until = Micros(START + 40 * DAY)
    whole = advance(TableState(), made.facts, until=until, limits=LIMITS).deleted
    for cut in (HOUR, 2 * DAY, 3 * DAY + HOUR, 6 * DAY, 7 * DAY):
        state = advance(TableState(), made.facts, until=Micros(START + cut), limits=LIMITS)
        assert advance(state, made.facts, until=until, limits=LIMITS).deleted == whole


def spec(*fields: tuple[str, str, int]) -> str:
    return json.dumps({"fields": [dict(zip(("name", "transform", "source-id"), each, strict=True)) for each in fields]})


def columns(**types: str) -> str:
    listed = [
        {"id": place + 1, "name": name, "required": False, "type": kind}
        for place, (name, kind) in enumerate(types.items())
    ]
    return json.dumps({"type": "struct", "fields": listed})


def split(
    fields: str, partitions: int = 1_000, median: float = 0.09, hot: str | None = None, **types: str
) -> list[Episode]:
    """Partitions whose median is a share of the target of 512 MiB."""
    made = FactsBuilder().change(-HOUR, "spec", None, "1", fields)
    made.change(-HOUR, "schema", None, "0", columns(**(types or {"user_id": "string"})))
    total = 100 * GIB
    shape = {"skew_top1_share": 0.01, "skew_max_over_median": 0.01 * total / (median * 512 * MIB)}
    for at in (0, HOUR):
        made.commit(
            at, partitions_total=partitions, total_bytes=total, hot_partition=hot, hot_partition_ratio=1.0, **shape
        )
    return found(made, "high_cardinality_partitioning", 2 * HOUR)


BOTH = {"dt": "string", "user_id": "string"}
BY_USER = spec(("user_id", "identity", 1))


def test_a_thousand_tiny_partitions_by_a_key_open() -> None:
    (episode,) = split(BY_USER)
    assert (episode.severity, episode.evidence["partitions_total"]) == ("warning", 1_000)
    assert split(BY_USER, 999) == []
    assert split(BY_USER, median=0.11) == []


@pytest.mark.parametrize(
    ("fields", "types", "hot", "opens"),
    [
        (spec(("path", "truncate[4]", 1)), {"path": "string"}, None, True),
        (spec(("id_bucket", "bucket[2048]", 1)), {"id": "long"}, None, False),
        (spec(("ts_day", "day", 1)), {"ts": "timestamptz"}, None, False),
        (spec(("day", "identity", 1)), {"day": "date"}, None, False),
        (spec(("dt", "identity", 1)), {"dt": "string"}, "dt=2026-11-20", False),
        (spec(("dt", "identity", 1), ("user_id", "identity", 2)), BOTH, "dt=2026-11-20/user_id=7", True),
        ("no json", {"dt": "string"}, None, False),
        (spec(("gone", "void", 1)), {"gone": "string"}, None, False),
    ],
)  # fmt: skip
def test_only_fields_by_value_count(fields: str, types: dict[str, str], hot: str | None, opens: bool) -> None:
    assert bool(split(fields, hot=hot, **types)) is opens


def test_a_table_without_a_known_spec_splits_by_nothing() -> None:
    assert not np.any(splits_by_value(FactsBuilder().commit(0).facts))


def overlapping(depth: int, files: int, *later: int) -> list[Episode]:
    made = FactsBuilder()
    for at, deep in enumerate((depth, depth, *later)):
        made.commit(at * 2 * HOUR, overlap_depth_max=deep, partition_files_max=files, total_data_files=files)
    return found(made, "overlap", 30 * HOUR)


def test_ten_files_and_half_of_the_largest_partition_overlap() -> None:
    assert len(overlapping(10, 20)) == 1
    assert overlapping(9, 10) == []
    assert overlapping(10, 21) == []
    assert overlapping(50, 100)[0].evidence["threshold"] == 49


def test_overlap_closes_below_half_of_its_limit() -> None:
    assert overlapping(10, 10, 5)[0].stretch.closed is None
    assert overlapping(10, 10, 4)[0].stretch.closed == START + 4 * HOUR


def rewriting(commits: int = 10, written: int = 10 * GIB, dropped: int = 0, **more: float) -> list[Episode]:
    made, rows = FactsBuilder(), 1_000_000
    made.commit(0, total_records=rows, total_data_files=100)
    for place in range(commits):
        rows -= dropped
        row = {
            "added_data_files": 10,
            "removed_data_files": 10,
            "added_records": 100_000 - dropped,
            "added_bytes": written,
        }
        made.commit((place + 1) * HOUR, "overwrite", **{**row, "total_records": rows, "total_data_files": 100, **more})
    return found(made, "write_mode_mismatch", 30 * HOUR)


def test_ten_rewrites_of_little_that_write_the_table_again_open() -> None:
    (episode,) = rewriting(11)
    assert (episode.evidence["peak"], episode.evidence["total_bytes"]) == (110 * GIB, 100 * GIB)
    assert rewriting(9, written=20 * GIB) == [], "nine commits"
    assert rewriting(10, written=9 * GIB) == [], "less than the table"


def test_a_hundredth_is_little_and_more_is_not() -> None:
    assert len(rewriting(11, dropped=1_000)) == 1
    assert rewriting(11, dropped=1_001) == []


def test_reloads_loads_and_merges_on_read_do_not_count() -> None:
    assert rewriting(11, added_data_files=100) == [], "every file is new"
    assert rewriting(11, added_delete_files=1) == []
    assert rewriting(11, added_records=200_000, total_records=1_000_000 + 100_000) != [], "the first one only is a load"


def test_a_week_without_rewrites_closes_it() -> None:
    made = FactsBuilder().commit(0, total_records=1_000_000, total_data_files=100)
    for place in range(12):
        row = {"added_data_files": 10, "removed_data_files": 10, "added_records": 100_000, "added_bytes": 10 * GIB}
        made.commit((place + 1) * HOUR, "overwrite", **row, total_records=1_000_000, total_data_files=100)
    made.commit(8 * DAY, added_data_files=1, total_records=1_000_000, total_data_files=101)
    assert found(made, "write_mode_mismatch", 9 * DAY)[0].stretch.closed == START + 8 * DAY


def test_the_newest_day_of_a_table_is_no_skew() -> None:
    made = FactsBuilder()
    shape = {"skew_max_over_median": 20.0, "skew_top1_share": 0.4, "partitions_total": 20}
    for at in (0, HOUR):
        made.commit(at, **shape, hot_partition="day=2024-10-04", hot_partition_ratio=10.0)
    assert found(made, "partition_skew", 2 * HOUR) == []
    made = FactsBuilder()
    for at in (0, HOUR):
        made.commit(at, **shape, hot_partition="day=2024-10-04", hot_partition_ratio=9.0)
    assert len(found(made, "partition_skew", 2 * HOUR)) == 1


def test_nights_are_usual_after_the_second_one() -> None:
    made, at = FactsBuilder(), 0
    for _ in range(5):
        for hour in range(11):
            at += HOUR if hour else 14 * HOUR
            made.commit(at)
    assert all(each.stretch.closed is not None for each in found(made, "stale", at + 14 * HOUR))
    (episode,) = [each for each in found(made, "stale", at + 18 * HOUR) if each.stretch.closed is None]
    assert episode.evidence["threshold_seconds"] == 14 * 3_600 * 1.25
