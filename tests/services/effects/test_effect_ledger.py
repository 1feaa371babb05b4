"""The effect ledger: what is measured, when, and what its pages show."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Iterator

import msgspec
import pytest

import serving_kit
from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.answers.effect_ledger import LedgerPage
from limnograph.domain.errors import InvalidInput, SourceUnavailable
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.facts.events import ReportFact, RunFact, RunTable
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.queries import EffectsQuery
from limnograph.domain.time import to_millis
from limnograph.services.effects.measuring import EffectMeasurer
from limnograph.services.notes.drafts import NoteDraft
from limnograph.wiring.server import ServerServices
from serving_kit import BIG, HOUR, MINUTE, SECOND, UUID, FixedClock, change, lake, moved, row

NOW = serving_kit.NOW - 48 * HOUR
"""A Thursday: the effect on a day of a kind that the history does not have is not separable."""
COMPACTED = NOW - 10 * HOUR
DAY = 24 * HOUR


def story(*, effects: Iterable[EffectFact] = ()) -> MemoryEngine:
    """Appends every hour, and a compaction that halves the files."""
    rows = [row(i, NOW - (40 - i) * HOUR - MINUTE, 100 + i, parent_id=i - 1 or None) for i in range(1, 30)]
    rows.append(
        row(
            BIG,
            COMPACTED,
            60,
            parent_id=29,
            operation="replace",
            app_name="nightly_compaction",
            added_data_files=4,
            removed_data_files=70,
            observed_at=COMPACTED + MINUTE,
        )
    )
    engine = lake(rows, [moved(r.snapshot_id, r.committed_at) for r in rows])
    engine.append([], [], effects=list(effects))
    return engine


def run(job: str, started: int, seconds: float, table: str = "orders", **fields) -> RunFact:
    given = {"status": "ok", "ended_at": started + round(seconds * SECOND), **fields}
    return RunFact(
        run_id=f"{job}-{started}",
        job_name=job,
        started_at=started,
        at=started,
        tables=[RunTable(catalog="lake", namespace="sales", table=table, role="reads")],
        observed_at=started,
        **given,
    )


def history(job: str, start: int, end: int, every: int, usual: float, table: str = "orders", factor: float = 1.0):
    """Runs with a noise of 4 %, `factor` times as long since the compaction."""
    rng = random.Random(job)
    for at in range(start, end, every):
        yield run(job, at, usual * rng.gauss(1, 0.04) * (factor if at >= COMPACTED else 1.0), table)


def parts(engine: MemoryEngine, clock: FixedClock | None = None, inbox: MemoryInbox | None = None) -> ServerServices:
    return serving_kit.parts(engine, clock=clock or FixedClock(NOW), inbox=inbox)


def served(
    engine: MemoryEngine, runs: Iterable[RunFact], *, clock: FixedClock | None = None, inbox=None
) -> ServerServices:
    made = parts(engine, clock=clock, inbox=inbox)
    asyncio.run(made.runs.accept(list(runs)))
    return made


def measurer_of(made: ServerServices) -> EffectMeasurer:
    """The server's own measurer, without its pauses."""
    return EffectMeasurer(
        made.store, made.cases, made.effect_records, made.options.clock, engine=made.options.engine, cpu_share=1.0
    )


def page(made: ServerServices, **given) -> LedgerPage:
    query = EffectsQuery(start=to_millis(NOW - 30 * DAY), end=to_millis(NOW + 1), **given)
    return asyncio.run(made.backend.effects.page(query))


def everyone() -> Iterator[RunFact]:
    """A reader that the compaction made 30 % faster, and three jobs that read other tables."""
    yield from history("churn", NOW - 40 * HOUR, NOW, 12 * MINUTE, 60, factor=0.7)
    for other in ("billing", "search", "risk"):
        yield from history(other, NOW - 40 * HOUR, NOW, 20 * MINUTE, 30, table=other)


def test_a_compaction_is_measured_at_every_mark_with_bounds_that_contain_the_truth() -> None:
    inbox = MemoryInbox()
    made = served(story(), everyone(), inbox=inbox)
    assert asyncio.run(measurer_of(made).measure_due()) == 3
    stored = [msgspec.json.decode(item.payload, type=EffectFact) for item in inbox.items("effect")]
    facts = sorted(stored, key=lambda fact: fact.runs_after)
    assert [fact.runs_after for fact in facts] == [8, 16, 48]
    for fact in facts:
        assert (fact.table_uuid, fact.operation_id, fact.job_name) == (UUID, str(BIG), "churn")
        assert (fact.action, fact.writer, fact.committed_at) == ("rewrite_data_files", "nightly_compaction", COMPACTED)
        assert (fact.verdict, fact.controls) == ("helped", 3)
        assert fact.ratio_low < 0.7 < fact.ratio_high
        assert 0 <= fact.placebo_covered <= fact.placebo_cuts == 4
    assert facts[2].ratio_high - facts[2].ratio_low < facts[0].ratio_high - facts[0].ratio_low


def test_two_servers_and_a_restart_store_each_measurement_once() -> None:
    inbox = MemoryInbox()
    first = served(story(), everyone(), inbox=inbox)
    second = parts(story(), inbox=inbox)
    second.runs.restore()
    one, other = measurer_of(first), measurer_of(second)

    async def both() -> None:
        await asyncio.gather(one.measure_due(), other.measure_due())

    asyncio.run(both())
    assert len(inbox.items("effect")) == 3
    assert asyncio.run(measurer_of(first).measure_due()) == 0, "what is stored is not measured again"


def test_marks_are_measured_as_runs_end_and_a_running_one_is_awaited() -> None:
    clock = FixedClock(COMPACTED + HOUR)
    engine, inbox = story(), MemoryInbox()
    made = served(engine, [r for r in everyone() if r.ended_at < clock.now()], clock=clock, inbox=inbox)
    measurer = measurer_of(made)
    assert asyncio.run(measurer.measure_due()) == 0
    assert [(each.job.name, each.runs_after) for each in measurer.awaited] == [("churn", 5)]
    clock.micros = COMPACTED + 2 * HOUR
    later = [r for r in everyone() if COMPACTED + HOUR <= r.ended_at < clock.now()]
    stuck = msgspec.structs.replace(later[0], status="running", ended_at=None)
    asyncio.run(made.runs.accept([stuck, *later[1:]]))
    assert asyncio.run(measurer.measure_due()) == 0, "an earlier run has not ended"
    asyncio.run(made.runs.accept(later[:1]))
    clock.micros += HOUR
    assert asyncio.run(measurer.measure_due()) == 1
    assert asyncio.run(measurer.measure_due()) == 0


def test_a_page_shows_the_newest_measurement_and_the_self_check() -> None:
    made = served(story(), everyone())
    asyncio.run(measurer_of(made).measure_due())
    found = page(made)
    assert [(r.job_name, r.measure, r.verdict, r.runs_after) for r in found.rows] == [
        ("churn", "duration", "helped", 48)
    ]
    row_ = found.rows[0]
    assert (row_.catalog, row_.namespace, row_.table, row_.snapshot_id) == ("lake", "sales", "orders", str(BIG))
    assert row_.change_low < row_.change < row_.change_high < 0
    assert (found.counts.helped, found.counts.none, found.counts.no_data_yet) == (1, 0, 0)
    assert (found.coverage.cuts, found.coverage.covered >= 3) == (4, True)
    assert found.choices.tables == ["lake.sales.orders"]
    assert (found.choices.actions, found.choices.jobs) == (["rewrite_data_files"], ["churn"])


def test_what_a_plan_promised_stands_beside_what_the_table_confirmed() -> None:
    engine, clock = story(), FixedClock(COMPACTED + HOUR)
    verified = PlanFact(
        plan_id="p1",
        seq=6,
        at=COMPACTED + MINUTE,
        state="verified",
        attempt=2,
        table_uuid=UUID,
        action="rewrite_data_files",
        rule="compact",
        files_in=70,
        files_out=2,
        seconds_low=20.0,
        seconds_mid=60.0,
        seconds_high=180.0,
        currency="USD",
        result_files_in=70,
        result_files_out=4,
        result_seconds=90.0,
        snapshot_ids=[BIG],
    )
    engine.append([], [], plans=[verified])
    made = served(engine, [r for r in everyone() if r.ended_at < clock.now()], clock=clock)
    asyncio.run(made.measurer.measure_due())
    (waiting,) = page(made).rows
    assert (waiting.verdict, waiting.plan.plan_id) == ("no_data_yet", "p1")
    asyncio.run(made.runs.accept(list(everyone())))
    clock.micros = NOW
    asyncio.run(measurer_of(made).measure_due())
    (measured,) = page(made).rows
    assert (measured.verdict, measured.plan.rule, measured.plan.attempt) == ("helped", "compact", 2)
    assert (measured.plan.promised.files_out, measured.plan.confirmed.files_out) == (2, 4)
    assert (measured.plan.promised.seconds.high, measured.plan.confirmed.seconds) == (180.0, 90.0)
    assert measured.plan.promised.bytes_in is None
    assert page(served(story(), everyone())).rows == []


def test_an_operation_without_enough_runs_has_no_data_yet_which_is_not_no_effect() -> None:
    clock = FixedClock(COMPACTED + HOUR)
    made = served(story(), [r for r in everyone() if r.ended_at < clock.now()], clock=clock)
    asyncio.run(made.measurer.measure_due())
    row_ = page(made).rows[0]
    assert (row_.verdict, row_.because, row_.runs_after, row_.more_runs) == ("no_data_yet", "5 of 8 runs", 5, 3)
    assert (row_.ratio, row_.measured_at) == (None, None)


def test_a_table_that_no_known_job_reads_is_in_the_ledger_too() -> None:
    made = served(story(), history("billing", NOW - 40 * HOUR, NOW, 20 * MINUTE, 30, table="other"))
    asyncio.run(made.measurer.measure_due())
    found = page(made)
    assert [(r.job_name, r.verdict, r.because) for r in found.rows] == [
        ("", "no_data_yet", "no job is known to read this table")
    ]


def test_a_job_that_appears_later_is_found_within_an_hour() -> None:
    clock = FixedClock(COMPACTED + HOUR)
    made = served(story(), [], clock=clock)
    measurer = measurer_of(made)
    asyncio.run(measurer.measure_due())
    assert len(measurer.unread) == 1
    clock.micros = COMPACTED + 6 * HOUR
    asyncio.run(made.runs.accept([r for r in everyone() if r.ended_at < clock.now()]))
    asyncio.run(measurer.measure_due())
    assert asyncio.run(measurer.measure_due()) == 2, "the marks 8 and 16"
    assert measurer.unread == {}


def test_while_metrics_do_not_respond_no_table_counts_as_unread() -> None:
    source = MemoryMetrics("prometheus", {})
    source.failure = SourceUnavailable("prometheus", "refused")
    made = serving_kit.parts(story(), source, FixedClock(NOW))
    measurer = measurer_of(made)
    asyncio.run(measurer.measure_due())
    assert (measurer.unread, page(made).rows) == ({}, [])
    source.failure = None
    made.options.clock.micros += MINUTE
    asyncio.run(measurer.measure_due())
    assert len(measurer.unread) == 1


def test_a_failing_source_delays_a_measurement_and_loses_none() -> None:
    source, inbox, clock = MemoryMetrics("prometheus", {}), MemoryInbox(), FixedClock(NOW)
    made = serving_kit.parts(story(), source, clock, inbox=inbox)
    asyncio.run(made.runs.accept(list(everyone())))
    measurer = measurer_of(made)
    asyncio.run(measurer._discover(NOW))
    source.failure = SourceUnavailable("prometheus", "refused")
    assert asyncio.run(measurer.measure_due()) == 0, "without other jobs nothing is stored for good"
    source.failure = None
    clock.micros += HOUR
    inbox.failure = SourceUnavailable("inbox", "disk full")
    assert asyncio.run(measurer.measure_due()) == 0
    inbox.failure = None
    clock.micros += HOUR
    assert asyncio.run(measurer.measure_due()) == 3


def test_an_expiry_is_an_operation_of_its_own() -> None:
    engine = story()
    at = NOW - 20 * HOUR
    expired = change(
        "expired", at, "1-9", not_before=at - MINUTE, metadata_location="s3://x/7.metadata.json", observed_at=at
    )
    engine.append([], [expired])
    made = served(engine, everyone())
    asyncio.run(measurer_of(made).measure_due())
    found = {r.operation_id: r for r in page(made).rows}
    row_ = found["expired:s3://x/7.metadata.json"]
    assert (row_.snapshot_id, row_.action, row_.committed_at) == (None, "expire_snapshots", to_millis(at))
    assert row_.verdict in {"none", "unknown"}


def test_another_overwrite_beside_it_confounds_and_is_named() -> None:
    engine = story()
    other = row(777, COMPACTED + 5 * MINUTE, 61, parent_id=BIG, operation="overwrite")
    engine.append([other], [moved(777, other.committed_at)])
    made = served(engine, everyone())
    asyncio.run(measurer_of(made).measure_due())
    row_ = page(made).rows[0]
    assert (row_.verdict, row_.others) == ("confounded", ["777"])
    assert row_.ratio is None


def test_where_runs_report_what_they_read_the_sides_follow_the_snapshots() -> None:
    """A reader that is pinned to the old snapshot for two hours is not evidence about the new one."""
    runs = []
    for each in history("churn", NOW - 40 * HOUR, NOW, 12 * MINUTE, 60):
        fresh = each.started_at >= COMPACTED + 2 * HOUR
        table = msgspec.structs.replace(each.tables[0], read_snapshot_id=BIG if fresh else 29)
        took = (each.ended_at - each.started_at) * (0.6 if fresh else 1)
        runs.append(msgspec.structs.replace(each, tables=[table], ended_at=each.started_at + round(took)))
    others = [r for r in everyone() if r.job_name != "churn"]
    made = served(story(), [*runs, *others])
    asyncio.run(measurer_of(made).measure_due())
    row_ = page(made).rows[0]
    assert (row_.verdict, row_.runs_after) == ("helped", 16), "40 runs read the compacted files, 10 did not"
    assert row_.ratio_low < 0.6 < row_.ratio_high


def test_scans_show_planning_time_and_opened_files() -> None:
    engine, rng = story(), random.Random(4)
    reports = [
        ReportFact(
            event_id=f"s{at}",
            kind="scan",
            at=at,
            catalog="lake",
            namespace="sales",
            table="orders",
            duration_seconds=rng.gauss(2, 0.1) * (0.5 if at >= COMPACTED else 1),
            result_data_files=60 if at >= COMPACTED else 128,
        )
        for at in range(NOW - 40 * HOUR, NOW, 15 * MINUTE)
    ]
    engine.append([], [], reports=reports)
    made = served(engine, [])
    asyncio.run(measurer_of(made).measure_due())
    found = {r.measure: r for r in page(made).rows if r.verdict != "no_data_yet"}
    assert {measure: (r.verdict, r.job_name) for measure, r in found.items()} == {
        "planning": ("helped", ""),
        "files": ("helped", ""),
    }
    assert found["files"].ratio == pytest.approx(60 / 128, abs=0.02)
    assert found["planning"].ratio_low < 0.5 < found["planning"].ratio_high


def test_filters_owners_and_cursors() -> None:
    engine = story(effects=[fact(number) for number in range(5)])
    engine.append([], [change("property", NOW - 30 * HOUR, "growth-team", subject="owner")])
    made = parts(engine)
    every = page(made)
    assert (len(every.rows), every.counts.helped, every.counts.none) == (5, 3, 2)
    assert {r.owner for r in every.rows} == {"growth-team"}
    assert len(page(made, owner="growth-team").rows) == 5
    assert page(made, owner="no-one").rows == []
    shown = page(made, verdict="none")
    assert (len(shown.rows), shown.counts.helped) == (2, 3), "counts ignore the filter by verdict"
    first = page(made, limit=2)
    second = page(made, limit=2, cursor=first.next_cursor)
    third = page(made, limit=2, cursor=second.next_cursor)
    seen = [r.operation_id for part in (first, second, third) for r in part.rows]
    assert (seen, third.next_cursor) == ([r.operation_id for r in every.rows], None)
    with pytest.raises(InvalidInput, match="cursor"):
        page(made, limit=2, cursor=first.next_cursor, verdict="none")


def test_the_owner_of_a_row_is_that_of_a_note_then_the_property_then_of_the_settings() -> None:
    engine, inbox = story(effects=[fact(1)]), MemoryInbox()
    made = serving_kit.parts(engine, clock=FixedClock(NOW), inbox=inbox, owners=(("lake.sales.*", "team-settings"),))
    assert [r.owner for r in page(made, owner="team-settings").rows] == ["team-settings"]
    engine.append([], [change("property", NOW - 30 * HOUR, "team-property", subject="owner")])
    made.store.refresh()
    assert [r.owner for r in page(made, owner="team-property").rows] == ["team-property"]
    draft = NoteDraft(key="k", kind="owner", scope="table", table="lake.sales.orders", text="team-note")
    asyncio.run(made.backend.notes.accept(draft, "c", "ada"))
    found = page(made, owner="team-note")
    assert ([r.owner for r in found.rows], found.choices.owners) == (["team-note"], ["team-note"])
    assert page(made, owner="team-property").rows == []


def test_a_source_that_does_not_respond_is_a_note() -> None:
    engine = story()
    made = parts(engine)
    engine.failure = SourceUnavailable("meta", "no route")
    found = page(made)
    assert (found.rows, found.notes) == ([], ["Measured effects could not be read: no route."])


def fact(number: int) -> EffectFact:
    return EffectFact(
        table_uuid=UUID,
        operation_id=str(100 + number),
        job_name="churn",
        measure="duration",
        runs_after=8,
        catalog="lake",
        namespace="sales",
        table="orders",
        committed_at=NOW - number * HOUR - MINUTE,
        verdict="none" if number % 2 else "helped",
        because="between -3 % and +2 %",
        ratio=0.99,
        ratio_low=0.97,
        ratio_high=1.02,
        measured_at=NOW,
    )
