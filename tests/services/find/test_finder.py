"""The finder: ids, names of jobs and applications of all tables, what is only in the meta tables, and what is not."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import msgspec
import pytest

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.answers.matches import Match, Matches
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.ids import TableName
from limnograph.ports.query_engine import MetaQuery
from limnograph.services.jobs.discovery import ConfiguredJob
from limnograph.wiring.server import ServerServices
from serving_kit import BIG, HOUR, MINUTE, NOW, client, lake, parts, row

MARK = "9266ef3da838ad95"
APP, OTHER = "application_1731_0007", "application_1731_0008"


def of_table(number: int, **fields: Any) -> dict[str, Any]:
    return {"table_uuid": str(uuid.UUID(int=number)), "table": f"t{number}", **fields}


def world(engine: MemoryEngine | None = None, **given: Any) -> ServerServices:
    rows = [
        row(10_000_001, NOW - 3 * HOUR, **of_table(1, app_id=APP, app_name="nightly_load")),
        row(10_000_002, NOW - 2 * HOUR, **of_table(1, app_id=APP, app_name="nightly_load")),
        row(BIG, NOW - HOUR, **of_table(2, app_id=APP, app_name="nightly_load")),
        row(10_000_004, NOW - HOUR, **of_table(3, app_id=OTHER, app_name="orders_stream", namespace="ops")),
        row(10_000_002, NOW - 4 * HOUR, **of_table(3, namespace="ops")),
        row(17, NOW - 4 * HOUR, **of_table(4, format="delta")),
    ]
    jobs = (ConfiguredJob("nightly_report", reads=("lake.sales.t1", "lake.sales.t2")),)
    return parts(engine or lake(rows), configured=jobs, **given)


def found(made: ServerServices, text: str, limit: int = 8) -> Matches:
    return asyncio.run(made.backend.finder.find(text, limit))


def kinds(answer: Matches, kind: str) -> list[Match]:
    return [each for each in answer.rows if each.kind == kind]


def test_a_snapshot_id_is_found_in_whatever_table_has_it() -> None:
    (item,) = found(world(), f" {BIG} ").rows
    assert (item.kind, item.id, item.path) == ("commit", str(BIG), f"/t/lake/sales/t2/commits/{BIG}")
    assert (item.catalog, item.namespace, item.table, item.at) == ("lake", "sales", "t2", (NOW - HOUR) // 1000)


def test_an_id_of_two_tables_is_found_in_both() -> None:
    assert {each.path for each in found(world(), "10000002").rows} == {
        "/t/lake/sales/t1/commits/10000002",
        "/t/lake/ops/t3/commits/10000002",
    }
    assert len(found(world(), "10000002", limit=1).rows) == 1


def test_a_number_that_is_no_id_finds_no_commit() -> None:
    for text in ("17", str(2**63), "9" * 25, "-1"):
        assert kinds(found(world(), text), "commit") == []


def test_an_application_is_found_by_a_part_of_its_id_or_name_with_all_its_commits() -> None:
    (item,) = kinds(found(world(), "1731_0007"), "application")
    assert (item.id, item.commits, item.tables, item.at) == (APP, 3, 2, (NOW - HOUR) // 1000)
    assert item.path == f"/t/lake/sales/t2/commits/{BIG}", "the newest commit"
    (item,) = kinds(found(world(), "ORDERS_str"), "application")
    assert (item.id, item.commits, item.table) == ("orders_stream", 1, "t3")
    assert [each.id for each in kinds(found(world(), "application_"), "application")] == [APP, OTHER]
    assert kinds(found(world(), "append"), "application") == [], "an operation is not an application"
    assert kinds(found(world(), "ni"), "application") == [], "too short to mean one"


def test_a_job_is_found_by_a_part_of_its_name_and_leads_to_a_table_that_it_reads() -> None:
    made = world()
    made.job_directory.take([(TableName("lake", "ops", "t3"), "stream job"), (TableName("lake", "ops", "t3"), "night")])
    (item,) = kinds(found(made, "REPORT"), "job")
    assert (item.id, item.tables, item.path) == ("nightly_report", 2, "/t/lake/sales/t1?job=nightly_report")
    assert [each.id for each in kinds(found(made, "night"), "job")] == ["night", "nightly_report"], (
        "the exact one first"
    )
    assert kinds(found(made, "stream job"), "job")[0].path == "/t/lake/ops/t3?job=stream%20job"


def test_an_alert_is_found_by_the_beginning_of_its_fingerprint() -> None:
    made = world()
    fact = AlertFact(
        fingerprint=MARK, starts_at=NOW - MINUTE, status="firing", alert_name="Burst", observed_at=NOW, source="x"
    )
    table = msgspec.structs.replace(fact, catalog="lake", namespace="sales", table="t1")
    asyncio.run(made.alerts.accept([table, msgspec.structs.replace(table, starts_at=NOW - HOUR)]))
    for text in (MARK, MARK[:6], MARK.upper()):
        (item,) = kinds(found(made, text), "alert")
        assert (item.id, item.path, item.name, item.table) == (MARK, f"/alerts/{MARK}", "Burst", "t1")
        assert item.at == (NOW - MINUTE) // 1000, "the newest episode"
    assert kinds(found(made, MARK[:5]), "alert") == []


def test_a_finding_is_found_by_its_id() -> None:
    stale = [row(i, NOW - 20 * HOUR - (9 - i) * 10 * MINUTE, i, observed_at=NOW) for i in range(1, 10)]
    made = parts(lake(stale))
    (fact,) = made.evaluator.board.open
    (item,) = found(made, fact.finding_id).rows
    assert (item.kind, item.path, item.name) == ("finding", f"/findings/{fact.finding_id}", "stale")


def test_tables_come_after_ids_and_before_jobs() -> None:
    made = world()
    made.job_directory.take([(TableName("lake", "sales", "t1"), "t1 loader")])
    assert [(each.kind, each.id) for each in found(made, "t1").rows] == [
        ("table", "lake.sales.t1"),
        ("job", "t1 loader"),
    ]


class OldCommits:
    """An engine of the meta tables that holds one commit more than memory, or does not respond."""

    name = "old"

    def __init__(self, inner: MemoryEngine, old: MemoryEngine, *, fails: bool = False) -> None:
        self._inner, self._old, self.fails = inner, old, fails
        self.asked: list[MetaQuery] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def select(self, query: MetaQuery) -> Any:
        self.asked.append(query)
        if self.fails:
            raise SourceUnavailable("meta", "down")
        return self._old.select(query)


def test_a_commit_that_left_memory_is_read_from_the_meta_tables() -> None:
    old = lake([row(77_000_001, NOW - 90 * 24 * HOUR, **of_table(1))])
    engine = lake([row(10_000_001, NOW - HOUR, **of_table(1))])
    cold = OldCommits(engine, old)
    made = world(engine, cold=cold)
    before = len(cold.asked)
    (item,) = found(made, "77000001").rows
    assert (item.kind, item.path) == ("commit", "/t/lake/sales/t1/commits/77000001")
    assert len(cold.asked) == before + 1
    assert len(found(made, "10000001").rows) == 1
    assert len(cold.asked) == before + 1, "what is in memory needs no read"
    cold.fails = True
    answer = found(made, "77000001")
    assert (answer.rows, answer.not_searched) == ([], ["meta"])


@pytest.mark.parametrize(("query", "field"), [("q=x&limit=0", "limit"), (f"q={'x' * 201}", "q"), ("text=x", "text")])
def test_a_wrong_request_is_an_error_that_names_its_parameter(query: str, field: str) -> None:
    async def sent() -> tuple[int, str]:
        async with client(world()) as http:
            answer = await http.get(f"/api/v1/find?{query}")
            return answer.status_code, answer.text

    status, text = asyncio.run(sent())
    assert status == 400
    assert f'"{field}"' in text or f"{field}:" in text or field in text


def test_nothing_is_found_for_nothing() -> None:
    assert found(world(), "  ").rows == []
