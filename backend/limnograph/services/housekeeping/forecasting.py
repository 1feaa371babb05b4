"""The forecast as a step: tables that moved since their last forecast are forecast, and forecasts whose horizon has
passed get their outcome. Idempotent: a forecast is appended once by its key, and its outcome is filled in once.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import msgspec
import polars as pl
import pyarrow as pa

from limnograph.analysis.forecast import Forecaster
from limnograph.analysis.forecast_rows.request import (
    ForecastRequest,
    ForecastRows,
    PendingForecast,
    WarnedMetric,
)
from limnograph.domain.facts.forecasts import FORECASTS_KEPT_DAYS
from limnograph.domain.facts.meta_tables import DAILY, FORECASTS
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.forecasts.limits import LONG_HORIZONS_HOURS, WARNED_HOURS, ForecastLimits
from limnograph.domain.metrics import pipeline as metrics
from limnograph.domain.time import MICROS_PER_SECOND, Micros, truncated
from limnograph.ports.clock import Clock
from limnograph.ports.meta_store import MetaStore
from limnograph.ports.meta_upkeep import MetaUpkeep, Where
from limnograph.ports.meter import Meter
from limnograph.services.housekeeping.forecast_readers import ForecastReaders, KnownReaders
from limnograph.services.pipeline.appending import MetaAppender
from limnograph.services.rollups.fold import DAY, HOUR
from limnograph.services.rollups.step import Rollups

SHOWN = 8 * DAY
"""A table without a commit for this long is not forecast."""
SHIPPED = "shipped-"
"""Begin of the name of a model that ships with the product."""
TABLES_AT_ONCE = 10_000
"""Tables whose forecasts are appended together, which bounds the memory of the driver."""
_NEWEST = ("table_uuid", "metric", "as_of", "hours", "alert", "warned_at")
_PENDING = ("table_uuid", "metric", "as_of", "hours", "threshold", "level", "job_name", "judged_at")


class ForecastRunner(Protocol):
    """Reads the roll-ups of the requested tables and forecasts them."""

    def run(self, request: ForecastRequest, model: Forecaster) -> ForecastRows:
        """Raises SourceError."""
        ...


class ForecastReport(msgspec.Struct, frozen=True):
    """The result. `rows`: appended forecasts; `judged`: filled in outcomes; `failed`: tables without a forecast;
    `model`: that made them.
    """

    tables: int = 0
    rows: int = 0
    judged: int = 0
    failed: int = 0
    as_of: Micros | None = None
    model: str | None = None


class _RecentForecasts(NamedTuple):
    """Cut-off of the last forecast by table, the warnings in force, and the newest cut-off of all."""

    by_table: dict[str, Micros]
    warned: dict[WarnedMetric, Micros]
    last: Micros | None


class ForecastStep:
    """Forecasts of one store. `model` is read once per run."""

    def __init__(
        self,
        upkeep: MetaUpkeep,
        store: MetaStore,
        rollups: Rollups,
        runner: ForecastRunner,
        clock: Clock,
        *,
        model: Callable[[], Forecaster],
        limits: ForecastLimits = ForecastLimits(),  # noqa: B008  # immutable
        readers: ForecastReaders | None = None,
        tables_at_once: int = TABLES_AT_ONCE,
        failpoints: Failpoints | None = None,
        progress: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._upkeep, self._rollups, self._runner, self._clock = upkeep, rollups, runner, clock
        self._model, self._limits, self._readers = model, limits, readers
        self._at_once, self._progress = tables_at_once, progress
        self._failpoints = failpoints or Failpoints()
        self._appending = MetaAppender(store, lambda _rows: pa.table({}), progress)

    def behind(self) -> bool:
        """Whether a table has commits of an earlier day, without which a level has no history."""
        today = truncated(self._clock.now(), DAY)
        where = Where(start=Micros(today - SHOWN), end=today)
        position = self._upkeep.standing(DAILY).position
        return position is not None and not self._upkeep.rows(DAILY, position, ("day",), where).is_empty()

    def run(self) -> ForecastReport:
        """Forecast and judge everything that is due. Raises SourceError, Conflict if another step came first, and
        EnvironmentFault if the model cannot be read.
        """
        self._rollups.run()
        now = self._clock.now()
        as_of = truncated(now, HOUR)
        recent = self._recent(as_of)
        moved, pending = self._moved(as_of, recent), self._pending(as_of, recent.last)
        known = self._readers.known(as_of) if self._readers else KnownReaders()
        model, tables = self._model(), sorted(moved | pending.keys())
        done = ForecastReport(as_of=as_of, model=model.name)
        for start in range(0, len(tables), self._at_once):
            part = frozenset(tables[start : start + self._at_once])
            request = ForecastRequest(
                as_of=as_of,
                made_at=now,
                moved=moved & part,
                limits=self._limits,
                warned={key: at for key, at in recent.warned.items() if key[0] in part},
                pending={uuid: pending[uuid] for uuid in part & pending.keys()},
                readers={uuid: known.readers[uuid] for uuid in part & known.readers.keys()},
                load=known.load,
            )
            done = self._write(self._runner.run(request, model), done, len(request.moved))
        self._expire(as_of)
        return done

    def _write(self, found: ForecastRows, done: ForecastReport, tables: int) -> ForecastReport:
        for table_uuid, problem in found.failed.items():
            self._progress(f"no forecast of {table_uuid}: {problem}")
        rows = self._append(found.forecasts) if found.forecasts.num_rows else 0
        if not found.outcomes.is_empty():
            self._upkeep.judge(found.outcomes)
        return msgspec.structs.replace(
            done,
            tables=done.tables + tables,
            rows=done.rows + rows,
            judged=done.judged + found.outcomes.height,
            failed=done.failed + len(found.failed),
        )

    def _append(self, forecasts: pa.Table) -> int:
        self._failpoints.reach("before_append_forecasts")
        rows = self._appending.events(FORECASTS, forecasts, str(uuid.uuid4()))
        self._failpoints.reach("after_append_forecasts")
        return rows

    def _recent(self, as_of: Micros) -> _RecentForecasts:
        where = Where(start=Micros(as_of - SHOWN))
        rows = self._upkeep.rows(FORECASTS, self._upkeep.standing(FORECASTS).position, _NEWEST, where).sort("as_of")
        by_table = rows.group_by("table_uuid").agg(pl.col("as_of").max())
        newest = rows.filter(pl.col("hours") == WARNED_HOURS).unique(
            ("table_uuid", "metric"), keep="last", maintain_order=True
        )
        warned = newest.filter(pl.col("alert") & pl.col("warned_at").is_not_null())
        return _RecentForecasts(
            dict(by_table.iter_rows()),
            {(uuid, metric): at for uuid, metric, at in warned.select("table_uuid", "metric", "warned_at").iter_rows()},
            None if rows.is_empty() else Micros(rows["as_of"][-1]),
        )

    def _moved(self, as_of: Micros, recent: _RecentForecasts) -> frozenset[str]:
        """Tables whose roll-ups changed since their last forecast, and those with a warning: a level is a mean of 24
        hours, which changes after the last commit too.
        """
        warned = {uuid for uuid, _ in recent.warned}
        where = Where(start=Micros(truncated(as_of, DAY) - SHOWN), end=as_of)
        position = self._upkeep.standing(DAILY).position
        days = self._upkeep.rows(DAILY, position, ("table_uuid", "rolled_at"), where)
        rolled = days.group_by("table_uuid").agg(pl.col("rolled_at").max())
        return frozenset(
            uuid
            for uuid, at in rolled.iter_rows()
            if (known := recent.by_table.get(uuid)) is None
            or (known < as_of and (at is None or at > known or uuid in warned))
        )

    def _pending(self, as_of: Micros, last: Micros | None) -> dict[str, tuple[PendingForecast, ...]]:
        """Forecasts whose horizon has passed since the last pass, by table."""
        found: dict[str, list[PendingForecast]] = defaultdict(list)
        position = self._upkeep.standing(FORECASTS).position
        for hours in LONG_HORIZONS_HOURS:
            start = as_of - FORECASTS_KEPT_DAYS * DAY if last is None else last - hours * HOUR - DAY
            where = Where(start=Micros(start), end=Micros(as_of - hours * HOUR + 1))
            rows = self._upkeep.rows(FORECASTS, position, _PENDING, where)
            for row in rows.filter((pl.col("hours") == hours) & pl.col("judged_at").is_null()).iter_rows(named=True):
                found[row["table_uuid"]].append(_pending(row))
        return {uuid: tuple(each) for uuid, each in found.items()}

    def _expire(self, as_of: Micros) -> None:
        oldest = truncated(as_of, DAY) - FORECASTS_KEPT_DAYS * DAY
        ends = [p.end for p in self._upkeep.standing(FORECASTS).parts if p.end is not None and p.end <= oldest]
        if ends:
            self._upkeep.delete_before(FORECASTS, max(ends))


def _pending(row: dict[str, Any]) -> PendingForecast:
    level, threshold = row["level"], row["threshold"]
    return PendingForecast(
        metric=row["metric"],
        as_of=row["as_of"],
        hours=row["hours"],
        threshold=threshold,
        red=level is not None and threshold is not None and level >= threshold,
        job_name=row["job_name"],
    )


def tell_forecast(meter: Meter, done: ForecastReport) -> None:
    """Report a pass of forecasts."""
    meter.put(metrics.FORECAST_TABLES, done.tables)
    meter.put(metrics.FORECAST_FAILED, done.failed)
    meter.put(metrics.FORECAST_OWN, None if done.model is None else float(not done.model.startswith(SHIPPED)))
    if done.as_of is not None:
        meter.put(metrics.FORECAST_AS_OF, done.as_of / MICROS_PER_SECOND)
