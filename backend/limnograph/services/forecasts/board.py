"""The newest forecast of every metric of every table, as one immutable value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from limnograph.domain.facts.forecasts import TOTAL_BYTES, ForecastFact
from limnograph.domain.forecasts.pages import RiskState
from limnograph.domain.time import Micros
from limnograph.services.forecasts.track import TrackedWarnings

SHOWN_HOURS = 168
"""The horizon that lists show, hours."""


class MetricForecast(NamedTuple):
    """The newest forecast of one metric: `shown` is over SHOWN_HOURS, `horizons` are all of them, ascending."""

    shown: ForecastFact
    horizons: Sequence[ForecastFact]

    @property
    def state(self) -> RiskState:
        """Whether it will cross, has crossed, or cannot be forecast."""
        return state_of(self.shown)


def state_of(fact: ForecastFact) -> RiskState:
    """The state of a metric. One that has crossed is red, whatever the forecast."""
    if fact.level is not None and fact.threshold is not None and fact.level >= fact.threshold:
        return "red"
    if fact.abstained is not None or fact.p_cross is None:
        return "cannot_say"
    return "at_risk" if fact.alert else "not_at_risk"


class ForecastBoard:
    """Immutable after construction.

    `by_table`: forecasts by table uuid, in the order of metrics
    `bytes`: forecast of the bytes of tables by uuid
    `as_of`: of the newest forecast; None: there is none
    `track`: outcomes of warnings
    """

    def __init__(self, facts: Iterable[ForecastFact] = (), track: TrackedWarnings | None = None) -> None:
        groups: dict[tuple[str, str], list[ForecastFact]] = defaultdict(list)
        for fact in facts:
            groups[fact.table_uuid, fact.metric].append(fact)
        by_table: dict[str, list[MetricForecast]] = defaultdict(list)
        sizes: dict[str, ForecastFact] = {}
        for (uuid, metric), group in sorted(groups.items()):
            found = _newest(group)
            if metric == TOTAL_BYTES:
                sizes[uuid] = found.horizons[-1]
            else:
                by_table[uuid].append(found)
        self.by_table: Mapping[str, Sequence[MetricForecast]] = by_table
        self.bytes: Mapping[str, ForecastFact] = sizes
        newest = max((each for group in groups.values() for each in group), key=_as_of, default=None)
        self.as_of: Micros | None = newest.as_of if newest else None
        self.model: str | None = newest.model if newest else None
        self.track = track or TrackedWarnings(())


def _newest(group: Sequence[ForecastFact]) -> MetricForecast:
    newest = max(fact.as_of for fact in group)
    horizons = sorted((fact for fact in group if fact.as_of == newest), key=lambda fact: fact.hours)
    shown = next((fact for fact in horizons if fact.hours == SHOWN_HOURS), horizons[-1])
    return MetricForecast(shown, horizons)


def _as_of(fact: ForecastFact) -> Micros:
    return fact.as_of
