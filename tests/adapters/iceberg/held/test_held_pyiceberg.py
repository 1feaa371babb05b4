"""Held bytes of histories that PyIceberg wrote equal the set difference of what PyIceberg reads back."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot

from lakes import Lake, path_of, rows
from limnograph.adapters.iceberg.held.held_bytes import held_bytes
from limnograph.adapters.iceberg.metadata.metadata import parse_metadata
from limnograph.adapters.storage.files import FileStorage
from limnograph.analysis.held import DAY_MS
from limnograph.domain.advice.document import TableBytes
from limnograph.domain.time import Millis

STEPS = 14


def changed(table: Table, random_: random.Random) -> Table:
    """One more change."""
    what = random_.random()
    if what < 0.5 or not table.snapshots():
        table.append(_rows(random_))
    elif what < 0.7:
        table.delete(f"id < {random_.randint(1, 3)}")
    elif what < 0.85:
        table.overwrite(_rows(random_))
    else:
        snapshot_id = random_.choice(table.snapshots()).snapshot_id
        kind = random_.choice(["tag", "branch"])
        name = f"{kind}{random_.randint(0, 2)}"
        if name not in table.refs():
            manage = table.manage_snapshots()
            (manage.create_tag if kind == "tag" else manage.create_branch)(snapshot_id, name).commit()
    return table.refresh()


def _rows(random_: random.Random) -> pa.Table:
    return rows(*random_.choices(["eu", "us", "ap"], k=random_.randint(1, 5)))


def files(table: Table, snapshots: list[Snapshot]) -> dict[str, int]:
    return {
        entry.data_file.file_path: entry.data_file.file_size_in_bytes
        for snapshot in snapshots
        for manifest in snapshot.manifests(table.io)
        for entry in manifest.fetch_manifest_entry(table.io)
    }


@pytest.mark.filterwarnings("ignore:Delete operation did not match")
@pytest.mark.parametrize("seed", range(6))
def test_held_bytes_are_the_set_difference_of_pyicebergs_own_entries(lake: Lake, seed: int) -> None:
    random_, table = random.Random(seed), lake.table()
    for _ in range(STEPS):
        table = changed(table, random_)
    head = table.current_snapshot()
    assert head is not None
    metadata = parse_metadata(path_of(table.metadata_location).read_bytes(), table.metadata_location)
    cut = random_.choice(table.snapshots()).timestamp_ms
    found = held_bytes(FileStorage({}), metadata, Millis(cut + DAY_MS))
    assert isinstance(found, TableBytes)
    every, live = files(table, table.snapshots()), files(table, [head])
    assert found.live == sum(live.values())
    assert found.held == sum(size for path, size in every.items() if path not in live)
    heads = {ref.snapshot_id for ref in table.refs().values()}
    kept = files(table, [each for each in table.snapshots() if each.timestamp_ms >= cut or each.snapshot_id in heads])
    freed = sum(size for path, size in every.items() if path not in kept)
    assert dict(found.by_age).get(1, 0) == freed
    for name, ref in table.refs().items():
        others = {each.snapshot_id for other, each in table.refs().items() if other != name}
        of, without = (
            [one for one in table.snapshots() if one.snapshot_id in ids] for ids in ({ref.snapshot_id}, others)
        )
        alone = sum(size for path, size in files(table, of).items() if path not in files(table, without))
        assert name == "main" or found.by_ref[name] == alone
