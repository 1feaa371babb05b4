"""What one pass of forecasts asks of its workers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import polars as pl
import pyarrow as pa

from limnograph.analysis.forecast import NO_LOAD, FleetLoad
from limnograph.domain.forecasts.cases import ReaderRuns
from limnograph.domain.forecasts.limits import ForecastLimits
from limnograph.domain.time import Micros

WarnedMetric = tuple[str, str]
"""Table uuid, metric."""


class PendingForecast(NamedTuple):
    """A recorded forecast whose horizon has passed. `red`: its threshold had been reached already."""

    metric: str
    as_of: Micros
    hours: int
    threshold: float | None
    red: bool
    job_name: str | None = None


class ReadingJob(NamedTuple):
    """Runs of the one job that reads a table most. `seconds_limit`: promised duration."""

    runs: ReaderRuns
    seconds_limit: float | None = None


class ForecastRequest(NamedTuple):
    """One pass.

    as_of    the cut-off, a whole UTC hour; later rows are not read for a forecast
    moved    uuids of the tables to forecast
    warned   warnings that were in force, with the cut-off at which each began
    pending  forecasts to judge, by table uuid
    readers  jobs by table uuid
    load     common move of all readers
    """

    as_of: Micros
    made_at: Micros
    moved: frozenset[str]
    limits: ForecastLimits = ForecastLimits()
    warned: Mapping[WarnedMetric, Micros] = MappingProxyType({})
    pending: Mapping[str, tuple[PendingForecast, ...]] = MappingProxyType({})
    readers: Mapping[str, ReadingJob] = MappingProxyType({})
    load: FleetLoad = NO_LOAD

    @property
    def tables(self) -> frozenset[str]:
        """Uuids of all tables whose rows are needed."""
        return self.moved | self.pending.keys()


class PastRequest(NamedTuple):
    """One training. `tables`: uuids of those that are asked about their past; `as_of`, `load`: as of a pass; `readers`:
    a plain mapping, which can be sent to workers.
    """

    as_of: Micros
    tables: frozenset[str]
    readers: Mapping[str, ReadingJob]
    load: FleetLoad = NO_LOAD


class ForecastRows(NamedTuple):
    """The result of a pass. `forecasts`: rows of the meta table. `outcomes`: rows with a key and what is filled in,
    instants as microseconds. `failed`: why tables failed, by uuid.
    """

    forecasts: pa.Table
    outcomes: pl.DataFrame
    failed: Mapping[str, str]
