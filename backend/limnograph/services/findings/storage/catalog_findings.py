"""Findings of catalogs that are nearly full: `catalog_near_limit`, from the tables that each namespace has."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable

from limnograph.analysis.findings.observed.catalogs import CatalogHealth, catalog_levels
from limnograph.domain.finding_limits import MINUTE, FindingLimits
from limnograph.domain.time import EPOCH
from limnograph.domain.watch import Sighted
from limnograph.ports.clock import Clock
from limnograph.services.findings.evaluator import FindingsEvaluator
from limnograph.services.findings.storage.level_observer import LevelObserver
from limnograph.services.lake.store import HotStore


class CatalogFindings:
    """Used on the event loop only, by one task, which waits for `observe` in a thread."""

    def __init__(
        self,
        store: HotStore,
        sighted: Callable[[], Sighted | None],
        clock: Clock,
        *,
        limits: FindingLimits = FindingLimits(),  # noqa: B008  # immutable
    ) -> None:
        self._store, self._sighted, self._clock, self._limits = store, sighted, clock, limits
        self._levels = LevelObserver("catalogs", clock, limits=limits)
        self._at = EPOCH

    def observe(self, evaluator: FindingsEvaluator) -> None:
        """Hand the episodes of all catalogs to the evaluator, at most once a minute. A catalog that did not respond in
        the watcher's last round keeps its findings as they are. Counts observed tables: a lower bound of what the
        catalog has. O(tables).
        """
        now = self._clock.now()
        if now - self._at < MINUTE:
            return
        self._at = now
        tables: dict[str, Counter[str]] = defaultdict(Counter)
        for table in self._store.reading.lake.listed:
            if table.name is not None and not table.dropped:
                tables[table.name.catalog][table.name.namespace] += 1
        sighted = self._sighted()
        silent = {each.name for each in sighted.catalogs if not each.answers} if sighted else set[str]()
        levels = {name: catalog_levels(CatalogHealth(counts), self._limits) for name, counts in tables.items()}
        self._levels.take(evaluator, {name: each for name, each in levels.items() if name not in silent}, silent)
