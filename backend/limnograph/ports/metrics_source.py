"""Job and infrastructure metrics: range queries in PromQL."""

from __future__ import annotations

from typing import Protocol

from limnograph.domain.metrics.series import Matrix, RangeQuery


class MetricsSource(Protocol):
    """One metrics server; `name` identifies it in the status and in problems."""

    name: str

    async def range(self, query: RangeQuery) -> Matrix:
        """Evaluate one range query within the source's own total deadline. Raises SourceError."""
        ...

    async def aclose(self) -> None:
        """Close pooled connections."""
        ...
