"""The page of one commit."""

import asyncio

import pytest

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import NotFound
from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.facts.meta_tables import PartitionFact
from limnograph.domain.ids import TableName
from limnograph.services.lake.lake import Facts
from limnograph.services.table.commit import difference
from serving_kit import BIG, HOUR, MINUTE, NOW, SECOND, UUID, lake, moved, parts, row

NAME = TableName("lake", "sales", "orders")
AT = NOW - 2 * HOUR


def story() -> MemoryEngine:
    rows = [
        row(1, NOW - 5 * HOUR, 1_202, total_bytes=1_202 * 10**8, file_size_histogram=[1, 2]),
        row(
            BIG,
            AT,
            51_202,
            parent_id=1,
            total_bytes=1_202 * 10**8 + 45 * 10**9,
            added_data_files=50_000,
            app_id="app-9",
            summary={"operation": "append", "added-data-files": "50000"},
            partitions=[
                PartitionFact(partition="day=2", added_data_files=49_000, data_files=49_001),
                PartitionFact(partition="day=1", added_data_files=1_000),
                PartitionFact(partition="day=0", data_files=4),
            ],
            file_size_histogram=[9, 9],
        ),
        row(3, NOW - HOUR, 60, parent_id=BIG, operation="replace"),
    ]
    return lake(rows, [moved(r.snapshot_id, r.committed_at) for r in rows])


def detail(made, snapshot_id=BIG):
    return asyncio.run(made.backend.commit_details.detail(NAME, snapshot_id))


def test_the_diff_is_against_the_parent_with_average_file_size() -> None:
    found = {d.metric: d for d in detail(parts(story())).diff}
    assert (found["data_files"].before, found["data_files"].after, found["data_files"].delta) == (1_202, 51_202, 50_000)
    assert found["average_file_size"].before == 10**8
    assert round(found["average_file_size"].after) == 3_226_436
    assert found["delete_files"].delta is None


def test_a_page_shows_its_neighbours_its_shape_and_the_touched_partitions() -> None:
    found = detail(parts(story()))
    assert (found.previous_id, found.next_id, found.commit.snapshot_id) == ("1", "3", str(BIG))
    assert (found.shape.before, found.shape.after) == ([1, 2], [9, 9])
    assert [p.partition for p in found.partitions] == ["day=2", "day=1"]
    assert found.summary["added-data-files"] == "50000"


def test_a_commit_older_than_the_hot_window_has_the_same_page() -> None:
    rows = [row(i, NOW - (100 - i) * HOUR, i, parent_id=i - 1 or None) for i in range(1, 90)]
    made = parts(lake(rows, [moved(r.snapshot_id, r.committed_at) for r in rows]))
    found = detail(made, 10)
    assert (found.previous_id, found.next_id) == ("9", "11")
    assert {d.metric: d.delta for d in found.diff}["data_files"] == 1


def test_an_unknown_commit_is_not_found() -> None:
    with pytest.raises(NotFound, match="no commit 77"):
        detail(parts(story()), 77)


def test_a_commit_known_only_to_the_watcher_has_a_page_too() -> None:
    made = parts(story())
    made.store.apply(Facts([row(8, NOW - SECOND, 61, parent_id=3, summary={"a": "b"})], [moved(8, NOW - SECOND)]))
    found = detail(made, 8)
    assert found.commit.provisional
    assert found.summary == {"a": "b"}
    assert {d.metric: d.delta for d in found.diff}["data_files"] == 1


def test_the_first_commit_of_a_table_is_compared_with_nothing() -> None:
    found = {d.metric: d for d in difference(None, row(1, NOW, 5))}
    assert (found["data_files"].before, found["data_files"].delta) == (0, 5)
    assert found["records"].delta is None


def test_a_missing_parent_makes_the_diff_unknown() -> None:
    assert {d.delta for d in difference(None, row(1, NOW, 5, parent_id=4))} == {None}


def run(number: int, started: int, seconds: float, app: str | None = None) -> RunFact:
    table = RunTable(catalog="lake", namespace="sales", table="orders", role="reads")
    return RunFact(
        run_id=f"r{number}",
        status="ok",
        job_name="churn",
        application_id=app,
        started_at=started,
        ended_at=started + round(seconds * SECOND),
        tables=[table],
        observed_at=NOW,
    )


def test_the_effect_on_a_job_has_bounds_medians_and_the_writer_is_found_by_its_application() -> None:
    made = parts(story())
    noise = [0.97, 1.02, 1.0, 0.99, 1.03, 0.98, 1.01, 1.0]
    before = [run(i, AT - (i + 1) * 3 * MINUTE, 52 * noise[i % 8]) for i in range(24)]
    after = [run(100 + i, AT + MINUTE + i * 3 * MINUTE, 160 * noise[i % 8]) for i in range(12)]
    asyncio.run(made.runs.accept([*before, *after, run(999, AT - 9 * HOUR, 1, "app-9")]))
    found = detail(made)
    effect = next(each for each in found.effects if each.job == "churn")
    assert (effect.role, effect.verdict, effect.runs_after) == ("reads", "worse", 12)
    assert effect.ratio_low < 160 / 52 < effect.ratio_high
    assert effect.change_low_s < 108 < effect.change_high_s
    assert (effect.median_before_s, effect.median_after_s) == (pytest.approx(52, 0.02), pytest.approx(160, 0.02))
    assert found.written_by_job == "churn"


def test_too_few_runs_are_no_effect_but_unknown() -> None:
    made = parts(story())
    asyncio.run(made.runs.accept([run(1, AT - 9 * MINUTE, 60), run(2, AT + MINUTE, 61)]))
    effect = detail(made).effects[0]
    assert (effect.verdict, effect.runs_before, effect.runs_after) == ("unknown", 1, 1)
    assert (effect.ratio, effect.change_s, effect.change_low_s) == (None, None, None)
    assert effect.because == "1 runs before; at least 8 are needed"


def test_histories_are_kept_apart_by_uuid() -> None:
    engine = story()
    engine.append([row(BIG, AT, 1, table_uuid="other", table="other")], [])
    assert detail(parts(engine)).commit.total_data_files == 51_202
    assert UUID != "other"
