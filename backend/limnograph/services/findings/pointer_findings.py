"""Findings of catalogs: names of one table that point at different snapshots, as the watcher sees them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.pointers import ParallelPointers, Pointer, two_pointers
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros
from limnograph.domain.watch import PartedTable, Sighted
from limnograph.ports.clock import Clock
from limnograph.services.findings.evaluator import FindingsEvaluator
from limnograph.services.lake.store import HotStore

KEPT = 24 * 3_600 * 1_000_000
"""How long an ended difference is remembered, so that its finding closes, microseconds."""


class PointerFindings:
    """Used on the event loop only, by one task."""

    def __init__(
        self,
        store: HotStore,
        sighted: Callable[[], Sighted | None],
        clock: Clock,
        *,
        limits: FindingLimits = FindingLimits(),  # noqa: B008  # immutable
    ) -> None:
        self._store, self._sighted, self._clock, self._limits = store, sighted, clock, limits
        self._parted: dict[tuple[TableName, ...], ParallelPointers] = {}
        self._observed = False

    def observe(self, evaluator: FindingsEvaluator) -> None:
        """Hand the episodes of all tables to the evaluator; before the watcher read every catalog once, and without
        a watcher, nothing changes. O(tables with differing pointers).
        """
        sighted, known = self._sighted(), evaluator.known_open("two_pointers")
        if sighted is None or not sighted.whole or known is None:
            return
        now = self._clock.now()
        self._see(sighted.parted, {} if self._observed else known, now)
        self._observed = True
        found: dict[str, list[Episode]] = defaultdict(list)
        for uuid, episode in self._episodes(now):
            found[uuid].append(episode)
        evaluator.observed(found, "pointers")

    def _see(self, parted: Sequence[PartedTable], opened: Mapping[str, Mapping[str, Micros]], now: Micros) -> None:
        """Take what the watcher sees. `opened`: when findings opened that an earlier server recorded."""
        seen = {tuple(sorted(each.names)): each for each in parted}
        for names, each in seen.items():
            before = self._parted.get(names)
            pointers = [Pointer(str(name.plain), at) for name, at in zip(each.names, each.snapshot_ids, strict=True)]
            if before is not None and before.ended is None:
                self._parted[names] = before._replace(pointers=pointers)
                continue
            uuids = {self._store.reading.lake.names.get(name, "") for name in names}
            earlier = [at for uuid in uuids for at in opened.get(uuid, {}).values()]
            since = min([now, *earlier])
            self._parted[names] = ParallelPointers(pointers, since, truncated=not self._observed)
        for names, kept in list(self._parted.items()):
            if names not in seen and kept.ended is None:
                self._parted[names] = kept._replace(ended=now)
            elif kept.ended is not None and now - kept.ended > KEPT:
                del self._parted[names]

    def _episodes(self, now: Micros) -> Iterator[tuple[str, Episode]]:
        """Each table's; one series has all names of its location."""
        lake = self._store.reading.lake
        for names, parted in self._parted.items():
            for uuid in sorted({uuid for name in names if (uuid := lake.names.get(name)) is not None}):
                own = lake.tables[uuid].name
                name = own if own in names else next(each for each in names if lake.names.get(each) == uuid)
                episode = two_pointers(str(name.plain), parted, until=now, limits=self._limits)
                if episode is not None:
                    yield uuid, episode
