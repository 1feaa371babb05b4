"""One Spark session on the lakehouse: catalog `lake` over REST, files by S3FileIO, no cache of pointers."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lakehouse.parts.places import KEY, REGION, SECRET, Places
from lakehouse.parts.programs import SMALL_JVM, SPARK_JARS
from limnograph.adapters.spark.java import java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def catalog(name: str, uri: str, endpoint: str, *, keeps_tables: bool = False) -> dict[str, str]:
    """Entries of one REST catalog. `keeps_tables`: once loaded, until they are refreshed."""
    at = f"spark.sql.catalog.{name}"
    return {
        at: "org.apache.iceberg.spark.SparkCatalog",
        f"{at}.type": "rest",
        f"{at}.uri": uri,
        # Other engines commit too: a cached table would be stale.
        f"{at}.cache-enabled": str(keeps_tables).lower(),
        f"{at}.cache.expiration-interval-ms": "-1",
        f"{at}.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        f"{at}.s3.endpoint": endpoint,
        f"{at}.s3.path-style-access": "true",
        f"{at}.s3.access-key-id": KEY,
        f"{at}.s3.secret-access-key": SECRET,
        f"{at}.client.region": REGION,
    }


def start_session(
    places: Places,
    app: str = "lakehouse",
    memory: str = "900m",
    more_jars: Iterable[Path] = (),
    iceberg: Path = SPARK_JARS,
) -> SparkSession:
    """The session of a program: of all batch jobs, of the stream, or of a drill. `iceberg`: folder of its jars."""
    from pyspark.sql import SparkSession

    # PySpark logs each refused statement with its stack, also those that a scenario expects.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    os.environ["JAVA_HOME"] = java_home()
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    conf = {
        "spark.jars": ",".join(map(str, (*sorted(iceberg.glob("*.jar")), *more_jars))),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.driver.memory": memory,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": " ".join(SMALL_JVM),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **catalog("lake", places.catalog, places.store),
    }
    builder = SparkSession.builder.master("local[2]").appName(app)
    for key, value in conf.items():
        builder = builder.config(key, value)
    session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
