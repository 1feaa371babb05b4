"""Port TableReader for Apache Hudi: the timeline, the commits and, if history is archived, the files of the folder."""

from __future__ import annotations

from limnograph.adapters.hudi.content import content_of
from limnograph.adapters.hudi.kept import WeightedCache
from limnograph.adapters.hudi.metadata import table_metadata
from limnograph.adapters.hudi.partitions import PartitionText
from limnograph.adapters.hudi.replay import CarriedStates, Replay
from limnograph.adapters.hudi.table import HudiTable, load_table
from limnograph.adapters.hudi.timeline import HudiInstant
from limnograph.domain.metadata.content import Content, Reading, Want
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.ports.storage import Storage

FILE_GROUPS = "hudi.file-groups"
"""Summary key: file groups with a live file. Delta bytes per file group = total_delete_bytes / this."""
COMMITS_KEPT, STATES_CARRIED = WeightedCache(), CarriedStates()
"""Shared by all tables of the process."""


class HudiReader:
    """Reads one storage. Caches the last table and its state, because callers read snapshots in commit order."""

    def __init__(
        self, storage: Storage, kept: WeightedCache = COMMITS_KEPT, carried: CarriedStates = STATES_CARRIED
    ) -> None:
        self._storage, self._kept, self._carried = storage, kept, carried
        self._replay: Replay | None = None
        self._table: HudiTable | None = None
        self._instants: dict[int, HudiInstant] = {}

    def metadata(self, location: str) -> TableMetadata:
        return table_metadata(self._load(location))

    def read(self, metadata: TableMetadata, snapshot: Snapshot, want: Want) -> Reading:
        table = self._loaded(metadata)
        instant = self._instants.get(snapshot.snapshot_id)
        if instant is None:
            return Reading(tier="summary", problems=("commit_missing",))
        targets = metadata.targets
        replay = self._replay
        if replay is None or replay.passed(instant):
            small_below = targets.small_below if targets else None
            replay = self._replay = self._carried.replay(table, self._storage, small_below, instant)
        move = replay.forward_to(snapshot)
        if instant.requested in table.damaged:
            code, detail = table.damaged[instant.requested]
            return Reading(tier="summary", problems=(code,), details={code: detail})
        content = content_of(
            replay.slices,
            move,
            counted=replay.counted,
            want=want,
            text=PartitionText(table.properties),
            targets=targets,
            at=snapshot.committed_at,
        )
        return Reading(
            tier="entries",
            problems=(replay.problem,) if replay.problem else (),
            notes=("history_archived",) if replay.archived and _incomplete(content) else (),
            content=content,
            said={FILE_GROUPS: str(replay.slices.groups)} if replay.counted else {},
        )

    def _loaded(self, metadata: TableMetadata) -> HudiTable:
        if self._table is None or self._table.pointer != metadata.metadata_location:
            return self._load(metadata.metadata_location)
        return self._table

    def _load(self, pointer: str) -> HudiTable:
        self._replay = None
        table = self._table = load_table(pointer, self._storage, self._kept)
        self._instants = {int(instant.requested): instant for instant in table.timeline.snapshots}
        return table


def _incomplete(content: Content) -> bool:
    """Whether a number is missing that a table with complete history would have."""
    totals, changed = content.totals, content.changed
    return None in {totals.data_files, totals.bytes, totals.records, changed.removed_records, changed.removed_bytes}
