"""`at_risk` of all tables: a metric that will probably reach its threshold, from the warning to its end."""

from __future__ import annotations

import logging
from collections import defaultdict

from limnograph.analysis.findings.events import Detail
from limnograph.analysis.findings.observed.subject_levels import SubjectLevel
from limnograph.domain.errors import SourceError
from limnograph.domain.facts.forecasts import ForecastFact
from limnograph.domain.finding_codes import CODES
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import to_millis
from limnograph.ports.clock import Clock
from limnograph.services.findings.evaluator import FindingsEvaluator
from limnograph.services.findings.storage.level_observer import LevelObserver
from limnograph.services.forecasts.records import ForecastRecords

_log = logging.getLogger("limnograph.forecasts")
_NUMBERS = ("threshold", "level", "p10", "p90", "p_cross", "p_cross_if_maintained", "growth_per_day", "driver", "hours")


class ForecastFindings:
    """Used on the event loop only, by one task, which waits for `observe` where it calls it in a thread."""

    def __init__(self, records: ForecastRecords, clock: Clock, *, limits: FindingLimits = FindingLimits()) -> None:  # noqa: B008  # immutable
        self._records = records
        self._levels = LevelObserver("forecasts", clock, limits=limits)

    def observe(self, evaluator: FindingsEvaluator) -> None:
        """Hand the episodes of all tables to the evaluator. If forecasts cannot be read, nothing changes. O(tables)."""
        try:
            board = self._records.board()
        except SourceError as error:
            _log.info("forecasts: %s", error)
            return
        levels: dict[str, list[SubjectLevel]] = defaultdict(list)
        for uuid, found in board.by_table.items():
            levels[uuid] += [risk_level(each.shown) for each in found if each.state == "at_risk"]
        self._levels.take(evaluator, levels)


def risk_level(fact: ForecastFact) -> SubjectLevel:
    """A warning as a condition that is met since it began; its subject is the metric."""
    evidence: dict[str, Detail] = {name: getattr(fact, name) for name in _NUMBERS}
    evidence |= {"as_of": to_millis(fact.as_of), "job": fact.job_name}
    evidence |= {"crosses_from": to_millis(fact.crosses_from), "crosses_to": to_millis(fact.crosses_to)}
    known = {name: value for name, value in evidence.items() if value is not None}
    return SubjectLevel("at_risk", fact.metric, 1, 1, CODES["at_risk"].severity, known, began=fact.warned_at)
