"""Builds the pipeline from settings: passes, drain, repairs, rebuild, stream. Imports Spark only on use."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from limnograph.adapters.iceberg.catalogs.catalog import open_catalog
from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.meta.schema import arrow_table
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.facts.meta_tables import CHANGES, ChangeFact
from limnograph.domain.failpoints import FAILPOINT_ENV, Failpoints
from limnograph.ports.meter import Meter, NullMeter
from limnograph.services.pipeline.appending import MetaAppender
from limnograph.services.pipeline.backoff import BackOff
from limnograph.services.pipeline.column_choices import ColumnChoices
from limnograph.services.pipeline.drain import Drain
from limnograph.services.pipeline.metering import MeteredExtraction, MeteredLake, MeteredPasses, PassMeter
from limnograph.services.pipeline.pass_marks import MarkedPasses
from limnograph.services.pipeline.passes import Passes
from limnograph.services.pipeline.rebuild import Rebuild
from limnograph.services.pipeline.repair import Repairs
from limnograph.services.watcher.catalog_actions import WatchMode
from limnograph.settings import Settings
from limnograph.wiring.notified import NotifiedTables
from limnograph.wiring.observe import SettingsLake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from limnograph.adapters.spark.store import SparkMetaStore


LISTING_S = 120.0
"""How long a pass waits for a slow but responding catalog to list all tables, which reveals removed ones. Seconds."""
WAKE_S = 4
"""Interval at which the stream checks the inbox for notifications, seconds."""


def process_failpoints() -> Failpoints:
    """The failpoint that the environment names. All parts of a process share it, because it counts how often it is
    passed.
    """
    return _armed(os.environ.get(FAILPOINT_ENV, ""))


@cache
def _armed(setting: str) -> Failpoints:
    return Failpoints(setting)


def check(settings: Settings) -> None:
    """Check the settings that only the pipeline uses, before it needs anything of the machine. Raises SettingsError."""
    from limnograph.adapters.spark.catalogs import spark_catalog

    spark_catalog(settings.meta_catalog, settings.catalogs[settings.meta_catalog])
    SqlInbox(settings.inbox_url).close()
    process_failpoints()


def spark_log(settings: Settings) -> Path:
    """File for Spark's own log and the pipeline's full stack traces."""
    return settings.state_dir.absolute() / "pipeline.log"


def spark_session(settings: Settings, app_name: str = "limnograph", *, verbose: bool = False) -> SparkSession:
    """Session with the catalog of the meta tables only. Observed catalogs are read without Spark, so they may be of
    types that it does not support. `verbose`: write Spark's errors to stderr instead of a file. Raises
    EnvironmentFault, SettingsError.
    """
    from limnograph.adapters.spark.session import start_session

    check(settings)
    spark = settings.spark
    meta = {settings.meta_catalog: settings.catalogs[settings.meta_catalog]}
    log = None if verbose else spark_log(settings)
    return start_session(meta, master=spark.master, jars=spark.jars, conf=spark.conf, app_name=app_name, log=log)


def passes(
    settings: Settings,
    session: SparkSession,
    *,
    failpoints: Failpoints | None = None,
    progress: Callable[[str], None] = lambda _line: None,
    backoff: BackOff | None = None,
    meter: Meter | None = None,
    told: PassMeter | None = None,
    stop: Callable[[], bool] = lambda: False,
    lake: SettingsLake | None = None,
) -> Passes:
    """Passes from the configured lake into the meta tables. Without `backoff` every pass tries every table. `stop`:
    called between portions; true ends the pass. `lake`: by default one that begins by probing every table.
    """
    from limnograph.adapters.spark.extraction import SparkExtraction

    lake = lake or SettingsLake(settings, WatchMode.ONCE, progress=progress)
    extraction = SparkExtraction(session, lambda: lake.access)
    choices = _column_choices(settings, session)
    return Passes(
        MeteredLake(lake, told) if told else lake,
        meta_store(settings, session, meter),
        MeteredExtraction(extraction, told) if told else extraction,
        SystemClock(),
        failpoints=failpoints or process_failpoints(),
        progress=progress,
        to_arrow=_changes,
        backoff=backoff,
        stop=stop,
        columns=choices.of if choices else lambda _due: None,
    )


def _column_choices(settings: Settings, session: SparkSession) -> ColumnChoices | None:
    """Which columns have statistics; None: none."""
    from limnograph.adapters.spark.housekeeping import SparkUpkeep

    if not settings.observe.columns.enabled:
        return None
    name, properties = settings.meta_catalog, settings.catalogs[settings.meta_catalog]
    upkeep = SparkUpkeep(session, lambda: open_catalog(name, properties), settings.meta.namespace)
    return ColumnChoices(upkeep, SystemClock(), settings.observe.columns.bounds)


def marked(settings: Settings, made: Passes | MeteredPasses, progress: Callable[[str], None]) -> MarkedPasses:
    """Passes that report their success to the server through the inbox."""
    return MarkedPasses(made, SqlInbox(settings.inbox_url), SystemClock(), progress)


def standing_lake(settings: Settings, progress: Callable[[str], None] = lambda _line: None) -> SettingsLake:
    """The configured lake for a stream: tables are probed within the budget, those that notifications name first."""
    first = NotifiedTables(SqlInbox(settings.inbox_url))
    return SettingsLake(settings, WatchMode.STANDING, progress=progress, first=first, patience_s=LISTING_S)


def drain(
    settings: Settings,
    session: SparkSession,
    *,
    failpoints: Failpoints | None = None,
    progress: Callable[[str], None] = lambda _line: None,
    meter: Meter | None = None,
) -> Drain:
    """The drain from the configured inbox into the meta tables. Opens no connection yet."""
    return Drain(
        SqlInbox(settings.inbox_url),
        meta_store(settings, session, meter),
        SystemClock(),
        arrow_table,
        failpoints=failpoints or process_failpoints(),
        progress=progress,
    )


def repairs(
    settings: Settings,
    session: SparkSession,
    *,
    failpoints: Failpoints | None = None,
    progress: Callable[[str], None] = lambda _line: None,
    lake: SettingsLake | None = None,
) -> Repairs:
    """Repairs of the configured meta tables. `lake`: by default one that probes every table."""
    from limnograph.adapters.spark.extraction import SparkExtraction

    store, lake = meta_store(settings, session), lake or SettingsLake(settings)
    extraction = SparkExtraction(session, lambda: lake.access)
    appending = MetaAppender(store, _changes, progress)
    failpoints = failpoints or process_failpoints()
    return Repairs(lake, store, extraction, appending, progress, failpoints=failpoints)


def rebuild(
    settings: Settings,
    session: SparkSession,
    *,
    failpoints: Failpoints | None = None,
    progress: Callable[[str], None] = lambda _line: None,
) -> Rebuild:
    """Rebuild of the configured meta tables."""
    from limnograph.adapters.spark.housekeeping import SparkUpkeep
    from limnograph.adapters.spark.rebuild import SparkMetaTables

    name, properties = settings.meta_catalog, settings.catalogs[settings.meta_catalog]
    place = (session, lambda: open_catalog(name, properties, write=True), settings.meta.namespace)
    store = meta_store(settings, session)
    return Rebuild(
        SparkMetaTables(*place),
        store,
        SparkUpkeep(*place),
        SettingsLake(settings),
        MetaAppender(store, _changes, progress),
        clock=SystemClock(),
        failpoints=failpoints or process_failpoints(),
        progress=progress,
    )


def meta_store(settings: Settings, session: SparkSession, meter: Meter | None = None) -> SparkMetaStore:
    """The configured meta tables."""
    from limnograph.adapters.spark.metered_store import MeteredStore

    catalog, properties = settings.meta_catalog, settings.catalogs[settings.meta_catalog]
    return MeteredStore(
        session,
        lambda: open_catalog(catalog, properties, write=True),
        settings.meta.namespace,
        meter or NullMeter(),
        SystemClock(),
    )


def _changes(rows: Sequence[ChangeFact]) -> pa.Table:
    return arrow_table(CHANGES, rows)


def start_stream(
    settings: Settings,
    session: SparkSession,
    run_pass: Callable[[], object],
    *,
    trigger: str,
    seconds: float,
    progress: Callable[[str], None] = lambda _line: None,
) -> Any:
    """Start a streaming query that runs a pass whenever its source reports that one is due: every `seconds`, and
    immediately when the inbox has a new notification. `trigger`: Spark's trigger interval, at most WAKE_S. The
    checkpoint is new each time, because it decides nothing.
    """
    from limnograph.adapters.spark.checkpoint import fresh_checkpoint
    from limnograph.adapters.spark.stream import pass_stream

    return pass_stream(
        session,
        run_pass,
        checkpoint=fresh_checkpoint(checkpoint_of(settings), progress),
        trigger=f"{WAKE_S} seconds" if seconds > WAKE_S else trigger,
        seconds=seconds,
        inbox_url=settings.inbox_url,
    )


def checkpoint_of(settings: Settings) -> Path:
    """Folder of the streams' checkpoints; deleting it neither loses nor duplicates rows."""
    return settings.state_dir / "checkpoint"
