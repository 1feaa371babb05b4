"""Attempts and collisions of a table over HTTP: on the page of reads and on the pages of its commits."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contended_table import (
    COMPACTION,
    REFUSED_AT,
    RETRIED,
    STREAM,
    refused,
    reports,
    spark,
    table,
)
from contended_table import (
    client as client_report,
)
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import SourceUnavailable
from limnograph.services.rollups.fold import DAY
from serving_kit import HOUR, MINUTE, NOW, SECOND, change, client, lake, moved, parts, row

ORDERS = "/api/v1/tables/lake/sales/orders"


def get(engine: MemoryEngine, path: str = "/reads", *, broken: bool = False) -> Any:
    made = parts(engine)
    made.read_log.catch_up()
    if broken:
        engine.failure = SourceUnavailable("meta", "down")

    async def ask() -> Any:
        async with client(made) as http:
            answer = await http.get(f"{ORDERS}{path}")
            assert answer.status_code == 200, answer.text
            return answer.json()

    return asyncio.run(ask())


def contention(engine: MemoryEngine, path: str = "/reads") -> Any:
    return get(engine, path)["contention"]


def test_a_refused_commit_names_the_stream_that_came_first() -> None:
    found = contention(table())
    by_loser = {each["loser"]: each for each in found["collisions"]}
    lost = by_loser["merge"]
    assert (lost["loser_kind"], lost["winner"], lost["winner_kind"]) == ("overwrite", "events", "append")
    assert (lost["loser_streaming"], lost["winner_streaming"]) == (False, True)
    assert (lost["conflict_kind"], lost["refused"], lost["retried"]) == ("files_added", 1, 0)
    assert (lost["snapshot_id"], lost["last_at"]) == (str(STREAM), REFUSED_AT // 1000)


def test_a_retried_commit_names_the_compaction_within_its_attempts() -> None:
    found = contention(table())
    retried = next(each for each in found["collisions"] if each["retried"])
    assert (retried["loser"], retried["winner"], retried["winner_kind"]) == ("app-etl", "compaction", "replace")
    assert (retried["refused"], retried["snapshot_id"]) == (0, str(COMPACTION))


def test_two_sources_of_one_commit_count_it_once_with_the_attempts_of_one_and_the_job_of_the_other() -> None:
    found = contention(table())
    assert (found["reported"], found["attempts_known"], found["attempts"], found["retries"]) == (2, 2, 5, 3)
    assert (found["refused"], found["failed"]) == (1, 0)
    stream = next(each for each in found["writers"] if each["writer"] == "events")
    assert (stream["kind"], stream["streaming"], stream["commits"], stream["attempts"]) == ("append", True, 1, 1)
    assert [each["writer"] for each in found["writers"]] == ["app-etl", "merge", "events"]


def test_what_no_report_states_is_null_and_never_zero() -> None:
    spark_only = contention(table(spark("a", NOW - HOUR, "etl", operation="append", added_data_files=2)))
    assert (spark_only["reported"], spark_only["attempts"], spark_only["retries"]) == (1, None, None)
    assert (spark_only["refused"], spark_only["ceiling_per_minute"]) == (0, None)
    client_only = contention(table(client_report("b", NOW - HOUR, RETRIED, 1, 2.0)))
    assert (client_only["retries"], client_only["refused"], client_only["failed"]) == (0, None, None)
    nothing = contention(lake([row(1, NOW - HOUR)], [moved(1, NOW - HOUR)]))
    assert (nothing["reported"], nothing["retries"], nothing["refused"], nothing["writers"]) == (0, None, None, [])


def test_the_ceiling_is_a_minute_divided_by_the_median_attempt() -> None:
    facts = [client_report(f"c{number}", NOW - HOUR + number, 10 + number, 2, 2.0 * number) for number in range(1, 4)]
    found = contention(table(*facts))
    assert found["ceiling_per_minute"] == pytest.approx(60 / 2.0)
    assert found["commits_per_minute"] == 2, "the compaction and the commit ten seconds later"


def test_a_commit_without_a_known_beginning_names_no_one() -> None:
    found = contention(table(refused(snapshot_id=None, conflict_kind="lost_race")))
    assert [(each["loser"], each["winner"], each["refused"]) for each in found["collisions"]] == [("merge", None, 1)]
    began = contention(table(refused(snapshot_id=None, wall_seconds=3_600.0, conflict_kind="lost_race")))
    assert [each["winner"] for each in began["collisions"]] == ["spark-shell"]


def test_a_change_of_the_schema_wins_only_over_commits_that_it_refused() -> None:
    engine = table(refused(conflict_kind="schema_changed"))
    engine.append([], [change("schema", REFUSED_AT - MINUTE, "2", from_value="1")])
    (found,) = contention(engine)["collisions"]
    assert (found["winner"], found["winner_kind"], found["snapshot_id"]) == (None, "schema", None)


def test_reports_that_are_no_longer_kept_are_not_counted_as_none() -> None:
    found = contention(table(), f"/reads?from={(NOW - 30 * DAY) // 1000}&to={NOW // 1000}")
    assert found["start"] > (NOW - 8 * DAY) // 1000
    assert found["reported"] == 2


def test_a_range_beyond_memory_is_read_from_the_meta_table() -> None:
    old = refused("old", NOW - 4 * DAY, snapshot_id=None)
    found = contention(table(old, *reports()), f"/reads?from={(NOW - 5 * DAY) // 1000}&to={NOW // 1000}")
    assert (found["refused"], found["reported"]) == (2, 2)


def test_the_page_of_a_commit_says_whom_it_lost_to_and_whom_it_won_over() -> None:
    retried = get(table(), f"/commits/{RETRIED}")["attempts"]
    assert (retried["attempts"], retried["retries"], retried["seconds"]) == (4, 3, 30.0)
    assert [(each["winner"], each["snapshot_id"]) for each in retried["lost_to"]] == [("compaction", str(COMPACTION))]
    stream = get(table(), f"/commits/{STREAM}")["attempts"]
    assert (stream["writer"], stream["streaming"]) == ("events", True)
    assert [(each["loser"], each["conflict_kind"]) for each in stream["won_over"]] == [("merge", "files_added")]
    assert [each["loser"] for each in get(table(), f"/commits/{COMPACTION}")["attempts"]["won_over"]] == ["app-etl"]
    assert "attempts" not in get(table(), "/commits/1")


def test_a_commit_is_shown_although_its_reports_cannot_be_read() -> None:
    made = table()
    engine = parts(made)  # the meta tables are read once, and the reports never
    made.failure = SourceUnavailable("meta", "down")

    async def ask() -> Any:
        async with client(engine) as http:
            return await http.get(f"{ORDERS}/commits/{RETRIED}")

    answer = asyncio.run(ask())
    assert answer.status_code == 200
    assert "attempts" not in answer.json()


def test_commits_of_one_application_belong_to_the_reports_that_added_as_many_files() -> None:
    rows = [
        row(number, NOW - HOUR + number * SECOND, 10, app_id="app", added_data_files=number) for number in range(1, 4)
    ]
    engine = lake(rows, [moved(each.snapshot_id, each.committed_at) for each in rows])
    jobs = {"a": 2, "b": 3, "c": 1}
    facts = [
        spark(job, NOW - HOUR + 9 * SECOND, job, application_id="app", operation="append", added_data_files=files)
        for job, files in jobs.items()
    ]
    engine.append([], [], reports=facts)
    found = {job: get(engine, f"/commits/{files}")["attempts"]["writer"] for job, files in jobs.items()}
    assert found == {"a": "a", "b": "b", "c": "c"}
