"""Hudi tables of other writers: what we count equals what the corpus says was counted. Skipped where there is none."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from limnograph.adapters.hudi.kept import WeightedCache
from limnograph.adapters.hudi.locate import newest_instant
from limnograph.adapters.hudi.names import parse_name
from limnograph.adapters.hudi.reader import HudiReader
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.metadata.content import Content, Want
from limnograph.domain.metadata.table import TableMetadata

CORPORA = Path(os.environ.get("LIMNOGRAPH_CORPORA") or Path(__file__).parents[3] / "../shared/corpora")
MANIFEST = CORPORA / "manifest.json"
ENTRIES = [e for e in json.loads(MANIFEST.read_text()) if e["format"] == "hudi"] if MANIFEST.exists() else []
pytestmark = pytest.mark.skipif(not ENTRIES, reason="no corpora beside the checkout (LIMNOGRAPH_CORPORA)")
TABLES = [pytest.param(entry, id=entry["id"]) for entry in ENTRIES]


def unpacked(entry: dict[str, Any], folder: Path) -> Path:
    """The table with all junk that its zip holds."""
    with zipfile.ZipFile(CORPORA / entry["path"]) as archive:
        archive.extractall(folder)
    return folder / entry["zip_root"]


def opened(root: Path) -> tuple[TableMetadata, list[Content]]:
    reader = HudiReader(FileStorage(), WeightedCache())
    table = reader.metadata(newest_instant(str(root), FileStorage()))
    readings = [reader.read(table, snapshot, Want()) for snapshot in table.ordered]
    assert [(reading.problems, reading.notes) for reading in readings] == [((), ())] * len(readings)
    return table, [reading.content for reading in readings if reading.content]


def newest_slices(root: Path) -> tuple[list[Path], list[Path]]:
    """Base files and logs of the newest slices by the files' own names (no clustering in the corpus)."""
    bases: dict[tuple[Path, str], Path] = {}
    logs: dict[tuple[Path, str], list[Path]] = {}
    for path in root.rglob("*"):
        parsed = parse_name(path.name)
        if parsed and parsed.is_log:
            logs.setdefault((path.parent, parsed.file_id), []).append(path)
        elif parsed:
            before = bases.setdefault((path.parent, parsed.file_id), path)
            if parse_name(before.name).instant < parsed.instant:  # type: ignore[union-attr]
                bases[path.parent, parsed.file_id] = path
    return list(bases.values()), [log for found in logs.values() for log in found]


@pytest.mark.parametrize("entry", TABLES)
def test_counts_of_a_real_timeline_equal_the_corpus(entry: dict[str, Any], tmp_path: Path) -> None:
    root, facts = unpacked(entry, tmp_path), entry["facts"]
    table, contents = opened(root)
    assert table.format_version == facts["table_version"]
    assert table.empty == (facts["completed_instants"] == 0)
    assert table.properties["hoodie.table.type"] == facts["table_type"]
    assert len(table.snapshots) == facts["completed_instants"]
    assert table.head_id == (int(facts["latest_instant"]) if facts["latest_instant"] else None)
    names = [parse_name(path.name) for path in root.rglob("*")]
    assert sum(1 for name in names if name and not name.is_log) == facts["base_files_in_zip"]
    assert sum(1 for name in names if name and name.is_log) == facts["log_files_in_zip"]
    assert sum(c.changed.added_data_files or 0 for c in contents) == facts["base_files_in_zip"]
    assert sum(c.changed.added_delete_files or 0 for c in contents) == facts["log_files_in_zip"]


@pytest.mark.parametrize("entry", TABLES)
def test_the_newest_slices_are_the_files_on_disk(entry: dict[str, Any], tmp_path: Path) -> None:
    root = unpacked(entry, tmp_path)
    table, contents = opened(root)
    bases, logs = newest_slices(root)
    if not table.snapshots:
        assert (bases, logs, contents) == ([], [], [])
        return
    totals, partitions = contents[-1].totals, contents[-1].partitions
    assert (totals.data_files, totals.bytes) == (len(bases), sum(path.stat().st_size for path in bases))
    assert (totals.delete_files, totals.delete_bytes) == (len(logs), sum(path.stat().st_size for path in logs))
    assert totals.records
    assert partitions
    assert partitions.total == len({path.parent for path in bases})


def test_partition_paths_are_shown_in_their_usual_notation(tmp_path: Path) -> None:
    texts = {
        "hudi/cow/v6_complexkeygen_hivestyle": "byteField=10/shortField=300",
        "hudi/cow/v6_simplekeygen_nonhivestyle": "byteField=30",
        "hudi/cow/v6_timebasedkeygen_nonhivestyle": "2023/04/01/12",
        "hudi/mor/v6_nonpartitioned": "",
    }
    for entry in ENTRIES:
        if entry["id"] in texts:
            _, contents = opened(unpacked(entry, tmp_path / entry["id"]))
            partitions = contents[-1].partitions
            assert partitions
            assert texts[entry["id"]] in {text for _, text in partitions.states}
