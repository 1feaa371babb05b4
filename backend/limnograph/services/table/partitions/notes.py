"""Notes about missing data on the partitions page."""

from __future__ import annotations

from limnograph.domain.answers.partitions import PartitionHeat
from limnograph.domain.answers.structure import Note
from limnograph.domain.metadata.content import PARTITIONS_KEPT
from limnograph.services.lake.history import History
from limnograph.services.table.partitions.rows import Side


def of_states(after: Side, before: Side | None) -> list[Note]:
    """Notes on instants without a state."""
    found = []
    if after.state is None:
        found.append(Note(code="no_state", sentence=f"Partitions at this instant are unknown: {_why(after)}."))
    if before is not None and before.state is None:
        found.append(Note(code="no_state_before", sentence=f"Nothing to compare with: {_why(before)}."))
    return found


def _why(side: Side) -> str:
    if side.row is None:
        return "no commit of that time is retained"
    if side.row.partitions_scope is None:
        return "that commit was not read at file level"
    return "the rows that lead back to a complete list are not retained"


def of_the_rest(after: Side, shown: int, matching: int) -> list[Note]:
    """Notes on partitions that no row names, and on rows that are left out."""
    found = []
    if after.state is not None and after.row is not None and not after.whole:
        total = after.row.partitions_total
        if total is None:
            found.append(Note(code="rest_unknown", sentence="The total number of partitions is unknown."))
        else:
            said = f"Of {total:,} partitions, the {PARTITIONS_KEPT:,} largest are listed, and those that changed since."
            found.append(Note(code="top_only", sentence=said))
    if matching > shown:
        found.append(
            Note(code="shown_only", sentence=f"Only the first {shown:,} of {matching:,} partitions are shown.")
        )
    return found


def of_heat(heat: PartitionHeat | None, *, drawn: bool) -> list[Note]:
    """Notes on a heat map that is missing."""
    if heat is not None or drawn:
        return []
    return [
        Note(code="heat_left_out", sentence="Too many changes to draw partitions over time; choose a shorter range.")
    ]


def of_format(history: History) -> list[Note]:
    """Notes on terms with a different meaning in this format."""
    kind = history.head.format if history.head else None
    if kind == "delta":
        return [Note(code="deletes_are_vectors", sentence="Delete files are data files with a deletion vector.")]
    if kind == "hudi":
        return [Note(code="deletes_are_logs", sentence="Delete files are the log files of the newest file slices.")]
    return []
