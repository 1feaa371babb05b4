"""A metrics source with its health: when it last answered and why it last did not."""

from __future__ import annotations

from limnograph.domain.errors import SourceError
from limnograph.domain.series import Matrix, RangeQuery
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.ports.clock import Clock
from limnograph.ports.metrics_source import MetricsSource


class Metrics:
    """Wraps one source; the same interface, plus health for lanes and status."""

    def __init__(self, source: MetricsSource, clock: Clock) -> None:
        self._source, self._clock = source, clock
        self.last_success: int | None = None
        self.last_error: SourceError | None = None

    @property
    def name(self) -> str:
        """Name of the source in settings."""
        return self._source.name

    async def range(self, query: RangeQuery) -> Matrix:
        """As the source does. Raises SourceError."""
        try:
            found = await self._source.range(query)
        except SourceError as error:
            self.last_error = error
            raise
        self.last_success, self.last_error = self._clock.now(), None
        return found

    async def instant(self, promql: str, at_ms: int) -> Matrix:
        """One sample per series at one instant."""
        return await self.range(RangeQuery(promql, at_ms, at_ms, 60))

    def age_s(self) -> float | None:
        """Seconds since the last answer."""
        return None if self.last_success is None else (self._clock.now() - self.last_success) / MICROS_PER_SECOND
