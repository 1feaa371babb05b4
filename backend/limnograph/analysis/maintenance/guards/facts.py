"""What guards need to know, and how they answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from limnograph.analysis.advice.facts import UnlistedFile
from limnograph.analysis.advice.planned import PlannedAction
from limnograph.analysis.advice.readers import ReaderNeed
from limnograph.analysis.locations import RealPath
from limnograph.domain.advice.document import PlanGuard
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.actions import DELETING, REWRITING
from limnograph.domain.metadata.table import TableMetadata
from limnograph.domain.time import Micros, Millis, to_millis

HOUR_MS = 3_600_000


class OtherTable(NamedTuple):
    """Another registered table, or another name of the same one. None: not known.

    location         its folder
    table_uuid       None: it was not read yet
    metadata_location  its current metadata file
    folders          further folders of its files: `write.data.path`, or those of imported files
    """

    name: TableName
    location: str | None = None
    table_uuid: str | None = None
    metadata_location: str | None = None
    folders: Sequence[str] = ()

    @property
    def places(self) -> list[str]:
        """All of its folders that are known."""
        root, found, _ = (self.metadata_location or "").rpartition("/metadata/")
        return [each for each in (self.location, root if found else self.metadata_location, *self.folders) if each]


class GuardFacts(NamedTuple):
    """Facts of one action on one opened table. None: not known, so that a guard that needs it does not hold.

    plan             as the executor itself planned it
    metadata         the opened state
    now, machine_now the same instant by the clock of the database and by that of this machine
    table_uuid       for which the plan was approved
    own_plans        ids of the plans that this installation knows
    others           all other registered tables; None if a catalog did not answer
    meta_namespaces  `catalog.namespace` of Limnograph's own tables
    readers          what readers need
    unknown_streams  whether a stream of unknown position may read the table
    approved_by_user whether a person, not a policy, approved the plan
    longest_run_us   longest run of a writer, as reported or declared
    unreferenced     the listing
    engine           `spark` (Iceberg's actions) or `deltalake`
    base_recorded    whether the plan's state names the metadata file that was opened
    exclusive_puts   whether the object store creates a file only if it does not exist, or a lock provider is set up
    real_path        resolves symbolic links; local tables only
    """

    plan: PlannedAction
    metadata: TableMetadata
    name: TableName
    now: Micros
    machine_now: Micros | None = None
    table_uuid: str | None = None
    own_plans: Collection[str] | None = None
    others: Sequence[OtherTable] | None = None
    meta_namespaces: Collection[str] | None = None
    readers: Sequence[ReaderNeed] | None = None
    unknown_streams: bool | None = None
    approved_by_user: bool = False
    longest_run_us: int | None = None
    unreferenced: Sequence[UnlistedFile] | None = None
    engine: str | None = None
    base_recorded: bool | None = None
    exclusive_puts: bool | None = None
    real_path: RealPath | None = None

    @property
    def expires(self) -> bool:
        """Whether the action removes snapshots."""
        return self.plan.action == "expire_snapshots"

    @property
    def removes_unreferenced(self) -> bool:
        """Whether the action deletes files that were listed."""
        return self.plan.action == "remove_orphan_files"

    @property
    def deletes(self) -> bool:
        """Whether files are gone afterwards."""
        return self.plan.action in DELETING

    @property
    def rewrites(self) -> bool:
        """Whether data or delete files are written again."""
        return self.plan.action in REWRITING

    @property
    def commits(self) -> bool:
        """Whether a snapshot is committed."""
        return self.rewrites or self.plan.action == "rewrite_manifests"

    @property
    def now_ms(self) -> Millis:
        """`now` as tables count it."""
        return to_millis(self.now)


def answer(code: str, text: str, *, ok: bool) -> PlanGuard:
    """A guard that was checked."""
    return PlanGuard(code=code, ok=ok, text=text)


def not_known(code: str, missing: str) -> PlanGuard:
    """A guard that lacks its fact. `missing`: beginning of a sentence."""
    return PlanGuard(code=code, ok=False, text=f"{missing} not known.")
