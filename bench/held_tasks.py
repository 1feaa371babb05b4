"""Tasks of `held.py`: live and held bytes of a history, by Limnograph and by sets of PyIceberg's entries."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

Clock = Callable[[], contextlib.AbstractContextManager[None]]


def held_ours(clock: Clock, location: str) -> list[int]:
    from limnograph.adapters.iceberg.held.held_bytes import held_bytes
    from limnograph.adapters.iceberg.reader import IcebergReader
    from limnograph.adapters.storage.files import FileStorage
    from limnograph.domain.advice.document import TableBytes

    storage, found = FileStorage(), None
    for _ in range(5):
        with clock():
            metadata = IcebergReader(storage).metadata(location)
            found = held_bytes(storage, metadata, metadata.last_updated_ms or 0)
    return [found.live, found.held] if isinstance(found, TableBytes) else []


def held_pyiceberg(clock: Clock, location: str) -> list[int]:
    """The set difference: the files of every snapshot, and without those of main's current one."""
    from pyiceberg.table import StaticTable

    table = StaticTable.from_metadata(location)
    with clock():
        every: dict[str, int] = {}
        live: dict[str, int] = {}
        for snapshot in table.snapshots():
            live = {
                entry.data_file.file_path: entry.data_file.file_size_in_bytes
                for manifest in snapshot.manifests(table.io)
                for entry in manifest.fetch_manifest_entry(table.io)
            }
            every |= live
            if snapshot.snapshot_id == table.metadata.current_snapshot_id:
                head = live
    return [sum(head.values()), sum(size for path, size in every.items() if path not in head)]


def held_parity(clock: Clock, folder: str, histories: str) -> int:
    """Histories whose bytes are not those of PyIceberg's entries."""
    from held_histories import cut_of, entry_sums, our_sums, random_history
    from lakes import Lake

    lake, wrong = Lake(Path(folder)), 0
    with clock():
        for seed in range(int(histories)):
            table = random_history(lake, seed)
            cut_ms = cut_of(table, seed)
            wrong += our_sums(table, cut_ms) != entry_sums(table, cut_ms)
    return wrong


TASKS: dict[str, Callable[..., Any]] = {task.__name__: task for task in (held_ours, held_pyiceberg, held_parity)}
