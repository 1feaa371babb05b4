"""Real tables of other writers: what we count equals what the corpus says was counted. Skipped where there is none."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from lakes import fresh_reader
from limnograph.adapters.iceberg.metadata.locate import newest_metadata
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.content import Want
from limnograph.services.extraction.inspect import inspect

CORPORA = Path(os.environ.get("LIMNOGRAPH_CORPORA") or Path(__file__).parents[3] / "../shared/corpora")
MANIFEST = CORPORA / "manifest.json"
ENTRIES: list[dict[str, Any]] = json.loads(MANIFEST.read_text()) if MANIFEST.exists() else []
pytestmark = pytest.mark.skipif(not ENTRIES, reason="no corpora beside the checkout (LIMNOGRAPH_CORPORA)")


def entries(kind: str) -> list[Any]:
    return [pytest.param(entry, id=entry["id"]) for entry in ENTRIES if entry["format"] == kind]


@pytest.mark.parametrize("entry", entries("iceberg"))
def test_counts_of_a_real_table_equal_the_corpus(entry: dict[str, Any]) -> None:
    folder = str(CORPORA / entry["path"])
    path_map = {entry["path_prefix"]: folder}
    location = newest_metadata(folder, FileStorage({}, path_map))
    assert Path(location).resolve() == (CORPORA / entry["metadata"]).resolve()
    found = inspect(location, fresh_reader(path_map)).document
    expected = entry["expected"]
    current = found.current
    assert current
    assert (found.status, found.problems, len(found.snapshots)) == ("ok", [], expected["snapshot_count"])
    assert current.snapshot_id == expected["current_snapshot_id"]
    assert current.data_files == expected["live_data_files"]
    assert current.delete_files == expected["live_delete_files"]
    assert (current.records, current.bytes) == (expected["total_records"], expected["total_bytes"])
    assert found.table.format_version == expected["format_version"]
    assert found.table.current_schema_id == expected["current_schema_id"]
    assert found.table.default_spec_id == expected["default_spec_id"]
    assert found.table.table_uuid == entry["table_uuid"]
    assert [snapshot.summary_mismatch for snapshot in found.snapshots] == [[]] * len(found.snapshots)


@pytest.mark.parametrize("entry", entries("iceberg-table-metadata"))
def test_a_single_document_is_described_or_refused_with_a_code(entry: dict[str, Any]) -> None:
    reader = fresh_reader()
    location = str(CORPORA / entry["path"])
    if entry["format_version"] not in {1, 2, 3}:
        with pytest.raises(MetadataError) as refused:
            reader.metadata(location)
        assert refused.value.code == "format_version_unsupported"
        return
    metadata = reader.metadata(location)
    assert metadata.format_version == entry["format_version"]
    if entry["valid"]:
        assert len(metadata.snapshots) == entry["entries"]
        assert metadata.problems == ()


@pytest.mark.parametrize("entry", entries("iceberg-view-metadata"))
def test_a_view_is_not_a_table(entry: dict[str, Any]) -> None:
    with pytest.raises(MetadataError) as refused:
        fresh_reader().metadata(str(CORPORA / entry["path"]))
    assert refused.value.code == "not_a_table"


def test_partition_values_of_real_tables_are_shown_in_their_usual_notation() -> None:
    texts = {
        "hive_partitioned_table": "event_date=2024-01-03/event_type=view",
        "partition_decimal_bigint": "partition_col=1.23456789012",
        "partition_timestamp": "partition_col=2023-05-15T14:30:45",
        "partition_bool": "partition_col=true",
    }
    for entry in ENTRIES:
        wanted = texts.get(entry["id"].removeprefix("iceberg/"))
        if wanted and entry["format"] == "iceberg":
            reader = fresh_reader({entry["path_prefix"]: str(CORPORA / entry["path"])})
            metadata = reader.metadata(str(CORPORA / entry["metadata"]))
            head = metadata.snapshots[metadata.head_id or 0]
            content = reader.read(metadata, head, Want()).content
            assert content
            assert content.partitions
            assert wanted in {text for _, text in content.partitions.states}
