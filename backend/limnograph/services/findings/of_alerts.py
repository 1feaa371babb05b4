"""The finding that an alert is about, so that the alert's pages say the same as the pages of its table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from limnograph.domain.answers.findings import Finding
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.finding_codes import DERIVED_LABEL, EVENT_CODES, group_of, severity_rank
from limnograph.domain.ids import TableName
from limnograph.domain.inbound.alert_codes import codes_of_alert
from limnograph.domain.time import EPOCH, MICROS_PER_SECOND
from limnograph.services.alerts.interval import AlertInterval
from limnograph.services.alerts.links import expression
from limnograph.services.findings.board import FindingsBoard, is_shown, key_of, key_of_name
from limnograph.services.findings.views import ShownFinding, view

CLOCK_SKEW = 300 * MICROS_PER_SECOND
"""Clocks of writers and of Prometheus differ: a cause may seem to begin so long after its alert."""


class AlertFindings:
    """`board`: all current findings; `shown`: what pages show of one. Immutable after construction."""

    def __init__(self, board: Callable[[], FindingsBoard], shown: ShownFinding = view) -> None:
        self._board, self._shown = board, shown

    def of(self, fact: AlertFact, interval: AlertInterval) -> Finding | None:
        """The finding that an alert belongs to; None if it is about no finding. O(findings of the table or job)."""
        board = self._board()
        found = _belonging(fact, interval, board)
        return None if found is None else self._shown(found, board.by_table.get(key_of(found), ()))


def _belonging(fact: AlertFact, interval: AlertInterval, board: FindingsBoard) -> FindingFact | None:
    codes = codes_of_alert(fact.alert_name, fact.labels or {}, expression(fact.generator_url))
    of_table = _of_table(fact, interval, board)
    for code in codes:
        found = _likeliest((each for each in of_table if each.code == code), interval)
        if found is not None:
            return found
    if codes:
        return None
    if fact.job_name:
        return _of_job(fact, fact.job_name, interval, board)
    return _most_harmful([each for each in of_table if _opened_with(each, interval)])


def _of_table(fact: AlertFact, interval: AlertInterval, board: FindingsBoard) -> Sequence[FindingFact]:
    if not (fact.catalog and fact.namespace and fact.table):
        return ()
    name = TableName(fact.catalog, fact.namespace, fact.table)
    is_derived = DERIVED_LABEL in (fact.labels or {})
    facts = board.by_name.get(key_of_name(name), ())
    return [each for each in facts if _overlaps(each, interval, is_derived=is_derived)]


def _of_job(fact: AlertFact, job: str, interval: AlertInterval, board: FindingsBoard) -> FindingFact | None:
    """What slowed the job comes before that it is slow, silent or failing."""
    every = [each for each in board.by_job.get(job, ()) if _overlaps(each, interval)]
    mine = {each.finding_id for each in _of_table(fact, interval, board)}
    for found in ([each for each in every if each.finding_id in mine], every):
        causes = [each for each in found if group_of(each.code) != "jobs"]
        best = _likeliest(causes, interval) or _likeliest(found, interval)
        if best is not None:
            return best
    return None


def _overlaps(each: FindingFact, interval: AlertInterval, *, is_derived: bool = False) -> bool:
    """Whether a finding was open in the window of the alert. One that closed just before the alert fired counts: rules
    look back. An event that opened long before is not what an alert of now is about, unless the alert is derived from
    findings and fires as long as one is open.
    """
    if not is_shown(each):
        return False
    opened = each.opened_at or EPOCH
    if each.closed_at is not None and each.closed_at < interval.start:
        return False
    if each.code in EVENT_CODES and opened < interval.start and not is_derived:
        return False
    return interval.end is None or opened <= interval.end


def _opened_with(each: FindingFact, interval: AlertInterval) -> bool:
    return interval.start <= (each.opened_at or EPOCH) <= interval.onset + CLOCK_SKEW


def _likeliest(found: Iterable[FindingFact], interval: AlertInterval) -> FindingFact | None:
    """The last that opened before the onset, else the first that opened after it."""
    every = sorted(found, key=lambda each: (each.opened_at or EPOCH, each.finding_id))
    before = [each for each in every if (each.opened_at or EPOCH) <= interval.onset + CLOCK_SKEW]
    return before[-1] if before else next(iter(every), None)


def _most_harmful(found: Sequence[FindingFact]) -> FindingFact | None:
    """For an alert of unknown meaning: only what does harm, the most severe first, then the newest."""
    harmful = [each for each in found if each.severity != "info"]
    return min(harmful, key=lambda each: (severity_rank(each.severity), -(each.opened_at or EPOCH)), default=None)
