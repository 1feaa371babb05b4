"""The run that wrote a commit, in memory and behind it, and the facets that are held with runs."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from limnograph import spark_metrics
from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.ids import TableName
from limnograph.services.jobs.runs import RunRegistry
from limnograph.services.jobs.shared_texts import SharedTexts
from limnograph.services.table.writing_runs import writing_run
from serving_kit import HOUR, NOW, FixedClock

NAME = TableName("lake", "sales", "orders")


def wrote(run_id: str, snapshot_id: int, at: int, facets: str | None = None) -> RunFact:
    place = {"catalog": "lake", "namespace": "sales", "table": "orders"}
    table = RunTable(role="writes", facets=facets, written_snapshot_id=snapshot_id, **place)
    return RunFact(run_id=run_id, status="ok", job_name="load", at=at, ended_at=at, observed_at=at, tables=[table])


def test_the_run_of_an_old_commit_is_read_from_the_meta_table() -> None:
    engine, old = MemoryEngine(), NOW - 2_000 * HOUR
    engine.append([], [], [wrote("old", 5, old), wrote("other", 6, old)])
    runs = RunRegistry(MemoryInbox(), engine, FixedClock())
    asyncio.run(runs.accept([wrote("new", 7, NOW - HOUR)]))
    commits = ((7, NOW - HOUR), (5, old), (5, NOW - HOUR), (9, old))
    found = [asyncio.run(runs.writer_of(NAME, snapshot_id, at)) for snapshot_id, at in commits]
    assert [run.run_id if run else None for run in found] == ["new", "old", None, None]


@pytest.mark.parametrize("read_bytes", [None, 0, 70])
def test_the_page_of_a_commit_shows_the_bytes_that_its_run_read(read_bytes: int | None) -> None:
    run = msgspec.structs.replace(wrote("load", 7, NOW), read_bytes=read_bytes)
    assert msgspec.to_builtins(writing_run(run, NAME, 7))["read_bytes"] == read_bytes


def test_equal_facets_are_held_once_and_their_length_has_a_limit() -> None:
    texts = SharedTexts(10)
    runs = [texts.shared(wrote(str(i), i, NOW, b"fourfour".decode())) for i in range(3)]
    held = [run.tables[0].facets for run in runs if run.tables]
    assert held == ["fourfour"] * 3
    assert len({id(text) for text in held}) == 1
    assert (texts.shared(wrote("x", 9, NOW, "another")).tables or [])[0].facets is None
    texts.keep([])
    assert (texts.shared(wrote("x", 9, NOW, "another")).tables or [])[0].facets == "another"


def test_a_job_may_say_which_commit_it_made() -> None:
    with spark_metrics.job_run("load", writes=["lake.sales.orders"], reads=["lake.sales.raw"]) as run:
        run.wrote("lake.sales.orders", 7)
        for wrong in ("lake.sales.raw", "lake.sales.unknown"):
            with pytest.raises(ValueError, match="not one of the tables"):
                run.wrote(wrong, 7)
    sent = {use["table"]: use.get("written_snapshot_id") for use in spark_metrics._body(run, "ok", 1.0)["tables"]}
    assert sent == {"orders": "7", "raw": None}
    begun = spark_metrics._body(run, "running", None)["tables"]
    assert not [use for use in begun if "written_snapshot_id" in use], "an older server knows no such field"
