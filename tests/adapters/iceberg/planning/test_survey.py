"""The survey of tables that exist only as metadata: dangling deletes, times of commits, files that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from limnograph.adapters.iceberg.planning.survey import survey
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.advice.survey import SurveyedGroup, TableSurvey
from limnograph.domain.errors import MetadataError
from limnograph.domain.time import Millis, to_micros
from metadata_writer import EQUALITY_DELETES, POSITION_DELETES, UNPARTITIONED, MetadataTable


def surveyed(table: MetadataTable) -> TableSurvey:
    storage = FileStorage({})
    reader = IcebergReader(storage)
    return survey(storage, reader, reader.metadata(table.metadata_location))


def only(table: MetadataTable) -> SurveyedGroup:
    (group,) = surveyed(table).groups
    return group


@pytest.mark.parametrize("kind", [POSITION_DELETES, EQUALITY_DELETES])
def test_deletes_of_a_partition_dangle_once_all_its_files_are_newer(tmp_path: Path, kind: int) -> None:
    table = MetadataTable(tmp_path)
    table.append(table.file("eu"), table.file("eu"))
    table.overwrite([table.file("eu", content=kind, records=7)], [])
    rows = 7 if kind == POSITION_DELETES else 0
    assert (only(table).delete_files, only(table).dangling, only(table).deleted) == (1, 0, rows)
    first, second = table.files()
    table.overwrite([table.file("eu")], [first])
    assert only(table).dangling == 0
    table.overwrite([table.file("eu")], [second])
    assert (only(table).delete_files, only(table).dangling, only(table).deleted) == (1, 1, 0)


def test_deletes_of_one_file_dangle_once_it_is_gone(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(table.file("eu"), table.file("eu"))
    first, _ = table.files()
    scoped = table.file("eu", content=POSITION_DELETES, records=7)._replace(scoped_to=first.path)
    table.overwrite([scoped], [])
    assert (only(table).dangling, only(table).deleted) == (0, 7)
    table.overwrite([table.file("eu")], [first])
    assert (only(table).dangling, only(table).deleted) == (1, 0)


def test_equality_deletes_without_a_partition_apply_to_all(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path, spec=UNPARTITIONED)
    table.append(table.file())
    table.overwrite([table.file(content=EQUALITY_DELETES)], [])
    assert only(table).dangling == 0
    old = table.files()
    table.set_spec(MetadataTable(tmp_path / "other").specs[0])
    table.append(table.file("eu"))
    assert sum(group.dangling for group in surveyed(table).groups) == 0
    table.overwrite([], old)
    assert sum(group.dangling for group in surveyed(table).groups) == 1


def test_deletes_whose_commit_has_expired_count_as_applied(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(table.file("eu"))
    deletes = table.overwrite([table.file("eu", content=POSITION_DELETES)], [])
    table.overwrite([table.file("eu")], table.files())
    assert only(table).dangling == 1
    table.expire(deletes)
    assert only(table).dangling == 0


def test_a_partition_was_written_by_the_last_commit_that_added_or_removed_a_file_there(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(*(table.file(region) for region in ("eu", "us") for _ in range(6)))
    first = table.now_ms
    table.delete(next(file for file in table.files() if file.partition == ("us",)))
    second = table.now_ms
    written = {group.partitions[0].text: group.written_at for group in surveyed(table).groups}
    assert written == {"region=eu": to_micros(Millis(first)), "region=us": to_micros(Millis(second))}


def test_manifests_without_sizes_are_unknown_not_empty(tmp_path: Path) -> None:
    inline = MetadataTable(tmp_path / "inline", version=1, inline_manifests=True)
    inline.append(inline.file("eu"))
    assert [each.bytes for each in surveyed(inline).manifests] == [None]
    listed = MetadataTable(tmp_path / "listed")
    listed.append(listed.file("eu"))
    assert [each.bytes for each in surveyed(listed).manifests] == [
        sum(m.length for m in listed.manifests[listed.head()])
    ]  # type: ignore[index]


def test_a_table_without_a_snapshot_or_with_a_damaged_manifest_has_no_survey(tmp_path: Path) -> None:
    empty = MetadataTable(tmp_path / "empty")
    with pytest.raises(MetadataError, match="no current snapshot"):
        surveyed(empty)
    table = MetadataTable(tmp_path / "damaged")
    head = table.append(table.file("eu"))
    (table.folder / "metadata" / table.manifests[head][0].path.rpartition("/")[2]).write_bytes(b"Obj")
    with pytest.raises(MetadataError):
        surveyed(table)
