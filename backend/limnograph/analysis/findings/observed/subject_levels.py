"""Level rules over measures that do not follow from commits: bytes, readers, engines. Each measure is observed now and
then; a finding opens after it had reached its limit for ten minutes, and closes below 0.8 of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from limnograph.analysis.findings.episodes import Cause, Episode
from limnograph.analysis.findings.events import Detail
from limnograph.analysis.findings.stretch import Stretch
from limnograph.domain.finding_codes import CODES, FindingCode, FindingSeverity
from limnograph.domain.finding_limits import DAY, FindingLimits
from limnograph.domain.time import Micros

REMEMBERED = DAY
"""How long an ended stretch is given out, so that its finding closes, microseconds."""


class SubjectLevel(NamedTuple):
    """A measure of one subject now, and its limit; for a condition that is met or not, 1 or 0, and 1. `began`: when the
    condition began, if facts say so; otherwise when it was first observed.
    """

    code: FindingCode
    subject: str
    value: float
    limit: float
    severity: FindingSeverity
    evidence: Mapping[str, Detail]
    began: Micros | None = None
    cause: Cause | None = None

    @property
    def is_over(self) -> bool:
        """Whether the measure has reached its limit."""
        return self.value >= self.limit


_Key = tuple[FindingCode, str]
_NONE: Mapping[_Key, Micros] = MappingProxyType({})


class WatchedLevels(NamedTuple):
    """Levels of one table as last observed. `over`: since when those are above their limits that are not open yet."""

    over: Mapping[_Key, Micros] = _NONE
    open: Mapping[_Key, Episode] = MappingProxyType({})
    ended: tuple[Episode, ...] = ()

    @classmethod
    def recorded(cls, opened: Mapping[_Key, Micros]) -> WatchedLevels:
        """Recorded findings as they are, without evidence: what is known of them before the first observation."""
        stretches = {key: Stretch(at, at, truncated=True) for key, at in opened.items()}
        return cls(open={key: Episode(*key, each, CODES[key[0]].severity, None, {}) for key, each in stretches.items()})

    @property
    def episodes(self) -> list[Episode]:
        """Open ones and those that ended lately."""
        return [*self.ended, *self.open.values()]


def at_once(levels: Sequence[SubjectLevel], at: Micros) -> list[Episode]:
    """Episodes of a table that is observed once: what is above its limit."""
    return [_episode(each, Stretch(each.began or at, at, peak=each.value)) for each in levels if each.is_over]


def observe(
    watched: WatchedLevels,
    levels: Sequence[SubjectLevel],
    at: Micros,
    limits: FindingLimits,
    known: Mapping[_Key, Micros] = _NONE,
) -> WatchedLevels:
    """The levels at an instant. A subject that is absent is no longer above its limit. `known`: when the findings
    opened that are recorded as open, for the first observation. O(levels).
    """
    over, open_ = dict[_Key, Micros](), dict[_Key, Episode]()
    ended = [each for each in watched.ended if (each.stretch.closed or at) > at - REMEMBERED]
    by_key = {(each.code, each.subject): each for each in levels}
    for key in {*by_key, *watched.open, *known}:
        level, before = by_key.get(key), watched.open.get(key)
        stretch = before.stretch if before else None
        if stretch is None and key in known:
            stretch = Stretch(known[key], known[key], truncated=True)
        if stretch is not None:
            if level is not None and level.value >= limits.below * level.limit:
                open_[key] = _episode(level, stretch._replace(peak=max(stretch.peak or 0.0, level.value)))
            else:
                ended.append(_ended(key, before, stretch._replace(closed=at)))
        elif level is not None and level.is_over:
            since = watched.over.get(key, at)
            began = Micros(min(since, at if level.began is None else level.began))
            if at - began >= limits.confirmed_after:
                opened = Micros(began + limits.confirmed_after)
                open_[key] = _episode(level, Stretch(began, opened, peak=level.value))
            else:
                over[key] = since
    return WatchedLevels(over, open_, tuple(ended))


def _episode(level: SubjectLevel, stretch: Stretch) -> Episode:
    return Episode(level.code, level.subject, stretch, level.severity, level.cause, dict(level.evidence))


def _ended(key: _Key, before: Episode | None, stretch: Stretch) -> Episode:
    code, subject = key
    if before is not None:
        return before._replace(stretch=stretch)
    return Episode(code, subject, stretch, "info", None, {})
