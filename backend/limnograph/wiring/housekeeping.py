"""Builds housekeeping from settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from limnograph.adapters.iceberg.catalogs.catalog import open_catalog
from limnograph.adapters.meta.schema import arrow_table
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.facts.housekeeping import MaintenanceFact
from limnograph.domain.facts.meta_tables import MAINTENANCE
from limnograph.domain.failpoints import Failpoints
from limnograph.ports.clock import Clock
from limnograph.ports.meta_upkeep import MetaUpkeep
from limnograph.ports.meter import Meter
from limnograph.services.housekeeping.column_retention import ColumnRetention
from limnograph.services.housekeeping.deepening import Deepening
from limnograph.services.housekeeping.journal import Journal
from limnograph.services.housekeeping.live_ids import lake_ids
from limnograph.services.housekeeping.report_retention import ReportRetention
from limnograph.services.housekeeping.retention import RetentionStep
from limnograph.services.housekeeping.runner import Housekeeping
from limnograph.services.housekeeping.steps import Steps
from limnograph.services.rollups.reads_step import ReadRollups
from limnograph.services.rollups.step import Rollups
from limnograph.settings import Settings
from limnograph.wiring.forecasting import forecast_steps
from limnograph.wiring.observe import SettingsLake
from limnograph.wiring.pipeline import meta_store, process_failpoints, repairs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def housekeeping(
    settings: Settings,
    session: SparkSession,
    *,
    failpoints: Failpoints | None = None,
    clock: Clock | None = None,
    meter: Meter | None = None,
    upkeep: MetaUpkeep | None = None,
    lake: SettingsLake | None = None,
) -> Housekeeping:
    """Housekeeping of the configured meta tables. It reads the lake only if retention has rows to decide on or a row is
    damaged or lacks its entries; without `lake` it then probes every table.
    """
    from limnograph.adapters.spark.housekeeping import SparkUpkeep

    name, properties = settings.meta_catalog, settings.catalogs[settings.meta_catalog]
    failpoints = failpoints or process_failpoints()
    clock, store = clock or SystemClock(), meta_store(settings, session, meter)
    upkeep = upkeep or SparkUpkeep(session, lambda: open_catalog(name, properties, write=True), settings.meta.namespace)
    journal = Journal(store, upkeep, _runs, failpoints)
    rollups = Rollups(upkeep, clock, failpoints, settings.retention.hourly_days)
    retention = RetentionStep(
        upkeep,
        rollups,
        lambda: lake_ids(lake or SettingsLake(settings), store),
        clock=clock,
        failpoints=failpoints,
        raw_days=settings.retention.raw_days,
    )
    mending = repairs(settings, session, failpoints=failpoints, lake=lake)
    reads = ReadRollups(upkeep, clock, failpoints)
    steps = Steps(
        upkeep,
        journal,
        rollups,
        retention,
        failpoints,
        reads=reads,
        report_retention=ReportRetention(upkeep, reads, clock, failpoints, settings.retention.hourly_days),
        column_retention=ColumnRetention(upkeep, clock, failpoints),
        repairs=mending,
        deepening=Deepening(upkeep, mending),
        forecasts=forecast_steps(
            settings, session, upkeep, store, journal=journal, clock=clock, failpoints=failpoints, meter=meter
        ),
        meter=meter,
    )
    return Housekeeping(upkeep, journal, steps, clock, (name, settings.meta.namespace), meter=meter)


def _runs(rows: Sequence[MaintenanceFact]) -> pa.Table:
    return arrow_table(MAINTENANCE, rows)
