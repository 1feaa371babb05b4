"""Rewrites of data files, position deletes and manifests.

Each does what its statement does (`analysis/advice/statements/iceberg.py`): the procedures call the same actions, and
without a strategy data files are packed, never sorted. Only the action can stamp its commits: `snapshotProperty`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from limnograph.adapters.spark.maintenance.failures import action_error
from limnograph.adapters.spark.maintenance.gate import ActionGate
from limnograph.adapters.spark.maintenance.handle import java_table, stamps_now
from limnograph.adapters.spark.maintenance.jvm import IcebergJvm
from limnograph.domain.errors import ActionConflict, SourceError
from limnograph.ports.table_maintainer import STAMP, ActionOutcome, ActionRequest, OpenedTable

_PARTIAL = "partial-progress.enabled"


def rewrite_data_files(jvm: IcebergJvm, table: Any, request: ActionRequest) -> tuple[Any, ActionOutcome]:
    """Pack the data files of the condition."""
    done = _filtered(jvm, jvm.actions.rewriteDataFiles(table).binPack(), table, request).execute()
    counts = (done.rewrittenDataFilesCount(), done.addedDataFilesCount(), done.rewrittenBytesCount())
    return done.failedDataFilesCount(), ActionOutcome((), *counts)


def rewrite_position_delete_files(jvm: IcebergJvm, table: Any, request: ActionRequest) -> tuple[Any, ActionOutcome]:
    """Merge the position delete files of the condition and drop dangling deletes."""
    done = _filtered(jvm, jvm.actions.rewritePositionDeletes(table), table, request).execute()
    counts = (done.rewrittenDeleteFilesCount(), done.addedDeleteFilesCount())
    return 0, ActionOutcome((), *counts, done.rewrittenBytesCount(), done.addedBytesCount())


def rewrite_manifests(jvm: IcebergJvm, table: Any, request: ActionRequest) -> tuple[Any, ActionOutcome]:
    """Rewrite the manifests of a partition spec, by default of the current one."""
    action = jvm.actions.rewriteManifests(table).snapshotProperty(STAMP, request.plan_id)
    if request.spec_id is not None:
        action = action.specId(request.spec_id)
    done = action.execute()
    gone, made = [*done.rewrittenManifests()], [*done.addedManifests()]
    sizes = (sum(each.length() for each in gone), sum(each.length() for each in made))
    return 0, ActionOutcome((), len(gone), len(made), *sizes)


Rewrite = Callable[[IcebergJvm, Any, ActionRequest], tuple[Any, ActionOutcome]]
REWRITES: dict[str, Rewrite] = {
    "rewrite_data_files": rewrite_data_files,
    "rewrite_position_delete_files": rewrite_position_delete_files,
    "rewrite_manifests": rewrite_manifests,
}


def rewrite(jvm: IcebergJvm, opened: OpenedTable, request: ActionRequest, gate: ActionGate) -> ActionOutcome:
    """Run a rewrite on the opened state. The table's stamps are believed, not the result: with partial progress a
    rewrite whose every commit failed ends without an error.
    """
    table = jvm.tools.gated(java_table(opened).table, gate)
    partial = request.options.get(_PARTIAL) == "true"
    try:
        failed, outcome = REWRITES[request.action](jvm, table, request)
    except Exception as error:
        gate.check()
        if gate.tried and (found := stamps_now(jvm, table, request.plan_id)):
            return ActionOutcome(snapshot_ids=found)  # A catalog may lose its answer to a commit that it made.
        raise action_error(error) from error
    if partial or gate.error is not None:  # A whole rewrite that ended before the cancellation has succeeded.
        gate.check()
    ids = stamps_now(jvm, table, request.plan_id)
    if not ids and failed:
        raise SourceError("spark", "no file group could be rewritten; the log of the driver has the cause")
    if not ids and gate.tried:
        raise ActionConflict(f"another writer committed first: none of {gate.tried} commits succeeded")
    # With partial progress, files of a group that failed in between may stay, and no result counts them (H5).
    return outcome._replace(snapshot_ids=ids, left_behind=None if partial else ())


def _filtered(jvm: IcebergJvm, action: Any, table: Any, request: ActionRequest) -> Any:
    made = action.options(jvm.map_of(request.options)).snapshotProperty(STAMP, request.plan_id)
    return made if request.where is None else made.filter(jvm.expression(table, request.where))
