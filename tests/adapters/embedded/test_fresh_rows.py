"""Rows of the data files that were appended to the meta tables since a snapshot."""

from pathlib import Path
from urllib.parse import urlsplit

import pyarrow.compute as pc
from pyiceberg.expressions import EqualTo

from limnograph.adapters.embedded.fresh import FreshEngine
from limnograph.ports.query_engine import MetaQuery
from query_engine_contract import LOG, ROWS, Iceberg

SNAPSHOTS, CHANGES = MetaQuery(table="snapshots"), MetaQuery(table="changes")


def made(tmp_path) -> tuple[Iceberg, FreshEngine]:
    lake = Iceberg(tmp_path)
    lake.fill(ROWS[:2], LOG[:1])
    return lake, FreshEngine(lake.open, ("limnograph",))


def test_only_rows_of_new_files_are_read(tmp_path) -> None:
    lake, engine = made(tmp_path)
    head = engine.head()
    lake.fill(ROWS[2:3], [])
    lake.fill(ROWS[3:], LOG[1:])
    found = engine.fresh(SNAPSHOTS, head.snapshots)
    assert sorted(found["snapshot_id"]) == sorted(row.snapshot_id for row in ROWS[2:])
    assert engine.fresh(CHANGES, head.changes).height == len(LOG) - 1


def test_without_new_files_there_is_no_row_and_an_unknown_snapshot_has_no_result(tmp_path) -> None:
    _, engine = made(tmp_path)
    assert engine.fresh(SNAPSHOTS, engine.head().snapshots).height == 0
    assert engine.fresh(SNAPSHOTS, 42) is None


def test_deleted_or_replaced_rows_cannot_be_derived_from_new_files(tmp_path) -> None:
    lake, engine = made(tmp_path)
    head = engine.head()
    table = lake.open().load_table("limnograph.snapshots")
    rows = table.scan().to_arrow()
    table.overwrite(rows.filter(pc.equal(rows["snapshot_id"], ROWS[0].snapshot_id)))
    assert engine.fresh(SNAPSHOTS, head.snapshots) is None


def test_manifests_without_live_files_are_not_opened(tmp_path) -> None:
    lake, engine = made(tmp_path)
    lake.fill(ROWS[2:3], [])
    table = lake.open().load_table("limnograph.snapshots")
    table.delete(EqualTo("snapshot_id", ROWS[2].snapshot_id))
    manifests = table.current_snapshot().manifests(table.io)
    dead = [manifest for manifest in manifests if not (manifest.has_added_files() or manifest.has_existing_files())]
    for manifest in dead:
        Path(urlsplit(manifest.manifest_path).path).unlink()
    assert dead
    assert engine.select(SNAPSHOTS).height == 2
