"""Findings of catalogs that are nearly full, slow or failing: `catalog_near_limit`, from the tables that each namespace
has, and the watcher's requests of the last quarter of an hour.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable

from limnograph.analysis.findings.observed.catalogs import CatalogHealth, catalog_levels
from limnograph.domain.finding_limits import MINUTE, FindingLimits
from limnograph.domain.time import EPOCH
from limnograph.domain.watch import CatalogSeen, Sighted
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
        the watcher's last round keeps its findings as they are. Counts the tables that it lists, and without a watcher
        the observed ones, which may be fewer. O(tables).
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
        seen = {each.name: each for each in sighted.catalogs} if sighted else {}
        silent = {name for name, each in seen.items() if not each.answers}
        levels = {
            name: catalog_levels(_health(tables[name], seen.get(name)), self._limits)
            for name in {*tables, *seen} - silent
        }
        self._levels.take(evaluator, levels, silent)


def _health(observed: Counter[str], seen: CatalogSeen | None) -> CatalogHealth:
    if seen is None:
        return CatalogHealth(observed)
    tables = {name: max(observed[name], seen.fullest.get(name, 0)) for name in {*observed, *seen.fullest}}
    return CatalogHealth(tables, seen.requests, seen.failed, seen.p95_s)
