"""When an alert is true, and how far back what caused it can lie."""

from __future__ import annotations

from typing import NamedTuple

from limnograph.domain.time import EPOCH, MICROS_PER_SECOND, Micros
from limnograph.services.alerts.episode import AlertEpisode
from limnograph.services.alerts.links import expression, longest_range_s

LEAST_BEFORE = 3_600 * MICROS_PER_SECOND
"""A cause can lie at least this long before the alert: rules wait, and rates look back."""


class AlertInterval(NamedTuple):
    """Instants in microseconds. `start`: the earliest instant of a cause; `end`: None while firing or unknown."""

    start: Micros
    onset: Micros
    end: Micros | None


def interval_of(episode: AlertEpisode) -> AlertInterval:
    """The interval of an episode. It does not depend on Prometheus, so that all pages choose the same finding."""
    fact = episode.fact
    return interval_at(fact.starts_at, expression(fact.generator_url), episode.ends_at)


def interval_at(onset: Micros, asked: str | None = None, end: Micros | None = None) -> AlertInterval:
    """The interval of an alert that fired at `onset` by the expression `asked`."""
    before = max(LEAST_BEFORE, round(longest_range_s(asked) * MICROS_PER_SECOND))
    return AlertInterval(Micros(max(EPOCH, onset - before)), onset, end)
