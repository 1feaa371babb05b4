"""Partitions over time: the most data files of each in every step of a range, and the table's own number of files.

A step shows the largest state that held in it, so that a burst between its two ends is visible. Instants are
microseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from limnograph.domain.answers.partitions import FileTrack, HeatRow, PartitionHeat
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.metadata.manifests import PartitionKey
from limnograph.domain.time import MICROS_PER_MS, MICROS_PER_SECOND, Micros, beginnings, to_millis
from limnograph.services.lake.columns import NULL
from limnograph.services.lake.history import History
from limnograph.services.table.partitions.rows import Conditions, Side, fits
from limnograph.services.table.partitions.states import PartitionStates, told

STEPS = 48
LEAST_STEP = 60 * MICROS_PER_SECOND
SHOWN = 30
"""Partitions in the heat map."""
TRACK_POINTS = 600


class HeatStep(NamedTuple):
    """A step `[start, end)`: main's snapshot at its end, and the snapshots that main moved to in it. `known`: it is not
    after the watermark.
    """

    start: Micros
    end: Micros
    last: int | None
    moved: tuple[int, ...]
    known: bool


def steps_of(history: History, start: Micros, end: Micros, known_until: Micros) -> list[HeatStep]:
    """At most STEPS equal steps of whole minutes."""
    width = -(-(end - start) // STEPS)
    width = -(-width // LEAST_STEP) * LEAST_STEP
    moves, ids = history.moves, history.main_ids
    found = []
    for first in beginnings(start, end, width):
        last = min(first + width, end)
        before, after = (int(np.searchsorted(moves, at)) for at in (first, last))
        found.append(
            HeatStep(
                first, last, ids[after - 1] if after else None, tuple(ids[before:after]), known=first < known_until
            )
        )
    return found


def wanted(steps: Iterable[HeatStep]) -> set[int]:
    """Snapshots whose states are shown: the last one of each step."""
    return {step.last for step in steps if step.last is not None and step.known}


def heat(
    steps: Sequence[HeatStep], states: PartitionStates, rows: Mapping[int, SnapshotFact], conditions: Conditions
) -> PartitionHeat:
    """The partitions that had the most files at any time, by descending name, so that the latest day is first."""
    sides = [_side(step, states, rows) for step in steps]
    most: dict[PartitionKey, int] = {}
    cells: list[dict[PartitionKey, int | None]] = []
    before: Side | None = None
    for step, side in zip(steps, sides, strict=True):
        cell = _cell(step, before, side, rows)
        cells.append(cell)
        for key, files in cell.items():
            if files is not None and fits(key[1], conditions):
                most[key] = max(files, most.get(key, 0))
        before = side
    largest = sorted((key for key in most if most[key]), key=lambda key: (-most[key], key))[:SHOWN]
    shown = sorted(largest, key=lambda key: (key[1], key[0]), reverse=True)
    return PartitionHeat(
        t=[to_millis(step.start) for step in steps],
        step=(steps[0].end - steps[0].start) // MICROS_PER_MS if steps else 0,
        rows=[
            HeatRow(
                partition=key[1],
                spec_id=key[0],
                data_files=[_of(key, cell, side, step) for cell, side, step in zip(cells, sides, steps, strict=True)],
            )
            for key in shown
        ],
    )


def _side(step: HeatStep, states: PartitionStates, rows: Mapping[int, SnapshotFact]) -> Side:
    if step.last is None or not step.known:
        return Side(None, None)
    return Side(rows.get(step.last), states.at(step.last))


def _cell(
    step: HeatStep, before: Side | None, side: Side, rows: Mapping[int, SnapshotFact]
) -> dict[PartitionKey, int | None]:
    """The most files of every partition that is named by any state in the step."""
    found: dict[PartitionKey, int | None] = {}
    held = [before.state] if before and before.state else []
    moved = [told(rows[snapshot_id]) for snapshot_id in step.moved if snapshot_id in rows]
    for state in (*held, *moved, side.state or {}):
        for key, fact in state.items():
            if fact.data_files is not None:
                found[key] = max(fact.data_files, found.get(key) or 0)
            else:
                found.setdefault(key, None)
    return found if step.known else {}


def _of(key: PartitionKey, cell: Mapping[PartitionKey, int | None], side: Side, step: HeatStep) -> int | None:
    if key in cell:
        return cell[key]
    return 0 if step.known and side.whole else None


def track(history: History, start: Micros, end: Micros, known_until: Micros) -> FileTrack:
    """Data files of the table as main moved; unknown after `known_until`."""
    moves, files = history.moves, history.main_numbers("total_data_files")
    first, last = int(np.searchsorted(moves, start, "right")), int(np.searchsorted(moves, end))
    times, values = moves[first:last], files[first:last]
    carried = int(files[first - 1]) if first else NULL
    if len(times) > TRACK_POINTS:
        width = -(-(end - start) // (TRACK_POINTS // 2))
        groups, begins = np.unique((times - start) // width, return_index=True)
        times, values = start + groups * width, np.maximum.reduceat(values, begins)
    instants = [start, *times.tolist()]
    found = [None if value == NULL else value for value in (carried, *values.tolist())]
    if known_until < end:
        instants.append(max(start + 1, known_until))
        found.append(None)
    return FileTrack(t=[to_millis(at) for at in instants], data_files=found)
