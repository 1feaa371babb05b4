"""The backtest: forecasts as they would have been made in the past of a site's own tables, beside what happened."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from limnograph.analysis.forecast import Forecaster
from limnograph.analysis.forecast_rows.replay import FullHistory, ReplayedForecast, replay
from limnograph.analysis.forecast_rows.replay_scores import horizon_scores, wait_errors
from limnograph.analysis.forecast_rows.table_rows import (
    COLUMNS,
    DAY,
    HISTORY_DAYS,
    HOUR,
    HOURLY_DAYS,
    NAMES,
    ROW_SCHEMA,
    tables_of,
)
from limnograph.domain.errors import InvalidInput
from limnograph.domain.facts.meta_tables import DAILY, HOURLY, MetaTable
from limnograph.domain.forecasts.backtest import BacktestReport
from limnograph.domain.time import Micros, to_millis, truncated
from limnograph.ports.clock import Clock
from limnograph.ports.meta_upkeep import MetaReads, Where
from limnograph.services.housekeeping.forecast_readers import ForecastReaders

MOST_TABLES = 500
"""Tables that are replayed: bounds memory and time."""
USUAL_DAYS = 14
_EVERY = DAY
_SEED = 1


class ForecastBacktest:
    """A backtest on one store. Cost law: O(tables x cut-offs), about 20 ms each, and the roll-ups of 120 days before
    the first cut-off until today, in memory.
    """

    def __init__(
        self,
        reads: MetaReads,
        clock: Clock,
        model: Forecaster,
        *,
        readers: ForecastReaders | None = None,
        most_tables: int = MOST_TABLES,
        progress: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._reads, self._clock, self._model = reads, clock, model
        self._readers, self._most, self._progress = readers, most_tables, progress

    def run(self, since: Micros | None = None) -> BacktestReport:
        """Forecasts at a cut-off a day from `since` on, default two weeks ago. Raises InvalidInput, SourceError."""
        until = truncated(self._clock.now(), HOUR)
        first = truncated(Micros(until - USUAL_DAYS * DAY if since is None else since), HOUR)
        if first > until - DAY:
            raise InvalidInput("--since", "must be at least a day ago: no outcome is known yet")
        if any(self._reads.standing(table).position is None for table in (HOURLY, DAILY)):
            raise InvalidInput("--backtest", "the meta tables have no roll-ups yet; the pipeline makes them")
        uuids = self._tables(first, until)
        histories = self._histories(frozenset(uuids[: self._most]), first, until)
        found, rng = list[ReplayedForecast](), np.random.default_rng(_SEED)
        origins = [Micros(at) for at in range(first, until - DAY + 1, _EVERY)]
        for number, origin in enumerate(origins, 1):
            found += replay(histories, origin, self._model, rng)
            self._progress(f"cut-off {number} of {len(origins)}: {len(found)} forecasts with an outcome")
        return self._report(found, origins, until, len(uuids))

    def _report(
        self, found: list[ReplayedForecast], origins: list[Micros], until: Micros, known: int
    ) -> BacktestReport:
        waits, error, trend_error = wait_errors(found)
        return BacktestReport(
            model=self._model.name,
            since=to_millis(origins[0]),
            until=to_millis(until),
            origins=len({each.origin for each in found}),
            tables=len({each.table for each in found}),
            tables_known=known,
            horizons=horizon_scores(found),
            abstained=round(sum(each.abstained for each in found) / len(found), 4) if found else None,
            waits=waits,
            wait_error=error,
            trend_wait_error=trend_error,
        )

    def _tables(self, first: Micros, until: Micros) -> list[str]:
        """Tables with commits since then, in the order of their uuids, which is random."""
        where = Where(start=truncated(first, DAY), end=until)
        rows = self._reads.rows(DAILY, self._reads.standing(DAILY).position, ("table_uuid",), where)
        return sorted(rows["table_uuid"].unique().to_list())

    def _histories(self, uuids: frozenset[str], first: Micros, until: Micros) -> list[FullHistory]:
        hourly = truncated(Micros(first - HOURLY_DAYS * DAY), DAY)
        daily = Micros(hourly - (HISTORY_DAYS - HOURLY_DAYS) * DAY)
        rows = pl.concat([self._rows(HOURLY, 1, uuids, hourly, until), self._rows(DAILY, 24, uuids, daily, hourly)])
        readers = self._readers.known(until).readers if self._readers else {}
        batches = rows.sort("table_uuid", "at").to_arrow().cast(ROW_SCHEMA).to_batches()
        return [FullHistory(table, until, readers.get(table.uuid)) for table in tables_of(batches)]

    def _rows(self, table: MetaTable, hours: int, uuids: frozenset[str], start: Micros, end: Micros) -> pl.DataFrame:
        unit = table.key[1]
        columns = ("table_uuid", unit, *NAMES, *COLUMNS.values())
        where = Where(tables=uuids, start=start, end=end)
        return self._reads.rows(table, self._reads.standing(table).position, columns, where).select(
            "table_uuid",
            pl.col(unit).alias("at"),
            pl.lit(hours, pl.Int64).alias("span_hours"),
            *NAMES,
            *(pl.col(source).cast(pl.Float64).alias(name) for name, source in COLUMNS.items()),
        )
