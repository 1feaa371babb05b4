"""`objective_missed`: a limit was exceeded for its window, until it is kept for one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings.facts import Ints
from limnograph.analysis.findings.level import NEVER
from limnograph.analysis.findings.stretch import Stretch, ended
from limnograph.domain.objectives import PromisedLimit
from limnograph.domain.time import Micros


class ObjectiveState(NamedTuple):
    """`over`: whether the limit is exceeded, since when, and by what it came there. `last`: the last commit."""

    over: bool = False
    since: Micros = NEVER
    by: str | None = None
    last: Micros | None = None
    open: Stretch | None = None
    past: tuple[Stretch, ...] = ()


def advance(
    state: ObjectiveState, times: Ints, ids: Ints, *, until: Micros, promised: PromisedLimit | None
) -> ObjectiveState:
    """The state of a table's freshness after more commits. O(commits); only long pauses are looked at one by one."""
    if promised is None:
        return ObjectiveState()
    limit = promised.limit_us
    before = times if state.last is None else np.concatenate([[state.last], times])
    offset = 0 if state.last is not None else 1
    for place in (np.flatnonzero(np.diff(before) > limit) + offset).tolist():  # the commit that ends a pause
        began = Micros(int(times[place - 1] if place else state.last or 0) + limit)
        state = _turned(state, began, over=True, by=None, promised=promised)
        state = _turned(state, Micros(times[place]), over=False, by=str(ids[place]), promised=promised)
    last = state.last if not len(times) else Micros(max(int(times[-1]), state.last or 0))
    state = state._replace(last=last)
    if last is not None and not state.over and last + limit <= until:
        state = _turned(state, Micros(last + limit), over=True, by=None, promised=promised)
    return _settled(state, until, promised)


def due(state: ObjectiveState, promised: PromisedLimit | None) -> Micros:
    """When the state of a table's freshness changes although nothing is committed; NEVER if it does not."""
    if promised is None or state.last is None:
        return NEVER
    exceeded = NEVER if state.over else Micros(state.last + promised.limit_us)
    return min(exceeded, _next(state, promised))


def missed(points: Iterable[tuple[Micros, bool]], until: Micros, promised: PromisedLimit) -> ObjectiveState:
    """The state at an instant after some points in time order; each says whether the limit was exceeded from then
    on.
    """
    state = ObjectiveState()
    for at, over in points:
        if over != state.over:
            state = _turned(state, at, over=over, by="run", promised=promised)
    return _settled(state, until, promised)


def next_turn(state: ObjectiveState, promised: PromisedLimit) -> Micros:
    """When the state that `missed` returned changes although no point follows; NEVER if it does not."""
    return _next(state, promised)


def _next(state: ObjectiveState, promised: PromisedLimit) -> Micros:
    pending = state.over == (state.open is None) and state.since != NEVER
    return Micros(state.since + promised.window_us) if pending else NEVER


def _turned(
    state: ObjectiveState, at: Micros, *, over: bool, by: str | None, promised: PromisedLimit
) -> ObjectiveState:
    if state.over == over:
        return state
    state = _settled(state, Micros(at - 1), promised)
    return state._replace(over=over, since=at, by=by)


def _settled(state: ObjectiveState, until: Micros, promised: PromisedLimit) -> ObjectiveState:
    when = _next(state, promised)
    if when > until:
        return state
    if state.open is None:
        return state._replace(open=Stretch(state.since, when))
    closed = state.open._replace(closed=when, closed_by=state.by)
    return state._replace(open=None, past=ended(state.past, closed))
