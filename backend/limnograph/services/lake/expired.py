"""Which commits the table itself still has: snapshot expiry removes snapshots from its metadata, while our rows stay.
Stored as spans of sequence numbers that still exist, such as `3,17-20,90-`; each commit takes one number. The last span
is open, so that an expiry changes the state and a commit does not. Pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.metadata.table import TableMetadata

RETAINED = "retained"
"""The kind of these rows in `changes`."""
EXPIRED = "expired"
"""The kind of the rows that date an expiry."""
_ALL = "1-"
_Span = tuple[int, int | None]
"""First and last sequence number; None: no end."""


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


class ExpiredCommits(NamedTuple):
    """What an expiry removed: spans of sequence numbers such as `3-14,16`, and how many commits they contain."""

    spans: str
    commits: int


def expired_between(before: str | None, after: str) -> ExpiredCommits | None:
    """What the table lost between two values of `state_of`; None if nothing. `before` is None: it had every commit."""
    kept = _parsed(after)
    gaps = [*zip([0, *(last for _, last in kept if last is not None)], (first for first, _ in kept), strict=False)]
    lost = [
        (max(first, low + 1), min(high - 1, high - 1 if last is None else last))
        for low, high in gaps
        for first, last in _parsed(before or _ALL)
    ]
    lost = [(first, last) for first, last in lost if first <= last]
    text = ",".join(str(first) if first == last else f"{first}-{last}" for first, last in lost)
    return ExpiredCommits(text, sum(last - first + 1 for first, last in lost)) if lost else None


def _parsed(text: str) -> list[_Span]:
    found: list[_Span] = []
    for span in text.split(","):
        begin, dash, end = span.partition("-")
        if begin.isdecimal():
            found.append((int(begin), int(end) if end.isdecimal() else None if dash else int(begin)))
    return found


class RetainedIds:
    """Read from the latest row. Without a row the answer is unknown: no expiry was observed."""

    def __init__(self, newest: ChangeFact | None) -> None:
        spans = _parsed((newest.to_value if newest else None) or "")
        self._starts = [first for first, _ in spans]
        self._ends = [last for _, last in spans]

    def has_expired(self, sequence_number: int | None) -> bool | None:
        """Whether the commit with this number expired; None if unknown."""
        if not self._starts or not sequence_number:
            return None
        place = bisect_right(self._starts, sequence_number) - 1
        if place < 0:
            return True
        end = self._ends[place]
        return end is not None and sequence_number > end
