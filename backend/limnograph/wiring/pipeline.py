"""The pipeline put together: settings in, passes and repairs out. Spark is imported only when a pipeline is built."""

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
"""How long a pass occasionally waits for a slow catalog's complete listing, which shows the removed tables."""
WAKE_S = 4
"""How often the stream checks the inbox for notifications, seconds."""


def process_failpoints() -> Failpoints:
    """The one that the environment names. All parts of a process share it: it counts how often a name is passed."""
    return _armed(os.environ.get(FAILPOINT_ENV, ""))


@cache
def _armed(setting: str) -> Failpoints:
    return Failpoints(setting)


def check(settings: Settings) -> None:
    """Whether what only the pipeline needs of the settings can be used: before anything of the machine is. Raises
    SettingsError.
    """
    from limnograph.adapters.spark.catalogs import spark_catalog

    spark_catalog(settings.meta_catalog, settings.catalogs[settings.meta_catalog])
    SqlInbox(settings.inbox_url).close()
    process_failpoints()


def spark_log(settings: Settings) -> Path:
    """Where Spark's own log and full stack traces of the pipeline go."""
    return settings.state_dir.absolute() / "pipeline.log"


def spark_session(settings: Settings, app_name: str = "limnograph", *, verbose: bool = False) -> SparkSession:
    """Session with the catalog of the meta tables: the observed ones are read without Spark, so they may be of kinds
    that it does not know. `verbose`: Spark's errors on stderr, not in a file. Raises EnvironmentFault, SettingsError.
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
    """Passes over the settings' lake into its meta tables. Without `backoff` every pass tries every table. `stop`:
    called between portions; true ends the pass there. `lake`: default one that probes every table at first.
    """
    from limnograph.adapters.spark.extraction import SparkExtraction

    lake = lake or SettingsLake(settings, WatchMode.ONCE, progress=progress)
    extraction = SparkExtraction(session, lambda: lake.access)
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
    )


def marked(settings: Settings, made: Passes | MeteredPasses, progress: Callable[[str], None]) -> MarkedPasses:
    """Passes whose good ends the server learns of by the inbox."""
    return MarkedPasses(made, SqlInbox(settings.inbox_url), SystemClock(), progress)


def standing_lake(settings: Settings, progress: Callable[[str], None] = lambda _line: None) -> SettingsLake:
    """The settings' lake for as long as a stream lives: probed within its budget, what notifications name first."""
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
    """The settings' inbox into the meta tables. Opens no connection yet."""
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
    """Repairs of the settings' meta tables from their lake; default one that probes every table."""
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
    """Rebuild of the settings' meta tables."""
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
    """The meta tables that the settings name."""
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
    """Streaming query that makes a pass whenever the source says that one is due: every `seconds`, and at once when the
    inbox has a newer notification. `trigger` is Spark's interval for that. The checkpoint is a new one each time: it
    decides nothing.
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
    """Folder of the streams' checkpoints; deleting it loses and doubles nothing."""
    return settings.state_dir / "checkpoint"
