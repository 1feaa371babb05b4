"""Content of a snapshot from the file slices: totals, changes of its instant, states of partitions, shape."""

from __future__ import annotations

from limnograph.adapters.hudi.partitions import PartitionText
from limnograph.adapters.hudi.slices import SliceDelta, Slices
from limnograph.adapters.hudi.tally import Tally
from limnograph.analysis.hot_partition import PartitionSize
from limnograph.analysis.shape import packed_shape, wrote_much
from limnograph.domain.metadata.content import (
    PARTITIONS_KEPT,
    UNKNOWN_TOTALS,
    Content,
    Partitions,
    PartitionState,
    SnapshotChanges,
    Totals,
    Want,
)
from limnograph.domain.metadata.manifests import PartitionKey
from limnograph.domain.metadata.targets import Targets
from limnograph.domain.time import Micros


def content_of(
    slices: Slices,
    move: SliceDelta | None,
    *,
    counted: bool,
    want: Want,
    text: PartitionText,
    targets: Targets | None,
    at: Micros | None,
) -> Content:
    """`counted` False: the state is unknown; only the writes of the instant itself are known. `at`: its completion."""
    sized = counted and not slices.total.unsized
    moved = move.added.files + move.removed.files if move else 0
    shaped = wrote_much(moved, slices.total.files) if want.shape is None else want.shape
    return Content(
        totals=_totals(slices.total, targets) if counted else UNKNOWN_TOTALS,
        changed=_changed(move, counted=counted),
        histogram=list(slices.histogram) if sized else None,
        partitions=_partitions(slices, move or SliceDelta(), want, text, targets) if counted else None,
        shape=packed_shape(*slices.sizes(), _held(slices, text), targets, at) if sized and shaped else None,
    )


def _held(slices: Slices, text: PartitionText) -> list[PartitionSize]:
    """Every partition with a base file; empty for an unpartitioned table."""
    if not text.partitioned:
        return []
    tallies = slices.partitions.items()
    return [PartitionSize(text(path), tally.files, tally.bytes) for path, tally in tallies if tally.files]


def _totals(total: Tally, targets: Targets | None) -> Totals:
    """Log files count as delete files. No metadata records how many rows they change or delete."""
    return Totals(
        data_files=total.files,
        records=total.known_records,
        bytes=total.known_bytes,
        small_files=None if targets is None or total.unsized else total.small,
        delete_files=total.logs,
        delete_bytes=total.known_log_bytes,
        position_deletes=0 if not total.logs else None,
        equality_deletes=0 if not total.logs else None,
        dvs=0,
    )


def _changed(move: SliceDelta | None, *, counted: bool) -> SnapshotChanges:
    """The changes of an instant. Without a known state, the removed files are unknown."""
    added, removed = (_NOTHING, _NOTHING) if move is None else (_side(move.added), _side(move.removed))
    added_files, added_logs, added_records, added_bytes = added
    clear = counted and move is not None and not move.unclear
    removed_files, removed_logs, removed_records, removed_bytes = removed if clear else _NOTHING
    return SnapshotChanges(
        added_data_files=added_files,
        added_delete_files=added_logs,
        added_records=added_records,
        added_bytes=added_bytes,
        removed_data_files=removed_files,
        removed_delete_files=removed_logs,
        removed_records=removed_records,
        removed_bytes=removed_bytes,
        partitions=len(move.touched) if move is not None and clear else None,
    )


_Side = tuple[int | None, int | None, int | None, int | None]
_NOTHING: _Side = (None, None, None, None)


def _side(tally: Tally) -> _Side:
    """Data files, log files, rows and bytes of what was added or removed."""
    return tally.files, tally.logs, tally.known_records, tally.known_bytes


def _partitions(
    slices: Slices, move: SliceDelta, want: Want, text: PartitionText, targets: Targets | None
) -> Partitions:
    changed = want.changed_only and len(move.touched) <= PARTITIONS_KEPT
    live = slices.partitions
    named = (
        list(move.touched) if changed else sorted(live, key=lambda path: (-live[path].bytes, path))[:PARTITIONS_KEPT]
    )
    states: dict[PartitionKey, PartitionState] = {}
    for path in sorted(named):
        tally = live.get(path, Tally())
        added, removed = move.touched.get(path, (0, 0))
        states[0, text(path)] = PartitionState(
            data_files=tally.files,
            delete_files=tally.logs,
            small_files=None if targets is None or tally.unsized else tally.small,
            records=tally.known_records,
            bytes=tally.known_bytes,
            delete_bytes=tally.known_log_bytes,
            added_data_files=added,
            removed_data_files=removed,
            last_committed_at=slices.last_touched.get(path),
        )
    return Partitions(scope="changed" if changed else "full", total=len(live), states=states)
