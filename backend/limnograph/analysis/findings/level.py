"""Level rules: a finding opens after a number was above its limit for ten minutes or two commits, and closes below 0.8
of it, with at least an hour between two transitions.

A rule reads its rows once, in order, in any portions: the state after one portion is where the next one continues, so
that a finding does not depend on when it was evaluated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings.facts import Flags, Floats, Ints
from limnograph.analysis.findings.stretch import Stretch, ended
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros

OVER, BETWEEN, UNDER = 1, 0, -1
UNKNOWN_POSITION = -2
NEVER = Micros(2**62)
LONG_AGO = Micros(-(2**62))
ALWAYS = np.True_
"""No other condition."""


class MeasuredLevel(NamedTuple):
    """A measure and its limit, per move of main or for all; NaN where unknown. `matters`: false where other conditions
    are not met, which also closes a finding. `below`: the share of the limit below which it closes, if not
    the usual one.
    """

    values: Floats
    limits: Floats | float
    matters: Flags | np.bool_
    below: float | None = None


_FIRST = np.zeros(1, np.int64)


class LevelState(NamedTuple):
    """What a rule remembers between two portions of rows.

    position  whether the last known value was over, between or under; None: no value is known
    since     when it came there, by which commit, and the second commit that left it there
    turned    the last transition
    limit     that the last known value was compared with
    """

    position: int | None = None
    since: Micros = LONG_AGO
    commit: int | None = None
    second: Micros | None = None
    truncated: bool = False
    high: float = 0.0
    turned: Micros = LONG_AGO
    limit: float | None = None
    open: Stretch | None = None
    past: tuple[Stretch, ...] = ()


class _Step(NamedTuple):
    """A run of moves with the same position."""

    position: int
    at: Micros
    commit: int
    second: Micros | None
    high: float
    limit: float


class PlacedLevel(NamedTuple):
    """A measure and its limit per move of main, NaN where unknown, and where each value lies."""

    values: Floats
    limits: Floats
    positions: Ints


def advance(
    state: LevelState, times: Ints, ids: Ints, level: PlacedLevel, *, until: Micros, limits: FindingLimits
) -> LevelState:
    """The state after more moves, and at the instant `until`. O(moves), and nearly nothing while the position does not
    change.
    """
    for step in _steps(times, ids, level):
        if step.position == state.position:
            if state.second is not None and step.high <= state.high and step.limit == state.limit:
                continue
            second = step.at if state.second is None else state.second
            state = state._replace(
                second=second, high=max(state.high, step.high), limit=step.limit, open=_raised(state.open, step)
            )
            continue
        state = _settled(state, Micros(step.at - 1), limits)
        goes_on = step.position == OVER and state.open is None
        state = state._replace(
            position=step.position,
            since=step.at,
            commit=step.commit,
            second=step.second,
            truncated=state.position is None and goes_on,
            high=step.high,
            limit=step.limit,
            open=_raised(state.open, step),
        )
    return _settled(state, until, limits)


def due(state: LevelState, limits: FindingLimits) -> Micros:
    """When the state changes although nothing is committed; NEVER if it does not."""
    if state.open is None and state.position == OVER:
        return _opens(state, limits)
    if state.open is not None and state.position == UNDER:
        return Micros(max(state.since, state.turned + limits.rest))
    return NEVER


def placed(levels: Sequence[MeasuredLevel], limits: FindingLimits) -> list[PlacedLevel]:
    """Where each value lies: OVER its limit, UNDER the limit at which a finding closes, BETWEEN, or unknown. All levels
    of the same moves in one step.
    """
    count = len(levels[0].values)
    values, most = np.empty((2, len(levels), count))
    matters = np.empty((len(levels), count), np.bool_)
    below = np.array([[limits.below if level.below is None else level.below] for level in levels])
    for row, level in enumerate(levels):
        values[row], most[row], matters[row] = level.values, level.limits, level.matters
    under = ~matters | (values < below * most)
    positions = np.where(matters & (values > most), OVER, np.where(under, UNDER, BETWEEN))
    positions[np.isnan(values) | np.isnan(most)] = UNKNOWN_POSITION
    return [PlacedLevel(*of_level) for of_level in zip(values, most, positions, strict=True)]


def _steps(times: Ints, ids: Ints, level: PlacedLevel) -> list[_Step]:
    known = (level.positions != UNKNOWN_POSITION).nonzero()[0]
    if not len(known):
        return []
    positions, values, most = level.positions[known], level.values[known], level.limits[known]
    times, ids = times[known], ids[known]
    turns = (positions[1:] != positions[:-1]).nonzero()[0] + 1
    starts = np.concatenate([_FIRST, turns]) if len(turns) else _FIRST
    ends = np.append(turns, len(times)) if len(turns) else np.array([len(times)])
    highs = np.maximum.reduceat(values, starts)
    return [
        _Step(
            int(positions[start]),
            Micros(times[start]),
            int(ids[start]),
            Micros(times[start + 1]) if end - start > 1 else None,
            float(high),
            float(most[end - 1]),
        )
        for start, end, high in zip(starts.tolist(), ends.tolist(), highs.tolist(), strict=True)
    ]


def _opens(state: LevelState, limits: FindingLimits) -> Micros:
    confirmed = Micros(state.since + limits.confirmed_after)
    if state.second is not None:
        confirmed = min(confirmed, state.second)
    return Micros(max(confirmed, state.turned + limits.rest))


def _settled(state: LevelState, until: Micros, limits: FindingLimits) -> LevelState:
    """With the transition that time alone brings."""
    when = due(state, limits)
    if when > until:
        return state
    if state.open is None:
        began = Stretch(state.since, when, state.commit, peak=state.high, truncated=state.truncated)
        return state._replace(open=began, turned=when)
    closed = state.open._replace(closed=when, closed_by=str(state.commit))
    return state._replace(open=None, past=ended(state.past, closed), turned=when)


def _raised(stretch: Stretch | None, step: _Step) -> Stretch | None:
    """With a larger peak. What a value under the limit is does not matter: it ends the stretch."""
    if stretch is None or step.position == UNDER or (stretch.peak is not None and stretch.peak >= step.high):
        return stretch
    return stretch._replace(peak=step.high)
