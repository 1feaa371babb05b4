"""Counts without entries: what a manifest list leaves out is taken from the summary or not known, never 0."""

from __future__ import annotations

from pathlib import Path

import fastavro
import pytest

from lakes import facts, path_of
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.metadata.manifests import ManifestFile
from limnograph.domain.metadata.table import Snapshot
from limnograph.services.extraction.lists import list_numbers
from metadata_avro import list_schema
from metadata_writer import MetadataTable

SAID = ("added-data-files", "added-records", "total-data-files", "total-records")


def _unsigned(table: MetadataTable, snapshot_id: int) -> None:
    """A list of format v1 whose lines do not say which snapshot added them."""
    file = path_of(table.snapshots[snapshot_id]["manifest-list"])
    with file.open("rb") as stream:
        lines = [{**line, "added_snapshot_id": None} for line in fastavro.reader(stream)]  # type: ignore[dict-item]
    with file.open("wb") as stream:
        fastavro.writer(stream, list_schema(1), lines)


def _head(folder: Path, *, inline: bool, strip: bool) -> SnapshotFact:
    """Two appends of format v1, of which the first one's manifest is lost."""
    table = MetadataTable(folder, version=1, inline_manifests=inline)
    first = table.append(table.file("eu"), table.file("us"))
    head = table.append(table.file("eu"))
    if not inline:
        _unsigned(table, head)
    path_of(table.manifests[first][0].path).unlink()
    if strip:
        for snapshot in table.snapshots.values():
            for key in SAID:
                snapshot["summary"].pop(key, None)
        table.write()
    return facts(table.metadata_location)[-1]


@pytest.mark.parametrize("inline", [True, False])
def test_counts_missing_from_the_manifest_list_come_from_the_summary(tmp_path: Path, *, inline: bool) -> None:
    fact = _head(tmp_path, inline=inline, strip=False)
    assert (fact.status, fact.tier, fact.problems) == ("partial", "manifest_list", ["manifest_missing"])
    assert (fact.total_data_files, fact.total_records) == (3, 30)
    assert (fact.added_data_files, fact.added_records) == (1, 10)
    assert fact.removed_data_files is None
    assert fact.summary_mismatch == []


@pytest.mark.parametrize("inline", [True, False])
def test_counts_missing_from_both_are_unknown(tmp_path: Path, *, inline: bool) -> None:
    fact = _head(tmp_path, inline=inline, strip=True)
    assert (fact.added_data_files, fact.added_records, fact.removed_data_files) == (None, None, None)
    assert fact.total_data_files == (None if inline else 3)


def test_counts_whose_sum_exceeds_64_bits_are_unknown() -> None:
    line = ManifestFile(path="m", length=2**50, added_snapshot_id=1, added_files=2**50, existing_files=0)
    found = list_numbers(Snapshot(snapshot_id=1), [line] * 2**14)
    assert (found["total_data_files"], found["added_data_files"], found["manifest_bytes"]) == (None, None, None)
    assert list_numbers(Snapshot(snapshot_id=1), [line] * 4)["manifest_bytes"] == 2**52
