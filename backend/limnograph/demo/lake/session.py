"""Spark sessions of the demo: uses the pipeline's launcher, with jars from the folder of the demo's tools."""

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
    """Start a session with the configured catalogs; `conf` overrides the settings. Raises EnvironmentFault."""
    name_jars()
    wanted = {**settings.spark.conf, **(conf or {})}
    return start_session(settings.catalogs, master=master, jars=settings.spark.jars, conf=wanted, app_name=app_name)


def stop(spark: SparkSession) -> None:
    """Stop the session and its JVM, to free memory for the next steps."""
    from pyspark import SparkContext

    spark.stop()
    gateway = SparkContext._gateway  # noqa: SLF001 - SparkSession.stop leaves the JVM running
    if gateway is None:
        return
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(timeout=30)
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001 - so that the next session starts a JVM


def name_jars() -> None:
    """Set the jars' folder for this process and its children, if the folder of tools contains jars."""
    found = next((folder / "jars" for folder in folders() if any(folder.glob("jars/*.jar"))), None)
    if found:
        os.environ.setdefault(JARS_ENV, str(found))
