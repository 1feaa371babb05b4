"""Each rule about a table or a job opens again after it closed, as a stretch of its own; a restart between two commits
changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from limnograph.analysis.findings.episodes import episodes
from limnograph.analysis.findings.jobs import RunHistory, job_episodes
from limnograph.analysis.findings.stretch import Stretch
from limnograph.analysis.findings.table_state import TableState, advance
from limnograph.domain.finding_codes import CODES, OBSERVED
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.objectives import PromisedLimit
from limnograph.domain.time import Micros
from table_facts import DAY, GIB, HOUR, MIB, MINUTE, START, FactsBuilder

LIMITS = FindingLimits(freshness=PromisedLimit(6 * HOUR, 10 * MINUTE))
CYCLE = 30 * DAY
"""From one history to the next."""


def column(name: str, bad: float, good: float, **others: float) -> Callable[[FactsBuilder, int], None]:
    """A number that is above its limit for two days."""

    def write(table: FactsBuilder, at: int) -> None:
        for when, value in ((0, bad), (HOUR, bad), (2 * DAY, good)):
            table.commit(at + when, **{name: value, **others})

    return write


def burst(table: FactsBuilder, at: int) -> None:
    for hour in range(5):
        table.commit(at + hour * HOUR, added_data_files=4, added_bytes=4 * 512 * MIB, total_data_files=1_000)
    added = {"added_data_files": 5_000, "added_bytes": 5_000 * MIB, "total_data_files": 6_000}
    table.commit(at + 5 * HOUR, **added)
    table.commit(at + 6 * HOUR, "replace", removed_data_files=5_000, total_data_files=1_000)


def compaction(table: FactsBuilder, at: int, *, left: int = 0) -> None:
    """Three rewrites a day apart, each of which leaves so many files to rewrite."""
    live = {"total_data_files": 1_000}
    for day in range(3):
        table.commit(at + day * DAY, debt_files=100, debt_saved_files=90, **live)
        after = {"removed_data_files": 100, "debt_files": left, "debt_saved_files": left}
        table.commit(at + day * DAY + HOUR, "replace", **after, **live)


def stopped(table: FactsBuilder, at: int) -> None:
    compaction(table, at)
    table.commit(at + 3 * DAY, debt_files=200, debt_saved_files=180, total_data_files=1_000)
    repaired = {"removed_data_files": 200, "debt_files": 0, "debt_saved_files": 0, "total_data_files": 1_000}
    table.commit(at + 15 * DAY, "replace", **repaired)


def ineffective(table: FactsBuilder, at: int) -> None:
    compaction(table, at, left=98)
    repaired = {"removed_data_files": 100, "debt_files": 3, "debt_saved_files": 2, "total_data_files": 1_000}
    table.commit(at + 4 * DAY, "replace", **repaired)


def deletes(table: FactsBuilder, at: int) -> None:
    for day in range(12):
        table.commit(at + day * DAY, total_data_files=100, total_delete_files=10 * day, added_delete_files=10)
    table.commit(at + 12 * DAY, "replace", total_data_files=100, total_delete_files=0, removed_delete_files=110)


def snapshots(table: FactsBuilder, at: int) -> None:
    for place in range(600):
        table.commit(at + place * 30 * MINUTE, live_snapshots=place + 1)
    table.commit(at + 600 * 30 * MINUTE, live_snapshots=10)


def pause(table: FactsBuilder, at: int) -> None:
    """A commit an hour, but for a day."""
    for hour in range(CYCLE // HOUR):
        if not 48 < hour < 72:
            table.commit(at + hour * HOUR)


def change(kind: str) -> Callable[[FactsBuilder, int], None]:
    def write(table: FactsBuilder, at: int) -> None:
        table.commit(at).change(at + HOUR, kind, str(at), str(at + 1))

    return write


def columns(*names: str) -> str:
    fields = [{"id": len(name), "name": name, "required": False, "type": "long"} for name in names]
    return json.dumps({"type": "struct", "fields": fields})


def dropped(table: FactsBuilder, at: int) -> None:
    table.commit(at)
    before, after = columns("a", "bb"), columns("a")
    table.change(at, "schema", None, f"{at}", before).change(at + HOUR, "schema", f"{at}", f"{at + 1}", after)


def unreadable(table: FactsBuilder, at: int) -> None:
    table.commit(at).change(at + HOUR, "unreadable", None, "manifest-missing", "a manifest is missing")
    table.change(at + 2 * HOUR, "unreadable", "manifest-missing", None)


def hot(table: FactsBuilder, at: int) -> None:
    day = f"day={np.datetime64(START + at, 'us').astype('datetime64[D]')}"
    for when, ratio in ((HOUR, 12.0), (2 * HOUR, 12.0), (4 * HOUR, 1.0)):
        table.commit(at + when, hot_partition=day, hot_partition_ratio=ratio)


def by_user(table: FactsBuilder, at: int) -> None:
    spec = json.dumps({"fields": [{"name": "user_id", "transform": "identity", "source-id": 1}]})
    table.change(at - HOUR, "spec", None, f"{at}", spec)
    for when, partitions in ((0, 20_000), (HOUR, 20_000), (2 * DAY, 16)):
        shape = {"skew_top1_share": 0.001, "skew_max_over_median": 4.0}
        table.commit(at + when, partitions_total=partitions, total_bytes=20 * GIB, **shape)


def old_deletes(table: FactsBuilder, at: int) -> None:
    rows = {"total_records": 1_000_000, "total_data_files": 100}
    table.commit(at, total_delete_files=5, total_position_deletes=200_000, oldest_delete_at=START + at, **rows)
    repaired = {"total_delete_files": 0, "removed_delete_files": 5, "total_position_deletes": 0}
    table.commit(at + 5 * DAY, "replace", **repaired, **rows)


def tiny(table: FactsBuilder, at: int) -> None:
    for place in range(250):
        row = {"added_data_files": 1, "added_records": 1, "added_bytes": 2_000, "total_records": 1_000_000 + place}
        table.commit(at + place * 5 * MINUTE, **row)


def rewriting(table: FactsBuilder, at: int) -> None:
    rows = {"total_records": 1_000_000, "added_records": 200_000, "total_data_files": 100}
    for place in range(12):
        files = {"added_data_files": 20, "removed_data_files": 20, "added_bytes": 20 * GIB}
        table.commit(at + place * HOUR, "overwrite", **files, **rows)
    table.commit(at + 9 * DAY, added_data_files=1, total_records=1_000_000, added_records=1, added_bytes=MIB)


HISTORIES: dict[str, Callable[[FactsBuilder, int], None]] = {
    "file_burst": burst,
    "small_files": column("debt_saved_files", 50, 0, total_data_files=100, debt_files=60),
    "too_many_files": column("total_data_files", 200_000, 10),
    "compaction_stopped": stopped,
    "compaction_ineffective": ineffective,
    "delete_files_growing": deletes,
    "equality_deletes": column("total_equality_deletes", 5, 0),
    "snapshots_unbounded": snapshots,
    "metadata_large": column("metadata_bytes", 9 * MIB, MIB),
    "manifests_fragmented": column("manifests", 200, 5, manifest_bytes=40 * MIB),
    "metadata_versions_kept": column("metadata_log_entries", 400, 5),
    "partition_skew": column("skew_max_over_median", 20.0, 2.0, partitions_total=20, skew_top1_share=0.4),
    "hot_partition": hot,
    "overlap": column("overlap_depth_max", 60, 4, total_data_files=100, partition_files_max=100),
    "high_cardinality_partitioning": by_user,
    "deletes_not_materialized": old_deletes,
    "tiny_commits": tiny,
    "write_mode_mismatch": rewriting,
    "schema_breaking": dropped,
    "schema_changed": change("schema"),
    "spec_changed": change("spec"),
    "stale": pause,
    "history_gap": change("gap"),
    "unreadable": unreadable,
    "objective_missed": pause,
}


EVENTS = {"schema_breaking", "schema_changed", "spec_changed", "history_gap"}
"""They expire after a week, and older ones than four weeks are forgotten."""


def stretches(table: FactsBuilder, code: str, until: int, state: TableState | None = None) -> list[Stretch]:
    found = episodes(table.facts, LIMITS, Micros(START + until), state)
    return [each.stretch for each in found if each.code == code]


@pytest.mark.parametrize("code", HISTORIES)
def test_a_condition_that_returns_is_an_episode_of_its_own(code: str) -> None:
    cycle = 10 * DAY if code in EVENTS else CYCLE
    table, end = FactsBuilder(), 2 * cycle - MINUTE
    for at in (0, cycle):
        HISTORIES[code](table, at)
    found = stretches(table, code, end)
    closed = [each for each in found if each.closed is not None]
    assert {each.opened >= START + cycle for each in closed} == {False, True}
    first = stretches(table, code, cycle - DAY)
    assert first[0] == found[0]._replace(**{} if first[0].closed else {"closed": None, "closed_by": None})
    restarted = advance(TableState(), table.facts, until=Micros(START + cycle - DAY), limits=LIMITS)
    assert stretches(table, code, end, restarted) == found


EVERY_FIVE = [place * 5 * MINUTE for place in range(60)]


def job(code: str, ends: list[int], failed: list[bool]) -> list[bool]:
    history = RunHistory(
        "rollup",
        np.array(ends, np.int64) + START,
        np.full(len(ends), 50.0),
        np.array(failed, np.bool_),
        Micros(START + ends[-1] + MINUTE),
        None,
    )
    return [each.stretch.closed is not None for each in job_episodes(history, LIMITS) if each.code == code]


def test_a_job_that_falls_silent_again_is_an_episode_of_its_own() -> None:
    ends = [*EVERY_FIVE, *(DAY + each for each in EVERY_FIVE), *(2 * DAY + each for each in EVERY_FIVE)]
    assert job("job_silent", ends, [False] * len(ends)) == [True, True]


def test_a_job_that_fails_again_is_an_episode_of_its_own() -> None:
    failed = [20 <= place < 24 or 40 <= place < 44 for place in range(60)]
    assert job("job_failing", EVERY_FIVE, failed) == [True, True]


def test_every_code_about_a_table_is_in_this_list() -> None:
    observed = frozenset[str]().union(*OBSERVED.values()) - {"objective_missed"}
    assert set(HISTORIES) == CODES.keys() - observed
