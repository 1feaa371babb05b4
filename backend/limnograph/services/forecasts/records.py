"""Forecasts as recorded in the meta table, kept in memory for pages and findings."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import msgspec
import polars as pl

from limnograph.domain.facts.forecasts import FORECASTS_KEPT_DAYS, ForecastFact
from limnograph.domain.finding_limits import DAY, HOUR, MINUTE
from limnograph.domain.time import Micros
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.forecasts.board import SHOWN_HOURS, ForecastBoard
from limnograph.services.forecasts.track import TRACKED_COLUMNS, TrackedForecast, TrackedWarnings

SHOWN = 8 * DAY
"""A table without a newer forecast is not listed: it had no commit since."""
LOOK = MINUTE
"""Time between two looks for new forecasts."""
REREAD = HOUR
"""Time between two reads of all outcomes."""
SLICE = 7 * DAY
"""Forecasts that are read together, which bounds the memory."""
_KEY = ("table_uuid", "metric", "hours")


class ForecastRecords:
    """Thread-safe: one caller reads at a time, Guarded by `_reading`; `_known` is replaced whole."""

    def __init__(self, engine: QueryEngine, clock: Clock) -> None:
        self._engine, self._clock = engine, clock
        self._reading = threading.Lock()
        self._known: ForecastBoard | None = None
        self._looked_at = self._read_at = Micros(-REREAD)

    def board(self) -> ForecastBoard:
        """The newest forecasts, at most LOOK old. Blocks. Raises SourceError. O(forecasts of 90 days) if there are new
        ones, and once an hour; otherwise one row is read.
        """
        with self._reading:
            now = self._clock.now()
            known = self._known
            if known is not None and now - self._looked_at < LOOK:
                return known
            if known is None or now - self._read_at >= REREAD or self._has_newer(known):
                known = self._known = self._read(now)
                self._read_at = now
            self._looked_at = now
            return known

    @property
    def known(self) -> ForecastBoard:
        """What was read last, without reading."""
        return self._known or ForecastBoard()

    def _has_newer(self, known: ForecastBoard) -> bool:
        start = None if known.as_of is None else Micros(known.as_of + 1)
        return not self._engine.select(
            MetaQuery(table="forecasts", columns=("as_of",), start=start, limit=1)
        ).is_empty()

    def _read(self, now: Micros) -> ForecastBoard:
        rows = self._engine.select(MetaQuery(table="forecasts", start=Micros(now - SHOWN)))
        newest = rows.sort("as_of").unique(_KEY, keep="last", maintain_order=True)
        facts = msgspec.convert(newest.to_dicts(), list[ForecastFact])
        tracked = [*self._tracked(now)]
        first = self._engine.select(MetaQuery(table="forecasts", columns=("as_of",), limit=1))
        since = Micros(first["as_of"][0]) if first.height else None
        return ForecastBoard(facts, TrackedWarnings(tracked, since))

    def _tracked(self, now: Micros) -> Iterator[TrackedForecast]:
        """Forecasts over SHOWN_HOURS that warned or came true."""
        start = now - FORECASTS_KEPT_DAYS * DAY
        while start <= now:
            span = MetaQuery(
                table="forecasts",
                columns=(*TRACKED_COLUMNS, "hours"),
                start=Micros(start),
                end=Micros(start + SLICE),
            )
            rows = self._engine.select(span).filter(
                (pl.col("hours") == SHOWN_HOURS) & (pl.col("alert") | pl.col("crossed"))
            )
            yield from msgspec.convert(rows.drop("hours").to_dicts(), list[TrackedForecast])
            start += SLICE
