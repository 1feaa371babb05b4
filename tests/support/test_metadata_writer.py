"""The metadata writer writes tables that PyIceberg reads the way the writer remembers them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyiceberg.table import StaticTable

from busy_table import busy
from lakes import facts
from metadata_writer import MetadataTable


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("codec", ["deflate", "null"])
def test_counts_of_every_snapshot_equal_what_was_written(tmp_path: Path, version: int, codec: str) -> None:
    table = busy(MetadataTable(tmp_path, version=version, codec=codec))
    found = facts(table.metadata_location)
    assert {fact.snapshot_id for fact in found} == set(table.live)
    for fact in found:
        assert (fact.status, fact.tier, fact.problems, fact.summary_mismatch) == ("ok", "entries", [], [])
        assert {name: getattr(fact, name) for name in table.totals(fact.snapshot_id)} == table.totals(fact.snapshot_id)


def test_inline_manifests_of_version_1_are_counted(tmp_path: Path) -> None:
    table = busy(MetadataTable(tmp_path, version=1, inline_manifests=True))
    assert "manifest-list" not in table.document()["snapshots"][0]
    for fact in facts(table.metadata_location):
        said = table.totals(fact.snapshot_id)
        assert (fact.status, fact.total_data_files, fact.total_bytes) == (
            "ok",
            said["total_data_files"],
            said["total_bytes"],
        )


@pytest.mark.parametrize("version", [1, 2, 3])
def test_pyiceberg_reads_the_same_files(tmp_path: Path, version: int) -> None:
    table = busy(MetadataTable(tmp_path, version=version))
    theirs = StaticTable.from_metadata(table.metadata_location)
    for snapshot in theirs.snapshots():
        live = {
            (entry.data_file.file_path, entry.data_file.record_count)
            for manifest in snapshot.manifests(theirs.io)
            for entry in manifest.fetch_manifest_entry(theirs.io, discard_deleted=True)
        }
        assert live == {(file.path, file.records) for file in table.live[snapshot.snapshot_id].values()}
