"""The comparisons of `demo --check` can fail, each for its own reason."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import pytest

from limnograph.demo.check.comparisons import (
    Lane,
    MetaRow,
    SnapshotTotals,
    burst_is_blamed,
    files_rise,
    job_slows,
    live_commit_arrives,
    repair_is_measured,
    same_snapshots,
    same_totals,
)
from limnograph.demo.lake.commits import Mark
from limnograph.demo.story.calendar import SECOND, Calendar
from limnograph.demo.story.plan import tables
from limnograph.demo.story.story import tell
from limnograph.domain.answers.effect_ledger import LedgerRow
from limnograph.domain.answers.explanations import Explanation, Hypothesis

CALENDAR = Calendar.at(1_795_270_000_000)
PLANS = tables(CALENDAR)
STORY = tell(CALENDAR, PLANS, {p.name: [Mark(s.at, n, 0, "") for n, s in enumerate(p.steps, 1)] for p in PLANS})
TOTALS = SnapshotTotals(3, 1, 30)


def row(table: str, snapshot_id: int, number: int, location: str = "m", totals: SnapshotTotals = TOTALS) -> MetaRow:
    return MetaRow(table, f"uuid of {table}", snapshot_id, number, number * 1000, location, "local-1", totals)


@dataclass
class World:
    """A lake, its meta table, an engine and a server, all in memory."""

    noted: list[MetaRow]
    real: dict[str, set[int]] = field(default_factory=dict)
    names: tuple[str, ...] = ("lake.a.t",)
    engine: dict[int, SnapshotTotals] = field(default_factory=dict)
    lanes: dict[str, Lane] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    fresh: MetaRow | None = None

    def rows(self) -> Sequence[MetaRow]:
        return self.noted

    def tables(self) -> Sequence[str]:
        return self.names

    def snapshot_ids(self, metadata_location: str) -> set[int]:
        return self.real[metadata_location]

    def totals(self, table: str, snapshot_id: int) -> SnapshotTotals:
        return self.engine[snapshot_id]

    def lane(self, table: str, lane: str, start: int, end: int, *, step: int, job: str | None = None) -> Lane:
        whole = self.lanes[lane]
        inside = [(t, v) for t, v in zip(whole.t, whole.v, strict=True) if start <= t < end]
        return Lane([t for t, _ in inside], [v for _, v in inside])

    def newest_commit(self) -> MetaRow | None:
        return self.fresh

    def application_ids(self) -> set[str]:
        return self.ids


def test_equal_ids_hold_at_the_metadata_file_of_the_newest_row() -> None:
    world = World([row("lake.a.t", 1, 1, "old"), row("lake.a.t", 2, 2, "new")], {"new": {1, 2}})
    assert [one.ok for one in same_snapshots(world, world)] == [True]


@pytest.mark.parametrize(
    ("noted", "real"), [((1,), {1, 2}), ((1, 2), {1}), ((1, 1), {1})], ids=["missing", "unknown", "doubled"]
)
def test_a_missing_an_unknown_and_a_duplicate_id_fail(noted: tuple[int, ...], real: set[int]) -> None:
    world = World([row("lake.a.t", one, n) for n, one in enumerate(noted)], {"m": real})
    (finding,) = same_snapshots(world, world)
    assert not finding.ok
    assert finding.name == "snapshots of lake.a.t"


def test_a_table_without_any_row_fails() -> None:
    world = World([], {})
    assert [one.ok for one in same_snapshots(world, world)] == [False]


@pytest.mark.parametrize("theirs", [SnapshotTotals(4, 1, 30), SnapshotTotals(3, 0, 30), SnapshotTotals(3, 1, 31)])
def test_a_head_with_other_totals_than_spark_fails(theirs: SnapshotTotals) -> None:
    noted = [row("lake.a.t", 1, 1, totals=SnapshotTotals(0, 0, 0)), row("lake.a.t", 2, 2)]
    assert [one.ok for one in same_totals(World(noted, engine={2: TOTALS}), World([], engine={2: TOTALS}))] == [True]
    assert [one.ok for one in same_totals(World(noted), World([], engine={2: theirs}))] == [False]


def test_unknown_totals_are_not_equal_to_zero() -> None:
    noted = [row("lake.a.t", 1, 1, totals=SnapshotTotals(None, None, None))]
    assert [one.ok for one in same_totals(World(noted), World([], engine={1: SnapshotTotals(0, 0, 0)}))] == [False]


def files_lane(before: float | None, after: float | None, at: int) -> Lane:
    seconds = range(at - 120 * SECOND, at + 120 * SECOND, SECOND)
    return Lane(list(seconds), [before if t < at else after for t in seconds])


@pytest.mark.parametrize(
    ("before", "after", "late", "ok"),
    [
        (1_202, 51_202, 0, True),
        (1_202, 51_201, 0, False),
        (1_203, 51_203, 0, False),
        (None, 51_202, 0, False),
        (1_202, None, 0, False),
        (1_202, 51_202, 5 * SECOND, False),
    ],
)
def test_the_files_must_rise_by_exactly_50000_at_the_second(
    before: float | None, after: float | None, late: int, ok: bool
) -> None:
    world = World([], lanes={"data_files": files_lane(before, after, STORY.burst.at + late)})
    assert [one.ok for one in files_rise(world, STORY)] == [ok]


@pytest.mark.parametrize(("slow", "ok"), [(160.0, True), (120.0, False), (200.0, False), (52.0, False), (None, False)])
def test_the_job_must_be_about_three_times_as_slow(slow: float | None, ok: bool) -> None:
    minutes = range(CALENDAR.clock("01:00"), CALENDAR.clock("06:00"), 60 * SECOND)
    values = [52.0 if t < STORY.slowdown.start + 160 * SECOND else slow for t in minutes]
    world = World([], lanes={"job_duration": Lane(list(minutes), values)})
    assert [one.ok for one in job_slows(world, STORY)] == [ok]


def test_the_live_commit_must_arrive_and_carry_the_application_that_prometheus_knows() -> None:
    fresh = row("lake.sales.orders", 1, 1)
    assert [one.ok for one in live_commit_arrives(World([]))] == [False]
    assert [one.ok for one in live_commit_arrives(World([], fresh=fresh, ids={"local-2"}))] == [True, False]
    assert [one.ok for one in live_commit_arrives(World([], fresh=fresh, ids={"local-1"}))] == [True, True]


@dataclass
class Explained:
    """What Explain says with the commit of the story and without it."""

    there: Explanation
    gone: Explanation

    def explanation(self, table: str, job: str, span: tuple[int, int], without: str | None = None) -> Explanation:
        assert (table, job, without) in {(STORY.table, STORY.slowdown.job_name, of) for of in (None, BURST)}
        assert span == (STORY.view_from, STORY.view_to)
        return self.there if without is None else self.gone


BURST = STORY.burst.snapshot_id


def said(blamed: str | None, posterior: float, verdict: str) -> Explanation:
    kind = Hypothesis("commit", posterior, 0, blamed) if blamed else Hypothesis("none", posterior, 0)
    return Explanation("", [], [kind], [blamed] if blamed else [], verdict, "strong")


NOBODY = "No commit explains the slowdown."


@pytest.mark.parametrize(
    ("there", "gone", "ok"),
    [
        (said(BURST, 0.9, "Most likely"), said(None, 0.9, NOBODY), [True, True]),
        (said("7", 0.9, "Most likely"), said(None, 0.9, NOBODY), [False, True]),
        (said(None, 0.9, NOBODY), said(None, 0.9, NOBODY), [False, True]),
        (said(BURST, 0.9, "Most likely"), said("7", 0.9, "Most likely"), [True, False]),
        (said(BURST, 0.9, "Most likely"), said(None, 0.4, NOBODY), [True, False]),
        (said(BURST, 0.9, "Most likely"), said(None, 1.0, "No change of this job stands out."), [True, False]),
    ],
)
def test_the_append_must_be_named_and_without_it_no_commit(
    there: Explanation, gone: Explanation, ok: list[bool]
) -> None:
    assert [one.ok for one in burst_is_blamed(Explained(there, gone), STORY)] == ok


def measured(
    operation_id: str, verdict: str, low: float | None, high: float | None, more_runs: int | None = None
) -> LedgerRow:
    empty = dict.fromkeys(LedgerRow.__struct_fields__)
    known = {"operation_id": operation_id, "verdict": verdict, "measure": "duration", "because": "", "job_name": "job"}
    return LedgerRow(**empty | known | {"ratio_low": low, "ratio_high": high, "more_runs": more_runs})


class Ledger(list[LedgerRow]):
    def rows(self, awaited: str) -> Sequence[LedgerRow]:
        return self


@pytest.mark.parametrize(
    ("rows", "ok"),
    [
        ([("repair", "helped", 0.3, 0.36), ("other", "unknown", 0.8, 1.1, 12)], [True, True, True]),
        ([("repair", "helped", 0.3, 0.36), ("other", "unknown", 0.8, 1.1)], [True, True, False]),
        ([("repair", "helped", 0.3, 0.36), ("other", "not_separable", None, None)], [True, True, False]),
        ([("repair", "helped", 0.5, 0.6), ("other", "none", 0.98, 1.01)], [False, True, True]),
        ([("repair", "unknown", 0.2, None), ("other", "helped", 0.8, 0.9)], [False, False, False]),
        ([("repair", "helped", 0.3, 0.36)], [True, False, False]),
        ([("other", "none", 0.98, 1.01)], [False]),
    ],
)
def test_the_ledger_must_measure_the_repair_and_claim_nothing_of_the_innocent(rows, ok) -> None:
    repair = STORY.repair.snapshot_id or ""
    found = Ledger(measured(repair if name == "repair" else name, *rest) for name, *rest in rows)
    assert [one.ok for one in repair_is_measured(found, STORY)] == ok


@pytest.mark.parametrize(("writer", "ok"), [("demo_compact", [True, True, True]), ("churn", [True, False, True])])
def test_an_effect_of_a_compaction_on_request_is_not_held_against_the_ledger(writer: str, ok: list[bool]) -> None:
    repair = measured(STORY.repair.snapshot_id or "", "helped", 0.3, 0.36)
    asked = msgspec.structs.replace(measured("asked", "helped", 0.3, 0.6), writer=writer)
    rows = Ledger([repair, asked, measured("other", "none", 0.98, 1.01)])
    assert [one.ok for one in repair_is_measured(rows, STORY)] == ok
