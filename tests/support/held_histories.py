"""Random histories that PyIceberg writes, and their live and held bytes as sets of the entries that it reads back."""

from __future__ import annotations

import random
import warnings

import pyarrow as pa
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
Sums = dict[str, int]
"""Bytes by what they are: live, held, freed by an expiry of the first part, and held by each branch and tag alone."""


def random_history(lake: Lake, seed: int) -> Table:
    """Appends, deletions, overwrites, branches, tags, and main moved back."""
    random_, table = random.Random(seed), lake.table(f"held.h{seed}")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Delete operation did not match")
        for _ in range(STEPS):
            table = _changed(table, random_)
    return table


def _changed(table: Table, random_: random.Random) -> Table:
    """One more change."""
    what = random_.random()
    if what < 0.45 or not table.snapshots():
        table.append(_rows(random_))
    elif what < 0.62:
        table.delete(f"id < {random_.randint(1, 3)}")
    elif what < 0.75:
        table.overwrite(_rows(random_))
    elif what < 0.85:
        table.manage_snapshots().set_current_snapshot(random_.choice(table.snapshots()).snapshot_id).commit()
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


def our_sums(table: Table, cut_ms: int) -> Sums:
    """What the reader says. `cut_ms`: snapshots before it expire."""
    metadata = parse_metadata(path_of(table.metadata_location).read_bytes(), table.metadata_location)
    found = held_bytes(FileStorage({}), metadata, Millis(cut_ms + DAY_MS))
    assert isinstance(found, TableBytes), found
    freed = dict(found.by_age).get(1, 0)
    return {"live": found.live, "held": found.held, "freed": freed} | {f"ref {n}": b for n, b in found.by_ref.items()}


def entry_sums(table: Table, cut_ms: int) -> Sums:
    """The same by sets of PyIceberg's entries."""
    head, refs = table.current_snapshot(), table.refs()
    every, live = _files(table, table.snapshots()), _files(table, [head] if head else [])
    heads = {ref.snapshot_id for ref in refs.values()}
    kept = _files(
        table, [each for each in table.snapshots() if each.timestamp_ms >= cut_ms or each.snapshot_id in heads]
    )
    found = {"live": sum(live.values()), "held": _beyond(every, live), "freed": _beyond(every, kept)}
    by_id = {each.snapshot_id: each for each in table.snapshots()}
    for name, ref in refs.items():
        others = [by_id[each.snapshot_id] for other, each in refs.items() if other != name]
        if name != "main":
            found[f"ref {name}"] = _beyond(_files(table, [by_id[ref.snapshot_id]]), _files(table, others))
    return found


def _beyond(files: Sums, without: Sums) -> int:
    return sum(size for path, size in files.items() if path not in without)


def _files(table: Table, snapshots: list[Snapshot]) -> Sums:
    return {
        entry.data_file.file_path: entry.data_file.file_size_in_bytes
        for snapshot in snapshots
        for manifest in snapshot.manifests(table.io)
        for entry in manifest.fetch_manifest_entry(table.io)
    }


def cut_of(table: Table, seed: int) -> int:
    """The time of one of its snapshots."""
    return random.Random(seed).choice(table.snapshots()).timestamp_ms
