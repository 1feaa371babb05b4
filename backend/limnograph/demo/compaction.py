"""`limnograph demo compact`: merges the files of earlier bursts in a table of the running demo, or, in a table without
one, the small files that its nightly compaction has not merged.
"""

from __future__ import annotations

import io
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from limnograph.demo.burst import BURST_FILE, data_file, known_tables, running
from limnograph.demo.folder import Folder
from limnograph.demo.lake.commits import open_table
from limnograph.demo.lake.timeshift import local
from limnograph.demo.story.plan import COMPACTED_SIZES, COMPACTOR, NIGHTLY
from limnograph.domain.errors import EnvironmentFault, InvalidInput

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import Table
    from pyiceberg.typedef import Record


Merge = Callable[["Table", "Record", Sequence["DataFile"]], list["DataFile"]]
"""Files of one partition that take the place of others with the same rows."""


class CompactionCommit(NamedTuple):
    """The commit: `table` is `namespace.table`; the files that it removed and added."""

    table: str
    snapshot_id: int
    removed: int
    added: int


def compact(root: Path, *, table: str) -> CompactionCommit:
    """Merge the files of bursts, otherwise those of missed nights. Raises InvalidInput for an unknown table, and
    EnvironmentFault if no demo is running or there is nothing to merge.
    """
    folder = Folder(root)
    running(folder)
    name, known = table.removeprefix("lake."), known_tables(folder)
    if name not in known:
        raise InvalidInput("--table", f"{name!r} is not a table of the demo; choose from {', '.join(known)}")
    loaded = open_table(folder.place, name)
    if len(found := files_of(loaded, BURST_FILE)) > 1:
        return replace(loaded, found)
    if len(found := files_of(loaded, NIGHTLY)) > 1:
        return replace(loaded, found, described)
    raise EnvironmentFault(f"lake.{name} has no small files to merge; commit some: limnograph demo burst")


def files_of(table: Table, stem: str) -> list[DataFile]:
    """Live files whose names start with `stem`. Those of a burst can be read; all others of the demo are only
    described.
    """
    snapshot = table.current_snapshot()
    if snapshot is None:
        return []
    return [
        entry.data_file
        for manifest in snapshot.manifests(table.io)
        for entry in manifest.fetch_manifest_entry(table.io)
        if entry.data_file.file_path.rsplit("/", 1)[-1].startswith(stem)
    ]


def written(table: Table, partition: Record, files: Sequence[DataFile]) -> list[DataFile]:
    """One file with the rows of `files`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = pa.concat_tables([pq.read_table(local(file.file_path)) for file in files])
    sink = io.BytesIO()
    pq.write_table(rows, sink)
    name = f"{BURST_FILE}merged-{uuid.uuid4().hex}.parquet"
    body = sink.getvalue()
    local(f"{table.location()}/data/{name}").write_bytes(body)
    return [data_file(table, name, partition, rows.num_rows, len(body))]


def described(table: Table, partition: Record, files: Sequence[DataFile]) -> list[DataFile]:
    """Entries for as many large files as the bytes of `files` fill. Like those, they exist in metadata only."""
    size, rows = sum(file.file_size_in_bytes for file in files), sum(file.record_count for file in files)
    count = min(len(files), max(1, size // COMPACTED_SIZES[1]))
    names = [f"compacted-{uuid.uuid4().hex}.parquet" for _ in range(count)]
    shares = [rows // count + (number < rows % count) for number in range(count)]
    return [data_file(table, name, partition, share, size // count) for name, share in zip(names, shares, strict=True)]


def replace(table: Table, files: Sequence[DataFile], merge: Merge = written) -> CompactionCommit:
    """Exchange `files` for those that `merge` makes of each partition, in one commit of operation `replace`."""
    from limnograph.demo.lake.rewrite import RewriteFiles

    parts: dict[Record, list[DataFile]] = defaultdict(list)
    for file in files:
        parts[file.partition].append(file)
    merged = [new for partition, part in parts.items() for new in merge(table, partition, part)]
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
