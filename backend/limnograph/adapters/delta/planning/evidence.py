"""Evidence of an action on a Delta table: from its stamped commits, and the paths that retained commits name.

A live file that only a checkpoint names is not checked: checkpoints keep no path here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import unquote

import msgspec
import numpy as np

from limnograph.adapters.delta.actions import DeltaFile, FileAction, lines, read_files
from limnograph.adapters.delta.files import LogFiles
from limnograph.adapters.delta.log import Log, open_log
from limnograph.adapters.delta.metadata import read_history
from limnograph.adapters.delta.paths import path_key
from limnograph.adapters.delta.planning.newest_first import LogReader
from limnograph.adapters.delta.schema import ColumnNames, partition_key
from limnograph.analysis.advice.files_digest import files_digest
from limnograph.domain.errors import MetadataError
from limnograph.domain.maintenance.evidence import (
    CHECKED_ALL,
    CHECKED_SAMPLE,
    MOST_MISSING,
    ChangedFiles,
    EvidenceRequest,
    TableEvidence,
)
from limnograph.domain.metadata.table import TableMetadata
from limnograph.ports.storage import Storage
from limnograph.ports.table_maintainer import STAMP

_THREADS = 4


class _AddedPath(msgspec.Struct):
    path: str


class _AddLine(msgspec.Struct):
    add: _AddedPath | None = None


_ADDED = msgspec.json.Decoder(_AddLine)


def evidence_of(storage: Storage, files: LogFiles, metadata: TableMetadata, request: EvidenceRequest) -> TableEvidence:
    """Evidence of a plan. Raises MetadataError, SourceError."""
    log = open_log(metadata.metadata_location, storage)
    naming = read_history(log, files, storage).naming(log.version)
    stamped = [each for each in metadata.ordered if (each.summary or {}).get(STAMP) == request.plan_id]
    actions = [
        action
        for each in stamped
        if each.snapshot_id in log.commits
        for action in read_files(files.commit(log, each.snapshot_id, storage))
    ]
    known = _known(storage, files, log, [each.snapshot_id for each in stamped])
    removed = [known.get(file.key, file) for file in _files(actions, adds=False)]
    groups = [[each for each in removed if _is_of(each, naming, group)] for group in request.groups]
    checked, missing = _existence(storage, files, log)
    return TableEvidence(
        metadata=metadata.outlined(("operation", STAMP)),
        stamped=[each.snapshot_id for each in stamped],
        groups=[_changed(group) for group in groups],
        elsewhere=len(removed) - sum(map(len, groups)),
        removed_data=_changed(removed),
        removed_deletes=_changed([]),
        added_data=_changed(_files(actions, adds=True)),
        added_deletes=_changed([]),
        live_before=None,
        live_after=None,
        checked=checked,
        missing=missing[:MOST_MISSING],
        missing_count=len(missing),
    )


def _known(storage: Storage, files: LogFiles, log: Log, stamped: Sequence[int]) -> dict[bytes, DeltaFile]:
    """Files as the log had them before the stamped commits: a removal may name neither rows nor partition."""
    if not stamped:
        return {}
    found: dict[bytes, DeltaFile] = {}
    for version in range(stamped[0], stamped[-1]):
        if version in log.commits:
            actions = read_files(files.commit(log, version, storage))
            found |= {action.file.key: action.file for action in actions if action.adds}
    if stamped[0] - 1 in log.commits:
        before = open_log(log.location(log.commits[stamped[0] - 1].name), storage)
        try:
            live = LogReader(before, files, storage).content().files
        except MetadataError:
            return found  # the log begins later: what a removal names has to do
        found = {placed.file.key: placed.file for placed in live} | found
    return found


def _files(actions: Iterable[FileAction], *, adds: bool) -> list[DeltaFile]:
    return list({action.file.key: action.file for action in actions if action.adds == adds}.values())


def _is_of(file: DeltaFile, naming: ColumnNames, group: Sequence[tuple[int, str]]) -> bool:
    return partition_key(file.values or (), naming) in {tuple(each) for each in group}


def _changed(files: Sequence[DeltaFile]) -> ChangedFiles:
    paths = np.array([int.from_bytes(file.key[:8], "little") for file in files], np.uint64)
    sizes = np.array([file.size or 0 for file in files], np.int64)
    return ChangedFiles(
        files=len(files),
        bytes=int(sizes.sum()),
        rows=None if any(file.records is None for file in files) else sum(file.records or 0 for file in files),
        sha256=files_digest(paths, sizes),
    )


def _existence(storage: Storage, files: LogFiles, log: Log) -> tuple[int, list[str]]:
    """Number of checked files, and those that do not exist."""
    live = {placed.file.path for placed in LogReader(log, files, storage).content().files}
    named: dict[bytes, str] = {}
    for version in log.told:
        for line in lines(files.commit(log, version, storage), _ADDED):
            if line.add is not None and (key := path_key(line.add.path)) in live:
                named[key] = line.add.path
    paths = list(named.values())
    if len(paths) > CHECKED_ALL:
        paths = paths[:: len(paths) // CHECKED_SAMPLE]
    with ThreadPoolExecutor(_THREADS) as pool:
        there = list(pool.map(lambda path: _exists(storage, _location(log.root, path)), paths))
    return len(paths), [path for path, exists in zip(paths, there, strict=True) if not exists]


def _location(root: str, path: str) -> str:
    """Location of a file. Paths in a log are URIs, relative to the table's folder unless they have a scheme."""
    plain = unquote(path)
    return plain if "://" in path or path.startswith(("/", "file:")) else f"{root}/{plain}"


def _exists(storage: Storage, location: str) -> bool:
    try:
        storage.size(location)
    except MetadataError as error:
        if error.code != "file_missing":
            raise
        return False
    return True
