"""Tables without a catalog, of every format, out of settings: listed, surveyed and extracted through real children."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from delta_log import DeltaLog, add
from hudi_timeline import HudiFolder, Stat
from lakes import Lake, path_of, rows
from limnograph.adapters.meta.schema import arrow_table
from limnograph.domain.facts.meta_tables import SNAPSHOTS
from limnograph.domain.ids import TableName
from limnograph.domain.metadata.due import DueTable
from limnograph.ports.extraction import ExtractedRows
from limnograph.services.pipeline.report import PassReport
from limnograph.wiring.observe import SettingsLake
from memory_meta import MemoryMetaStore, local_passes


class ThroughChildren:
    """Port Extraction in this process, with the lake's own tables."""

    def __init__(self, lake: SettingsLake) -> None:
        self._lake = lake

    def run(self, due: Sequence[DueTable]) -> ExtractedRows:
        return ExtractedRows(
            arrow_table(SNAPSHOTS, [fact for table in due for fact in self._lake.tables.extract(table)])
        )


def passed(lake: Lake, **sections: Any) -> tuple[PassReport, list[dict[str, Any]]]:
    """One pass with those settings, and its rows."""
    observed, store = SettingsLake(lake.settings(**sections)), MemoryMetaStore()
    report = local_passes(lake, store, observed=observed, extraction=ThroughChildren(observed)).run()
    return report, store.rows(SNAPSHOTS).to_pylist() if store.head(SNAPSHOTS) else []


def paths(**locations: tuple[str, str]) -> dict[str, Any]:
    found = [
        {"name": f"landing.{name}", "format": kind, "location": where} for name, (kind, where) in locations.items()
    ]
    return {"paths": found}


def test_paths_of_every_format_are_tables(lake: Lake, tmp_path: Path) -> None:
    (tmp_path / "apart").mkdir()
    apart = Lake(tmp_path / "apart")
    table = apart.table()
    table.append(rows("eu"))
    delta = DeltaLog(tmp_path / "delta")
    delta.begin(add("a.parquet"))
    delta.commit(add("b.parquet"))
    hudi = HudiFolder(tmp_path / "hudi")
    hudi.commit(Stat("g1", 100, rows=3))
    observe = paths(
        iceberg=("iceberg", table.location()),
        delta=("delta", f"file://{delta.folder}"),
        hudi=("hudi", hudi.location),
        none=("delta", f"file://{tmp_path}/nowhere"),
    )
    report, found = passed(lake, observe=observe)
    assert [
        (row["table"], row["format"], row["status"], row["total_data_files"]) for row in sorted(found, key=_order)
    ] == [
        ("delta", "delta", "ok", 1),
        ("delta", "delta", "ok", 2),
        ("hudi", "hudi", "ok", 1),
        ("iceberg", "iceberg", "ok", 1),
    ]
    assert [sentence.split(":")[0] for sentence in report.failed] == ["files.landing.none"]


def _order(row: dict[str, Any]) -> tuple[str, int]:
    return row["table"], row["total_data_files"]


def test_a_path_map_of_settings_reads_the_longest_prefix_from_elsewhere(lake: Lake, tmp_path: Path) -> None:
    table = lake.table()
    table.append(rows("eu", "us"))
    home, copy = path_of(table.location()), tmp_path / "copy"
    shutil.move(home, copy)
    wrong = {str(lake.folder): str(tmp_path / "wrong"), table.location(): str(copy)}
    report, found = passed(lake, path_map=wrong)
    assert [(row["status"], row["tier"], row["total_data_files"]) for row in found] == [("ok", "entries", 2)]
    assert report.failed == ()
    without, nothing = passed(lake)
    assert (without.unreadable, nothing) == (1, [])


def test_roots_of_settings_let_a_table_name_them(lake: Lake, tmp_path: Path) -> None:
    """Its manifests were moved to an archive and linked back: outside of the warehouse, unless settings say so."""
    table = lake.table()
    table.append(rows("eu"))
    metadata, archive = path_of(table.location()) / "metadata", tmp_path / "archive"
    archive.mkdir()
    for manifest in metadata.glob("*-m0.avro"):
        shutil.move(manifest, archive)
        manifest.symlink_to(archive / manifest.name)
    _, refused = passed(lake)
    assert [(row["status"], row["problems"]) for row in refused] == [("partial", ["manifest_refused"])]
    _, allowed = passed(lake, observe={"roots": [str(archive)]})
    assert [(row["status"], row["problems"]) for row in allowed] == [("ok", [])]


def test_patterns_include_tables_and_the_meta_tables_only_when_named(lake: Lake) -> None:
    for name in ("sales.orders", "sales.tmp_x", "limnograph.changes"):
        lake.table(name)

    def observed(**observe: list[str]) -> set[str]:
        return {pointer.name.table for pointer in SettingsLake(lake.settings(observe=observe)).listing().pointers}

    assert observed() == {"orders", "tmp_x"}
    assert observed(exclude=["**.tmp_*"]) == {"orders"}
    assert observed(include=["lake.sales.o*"]) == {"orders"}
    assert observed(include=["**", "lake.limnograph.*"]) == {"orders", "tmp_x", "changes"}
    assert observed(include=[]) == set()


def test_a_listing_follows_the_catalog(lake: Lake) -> None:
    observed = SettingsLake(lake.settings())
    assert observed.listing().pointers == ()
    table = lake.table()
    for _ in range(2):
        (pointer,) = observed.listing().pointers
        assert (pointer.name, pointer.location) == (TableName("lake", "sales", "orders"), table.metadata_location)
    table.append(rows("eu"))
    (moved,) = observed.listing().pointers
    assert moved.location == table.metadata_location != pointer.location
    lake.catalog.drop_table("sales.orders")
    assert observed.listing().pointers == ()
