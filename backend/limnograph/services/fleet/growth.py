"""How much a table's data files grew within some time, along main's log, so that rollbacks and publishes are right.

A growth is a rise from one state to a later one that began at most some time after the earlier one still held. Its
share is the rise divided by the earlier number. From 0 files every rise exceeds any share, and the share itself is not
a number. A state with an unknown number is on neither side of a growth, and states before the first known one are
unknown: a table's first load alone is no growth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.services.lake.columns import NULL, Ints
from limnograph.services.lake.history import History

_MOST = np.int64(2**63 - 1)
NOTHING = 0.0
"""Share of a table that did not grow, or whose growth is unknown."""


class Rise(NamedTuple):
    """Greatest growth in a range. `share` None: from 0 files. `at`: when the later state began, in microseconds."""

    before: int
    after: int
    share: float | None
    at: Micros


class Rises(NamedTuple):
    """Growth of each move relative to the least state within the time before it. Share is NaN if unknown."""

    times: Ints
    before: Ints
    after: Ints
    shares: NDArray[np.float64]


def rises(times: Ints, files: Ints, start: Micros, end: Micros, within_us: int) -> Rises:
    """Growth of moves in `[start, end)`. `times` increases; `files` has NULL where unknown; times in microseconds.

    A move is compared with every state that held at some instant of the `within_us` before it, since `start`. Range
    minima by doubling: O(moves x log(moves within the time)).
    """
    first, last = (int(times.searchsorted(at)) for at in (start, end))
    moves = np.arange(max(first, 1), last)
    at = times[moves]
    since = np.maximum(at - within_us, start)
    oldest = np.minimum(np.maximum(times.searchsorted(since, "right") - 1, 0), moves - 1)
    least, after, shares = _compared(files, oldest, moves)
    return Rises(at, least, after, shares)


def _compared(files: Ints, oldest: Ints, moves: Ints) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """For each move: the least state since `oldest`, its own, and the share of the rise; NaN if unknown."""
    least = _least(np.where(files == NULL, _MOST, files), oldest, moves)
    after = files[moves]
    known = (least != _MOST) & (after != NULL)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = (after - least) / least.astype(np.float64)
    shares[known & (least == 0)] = np.where(after[known & (least == 0)] > 0, np.inf, 0.0)
    return least, after, np.where(known, shares, np.nan)


class _Moves(NamedTuple):
    """Moves of several tables, table by table, each compared with the states of the time before it."""

    table: Ints
    at: Ints
    least: Ints
    after: Ints
    shares: NDArray[np.float64]


def shares_of(times: Ints, files: Ints, sizes: Ints, start: Micros, within_us: int) -> NDArray[np.float64]:
    """Greatest share of each of several tables, whose moves are concatenated: NOTHING if a table did not grow.

    The first move of each table is the state that held at `start` (or the first one); the others happened later.
    """
    found, moves = np.full(len(sizes), NOTHING), _moves(times, files, sizes, np.full(len(sizes), start), within_us)
    if len(moves.at):
        firsts = np.flatnonzero(np.diff(moves.table, prepend=-1))
        most = np.fmax.reduceat(moves.shares, firsts)
        found[moves.table[firsts]] = np.where(most > 0, most, NOTHING)
    return found


def rises_of(times: Ints, files: Ints, sizes: Ints, starts: Ints, within_us: int) -> list[Rise | None]:
    """The same with numbers and time; of equal ones the first. Each table has its own start."""
    found: list[Rise | None] = [None] * len(sizes)
    moves = _moves(times, files, sizes, starts, within_us)
    grew = np.flatnonzero(moves.shares > 0)
    order = grew[np.lexsort((moves.at[grew], -moves.shares[grew], moves.table[grew]))]
    for place in order[np.diff(moves.table[order], prepend=-1) > 0].tolist():
        numbers = int(moves.least[place]), int(moves.after[place])
        found[int(moves.table[place])] = _rise(*numbers, float(moves.shares[place]), Micros(moves.at[place]))
    return found


def _rise(before: int, after: int, share: float, at: Micros) -> Rise:
    return Rise(before, after, share if np.isfinite(share) else None, at)


def _moves(times: Ints, files: Ints, sizes: Ints, starts: Ints, within_us: int) -> _Moves:
    begins = np.cumsum(sizes) - sizes
    table = np.repeat(np.arange(len(sizes)), sizes)
    moves = np.flatnonzero(np.diff(table, prepend=-1) == 0)
    at, table_of = times[moves], table[moves]
    if not len(moves):
        return _Moves(table_of, at, at, at, np.zeros(0))
    since = np.maximum(at - within_us, starts[table_of])
    # One increasing column for all tables: instants since the earliest one that counts, offset by a width per table.
    base = int(since.min())
    width = int(at.max()) - base + 1
    keys = np.clip(times - base, 0, width - 1) + table * width
    oldest = keys.searchsorted(since - base + table_of * width, "right") - 1
    oldest = np.minimum(np.maximum(oldest, begins[table_of]), moves - 1)
    return _Moves(table_of, at, *_compared(files, oldest, moves))


def _least(values: Ints, first: Ints, end: Ints) -> Ints:
    """The least of `values[first:end]` for each pair; no slice is empty."""
    if not len(first):
        return np.empty(0, np.int64)
    widths = end - first
    levels = np.frexp(widths.astype(np.float64))[1] - 1
    found = np.empty(len(first), np.int64)
    doubled = values
    for level in range(int(levels.max()) + 1):
        here = levels == level
        found[here] = np.minimum(doubled[first[here]], doubled[end[here] - (1 << level)])
        if len(doubled) > 1 << level:
            doubled = np.minimum(doubled[: -(1 << level)], doubled[1 << level :])
    return found


def greatest(history: History, start: Micros, end: Micros, within_s: int) -> Rise | None:
    """Greatest growth of a table in `[start, end)` (microseconds); None if it did not grow or is unknown."""
    files = history.main_numbers("total_data_files")
    found = rises(history.moves, files, start, end, within_s * MICROS_PER_SECOND)
    if not (found.shares > 0).any():
        return None
    place = int(np.nanargmax(found.shares))
    return _rise(
        int(found.before[place]), int(found.after[place]), float(found.shares[place]), Micros(found.times[place])
    )
