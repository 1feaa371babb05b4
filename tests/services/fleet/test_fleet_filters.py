"""Filters of the fleet by finding, owner, format and job, the order by growth, and the numbers beside each value."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import msgspec
import pytest

from limnograph.domain.answers.tables import TableFacets, TablesPage
from limnograph.domain.errors import InvalidInput
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.ids import TableName
from limnograph.domain.queries import FleetQuery
from limnograph.domain.time import Millis
from limnograph.services.jobs.discovery import ConfiguredJob
from limnograph.services.notes.drafts import NoteDraft
from limnograph.wiring.server import ServerServices
from serving_kit import HOUR, MINUTE, NOW, FixedClock, change, lake, parts, row

DAY = 24 * HOUR
START, END = Millis((NOW - DAY) // 1000), Millis(NOW // 1000)
NAMES = ("burst", "info", "late", "quiet", "hudi_one")
OWNERS = (("lake.sales.burst", "ada"), ("lake.sales.i*", "ada"), ("lake.ops.late", "ben"))
JOBS = (ConfiguredJob("churn", reads=("lake.sales.burst",)),)
BASES: list[dict[str, Any]] = [
    {},
    {"severity": "warning"},
    {"acknowledged": "any", "format": "iceberg"},
    {"owner": "ada", "has_job": True},
    {"code": "file_burst", "text": "in"},
    {"namespace": "lake.ops", "grew": 0.1, "within_s": 3_600},
]


def rows_of(number: int, name: str, *rows: tuple[int, int], **fields: Any) -> list[SnapshotFact]:
    """Commits `(at, files)` of a table in `lake.sales`, or in `lake.ops`."""
    given = {"table_uuid": str(uuid.UUID(int=number)), "table": name, "observed_at": NOW, **fields}
    return [
        row(i, at, files, **given, **({"parent_id": i - 1} if i > 1 else {})) for i, (at, files) in enumerate(rows, 1)
    ]


def burst(number: int, name: str, size: int) -> list[SnapshotFact]:
    before, after = rows_of(number, name, (NOW - 30 * HOUR, 1_000), (NOW - 7 * HOUR, 51_000), total_bytes=size)
    added = {"added_data_files": 50_000, "added_bytes": 50_000 * 900_000, "target_file_bytes": 128 << 20}
    return [before, msgspec.structs.replace(after, **added)]


def world(clock: FixedClock | None = None) -> ServerServices:
    late = [(NOW - 20 * HOUR - (9 - i) * 10 * MINUTE, 100 + i) for i in range(1, 10)]
    made = parts(
        lake(
            [
                *burst(1, "burst", 2 << 30),
                *burst(2, "info", 1 << 20),
                *rows_of(3, "late", *late, namespace="ops"),
                *rows_of(4, "quiet", (NOW - 3 * HOUR, 100), (NOW - HOUR, 130), namespace="ops", format="delta"),
                *rows_of(5, "hudi_one", (NOW - HOUR, 10), format="hudi"),
            ]
        ),
        clock=clock,
        owners=OWNERS,
        configured=JOBS,
    )
    made.job_directory.take([(TableName("lake", "ops", "quiet"), "report")])
    return made


def page(made: ServerServices, **given: Any) -> TablesPage:
    query = FleetQuery(**{"start": START, "end": END, "sort": "name", "direction": "asc", **given})
    return asyncio.run(made.backend.fleet.page(query))


def names(made: ServerServices, **given: Any) -> list[str]:
    return [each.table for each in page(made, **given).rows]


def facets(made: ServerServices, **given: Any) -> TableFacets:
    return asyncio.run(made.backend.fleet.facets(FleetQuery(start=START, end=END, **given)))


def acknowledge(made: ServerServices, table: str) -> None:
    (found,) = page(made, text=table).rows[0].findings
    until = Millis(NOW // 1000 + 3_600_000)
    draft = NoteDraft(key=table, text="known", kind="ack", scope="finding", target_id=found.finding_id, until=until)
    asyncio.run(made.backend.notes.accept(draft, "c", "ada"))


def test_findings_owners_formats_and_jobs_select_tables() -> None:
    made = world()
    assert names(made, severity="warning") == ["late", "burst"]
    assert names(made, severity="info") == ["info"]
    assert names(made, code="file_burst") == ["burst", "info"]
    assert names(made, code="file_burst", severity="info") == ["info"], "one finding must match both"
    assert names(made, code="stale", severity="info") == []
    assert names(made, owner="ada") == ["burst", "info"]
    assert names(made, format="delta") == ["quiet"]
    assert names(made, has_job=True) == ["quiet", "burst"]
    assert names(made, has_job=False) == ["late", "hudi_one", "info"]
    assert names(made, has_job=True, format="iceberg", owner="ada", severity="warning", text="BUR") == ["burst"]


def test_an_acknowledged_finding_does_not_select_its_table_unless_requested() -> None:
    made = world()
    acknowledge(made, "burst")
    assert names(made, code="file_burst") == ["info"]
    assert names(made, code="file_burst", acknowledged="true") == ["burst"]
    assert names(made, code="file_burst", acknowledged="any") == ["burst", "info"]
    assert names(made, acknowledged="true") == ["burst"]
    assert names(made, acknowledged="false") == ["late", "info"]
    assert names(made, acknowledged="any") == ["late", "burst", "info"]
    found = facets(made)
    assert {each.value: each.tables for each in found.acknowledged} == {"true": 1, "false": 2}
    assert {each.value: each.tables for each in found.severity} == {"critical": 0, "warning": 1, "info": 1}


def test_an_acknowledgement_that_ended_selects_the_table_again() -> None:
    clock = FixedClock()
    made = world(clock)
    acknowledge(made, "burst")
    assert names(made, acknowledged="true") == ["burst"]
    clock.micros += 2 * HOUR
    assert names(made, acknowledged="true") == []
    assert names(made, code="file_burst") == ["burst", "info"]


def test_the_owner_of_a_note_comes_before_that_of_the_settings() -> None:
    made = world()
    assert names(made, owner="ben") == ["late"]
    asyncio.run(
        made.backend.notes.accept(
            NoteDraft(key="o", text="ben", kind="owner", scope="table", table="lake.sales.burst"), "c", "ada"
        )
    )
    assert names(made, owner="ben") == ["late", "burst"]
    assert names(made, owner="ada") == ["info"]


def test_the_status_counts_jobs_of_runs_and_of_the_settings_once() -> None:
    made = world()
    assert asyncio.run(made.backend.status.status()).jobs == 2
    made.job_directory.take([(TableName("lake", "ops", "late"), "churn")])
    assert asyncio.run(made.backend.status.status()).jobs == 1


def test_a_job_that_appears_links_its_table() -> None:
    made = world()
    made.job_directory.take([(TableName("lake", "ops", "late"), "report")])
    assert names(made, has_job=True) == ["late", "burst"]


@pytest.mark.parametrize("base", BASES, ids=str)
def test_the_number_beside_a_value_is_that_of_the_list_with_this_value(base: dict[str, Any]) -> None:
    """The list is the reference: whatever the other filters are, choosing a value leaves as many tables as it says."""
    made = world()
    acknowledge(made, "info")
    found = facets(made, **base)
    assert found.total == page(made, **base).total
    for field in ("severity", "code", "acknowledged", "owner", "format", "has_job", "namespace"):
        values = getattr(found, field)
        assert len({each.value for each in values}) == len(values)
        for each in values:
            value = each.value == "true" if field == "has_job" else each.value
            assert page(made, **{**base, field: value}).total == each.tables, (field, each)


def test_growth_within_a_time_sorts_by_its_share_and_is_in_the_row() -> None:
    made = world()
    hour = {"sort": "growth", "direction": "desc", "within_s": 3_600}
    found = page(made, **hour)
    assert [each.table for each in found.rows] == ["burst", "info", "quiet", "late", "hudi_one"]
    shares = [each.growth.share if each.growth else None for each in found.rows]
    known = [share for share in shares if share is not None]
    assert known == sorted(known, reverse=True)
    assert shares == known + [None] * (len(shares) - len(known)), "tables that did not grow come last"
    assert names(made, **{**hour, "direction": "asc"})[0] == "late"
    assert page(made, within_s=3_600, text="burst").rows[0].growth == found.rows[0].growth, "within alone asks for it"
    assert page(made, text="burst").rows[0].growth is None


def test_growth_from_no_file_comes_first_and_can_be_paged_over() -> None:
    grown = [
        *rows_of(1, "zero", (NOW - 3 * HOUR, 0), (NOW - 2 * HOUR, 5)),
        *rows_of(2, "tenfold", (NOW - 3 * HOUR, 10), (NOW - 2 * HOUR, 100)),
        *rows_of(3, "still", (NOW - 3 * HOUR, 10)),
    ]
    made, seen, cursor = parts(lake(grown)), [], None
    for _ in range(3):
        found = page(made, sort="growth", direction="desc", within_s=7_200, limit=1, cursor=cursor)
        seen += [(each.table, each.growth.share if each.growth else "none") for each in found.rows]
        cursor = found.next_cursor
    assert cursor is None
    assert seen == [("zero", None), ("tenfold", 9.0), ("still", "none")]


def test_a_cursor_of_another_filter_is_refused() -> None:
    made = world()
    first = page(made, code="file_burst", limit=1)
    assert first.next_cursor
    assert [each.table for each in page(made, code="file_burst", limit=1, cursor=first.next_cursor).rows] == ["info"]
    with pytest.raises(InvalidInput, match="cursor"):
        page(made, code="stale", limit=1, cursor=first.next_cursor)


def test_a_name_without_a_table_has_neither_format_nor_growth() -> None:
    broken = change("unreadable", NOW - HOUR, "io_error", table_uuid=None, table="broken")
    made = parts(lake(rows_of(1, "whole", (NOW - HOUR, 10)), [broken]), owners=(("lake.sales.broken", "ada"),))
    assert [(each.value, each.tables) for each in facets(made).format] == [("iceberg", 1)]
    assert names(made, owner="ada") == ["broken"]
    assert names(made, format="iceberg") == ["whole"]
    assert names(made, sort="growth", within_s=60) == ["broken", "whole"]
