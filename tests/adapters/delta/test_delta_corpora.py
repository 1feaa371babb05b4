"""Delta tables of other writers: what we count equals what the corpus says was counted. Skipped where there is none."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from delta_log import content, read_all
from limnograph.adapters.delta.log import newest_version
from limnograph.adapters.delta.reader import DeltaReader, SharedCaches
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.metadata.content import Reading
from limnograph.domain.metadata.table import TableMetadata

CORPORA = Path(os.environ.get("LIMNOGRAPH_CORPORA") or Path(__file__).parents[3] / "../shared/corpora")
MANIFEST = CORPORA / "manifest.json"
ENTRIES = [e for e in json.loads(MANIFEST.read_text()) if e["format"] == "delta"] if MANIFEST.exists() else []
pytestmark = pytest.mark.skipif(not ENTRIES, reason="no corpora beside the checkout (LIMNOGRAPH_CORPORA)")
CANONICALIZED = {f"delta/canonicalized-paths-{kind}" for kind in ("normal-a", "normal-b", "special-a", "special-b")}
TABLES = [pytest.param(entry, id=entry["id"]) for entry in ENTRIES]


def opened(path: str) -> tuple[TableMetadata, dict[int, Reading]]:
    reader = DeltaReader(FileStorage(), SharedCaches())
    table = reader.metadata(newest_version(str(CORPORA / path), FileStorage()))
    return table, read_all(reader, table)


@pytest.mark.parametrize("entry", TABLES)
def test_counts_of_a_real_log_equal_the_corpus(entry: dict[str, Any]) -> None:
    table, readings = opened(entry["path"])
    facts = entry["facts"]
    assert list(table.snapshots) == list(range(facts["commits"]))
    assert table.head_id == facts["latest_version"]
    assert table.format_version == facts["min_reader_version"]
    assert {code for reading in readings.values() for code in (*reading.problems, *reading.notes)} == set()
    totals = content(readings[facts["latest_version"]]).totals
    # The corpus leaves these null where it depends on how paths are compared: Kernel keeps the one file of 100 bytes.
    assert (facts["live_files"] is None) == (entry["id"] in CANONICALIZED)
    assert (totals.data_files, totals.bytes) == (
        (1, 100) if facts["live_files"] is None else (facts["live_files"], facts["live_bytes"])
    )
    features = set(facts["features"]) - {None}
    assert {f"delta.feature.{name}" for name in features} <= set(table.properties)


@pytest.mark.parametrize("entry", TABLES)
def test_files_of_a_version_are_those_before_plus_added_minus_removed(entry: dict[str, Any]) -> None:
    _, readings = opened(entry["path"])
    files = size = 0
    for reading in readings.values():
        totals, changed = content(reading).totals, content(reading).changed
        files += (changed.added_data_files or 0) - (changed.removed_data_files or 0)
        size += (changed.added_bytes or 0) - (changed.removed_bytes or 0)
        assert (totals.data_files, totals.bytes) == (files, size)
        partitions = content(reading).partitions
        assert partitions
        assert sum(state.data_files for state in partitions.states.values()) == files
        assert sum(state.bytes for state in partitions.states.values()) == size
        assert sum(content(reading).histogram or []) == files


@pytest.mark.parametrize("entry", TABLES)
def test_the_added_and_removed_files_of_a_version_equal_its_actions(entry: dict[str, Any]) -> None:
    _, readings = opened(entry["path"])
    for version, reading in readings.items():
        lines = (CORPORA / entry["path"] / "_delta_log" / f"{version:020}.json").read_text().splitlines()
        actions = [name for line in lines if line.strip() for name in json.loads(line)]
        changed = content(reading).changed
        removed = 0 if entry["id"] in CANONICALIZED else actions.count("remove")  # of what is not live
        assert (changed.added_data_files, changed.removed_data_files) == (actions.count("add"), removed)


def test_properties_set_by_writers_are_in_the_summary() -> None:
    table, _ = opened("delta/commit-info-containing-arbitrary-operationParams-types")
    optimize = table.snapshots[2]
    summary = optimize.summary or {}
    assert (optimize.operation, summary["delta.operation"]) == ("replace", "OPTIMIZE")
    assert (summary["operationMetrics.numRemovedFiles"], summary["operationParameters.auto"]) == ("2", "false")
    assert summary["engineInfo"] == "Apache-Spark/3.5.3 Delta-Lake/3.4.0-SNAPSHOT"
    assert optimize.timestamp_ms == 1740185397394
    assert "operationParameters.description" not in (table.snapshots[0].summary or {})


def test_column_mapping_shows_the_logical_names() -> None:
    for path in ("delta/data-reader-timestamp_ntz-name-mode", "delta/data-reader-timestamp_ntz-id-mode"):
        _, readings = opened(path)
        partitions = content(readings[1]).partitions
        assert partitions
        texts = {text: state.data_files for (_, text), state in partitions.states.items()}
        assert texts == {
            "tsNtzPartition=2013-07-05 17:01:00.123456": 2,
            "tsNtzPartition=2021-11-18 02:30:00.123456": 1,
            "tsNtzPartition=null": 1,
        }
