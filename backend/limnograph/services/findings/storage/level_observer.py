"""Findings from measures that are observed now and then, of one source: bytes, readers, engines, partitions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from limnograph.analysis.findings.observed.subject_levels import SubjectLevel, WatchedLevels, observe
from limnograph.domain.finding_codes import OBSERVED, FindingCode, ObservedSource, source_of
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros
from limnograph.ports.clock import Clock
from limnograph.services.findings.evaluator import FindingsEvaluator


class LevelObserver:
    """Used on the event loop only, by one task, which waits for `take` where it calls it in a thread."""

    def __init__(self, source: ObservedSource, clock: Clock, *, limits: FindingLimits = FindingLimits()) -> None:  # noqa: B008  # immutable
        self._source: ObservedSource = source
        self._clock, self._limits = clock, limits
        self._watched: dict[str, WatchedLevels] = {}
        self._begun = False

    def take(
        self,
        evaluator: FindingsEvaluator,
        levels: Mapping[str, Sequence[SubjectLevel]],
        unknown: Collection[str] = (),
    ) -> None:
        """Hand the episodes of all tables, or catalogs, to the evaluator. `levels`: by table uuid or name of the
        catalog; one that is absent has none.
        `unknown`: tables whose measures are not known now; their findings stay as they are. Before the evaluator has
        read what is recorded, nothing changes. O(levels + tables with findings).
        """
        known = self._known(evaluator)
        if known is None:
            return
        now = self._clock.now()
        recorded = {} if self._begun else known
        for uuid in {*levels, *self._watched, *recorded} - {*unknown}:
            before = self._watched.get(uuid, WatchedLevels())
            after = observe(before, levels.get(uuid, ()), now, self._limits, recorded.get(uuid, {}))
            if after.over or after.open or after.ended:
                self._watched[uuid] = after
            else:
                self._watched.pop(uuid, None)
        for uuid in {*unknown} & recorded.keys():
            self._watched.setdefault(uuid, WatchedLevels.recorded(recorded[uuid]))
        self._begun = True
        evaluator.observed({uuid: each.episodes for uuid, each in self._watched.items() if each.episodes}, self._source)

    def _known(self, evaluator: FindingsEvaluator) -> dict[str, dict[tuple[FindingCode, str], Micros]] | None:
        """When the recorded findings of this source opened, by table; None if they are not known yet."""
        found: dict[str, dict[tuple[FindingCode, str], Micros]] = {}
        for code in OBSERVED[self._source]:
            opened = evaluator.known_open(code)
            if opened is None:
                return None
            for key, subjects in opened.items():
                uuid = key.rstrip(".") if self._source == "catalogs" else key
                mine = {
                    (code, subject): at for subject, at in subjects.items() if source_of(code, subject) == self._source
                }
                if mine:
                    found.setdefault(uuid, {}).update(mine)
        return found
