"""The pipeline put together: settings in, passes out. Spark is imported only when a pipeline is built."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limnograph.adapters.iceberg.catalog import open_catalog
from limnograph.adapters.iceberg.schema import arrow_table
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.facts import CHANGES
from limnograph.domain.failpoints import FAILPOINT_ENV, Failpoints
from limnograph.services.extract import extract
from limnograph.services.passes import Passes
from limnograph.settings import Settings
from limnograph.wiring.observe import SettingsLake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from limnograph.adapters.spark.source import Access


def spark_session(settings: Settings, app_name: str = "limnograph") -> SparkSession:
    """Session with all catalogs of the settings. Raises EnvironmentFault, SettingsError."""
    from limnograph.adapters.spark.session import start_session

    spark = settings.spark
    return start_session(settings.catalogs, master=spark.master, jars=spark.jars, conf=spark.conf, app_name=app_name)


def passes(
    settings: Settings,
    session: SparkSession,
    *,
    failpoints: Failpoints | None = None,
    progress: Callable[[str], None] = lambda _line: None,
) -> Passes:
    """Passes over the settings' lake into its meta tables."""
    from limnograph.adapters.spark.extraction import SparkExtraction
    from limnograph.adapters.spark.store import SparkMetaStore

    catalog, properties = settings.meta_catalog, settings.catalogs[settings.meta_catalog]
    return Passes(
        SettingsLake(settings),
        SparkMetaStore(session, lambda: open_catalog(catalog, properties), settings.meta.namespace),
        SparkExtraction(session, access(settings), extract),
        SystemClock(),
        failpoints=failpoints or Failpoints(os.environ.get(FAILPOINT_ENV, "")),
        progress=progress,
        to_arrow=lambda rows: arrow_table(CHANGES, rows),
    )


def access(settings: Settings) -> Access:
    """What workers need to reach storage."""
    from limnograph.adapters.spark.source import Access

    own = f"{settings.meta_catalog}.{settings.meta.namespace}."
    return Access(dict(settings.catalogs), dict(settings.path_map), own)


def start_stream(
    settings: Settings, session: SparkSession, run_pass: Callable[[], object], *, trigger: str, seconds: float
) -> Any:
    """Streaming query that makes a pass whenever the source says that one is due. The checkpoint decides nothing."""
    from limnograph.adapters.spark.stream import pass_stream

    return pass_stream(
        session,
        access(settings),
        extract,
        run_pass,
        checkpoint=checkpoint_of(settings),
        trigger=trigger,
        seconds=seconds,
    )


def checkpoint_of(settings: Settings) -> Path:
    """Folder of the stream's checkpoint; deleting it loses and doubles nothing."""
    return settings.state_dir / "checkpoint"
