"""`limnograph demo compact`: merges the files of earlier bursts in a table of the running demo."""

from __future__ import annotations

import io
import time
import uuid
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from limnograph.demo.burst import BURST_FILE, data_file, known_tables, running
from limnograph.demo.folder import Folder
from limnograph.demo.lake.commits import open_table
from limnograph.demo.lake.timeshift import local
from limnograph.demo.story.plan import COMPACTOR
from limnograph.domain.errors import EnvironmentFault, InvalidInput

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import Table
    from pyiceberg.typedef import Record


class CompactionCommit(NamedTuple):
    """The commit: `table` is `namespace.table`; the files that it removed and added."""

    table: str
    snapshot_id: int
    removed: int
    added: int


def compact(root: Path, *, table: str) -> CompactionCommit:
    """Merge the files of bursts. Raises InvalidInput for an unknown table, and EnvironmentFault if no demo is running
    or there is nothing to merge.
    """
    folder = Folder(root)
    running(folder)
    name, known = table.removeprefix("lake."), known_tables(folder)
    if name not in known:
        raise InvalidInput("--table", f"{name!r} is not a table of the demo; choose from {', '.join(known)}")
    loaded = open_table(folder.place, name)
    found = burst_files(loaded)
    if len(found) < 2:
        raise EnvironmentFault(f"lake.{name} has no files of a burst to merge; commit some: limnograph demo burst")
    return replace(loaded, found)


def burst_files(table: Table) -> list[DataFile]:
    """Live files that a burst wrote. All other files of the demo are only described, so they cannot be read."""
    snapshot = table.current_snapshot()
    if snapshot is None:
        return []
    return [
        entry.data_file
        for manifest in snapshot.manifests(table.io)
        for entry in manifest.fetch_manifest_entry(table.io)
        if entry.data_file.file_path.rsplit("/", 1)[-1].startswith(BURST_FILE)
    ]


def replace(table: Table, files: list[DataFile]) -> CompactionCommit:
    """Write one file per partition with the rows of `files`, and exchange them in one commit of operation `replace`."""
    from limnograph.demo.lake.rewrite import RewriteFiles

    parts: dict[Record, list[DataFile]] = defaultdict(list)
    for file in files:
        parts[file.partition].append(file)
    merged = [_merged(table, partition, part) for partition, part in parts.items()]
    summary = {"app-id": f"{COMPACTOR}-{time.time_ns()}", "app-name": COMPACTOR, "engine-name": "pyiceberg"}
    with table.transaction() as transaction, RewriteFiles.in_main(transaction, table.io, summary) as exchanged:
        for file in files:
            exchanged.delete_data_file(file)
        for file in merged:
            exchanged.append_data_file(file)
    made = next(
        one for one in table.metadata.snapshots if one.summary and one.summary.get("app-id") == summary["app-id"]
    )
    return CompactionCommit(".".join(table.name()[-2:]), made.snapshot_id, len(files), len(merged))


def _merged(table: Table, partition: Record, files: list[DataFile]) -> DataFile:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = pa.concat_tables([pq.read_table(local(file.file_path)) for file in files])
    sink = io.BytesIO()
    pq.write_table(rows, sink)
    name = f"{BURST_FILE}merged-{uuid.uuid4().hex}.parquet"
    body = sink.getvalue()
    local(f"{table.location()}/data/{name}").write_bytes(body)
    return data_file(table, name, partition, rows.num_rows, len(body))
