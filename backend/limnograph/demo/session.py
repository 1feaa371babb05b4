"""Spark sessions of the demo: the pipeline's launcher with the demo's small sizes."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limnograph.demo.tools import folders
from limnograph.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def start(settings: Settings, *, app_name: str, master: str, conf: Mapping[str, str] | None = None) -> SparkSession:
    """A session with the settings' catalogs. `conf` wins over the settings."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder: Any = SparkSession.builder.master(master).appName(app_name)
    for key, value in {**_conf(settings), **(conf or {})}.items():
        builder = builder.config(key, value)
    session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _conf(settings: Settings) -> dict[str, str]:
    jars = next((sorted(f.glob("jars/*.jar")) for f in folders() if (f / "jars").is_dir()), list[Path]())
    catalog = settings.catalogs["lake"]
    return {
        "spark.jars": ",".join(map(str, jars)),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "jdbc",
        "spark.sql.catalog.lake.jdbc.schema-version": "V1",
        "spark.sql.catalog.lake.uri": "jdbc:sqlite:file:" + catalog["uri"].removeprefix("sqlite:///"),
        "spark.sql.catalog.lake.warehouse": catalog["warehouse"],
        "spark.sql.catalog.lake.cache-enabled": "false",
        **settings.spark.conf,
    }
