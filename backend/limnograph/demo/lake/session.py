"""Spark sessions of the demo: the pipeline's own launcher, with jars from where the demo's other tools lie."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from limnograph.adapters.spark.session import JARS_ENV, start_session
from limnograph.demo.processes.tools import folders
from limnograph.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def start(settings: Settings, *, app_name: str, master: str, conf: Mapping[str, str] | None = None) -> SparkSession:
    """A session with the settings' catalogs; `conf` wins over the settings. Raises EnvironmentFault."""
    name_jars()
    wanted = {**settings.spark.conf, **(conf or {})}
    return start_session(settings.catalogs, master=master, jars=settings.spark.jars, conf=wanted, app_name=app_name)


def stop(spark: SparkSession) -> None:
    """End the session and its JVM: what follows needs the memory."""
    from pyspark import SparkContext

    spark.stop()
    gateway = SparkContext._gateway  # noqa: SLF001 - SparkSession.stop leaves the JVM running
    if gateway is None:
        return
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(timeout=30)
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001 - so that the next session starts its own


def name_jars() -> None:
    """Set the folder of the jars for this process and its children, if they are among the tools."""
    found = next((folder / "jars" for folder in folders() if any(folder.glob("jars/*.jar"))), None)
    if found:
        os.environ.setdefault(JARS_ENV, str(found))
