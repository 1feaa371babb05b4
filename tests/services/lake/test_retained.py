"""Commits that the table's own expiry took: told once an expiry, dated, and the same whether memory or files answer."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from limnograph.domain.facts.meta_tables import CHANGES
from limnograph.domain.ids import TableName
from limnograph.domain.time import TimeRange
from limnograph.services.lake.expired import RetainedIds, expired_between
from memory_meta import MemoryMetaStore, local_passes, run_all
from metadata_writer import MetadataTable
from pointed_lake import PointedLake
from serving_kit import HOUR, NOW, change, lake, moved, parts, row

NAME = TableName("lake", "sales", "orders")


class World:
    """A lake, a store, and a process that makes passes."""

    def __init__(self, folder: Path) -> None:
        self.lake, self.store = PointedLake(folder), MemoryMetaStore()
        self.passes = local_passes(self.lake, self.store)

    def see(self, table: MetadataTable) -> list[tuple[str | None, str | None, int]]:
        self.lake.point("sales.orders", table)
        run_all(self.passes)
        rows = self.store.changes(self.store.head(CHANGES))
        return sorted(((r.from_value, r.to_value, r.at) for r in rows if r.kind == "retained"), key=lambda r: r[2])

    def expiries(self) -> list[tuple[str | None, str | None, int | None, int, str | None]]:
        rows = self.store.changes(self.store.head(CHANGES))
        found = [(r.to_value, r.detail, r.not_before, r.at, r.metadata_location) for r in rows if r.kind == "expired"]
        return sorted(found, key=lambda row: row[3])


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_nothing_is_reported_until_a_snapshot_expired(world: World) -> None:
    table = world.lake.written("sales.orders")
    for _ in range(3):
        table.append(table.file("eu"))
        assert world.see(table) == []


def test_an_expiry_is_reported_once_and_later_commits_change_nothing(world: World) -> None:
    table = world.lake.written("sales.orders")
    ids = [table.append(table.file("eu")) for _ in range(6)]
    world.see(table)
    table.expire(*ids[:2])
    first = table.now_ms * 1000
    table.append(table.file("us"))
    assert world.see(table) == [(None, "3-", first)], "dated by the metadata file that the expiry wrote"
    table.append(table.file("us"))
    assert len(world.see(table)) == 1
    table.expire(ids[2], ids[4])
    assert world.see(table)[1:] == [("3-", "4,6-", table.now_ms * 1000)]


def test_a_tag_that_keeps_an_old_snapshot_keeps_its_number(world: World) -> None:
    table = world.lake.written("sales.orders")
    ids = [table.append(table.file("eu")) for _ in range(6)]
    table.expire(ids[0], ids[1], ids[3])
    assert [told for _, told, _ in world.see(table)] == ["3,5-"]


def test_an_observed_expiry_is_an_event_with_the_first_metadata_file_without_the_commits(world: World) -> None:
    table = world.lake.written("sales.orders")
    ids = [table.append(table.file("eu")) for _ in range(6)]
    world.see(table)
    before = table.now_ms * 1000
    table.expire(*ids[:2])
    first, location = table.now_ms * 1000, table.metadata_location
    table.append(table.file("us"))
    world.see(table)
    table.append(table.file("us"))
    world.see(table)
    assert world.expiries() == [("1-2", '{"commits":2}', before, first, location)]
    table.expire(ids[2], ids[4])
    world.see(table)
    assert [spans for spans, *_ in world.expiries()] == ["1-2", "3,5"]


def test_an_expiry_from_before_the_table_was_observed_is_not_an_event(world: World) -> None:
    table = world.lake.written("sales.orders")
    ids = [table.append(table.file("eu")) for _ in range(4)]
    table.expire(ids[0])
    for file in (table.folder / "metadata").glob("0000[0-4]-*.metadata.json"):
        file.unlink()
    assert world.see(table) == [(None, "2-", table.now_ms * 1000)]
    assert world.expiries() == []


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        (None, "3-", ("1-2", 2)),
        ("3-", "4,6-", ("3,5", 2)),
        ("3,17-20,90-", "17-18,95-", ("3,19-20,90-94", 8)),
        ("3-", "3-", None),
        ("5,9-", "5,9-", None),
    ],
)
def test_what_an_expiry_removed_is_the_difference_of_two_states(before, after, lost) -> None:
    assert expired_between(before, after) == lost


def test_format_v1_has_no_sequence_numbers_and_reports_nothing(world: World) -> None:
    table = world.lake.written("sales.orders", version=1)
    ids = [table.append(table.file("eu")) for _ in range(3)]
    table.expire(ids[0])
    assert world.see(table) == []


def test_expired_spans_are_listed_and_without_a_row_they_are_unknown() -> None:
    some = RetainedIds(change("retained", NOW, "3,17-20,90-"))
    assert [some.has_expired(n) for n in (1, 3, 4, 16, 17, 20, 21, 89, 90, 10_000)] == [
        *(True, False, True, True, False),
        *(False, True, True, False, False),
    ]
    assert [some.has_expired(None), some.has_expired(0), RetainedIds(None).has_expired(5)] == [None, None, None]


@pytest.mark.parametrize("hours", [6, 60], ids=["hot", "cold"])
def test_a_timeline_shows_which_commits_are_expired(hours: int) -> None:
    ages = [55, 50, 5, 3] if hours == 60 else [5, 4, 3, 2]
    times = [NOW - age * HOUR for age in ages]
    rows = [row(i + 1, at, sequence_number=i + 1 if i else None) for i, at in enumerate(times)]
    log = [moved(i + 1, at) for i, at in enumerate(times)]
    span = TimeRange.parse((NOW - hours * HOUR) // 1000, NOW // 1000, 600)

    def told(*changes: Any) -> list[bool | None]:
        made = parts(lake(rows, [*log, *changes]))
        answer = asyncio.run(made.backend.timelines.answer(NAME, span, ("commits",), None, None))
        return [event.expired for event in answer.lanes[0].events]

    expired = [change("retained", NOW - 2 * HOUR, "2-"), change("retained", NOW - HOUR, "3-", from_value="2-")]
    assert told(*expired) == [None, True, False, False]
    assert told() == [None] * 4


def test_the_page_of_an_expired_commit_says_so() -> None:
    times = [NOW - hours * HOUR for hours in (3, 2)]
    rows = [row(i + 1, at, sequence_number=i + 1) for i, at in enumerate(times)]
    made = parts(lake(rows, [*(moved(i + 1, at) for i, at in enumerate(times)), change("retained", NOW, "2-")]))
    found = [asyncio.run(made.backend.commit_details.detail(NAME, number)).expired for number in (1, 2)]
    assert found == [True, False]
