"""Commits of all tables in one order: what the index tells is what looking at every table tells, whatever came when."""

import asyncio
import random
from collections.abc import Iterator

import msgspec
import pytest

from limnograph.domain.answers.commits import CommitRow
from limnograph.domain.queries import CommitsQuery
from limnograph.services.lake.commit_index import CommitFilter, CommitIndex
from limnograph.services.lake.lake import Facts
from limnograph.services.table.commit_list import newest_first
from serving_kit import HOUR, MINUTE, NOW, SECOND, lake, moved, parts, row

TABLES = 12
OPERATIONS = ("append", "replace", "overwrite", "delete", "rewrite", None)


def commit(chance: random.Random, number: int) -> tuple:
    """A commit of some table at some instant of the last six hours, and main's move to it."""
    table, at = chance.randrange(TABLES), NOW - chance.randrange(6 * 60 * 60) * SECOND
    named = {"table_uuid": f"uuid-{table}", "table": f"t{table}"}
    told = {
        "added_data_files": chance.choice((None, 0, 5, 9_999, 10_001, 2**40)),
        "removed_data_files": chance.choice((None, 0, 7, 20_000)),
        "operation": chance.choice(OPERATIONS),
        "app_name": chance.choice((None, "Ingest orders", "compaction")),
        "app_id": chance.choice((None, "app-1", "ingest-2")),
        "user": chance.choice((None, "Ada Lovelace", "etl")),
        "schema_id": chance.choice((None, 0, 0, 0, 1)) if table < 4 else 0,
        "parent_id": chance.randrange(1, number + 1) if number else None,
    }
    return row(number + 1, at, 10, **named, **told), moved(number + 1, at, **named)


def queries(chance: random.Random) -> Iterator[CommitsQuery]:
    for _ in range(12):
        start = NOW - chance.randrange(1, 7) * HOUR - chance.randrange(900) * SECOND
        yield CommitsQuery(
            start=start // 1000,
            end=(start + chance.randrange(1, 7) * HOUR) // 1000 + chance.randrange(1_000),
            operation=chance.choice((None, None, *OPERATIONS[:5])),
            min_added_data_files=chance.choice((None, None, 0, 10_000, 2**33)),
            schema_changed=chance.choice((None, None, True, False)),
            limit=chance.randrange(1, 9),
        )


def paged(made, query: CommitsQuery) -> list[CommitRow]:
    """All pages of a list."""
    rows: list[CommitRow] = []
    while True:
        page = asyncio.run(made.backend.commits.page(query))
        rows += page.rows
        if page.next_cursor is None:
            return rows
        query = CommitsQuery(
            **{name: getattr(query, name) for name in query.__struct_fields__} | {"cursor": page.next_cursor}
        )


@pytest.mark.parametrize("seed", range(6))
def test_pages_of_the_index_equal_a_scan_of_every_table(seed) -> None:
    chance = random.Random(seed)
    facts = [commit(chance, number) for number in range(120)]
    # Some of one instant, in one table and in several.
    facts += [commit(random.Random(chance.choice((1, 2, 3))), 120 + number) for number in range(20)]
    known = 100
    made = parts(lake([one for one, _ in facts[:known]], [move for _, move in facts[:known]]))
    while True:
        current = made.store.reading.lake
        for query in queries(chance):
            expected = [
                (one.history.table.uuid, one.history.table.rows.values("snapshot_id")[one.place])
                for one in newest_first(current.listed, query, None)
            ]
            found = [(f"uuid-{one.table[1:]}", int(one.snapshot_id)) for one in paged(made, query)]
            assert found == expected, query
        if known >= len(facts):
            return
        more = chance.randrange(1, 9)
        some = facts[known : known + more]
        made.store.apply(Facts([one for one, _ in some], [move for _, move in some]))
        known += more


def test_hours_that_left_the_window_leave_the_index() -> None:
    facts = [row(i + 1, NOW - i * 10 * MINUTE, 10, table_uuid=f"u{i % 7}", table=f"t{i % 7}") for i in range(300)]
    made = parts(lake(facts))
    index = CommitIndex()
    current = made.store.reading.lake
    index.update(current.listed, current.floor)
    before = index.nbytes
    wanted = CommitFilter(NOW - 48 * HOUR, NOW + 1)
    assert len(list(index.newest(current.listed, current.floor, wanted))) == 288 + 1
    floor = NOW - 24 * HOUR
    later = current.changed((table.trimmed(floor) for table in current.listed), floor=floor)
    found = [at for _, at in index.newest(later.listed, later.floor, wanted)]
    assert found == [NOW - i * 10 * MINUTE for i in range(145)]
    assert index.nbytes < before
    assert next(index.newest(later.listed[:1], later.floor, wanted))[0].uuid == later.listed[0].uuid


def test_a_dropped_table_is_in_no_list_and_is_complete_when_it_returns() -> None:
    facts = [row(i + 1, NOW - i * MINUTE, 10, table_uuid=f"u{i % 3}", table=f"t{i % 3}") for i in range(30)]
    current = parts(lake(facts)).store.reading.lake
    index, wanted = CommitIndex(), CommitFilter(NOW - HOUR, NOW + 1)
    for tables in (current.listed, current.listed[:1], current.listed):
        found = list(index.newest(tables, current.floor, wanted))
        assert len(found) == 10 * len(tables)
        assert {table.uuid for table, _ in found} == {table.uuid for table in tables}


def test_a_table_that_changed_without_a_new_commit_changes_nothing_in_the_order() -> None:
    made = parts(lake([row(1, NOW - HOUR)], [moved(1, NOW - HOUR)]))
    query = CommitsQuery(start=(NOW - 2 * HOUR) // 1000, end=NOW // 1000)
    before = paged(made, query)
    made.store.apply(Facts([], [moved(5, NOW - MINUTE, table_uuid="other", table="other")]))
    assert [one.snapshot_id for one in paged(made, query)] == [one.snapshot_id for one in before] == ["1"]


def test_a_corrected_schema_is_corrected_for_much_older_commits_too() -> None:
    """A clock that goes back: the parent of an old commit is committed later, and its schema was told wrongly first."""
    rows = [
        row(i, NOW - (400 - i) * SECOND, 10, schema_id=0, parent_id=999 if i == 3 else i - 1) for i in range(1, 257)
    ]
    others = [row(1_000 + i, NOW - 2 * HOUR, 10, table_uuid=f"uuid-{i}", table=f"t{i}") for i in range(9)]
    made = parts(lake([*rows, *others]))
    query = CommitsQuery(start=(NOW - HOUR) // 1000, end=NOW // 1000 + 1, schema_changed=False, limit=500)
    seen = []
    for schema_id in (0, 1, 0, 2):
        made.store.apply(Facts([row(999, NOW, 10, schema_id=schema_id)], []))
        found = [int(one.snapshot_id) for one in paged(made, query)]
        listed = made.store.reading.lake.listed
        assert found == [one.position[1] for one in newest_first(listed, query, None)]
        seen.append(3 in found)
    assert seen == [True, False, True, False]


@pytest.mark.parametrize("seed", range(3))
def test_most_files_first_sorts_what_newest_first_lists(seed) -> None:
    chance = random.Random(seed)
    commits = [commit(chance, number) for number in range(300)]
    made = parts(lake([each for each, _ in commits], [each for _, each in commits]))

    def size(found: CommitRow) -> tuple[int, int, int]:
        known = [n for n in (found.added_data_files, found.removed_data_files) if n is not None]
        return max(known, default=-1), found.t, int(found.snapshot_id)

    for query in queries(chance):
        listed = paged(made, query)
        assert paged(made, msgspec.structs.replace(query, sort="files")) == sorted(listed, key=size, reverse=True)


@pytest.mark.parametrize("sort", ["newest", "files"])
def test_a_writer_is_found_by_a_part_of_its_name_or_id(sort) -> None:
    chance = random.Random(7)
    commits = [commit(chance, number) for number in range(200)]
    made = parts(lake([each for each, _ in commits], [each for _, each in commits]))
    query = CommitsQuery(start=(NOW - 7 * HOUR) // 1000, end=NOW // 1000 + 1, limit=40, sort=sort)
    every, found = paged(made, query), paged(made, msgspec.structs.replace(query, writer="INGEST"))
    assert found == [each for each in every if "ingest" in f"{each.app_name} {each.app_id}".lower()]
    assert 0 < len(found) < len(every)


@pytest.mark.parametrize("sort", ["newest", "files"])
def test_commits_are_found_by_a_part_of_their_user(sort) -> None:
    chance = random.Random(7)
    commits = [commit(chance, number) for number in range(200)]
    made = parts(lake([each for each, _ in commits], [each for _, each in commits]))
    query = CommitsQuery(start=(NOW - 7 * HOUR) // 1000, end=NOW // 1000 + 1, limit=40, sort=sort)
    every, found = paged(made, query), paged(made, msgspec.structs.replace(query, user="lovelace"))
    assert found == [each for each in every if each.user == "Ada Lovelace"]
    assert 0 < len(found) < len(every)
    both = paged(made, msgspec.structs.replace(query, user="ada", writer="ingest"))
    assert both == [each for each in found if "ingest" in f"{each.app_name} {each.app_id}".lower()]
    assert 0 < len(both) < len(found)
