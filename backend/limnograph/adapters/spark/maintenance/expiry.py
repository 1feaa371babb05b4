"""Expiry of exactly the named snapshots, and of the files that only they reach.

Iceberg's own expiry also applies the maximum ages of branches and tags, and the age of the table's properties, to
whatever else is there (hazards H1 and H3). The commit is therefore made from the metadata without these ids, compared
and swapped by the catalog like any other. Files are deleted from a list that is kept before the first deletion, so that
an interrupted one is resumed (H11). What to delete is a difference of reachable files, as in Spark's action (H12), in
the table's own folders: files elsewhere were imported, and another table may be their owner.
"""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

from limnograph.adapters.spark.maintenance.failures import action_error, causes
from limnograph.adapters.spark.maintenance.gate import DELETED, ActionGate
from limnograph.adapters.spark.maintenance.handle import java_table
from limnograph.adapters.spark.maintenance.jvm import IcebergJvm
from limnograph.adapters.spark.maintenance.kept_list import KeptList
from limnograph.adapters.spark.maintenance.reach import snapshot_files, unreached
from limnograph.analysis.locations import is_surely_below
from limnograph.domain.errors import ActionConflict, InvalidInput, SourceRejected
from limnograph.domain.ids import normalise_location
from limnograph.domain.metadata.table import PLACES
from limnograph.ports.table_maintainer import ActionOutcome, ActionRequest, OpenedTable

TRIES = 5
FIRST_WAIT_S = 0.1
BATCH = 1000


class _FreedFiles(NamedTuple):
    """Files that an expiry frees. `foreign`: those outside the table's folders, which stay."""

    own: list[str]
    foreign: list[str]


def expire(
    jvm: IcebergJvm, opened: OpenedTable, request: ActionRequest, gate: ActionGate, kept: KeptList
) -> ActionOutcome:
    """Commit the expiry, keep the list of files, delete them."""
    if not request.snapshots:
        raise InvalidInput("snapshots", "names no snapshot")
    before = java_table(opened)
    table = jvm.tools.gated(before.table, gate)
    _commit(jvm, table, frozenset(request.snapshots), gate)
    gate.check()
    freed = _freed(jvm, jvm.at(before.metadata, table.io()), table, before.document)
    kept.write(freed.own)
    done = _delete(jvm, table, freed.own, kept, gate)
    return done._replace(left_behind=[*(done.left_behind or ()), *freed.foreign])


def resume(jvm: IcebergJvm, opened: OpenedTable, gate: ActionGate, kept: KeptList, base: str) -> ActionOutcome:
    """Delete what the state at `base` reached and the opened one does not; the kept list, if there is one, says what
    that was, because parts of it may be deleted already. Whatever the table reaches again is left out.
    """
    table, document = java_table(opened).table, java_table(opened).document
    if (locations := kept.read()) is not None:
        free = {*unreached(jvm.named(locations, 0), snapshot_files(jvm, table))}
        return _delete(jvm, table, [each for each in locations if each in free], kept, gate)
    if not table.io().newInputFile(base).exists():
        return ActionOutcome(deleted_files=0)
    try:
        freed = _freed(jvm, jvm.at(base, table.io()), table, document)
    except Exception as error:
        if any(kind in {"NotFoundException", "FileNotFoundException"} for kind, _ in causes(error)):
            return ActionOutcome(deleted_files=0)
        raise
    kept.write(freed.own)
    done = _delete(jvm, table, freed.own, kept, gate)
    return done._replace(left_behind=[*(done.left_behind or ()), *freed.foreign])


def _commit(jvm: IcebergJvm, table: Any, ids: frozenset[int], gate: ActionGate) -> None:
    """Remove the snapshots from the table as it is now. When snapshots are removed, a REST catalog drops the branches
    and tags that point to them: these are read right before the commit, as Iceberg's own expiry does.
    """
    operations = table.operations()
    base = operations.refresh()
    for attempt in range(TRIES):
        present = _allowed(jvm.document(base), ids)
        if not present:
            raise ActionConflict("another writer expired the snapshots first")
        try:
            operations.commit(base, jvm.tools.without(base, ",".join(map(str, sorted(present)))))
        except Exception as error:
            gate.check()
            kinds = {kind for kind, _ in causes(error)}
            base = operations.refresh()
            if "CommitStateUnknownException" in kinds and not _present(jvm.document(base), ids):
                return
            if "CommitFailedException" not in kinds or attempt == TRIES - 1:
                raise action_error(error) from error
            time.sleep(FIRST_WAIT_S * 2**attempt)
        else:
            return


def _present(document: dict[str, Any], ids: frozenset[int]) -> set[int]:
    return {each["snapshot-id"] for each in document.get("snapshots", ())} & ids


def _allowed(document: dict[str, Any], ids: frozenset[int]) -> set[int]:
    """The ids that the metadata has. Raises ActionConflict if a branch or tag references one (H4), SourceRejected if
    the table forbids the deletion of files.
    """
    if document.get("properties", {}).get("gc.enabled", "true").lower() == "false":
        raise SourceRejected("table", "gc.enabled is false: its files may belong to other tables")
    refs = document.get("refs") or {}
    if held := sorted(name for name, ref in refs.items() if ref["snapshot-id"] in ids):
        raise ActionConflict(f"snapshots are still referenced by {', '.join(held)}")
    if document.get("current-snapshot-id") in ids:
        raise ActionConflict("the table's current snapshot is not expired")
    return _present(document, ids)


def _freed(jvm: IcebergJvm, state: Any, table: Any, document: dict[str, Any]) -> _FreedFiles:
    """Files that a state reached and the table no longer does."""
    table.refresh()
    locations, folders = unreached(snapshot_files(jvm, state), snapshot_files(jvm, table)), _own_folders(document)
    own = [each for each in locations if _is_own(each, folders)]
    return _FreedFiles(own, sorted({*locations} - {*own}))


def _own_folders(document: dict[str, Any]) -> list[str]:
    """Where a table's writers put its files, also before its location was changed."""
    properties = document.get("properties", {})
    logged = [each["metadata-file"].rpartition("/metadata/")[0] for each in document.get("metadata-log", ())]
    found = [document["location"], *(properties.get(key) for key in PLACES), *logged]
    return sorted({normalise_location(each) for each in found if each})


def _is_own(location: str, folders: list[str]) -> bool:
    return any(is_surely_below(normalise_location(location), folder, os.path.realpath) for folder in folders)


def _delete(jvm: IcebergJvm, table: Any, locations: list[str], kept: KeptList, gate: ActionGate) -> ActionOutcome:
    """Delete in order, and forget the list when nothing of it is left."""
    left: list[str] = []
    for start in range(0, len(locations), BATCH):
        if gate.ask():
            gate.check()
        left += jvm.delete(table.io(), locations[start : start + BATCH])
    if not left:
        kept.forget()
    gate.reach(DELETED)
    return ActionOutcome(deleted_files=len(locations) - len(left), left_behind=left)
