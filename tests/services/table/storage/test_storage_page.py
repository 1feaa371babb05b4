"""The page of a table's storage: read once, kept while the table does not change, one at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from limnograph.domain.advice.document import TableBytes
from limnograph.domain.answers.storage import StoragePage, StorageReading
from limnograph.domain.errors import MetadataError, NotFound, TooManyRequests
from limnograph.domain.ids import TableName
from limnograph.domain.metadata.due import DueTable
from limnograph.services.table.storage.page import KEPT_S, MOST_WAITING, StoragePages
from serving_kit import HOUR, NOW, SECOND, FixedClock, change, client, lake, moved, parts, row

ORDERS = TableName("lake", "sales", "orders")
SIZE = TableBytes(live=5, held=3, metadata=2, by_ref={"release": 1}, by_age=[(0, 3)])
READ = StorageReading(bytes=SIZE, bytes_missing=None, tree=None, tree_missing="nothing was committed to the table")


class Source:
    """A source of storage that counts its calls and answers as told."""

    def __init__(self, answer: Callable[[], StorageReading] = lambda: READ) -> None:
        self.answer, self.asked = answer, list[tuple[DueTable, int | None, int]]()

    def storage(self, due: DueTable, snapshot_id: int | None, now: int) -> StorageReading:
        self.asked.append((due, snapshot_id, now))
        return self.answer()


class Served:
    """Pages over a lake of one table with two commits."""

    def __init__(self, source: Source | None, changes: list[Any] | None = None) -> None:
        rows = [row(n, NOW - (3 - n) * HOUR, metadata_location=f"s3://lake/orders/{n}.json") for n in (1, 2)]
        moves = [moved(n, NOW - (3 - n) * HOUR) for n in (1, 2)]
        self.clock = FixedClock()
        engine = lake(rows, [*moves, *(changes or [])])
        self.services = parts(engine, clock=self.clock)
        self.pages = StoragePages(self.services.store, engine, self.clock, source)

    def page(self, snapshot_id: int | None = None) -> StoragePage:
        return asyncio.run(self.pages.page(ORDERS, snapshot_id))


def test_the_newest_metadata_file_is_read_once_and_the_answer_kept_for_ten_minutes() -> None:
    source = Source()
    served = Served(source)
    found = served.page()
    assert (found.bytes, found.tree_missing, found.read_at) == (SIZE, READ.tree_missing, NOW // 1000)
    assert served.page() == found
    ((due, snapshot_id, now),) = source.asked
    assert (due.metadata_location, due.format, snapshot_id, now) == (
        "s3://lake/orders/2.json",
        "iceberg",
        None,
        NOW // 1000,
    )
    served.page(snapshot_id=1)
    served.clock.micros += KEPT_S * SECOND
    served.page()
    assert [asked for _, asked, _ in source.asked] == [None, 1, None]


def test_a_later_change_such_as_an_expiry_has_the_newest_metadata_file() -> None:
    source = Source()
    Served(source, [change("expired", NOW - HOUR // 2, "1", metadata_location="s3://lake/orders/3.json")]).page()
    assert source.asked[0][0].metadata_location == "s3://lake/orders/3.json"


def test_damage_is_the_reason_of_both_parts_and_is_not_kept() -> None:
    def damaged() -> StorageReading:
        raise MetadataError("file_missing", "s3://lake/orders/2.json does not exist")

    source = Source(damaged)
    served = Served(source)
    found = served.page()
    assert found.bytes is None
    assert found.bytes_missing == found.tree_missing
    assert "the metadata of the table cannot be read" in (found.bytes_missing or "")
    served.page()
    assert len(source.asked) == 2


def test_without_a_source_the_page_says_so_and_an_unknown_table_is_not_found() -> None:
    served = Served(None)
    assert served.page().bytes_missing == "this server does not read the storage of tables"
    with pytest.raises(NotFound):
        asyncio.run(served.pages.page(TableName("lake", "sales", "nothing"), None))


def test_requests_at_the_same_time_read_once_and_too_many_are_refused() -> None:
    release = threading.Event()

    def slow() -> StorageReading:
        release.wait(10)
        return READ

    source = Source(slow)
    served = Served(source)

    async def ask() -> list[StoragePage]:
        tasks = [asyncio.create_task(served.pages.page(ORDERS, None)) for _ in range(MOST_WAITING)]
        await asyncio.sleep(0)
        with pytest.raises(TooManyRequests):
            await served.pages.page(ORDERS, None)
        release.set()
        return await asyncio.gather(*tasks)

    assert len({found.read_at for found in asyncio.run(ask())}) == 1
    assert len(source.asked) == 1


def test_the_route_returns_the_page_and_names_a_malformed_id() -> None:
    served = Served(Source())
    made = served.services
    pages = {"backend": made.backend._replace(storage=served.pages)}
    made = type(made)(**{**vars(made), **pages})

    async def ask(query: str) -> Any:
        async with client(made) as http:
            return await http.get(f"/api/v1/tables/lake/sales/orders/storage{query}")

    answer = asyncio.run(ask(""))
    assert (answer.status_code, answer.json()["bytes"]["by_age"]) == (200, [[0, 3]])
    assert answer.json()["catalog"] == "lake"
    wrong = asyncio.run(ask("?snapshot_id=seven"))
    assert (wrong.status_code, wrong.json()["field"]) == (400, "snapshot_id")
