"""Findings of a table in a folder, read once without catalog and history, and what each leads to."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from lakes import Lake, path_of
from limnograph.domain.advice.document import AdvisedTable
from limnograph.domain.advice.prices import Prices
from limnograph.domain.time import Millis
from limnograph.wiring.locations.advise import advise_location
from metadata_writer import POSITION_DELETES, Field, MetadataTable

HOUR, DAY = 3_600_000, 86_400_000
GIB = 1 << 30


def judged(table: MetadataTable, after: int = HOUR) -> AdvisedTable:
    """The table some time after its last commit."""
    found = advise_location(str(table.folder), None, {}, Millis(table.now_ms + after), Prices())
    return found.advice.tables[0]


def opened(table: AdvisedTable) -> dict[str, int]:
    return {each.code: each.opened_at for each in table.findings}


def written_daily(table: MetadataTable, days: int, *partition: str) -> MetadataTable:
    for _ in range(days):
        table.tick(DAY)
        table.append(table.file(*(partition or ("eu",))))
    return table


@pytest.mark.parametrize(("days", "is_open"), [(2, True), (9, False)])
def test_a_change_is_dated_by_older_metadata_files_not_by_the_next_commit(
    tmp_path: Path, days: int, is_open: bool
) -> None:
    table = written_daily(MetadataTable(tmp_path), 3)
    table.add_column("extra")
    changed_at = table.now_ms
    table.tick(HOUR)
    table.set_spec((Field(1, "id_bucket", "bucket[4]", "int"),))
    table.tick(days * DAY)
    table.append(table.file(3))
    found = opened(judged(table))
    expected = {"schema_changed": changed_at, "spec_changed": changed_at + HOUR + 1_000} if is_open else {}
    assert {code: at for code, at in found.items() if code.endswith("changed")} == expected


def test_a_change_whose_older_files_are_gone_is_not_dated(tmp_path: Path) -> None:
    table = written_daily(MetadataTable(tmp_path), 3)
    table.set_spec((Field(1, "id_bucket", "bucket[4]", "int"),))
    table.append(table.file(3))
    for entry in table.metadata_log[:-1]:
        Path(entry["metadata-file"].removeprefix("file://")).unlink()
    assert "spec_changed" not in opened(judged(table))


def test_an_erasure_that_old_snapshots_break_leads_to_their_expiry(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.properties["limnograph.erasure-days"] = "3"
    table.append(*(table.file("eu", records=1_000) for _ in range(5)))
    table.tick(HOUR)
    table.overwrite([table.file("eu", records=10, content=POSITION_DELETES)], [])
    written_daily(table, 5)
    gone = [*table.files(), *table.files(content=POSITION_DELETES)]
    table.commit("replace", add=[table.file("eu", records=4_990)], remove=gone)
    found = judged(written_daily(table, 2), 6 * DAY)
    assert "deletes_not_materialized" in opened(found)
    (plan,) = [each for each in found.recommendations if each.rule == "expire"]
    assert plan.because == ["deletes_not_materialized"]


def test_data_that_no_one_writes_is_cold_and_lacks_a_price(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(*(table.file(region, size=GIB) for region in "abcdef" for _ in range(5)))
    found = judged(written_daily(table, 95, "us"))
    assert "cold_data" in opened(found)
    assert "cold_data" in {each.rule for each in found.not_known}
    for region in "abcdef":
        table.append(table.file(region))
    assert "cold_data" not in opened(judged(table))


@pytest.mark.parametrize("text", ["{", '{"format-version": 9}'])
def test_damaged_metadata_is_a_finding(tmp_path: Path, text: str) -> None:
    table = MetadataTable(tmp_path)
    Path(table.metadata_location.removeprefix("file://")).write_text(text)
    found = judged(table)
    assert found.status == "unreadable"
    assert [(each.code, each.severity) for each in found.findings] == [("unreadable", "critical")]


def test_a_folder_without_a_table_has_no_finding(tmp_path: Path) -> None:
    found = advise_location(str(tmp_path), None, {}, None, Prices()).advice.tables[0]
    assert (found.status, found.findings) == ("unreadable", [])


def hourly(lake: Lake) -> str:
    """The newest metadata file of the lake's table, as if its commits had been an hour apart."""
    path = path_of(lake.load().metadata_location)
    document = json.loads(path.read_text())
    first = document["snapshots"][0]["timestamp-ms"]
    for place, snapshot in enumerate(document["snapshots"]):
        snapshot["timestamp-ms"] = first + place * HOUR
    last = document["snapshots"][-1]
    document["last-updated-ms"] = last["timestamp-ms"]
    document["metadata-log"], document["snapshot-log"] = [], []
    path.write_text(json.dumps(document))
    return str(path)


@pytest.mark.parametrize(("nulls", "is_open"), [(60, True), (0, False)])
def test_a_column_that_its_writer_no_longer_fills_is_a_finding(lake: Lake, nulls: int, is_open: bool) -> None:
    table = lake.table()
    for number in range(25):
        empty = nulls if number >= 23 else 0
        regions = pa.array([None] * empty + ["eu"] * (100 - empty), pa.string())
        table.append(pa.table({"id": list(range(100)), "region": regions}))
    found = advise_location(hourly(lake), None, {}, None, Prices()).advice.tables[0]
    jumps = [each.subject for each in found.findings if each.code == "null_share_jump"]
    assert jumps == (["region"] if is_open else [])
    assert ("null_share_jump" in {each.rule for each in found.not_known}) == is_open
