"""Tables below a folder that settings name: found by their logs, named by their levels, followed and dropped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from delta_log import DeltaLog, add
from hudi_timeline import HudiFolder, Stat
from lakes import Lake, rows
from limnograph.adapters.sandbox.tables import SandboxTables
from limnograph.adapters.storage import scan as scanning
from limnograph.adapters.storage.files import FileStorage
from limnograph.adapters.storage.places import place_of
from limnograph.domain.errors import SettingsError, SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.settings import ObserveSettings, PathSettings, WarehouseSettings
from limnograph.wiring.observe import SettingsLake, access_of
from limnograph.wiring.paths import PathCatalog
from object_store import ObjectStore, object_store


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with object_store() as running:
        yield running


def delta(folder: Path) -> DeltaLog:
    made = DeltaLog(folder)
    made.begin(add("a.parquet"))
    return made


def landing(folder: Path) -> Path:
    """A warehouse with what may be found below one, and what may not."""
    root = folder / "landing"
    delta(root / "sales" / "orders")
    delta(root / "sales" / "orders" / "inner")
    delta(root / "web.log" / "clicks")
    delta(root / "_staging" / "hidden")
    delta(root / "sales" / "day=2026-11-21")
    HudiFolder(root / "hudi" / "trips").commit(Stat("g1", 100, rows=3))
    (root / "empty" / "deeper").mkdir(parents=True)
    delta(folder / "outside")
    (root / "link").symlink_to(folder / "outside")
    (root / "circle").symlink_to(root)
    return root


def observed(lake: Lake, root: Path | str, **more: Any) -> SettingsLake:
    warehouse = {"name": "landing", "location": str(root), **more.pop("warehouse", {})}
    return SettingsLake(lake.settings(observe={"warehouses": [warehouse], **more}))


def names(lake: SettingsLake) -> dict[str, str]:
    return {str(pointer.name): pointer.format for pointer in lake.listing().pointers}


def test_tables_are_found_below_a_folder_by_their_logs(lake: Lake, tmp_path: Path) -> None:
    found = observed(lake, landing(tmp_path))
    assert names(found) == {
        "files.landing.sales.orders": "delta",
        "files.landing.web~dlog.clicks": "delta",
        "files.landing.hudi.trips": "hudi",
    }
    assert found.listing().complete == {"lake", "files"}


def test_a_format_and_patterns_choose_among_them(lake: Lake, tmp_path: Path) -> None:
    root = landing(tmp_path)
    assert set(names(observed(lake, root, warehouse={"format": "hudi"}))) == {"files.landing.hudi.trips"}
    assert set(names(observed(lake, root, include=["files.landing.sales.*"]))) == {"files.landing.sales.orders"}
    assert "files.landing.sales.orders" not in names(observed(lake, root, exclude=["**.orders"]))


def test_iceberg_tables_without_a_catalog_are_found_when_settings_enable_them(lake: Lake, tmp_path: Path) -> None:
    (tmp_path / "apart").mkdir()
    apart = Lake(tmp_path / "apart")
    apart.table("sales.orders").append(rows("eu"))
    root = tmp_path / "apart" / "warehouse"
    assert names(observed(lake, root)) == {}
    assert names(observed(lake, root, warehouse={"format": "iceberg"})) == {"files.landing.sales.orders": "iceberg"}


def test_the_folder_itself_may_be_a_table(lake: Lake, tmp_path: Path) -> None:
    delta(tmp_path / "one")
    assert names(observed(lake, tmp_path / "one")) == {"files.landing": "delta"}


class Clocked:
    """A catalog over one warehouse whose scan is always due."""

    def __init__(self, lake: Lake, root: str, **observe: Any) -> None:
        self.observe = ObserveSettings(warehouses=(WarehouseSettings(name="landing", location=root),), **observe)
        settings = lake.settings(observe={"warehouses": [{"name": "landing", "location": root}]})
        self.catalog = PathCatalog(self.observe, SandboxTables(access_of(settings)), again_s=0)

    def tables(self) -> set[str]:
        return {name.table for name in self.catalog.names().tables}


def test_a_table_that_appears_is_observed_and_one_that_disappears_is_dropped(lake: Lake, tmp_path: Path) -> None:
    delta(tmp_path / "wh" / "one")
    made = Clocked(lake, str(tmp_path / "wh"))
    assert made.tables() == {"one"}
    delta(tmp_path / "wh" / "deep" / "two")
    assert made.tables() == {"one", "two"}
    (tmp_path / "wh" / "one").rename(tmp_path / "elsewhere")
    assert made.tables() == {"two"}


def test_an_unavailable_folder_removes_no_tables(lake: Lake, tmp_path: Path) -> None:
    delta(tmp_path / "wh" / "one")
    made = Clocked(lake, str(tmp_path / "wh"))
    assert made.tables() == {"one"}
    (tmp_path / "wh").rename(tmp_path / "unmounted")
    listed = made.catalog.names()
    assert {name.table for name in listed.tables} == {"one"}
    (trouble,) = listed.troubles
    assert trouble.startswith("warehouse landing: ")


def test_a_table_named_in_the_settings_keeps_its_name(lake: Lake, tmp_path: Path) -> None:
    delta(tmp_path / "wh" / "one")
    other = delta(tmp_path / "other")
    path = PathSettings(format="delta", name="landing.one", location=str(other.folder))
    made = Clocked(lake, str(tmp_path / "wh"), paths=(path,))
    made.tables()
    pointer = made.catalog.probe(TableName("files", "landing", "one")).pointer
    assert pointer is not None
    assert "other" in pointer.location


def test_a_warehouse_on_an_object_store_is_scanned_with_its_own_credentials(
    lake: Lake, tmp_path: Path, store: ObjectStore
) -> None:
    root = landing(tmp_path)
    for file in root.rglob("*"):
        if file.is_file() and "link" not in file.parts and "circle" not in file.parts:
            store.objects[f"bucket/landing/{file.relative_to(root)}"] = file.read_bytes()
    found = observed(lake, "s3://bucket/landing", warehouse={"properties": store.properties})
    assert set(names(found)) == {
        "files.landing.sales.orders",
        "files.landing.web~dlog.clicks",
        "files.landing.hudi.trips",
    }


def test_a_scan_resumes_where_its_last_part_ended(tmp_path: Path) -> None:
    for number in range(30):
        delta(tmp_path / f"space{number % 3}" / f"t{number}")
    root, waiting, found, parts = place_of(f"file://{tmp_path}"), [()], [], 0
    while waiting:
        part = scanning.scan(FileStorage(), root, ("delta",), waiting, 0.002)
        found += part.tables
        waiting = part.waiting
        parts += 1
    assert len(found) == 30
    assert parts >= 1


def test_folders_deeper_than_the_bound_are_reported_and_not_entered(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*[f"l{i}" for i in range(scanning.DEPTH + 2)])
    delta(deep)
    part = scanning.scan(FileStorage(), place_of(f"file://{tmp_path}"), ("delta",), [()], 60)
    assert (part.tables, part.waiting) == ([], [])
    assert "levels down" in part.troubles[0]


def test_an_unresponsive_store_is_reported_and_not_an_empty_warehouse(lake: Lake) -> None:
    properties = {"s3.endpoint": "http://127.0.0.1:9", "s3.access-key-id": "a", "s3.secret-access-key": "b"}
    found = observed(lake, "s3://nowhere/wh", warehouse={"properties": properties}).listing()
    assert found.pointers == ()
    assert "files" not in found.complete
    assert any(sentence.startswith("warehouse landing: ") for sentence in found.failed)


def test_an_unknown_format_of_a_warehouse_is_named(lake: Lake) -> None:
    with pytest.raises(SettingsError, match=r"observe\.warehouses\[0\]\.format"):
        observed(lake, "/x", warehouse={"format": "parquet"})


def test_the_root_alone_raises(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="file_missing") as caught:
        scanning.scan(FileStorage(), place_of(f"file://{tmp_path}/none"), ("delta",), [()], 1)
    assert not isinstance(caught.value, SourceUnavailable)


@pytest.mark.parametrize("pattern", ["landing.**", "files.landing.**", "landing.*.*", "**"])
def test_a_warehouse_is_included_by_its_own_name(pattern, tmp_path) -> None:
    (tmp_path / "near").mkdir()
    lake = observed(Lake(tmp_path), landing(tmp_path), include=[pattern], exclude=["landing.hudi.**"])
    assert set(names(lake)) == {
        name for name in names(observed(Lake(tmp_path / "near"), tmp_path / "landing")) if ".hudi." not in name
    }
    lake.close()
