"""Which commits the table itself still has: snapshot expiry removes snapshots from its metadata, while our rows stay.
Stored as spans of sequence numbers that still exist, such as `3,17-20,90-`; each commit takes one number. The last span
is open, so that an expiry changes the state and a commit does not. Pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.metadata.table import TableMetadata

RETAINED = "retained"
"""The kind of these rows in `changes`."""
_ALL = "1-"


def state_of(metadata: TableMetadata) -> dict[tuple[str, str | None], tuple[str, str | None]]:
    """The state for `changes`. Empty if nothing expired, and if commits have no numbers (Iceberg v1, Delta, Hudi)."""
    if metadata.format != "iceberg":
        return {}
    numbers = sorted({s.sequence_number for s in metadata.snapshots.values() if s.sequence_number})
    told = ",".join(_spans(numbers))
    return {(RETAINED, None): (told, None)} if told and told != _ALL else {}


def _spans(numbers: list[int]) -> Iterable[str]:
    first = 0
    for place, number in enumerate(numbers):
        last = place == len(numbers) - 1
        if last or numbers[place + 1] != number + 1:
            begin = numbers[first]
            yield f"{begin}-" if last else str(begin) if begin == number else f"{begin}-{number}"
            first = place + 1


class RetainedIds:
    """Read from the latest row. Without a row the answer is unknown: no expiry was observed."""

    def __init__(self, newest: ChangeFact | None) -> None:
        self._starts: list[int] = []
        self._ends: list[int | None] = []
        for span in ((newest.to_value if newest else None) or "").split(","):
            begin, dash, end = span.partition("-")
            if begin.isdecimal():
                self._starts.append(int(begin))
                self._ends.append(int(end) if end.isdecimal() else None if dash else int(begin))

    def has_expired(self, sequence_number: int | None) -> bool | None:
        """Whether the commit with this number expired; None if unknown."""
        if not self._starts or not sequence_number:
            return None
        place = bisect_right(self._starts, sequence_number) - 1
        if place < 0:
            return True
        end = self._ends[place]
        return end is not None and sequence_number > end
