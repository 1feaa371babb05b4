"""Alerts of severity critical that are about a table: they raise the severity of its findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from limnograph.domain.finding_codes import DERIVED_LABEL
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros
from limnograph.services.alerts.episode import AlertEpisode
from limnograph.services.alerts.registry import AlertRegistry

CRITICAL = "critical"
AlertNames = Mapping[TableName, str]


class CriticalAlerts:
    """By table, the name of an alert with severity critical that fires. An alert that follows from a finding has the
    label DERIVED_LABEL and does not count. Thread-safe: what was read is replaced as a unit.
    """

    def __init__(self, alerts: AlertRegistry) -> None:
        self._alerts = alerts
        self._read: tuple[int, AlertNames] = (-1, {})

    def now(self) -> AlertNames | None:
        """Those that fire; None until the stored alerts were read. O(alerts) after a change, otherwise nothing."""
        if not self._alerts.is_read:
            return None
        version = self._alerts.version(None)
        if version != self._read[0]:
            self._read = (version, self._names(lambda episode: episode.firing))
        return self._read[1]

    def at(self, instant: Micros) -> AlertNames:
        """Those that fired at an instant. O(alerts)."""
        return self._names(lambda episode: _fired_at(episode, instant))

    def _names(self, fires: Callable[[AlertEpisode], bool]) -> AlertNames:
        found: dict[TableName, str] = {}
        for episode in self._alerts.episodes():
            fact = episode.fact
            if fact.severity != CRITICAL or DERIVED_LABEL in (fact.labels or {}) or not fires(episode):
                continue
            if fact.catalog and fact.namespace and fact.table:
                found[TableName(fact.catalog, fact.namespace, fact.table)] = fact.alert_name or "an alert"
        return found


def _fired_at(episode: AlertEpisode, instant: Micros) -> bool:
    until = episode.known_to
    return episode.fact.starts_at <= instant and (until is None or instant < until)
