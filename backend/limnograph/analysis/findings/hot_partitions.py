"""A partition of the current period, or of the one before, that is much larger than such partitions usually are: a
level rule per partition, which ends with the period after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings import level
from limnograph.analysis.findings.facts import Flags, Floats, Ints, TableFacts
from limnograph.analysis.findings.level import ALWAYS, NEVER, UNDER, LevelState, MeasuredLevel, PlacedLevel
from limnograph.analysis.findings.stretch import PAST_KEPT, Stretch
from limnograph.analysis.hot_partition import YOUNG
from limnograph.analysis.partition_periods import period_of
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros

PastHot = tuple[tuple[str, Stretch], ...]
_NONE: Mapping[str, LevelState] = MappingProxyType({})


class HotPartitionState(NamedTuple):
    """`levels`: by text of the partition, those that are hot, may become so, or rest. `past`: ended ones."""

    levels: Mapping[str, LevelState] = _NONE
    past: PastHot = ()

    @property
    def stretches(self) -> Iterator[tuple[str, Stretch]]:
        """Every stretch with its partition."""
        yield from self.past
        for text, state in self.levels.items():
            yield from ((text, each) for each in (*state.past, *([state.open] if state.open else [])))


class _Moves(NamedTuple):
    """Moves of main with the level of one partition."""

    times: Ints
    ids: Ints
    level: PlacedLevel

    def between(self, after: Micros | None, until: Micros) -> _Moves:
        first = 0 if after is None else int(self.times.searchsorted(after, "right"))
        return self.part(slice(first, int(self.times.searchsorted(until, "right"))))

    def part(self, rows: slice) -> _Moves:
        values, limits, positions = self.level
        return _Moves(self.times[rows], self.ids[rows], PlacedLevel(values[rows], limits[rows], positions[rows]))


def advance(state: HotPartitionState, facts: TableFacts, *, until: Micros, limits: FindingLimits) -> HotPartitionState:
    """The state after more moves, and at the instant `until`. O(moves · hot partitions)."""
    codes, names = facts.hot_partitions
    ratios = facts.numbers("hot_partition_ratio")
    is_near = ratios > limits.below * limits.hot_ratio
    if not state.levels and not is_near.any():
        return state
    near = np.unique(codes[is_near]).tolist()
    texts = dict.fromkeys([*state.levels, *(name for code in near if (name := names[code]) is not None)])
    levels, past = dict[str, LevelState](), state.past
    for text in texts:
        is_it = codes == (names.index(text) if text in names else -1)
        known = state.levels.get(text)
        moves = _moves(facts, is_it, ratios, limits)
        if known is None:
            moves = moves.part(slice(int(is_it.argmax()), None))
        found = _of_partition(text, known or LevelState(position=UNDER), moves, until=until, limits=limits)
        if _is_over(text, found, until, limits):
            past = (*past, *((text, each) for each in found.past))[-PAST_KEPT:]
        else:
            levels[text] = found
    return HotPartitionState(levels, past)


def _moves(facts: TableFacts, is_it: Flags, ratios: Floats, limits: FindingLimits) -> _Moves:
    """With the level of a partition, which is unknown where another one is hotter: but if that one is not hot, no
    partition is.
    """
    values = np.where(is_it | (ratios < limits.below * limits.hot_ratio), ratios, np.nan)
    (placed,) = level.placed([MeasuredLevel(values, limits.hot_ratio, ALWAYS)], limits)
    return _Moves(facts.times, facts.ids, placed)


def due(state: HotPartitionState, limits: FindingLimits) -> Micros:
    """When the state changes although nothing is committed; NEVER if it does not."""
    changes = (min(level.due(each, limits), _ends(text) if each.open else NEVER) for text, each in state.levels.items())
    return Micros(min(changes, default=NEVER))


def _of_partition(text: str, state: LevelState, moves: _Moves, *, until: Micros, limits: FindingLimits) -> LevelState:
    """A level until its partition is too old: it opens for the first time within YOUNG of its beginning, and lasts
    until the next period is over.
    """
    period, ends = period_of(text), _ends(text)
    young = Micros(min(ends, (period.start if period else until) + YOUNG))
    for after, before in ((None, young), (young, ends)):
        if after is None or _was_hot(state):
            part, stop = moves.between(after, before), Micros(min(until, before))
            state = level.advance(state, part.times, part.ids, part.level, until=stop, limits=limits)
    if until < young or (until < ends and _was_hot(state)):
        return state
    over = state._replace(position=UNDER)
    if state.open is None:
        return over
    closed = state.open._replace(closed=ends, closed_by="expired")
    return over._replace(open=None, past=(*state.past, closed), turned=ends)


def _was_hot(state: LevelState) -> bool:
    return state.open is not None or bool(state.past)


def _is_over(text: str, state: LevelState, until: Micros, limits: FindingLimits) -> bool:
    """Whether nothing of a level is needed any more, but its past."""
    rests = until < state.turned + limits.rest
    returns = until < _ends(text) and bool(state.past)
    return state.open is None and state.position == UNDER and not rests and not returns


def _ends(text: str) -> Micros:
    """When the period after a partition's own is over."""
    period = period_of(text)
    return NEVER if period is None else period.next_end
