"""Partitions, schema history and refs on the wire: answers, problems, what a kept page depends on."""

import asyncio

import pytest

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.meta_tables import PartitionFact
from serving_kit import BIG, HOUR, NOW, client, lake, moved, parts, row, schema

TABLE = "/api/v1/tables/lake/sales/orders"
AT = NOW // 1000


def filled() -> MemoryEngine:
    days = [PartitionFact(partition=f"day={n}", spec_id=0, data_files=n, delete_files=0, bytes=n) for n in (1, 2)]
    found = row(BIG, NOW - HOUR, 3, partitions=days, partitions_scope="full", partitions_total=2, total_bytes=3)
    return lake([found], [moved(BIG, NOW - HOUR), schema(0, NOW - HOUR, (1, "id", "long"))])


def get(path, made=None):
    async def ask():
        async with client(made or parts(filled())) as http:
            return await http.get(path)

    return asyncio.run(ask())


def test_the_three_pages_return_ids_as_text() -> None:
    made = parts(filled())
    partitions = get(f"{TABLE}/partitions?at={AT}&cmp=60&partition=day%3D2", made).json()
    assert (partitions["after"]["snapshot_id"], partitions["matching"]) == (str(BIG), 1)
    assert partitions["rows"][0]["data_files_delta"] == 0
    assert get(f"{TABLE}/schema", made).json()["versions"][0]["id"] == "0"
    assert get(f"{TABLE}/refs", made).json()["refs"][0]["snapshot_id"] == str(BIG)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("at=-1", "at"),
        ("at=x", "at"),
        ("cmp=0", "cmp"),
        (f"at=1000&cmp={731 * 86_400}", "cmp"),
        (f"cmp={731 * 86_400 + 1}", "cmp"),
        ("partition=", "partition"),
        ("partition=day", "partition"),
        ("partition=day%3D1/", "partition"),
        ("partition=" + "a%3D1/" * 500 + "b%3D1", "partition"),
        ("sort=colour", "sort"),
        ("dir=up", "dir"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("from=5&to=4", "to"),
        ("step=60", "step"),
    ],
)
def test_a_malformed_query_of_partitions_names_its_parameter(query, field) -> None:
    answer = get(f"{TABLE}/partitions?{query}")
    assert (answer.status_code, answer.json().get("field")) == (400, field)
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("page", ["partitions", "schema", "refs"])
def test_an_unknown_table_is_not_found_and_a_page_without_its_source_is_unavailable(page) -> None:
    assert get(f"/api/v1/tables/lake/sales/none/{page}").json()["type"] == "not-found"
    engine = filled()
    engine.failure = SourceUnavailable("meta", "no storage")
    answer = get(f"{TABLE}/{page}", parts(engine))
    assert (answer.status_code, answer.json()["type"]) == (503, "source-unavailable")


def test_a_page_is_cached_until_its_table_changes() -> None:
    engine = filled()
    made = parts(engine)

    async def story():
        async with client(made) as http:
            first = await http.get(f"{TABLE}/refs")
            again = await http.get(f"{TABLE}/refs", headers={"if-none-match": first.headers["etag"]})
            engine.append([row(7, NOW - 60, 4, parent_id=BIG)], [moved(7, NOW - 60)])
            await asyncio.to_thread(made.store.refresh)
            moved_on = await http.get(f"{TABLE}/refs", headers={"if-none-match": first.headers["etag"]})
            return again.status_code, moved_on.json()["refs"][0]["snapshot_id"]

    assert asyncio.run(story()) == (304, "7")


def test_a_response_without_a_failed_source_is_not_cached_for_others() -> None:
    engine = filled()
    made = parts(engine)

    async def story():
        async with client(made) as http:
            engine.failure = SourceUnavailable("meta", "no storage")
            lacking = (await http.get(f"{TABLE}/schema")).json()
            engine.failure = None
            return lacking["notes"], (await http.get(f"{TABLE}/schema")).json()["notes"]

    lacking, whole = asyncio.run(story())
    assert ([note["code"] for note in lacking], whole) == (["meta_unread"], [])
