"""Pointers of catalogs as an attacker registers them: a file of this machine is opened below the warehouse alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lakes import Lake, path_of, rows
from limnograph.adapters.sandbox.board import ProgressBoard, shared_page
from limnograph.adapters.sandbox.messages import (
    Extract,
    Home,
    Inspect,
    ManifestRequest,
    Outline,
    StorageAccess,
    UnreadFacts,
)
from limnograph.adapters.storage.places import PathMap
from limnograph.adapters.storage.pointers import pointer_rule
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.due import DueTable
from limnograph.wiring.parsing import TableParser


def refused(
    pointer: str,
    properties: dict[str, str],
    roots: tuple[str, ...] = (),
    path_map: dict[str, str] | None = None,
    others: tuple[str, ...] = (),
) -> bool:
    rule = pointer_rule("lake", properties, (*roots, *others), roots, PathMap(path_map or {}))
    try:
        rule.check(pointer)
    except MetadataError as error:
        told = error
    else:
        return False
    assert told.code == "location_refused"
    assert "roots in [observe]" in told.detail
    assert "\n" not in told.detail
    return True


META = "t/metadata/v1.metadata.json"


@pytest.mark.parametrize("spelled", ["file://{}", "file:{}", "{}"])
def test_a_file_is_below_the_warehouse_or_a_root_after_resolving_links_and_dots(tmp_path: Path, spelled: str) -> None:
    for name in ("wh/t/metadata", "other/t/metadata", "whx/t/metadata"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "wh/link").symlink_to(tmp_path / "other")
    (tmp_path / "wh/t/metadata/v2.metadata.json").symlink_to("/etc/passwd")
    properties = {"warehouse": spelled.format(tmp_path / "wh")}

    def asked(path: object, *roots: str) -> bool:
        return refused(spelled.format(path), properties, roots)

    assert not asked(tmp_path / "wh" / META)
    assert not asked(f"{tmp_path}/wh/t/../{META}")
    assert not asked(f"{tmp_path}/other/{META}", str(tmp_path / "other"))
    for path in (
        "/etc/shadow",
        "/etc/passwd",
        f"/etc/{META}",
        f"{tmp_path}/other/{META}",
        f"{tmp_path}/whx/{META}",
        f"{tmp_path}/wh/../other/{META}",
        f"{tmp_path}/wh/link/{META}",
        f"{tmp_path}/wh/t/metadata/v2.metadata.json",
        f"{tmp_path}/%77h/{META}",
        f"{tmp_path}/wh%2f..%2f..%2fetc/{META}",
        "/proc/self/environ",
    ):
        assert asked(path), path
    assert asked("/etc/shadow", str(tmp_path / "other"))


@pytest.mark.parametrize(
    "pointer",
    [
        "file://host/x",
        "//host/share/x",
        "http://169.254.169.254/x",
        "https://evil/x",
        "\\\\h\\x",
        "data:,x",
        "s3:/b/x",
        "",
    ],
)
@pytest.mark.parametrize("properties", [{"warehouse": "s3://b/wh"}, {"warehouse": "file:///wh"}, {"type": "sql"}])
def test_an_invalid_location_of_a_table_is_refused(pointer: str, properties: dict[str, str]) -> None:
    assert refused(pointer, properties)


@pytest.mark.parametrize(
    ("properties", "roots", "pointer", "expected"),
    [
        ({"warehouse": "s3://b/wh"}, (), "s3://b/wh/" + META, False),
        ({"warehouse": "s3://b/wh"}, (), "s3a://elsewhere/" + META, False),
        ({"warehouse": "s3://b/wh"}, (), "gs://b/wh/" + META, True),
        ({"warehouse": "s3://b/wh"}, (), "file:///b/wh/" + META, True),
        ({"warehouse": "s3://b/wh"}, (), "hdfs://b/wh/" + META, True),
        ({"warehouse": "s3://b/wh"}, ("gs://g/x",), "gs://g/x/" + META, False),
        ({"warehouse": "s3://b/wh"}, ("gs://g/x",), "gs://g/y/" + META, True),
        ({"warehouse": "s3://b/wh"}, ("gs://g/x",), "s3://elsewhere/" + META, False),
        ({"warehouse": "s3://b/wh"}, ("s3://b/more",), "s3://b/more/" + META, False),
        ({"warehouse": "s3://b/wh"}, ("s3://b/more",), "s3://b/wh/" + META, False),
        ({"warehouse": "s3://b/wh"}, ("s3://b/more",), "s3://b/moreover/" + META, True),
        ({"warehouse": "s3://b/wh"}, ("s3://b/more",), "s3://b/more/../x/" + META, True),
        ({"warehouse": "abfss://c@a.dfs.core.windows.net/wh"}, (), "wasbs://c@a.dfs.core.windows.net/" + META, False),
        ({"warehouse": "file:///wh"}, (), "s3://b/" + META, True),
        ({"warehouse": "file:///wh"}, ("s3://b",), "s3://b/" + META, False),
        # a REST catalog, whose warehouse is a name or is not set: any object store
        ({"type": "rest", "uri": "https://r"}, (), "s3://b/wh/" + META, False),
        ({"type": "rest", "uri": "https://r", "warehouse": "prod"}, (), "gs://b/wh/" + META, False),
        ({"type": "rest", "uri": "https://r", "warehouse": "prod"}, ("s3://b/wh",), "s3://c/" + META, True),
        ({"type": "rest", "uri": "https://r", "warehouse": "prod"}, ("s3://b/wh",), "s3://b/wh/" + META, False),
        ({"type": "rest", "uri": "https://r", "warehouse": "prod"}, ("file:///x",), "s3://b/wh/" + META, False),
        ({"type": "rest", "uri": "https://r"}, (), "file:///wh/" + META, False),
        ({"type": "rest", "uri": "https://r"}, (), "file:///wh/t/_delta_log/00000000000000000001.json", False),
        ({"type": "rest", "uri": "https://r"}, (), "file:///wh/t/.hoodie/20261121.commit", False),
        ({"type": "rest", "uri": "https://r"}, (), "file:///etc/shadow", True),
        ({"type": "rest", "uri": "https://r"}, (), "file:///etc/metadata/shadow", True),
        ({"type": "rest", "uri": "https://r"}, ("file:///srv",), "file:///wh/" + META, True),
        ({"type": "sql"}, (), "file:///etc/shadow", True),
    ],
)
def test_an_object_store_is_of_the_catalogs_kind_and_below_roots_where_they_are_set(
    properties: dict[str, str], roots: tuple[str, ...], pointer: str, expected: bool
) -> None:
    assert refused(pointer, properties, roots) is expected


def test_mapped_and_configured_locations_are_allowed_and_a_relative_warehouse_is_a_folder(
    tmp_path: Path,
) -> None:
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        for warehouse in ("wh", "./wh"):
            assert not refused(f"{tmp_path}/wh/{META}", {"type": "sql", "warehouse": warehouse})
            assert refused(f"{tmp_path}/x/{META}", {"type": "sql", "warehouse": warehouse})
    finally:
        os.chdir(here)
    mapped = {"s3://lake/wh": f"{tmp_path}/mnt"}
    assert not refused(f"s3://lake/wh/{META}", {"warehouse": "s3://lake/wh"}, path_map=mapped)
    assert refused(f"s3://lake/wh/../../etc/{META}", {"warehouse": "s3://lake/wh"}, path_map=mapped)
    assert refused("file:///etc/shadow", {"warehouse": "s3://lake/wh"}, path_map=mapped)
    # `[[observe.paths]]` and warehouses are places too, and do not confine what catalogs have elsewhere
    assert not refused(f"s3://c/{META}", {"type": "rest"}, others=("s3://b/paths",))
    assert not refused(f"file:///p/{META}", {"warehouse": "s3://b"}, others=("file:///p",))


def test_every_read_of_a_table_of_a_catalog_checks_its_pointer_and_inspect_does_not(lake: Lake, tmp_path: Path) -> None:
    table = lake.table()
    table.append(rows("eu"))
    pointer = table.metadata_location
    outside = tmp_path / "outside" / "metadata" / "v1.metadata.json"
    outside.parent.mkdir(parents=True)
    outside.write_bytes(path_of(pointer).read_bytes())
    access = StorageAccess({"lake": lake.properties}, cache_dir=str(tmp_path / "cache"))

    def due(location: str) -> DueTable:
        return DueTable(
            catalog="lake",
            namespace="db",
            table="t",
            table_uuid=str(table.metadata.table_uuid),
            metadata_location=location,
            snapshot_ids=[table.current_snapshot().snapshot_id],
            format="iceberg",
            source="poll",
        )

    def questions(location: str) -> list[Any]:
        home = Home(location, table.location(), {})
        asked = [Outline("lake", "iceberg", location), Outline("lake", "iceberg", pointer, home)]
        return [*asked, Extract(due(location)), ManifestRequest(due(location)), UnreadFacts(due(location), "hung")]

    with shared_page() as descriptor:
        parsing = TableParser(access, ProgressBoard(descriptor))
        for question in questions(pointer):
            assert list(parsing.answer(question))
        for location in (f"file://{outside}", "file:///etc/shadow"):
            for question in questions(location):
                with pytest.raises(MetadataError) as error:
                    list(parsing.answer(question))
                assert error.value.code == "location_refused"
                assert "[observe]" in error.value.detail
        assert list(parsing.answer(Inspect("iceberg", f"file://{outside}")))  # who asks named it
