"""A table in a range, as two states and what happened between: the input of fleet rows and table pages."""

from __future__ import annotations

from typing import NamedTuple

from limnograph.analysis.usual_gap import usual_gap_s
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.thresholds import JobPace
from limnograph.domain.time import Micros
from limnograph.services.lake.history import History


class State(NamedTuple):
    """The columns that pages need from the row that main points at."""

    total_data_files: int | None = None
    total_delete_files: int | None = None
    total_records: int | None = None
    total_bytes: int | None = None
    small_files: int | None = None
    file_size_p50: int | None = None
    manifests: int | None = None
    live_snapshots: int | None = None
    skew_max_over_median: float | None = None
    format: str | None = None
    status: str | None = None


class RangeView(NamedTuple):
    """A table in a range; instants in epoch microseconds.

    `commits`: their number
    `moved_at`: main's last move before the end
    """

    history: History
    commits: int
    before: State | None
    after: State | None
    moved_at: Micros | None
    pace: JobPace | None


def view(history: History, start: Micros, end: Micros, pace: JobPace | None) -> RangeView:
    """The part of a history in a range."""
    moved = int(history.moves.searchsorted(end))
    return RangeView(
        history,
        len(history.between(start, end)),
        state_of(history.main_at(start)),
        state_of(history.main_at(end - 1)),
        Micros(history.moves[moved - 1]) if moved else None,
        pace,
    )


def state_of(row: SnapshotFact | None) -> State | None:
    """The state in a row."""
    return None if row is None else State(*(getattr(row, name) for name in State._fields))


def usual_interval_s(history: History, until: Micros) -> float | None:
    """The usual gap between changes of main (`analysis.usual_gap`) until an instant; None: unknown."""
    return usual_gap_s(history.moves[: history.moves.searchsorted(until, "right")])
