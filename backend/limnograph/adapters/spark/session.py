"""Starts Spark: the right Java, this Python for the workers, loopback addresses, local jars and the catalogs."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limnograph.adapters.spark.catalogs import spark_catalog
from limnograph.adapters.spark.jars import JARS_ENV, ensure_jars, find_jars
from limnograph.adapters.spark.java import java_home
from limnograph.domain.errors import EnvironmentFault
from limnograph.domain.secrecy import is_secret

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["JARS_ENV", "find_jars", "start_session"]
SECRETS = (
    "(?i)secret|password|passwd|token|(access|account|api)[.-]?key|credential|authorization|connection-string"
    "|[.]header[.]|sas[._-]|://[^/@ ]*:[^/ ]*@"
)
"""Keys and values that Spark redacts in its event log and UI: its default does not include `credential`, headers or
passwords inside a URL.
"""
CATALOGS = "spark.sql.catalog."
JARS_GIVEN = {"spark.jars", "spark.jars.packages"}
GATEWAY_ENV = "PYSPARK_GATEWAY_PORT"
JVM_OPTIONS = "spark.driver.extraJavaOptions"
_LOG4J = "-Dlog4j2.configurationFile"
DRIVER_JVM = (
    "-XX:+UseSerialGC -XX:Tier4InvocationThreshold=100000 -XX:Tier4MinInvocationThreshold=20000"
    " -XX:Tier4CompileThreshold=300000 -XX:Tier4BackEdgeThreshold=800000"
)
"""Collects a heap of 1 GB with one thread, and fully optimises (C2) only code that runs twenty times as often as the
JVM's default threshold: planning runs much code only a few times. A first pass took 30 s of CPU with these options,
40 s without.
"""
_log = logging.getLogger("limnograph.setup")
EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"


def start_session(
    catalogs: Mapping[str, Mapping[str, str]],
    *,
    master: str = "local[*]",
    jars: str = "",
    conf: Mapping[str, str] | None = None,
    app_name: str = "limnograph",
    log: Path | None = None,
) -> SparkSession:
    """A session with every catalog under its own name. Entries of `conf` override those of spark-submit, which override
    Limnograph's defaults and `master`. Missing jars are downloaded first. The driver logs to the file `log`; without
    it, its errors go to stderr; under spark-submit, that configuration applies. Raises EnvironmentFault: Java or
    pyspark is missing, or the jars cannot be downloaded.
    """
    try:
        from pyspark import SparkConf, SparkContext
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise EnvironmentFault("pyspark is not installed; `pip install 'limnograph[spark]'`") from error
    given = dict(conf or {})
    submitted = _submitted()
    if submitted is None:
        prepare_environment(master, given.get("spark.pyspark.python", ""))
        if not given.keys() & JARS_GIVEN:
            ensure_jars(jars, given, lambda line: _log.info("%s", line))
    else:
        master = submitted.get("spark.master", master)
    if log is not None and submitted is None:
        given |= _logging_to(log, given.get(JVM_OPTIONS, DRIVER_JVM))
    shown, hidden = parted({**_conf(catalogs, master, jars, {**(submitted or {}), **given}), **given})
    conf_of_spark = SparkConf().setAll(list(shown.items())).setMaster(master).setAppName(app_name)
    context = SparkContext.getOrCreate(conf_of_spark)
    running: Any = context._jsc.sc().conf()  # noqa: SLF001 - what starts a JVM stands in its command line for all to see
    for key, value in hidden.items():
        running.set(key, value)
    builder: Any = SparkSession.builder
    for key, value in {**shown, **hidden}.items():
        builder = builder.config(key, value)
    session: SparkSession = builder.getOrCreate()
    if log is None or submitted is not None:
        session.sparkContext.setLogLevel("ERROR")
    return session


def _logging_to(file: Path, options: str) -> dict[str, str]:
    """Options that make the driver's JVM log to a file, unless its options already name a log4j configuration."""
    if _LOG4J in options:
        return {}
    ours = Path(__file__).with_name("log4j2.properties")
    return {JVM_OPTIONS: f'{options} "{_LOG4J}={ours.as_uri()}" "-Dlimnograph.log={file.absolute()}"'}


def parted(conf: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Entries that may be shown, and catalog credentials, which are set on the running session."""
    secret = re.compile(SECRETS)
    hidden = {
        key: value
        for key, value in conf.items()
        if key.startswith(CATALOGS) and (is_secret(key) or secret.search(key) or secret.search(value))
    }
    return {key: value for key, value in conf.items() if key not in hidden}, hidden


def _submitted() -> dict[str, str] | None:
    """Configuration that spark-submit, or a notebook server, passed to the JVM that it started; None without one."""
    if GATEWAY_ENV not in os.environ:
        return None
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()  # noqa: SLF001 - PySpark's only way to that JVM
    return dict(SparkConf().getAll())


def prepare_environment(master: str = "local[*]", python: str = "") -> None:
    """Set the environment of the JVM and the workers, before the JVM starts. `python`: interpreter of the workers, a
    path that is valid on every node; by default this one.
    """
    os.environ["JAVA_HOME"] = java_home()
    os.environ.setdefault("PYSPARK_PYTHON", python or sys.executable)
    if on_this_machine(master):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def on_this_machine(master: str) -> bool:
    """Whether executors reach the driver over loopback; otherwise Spark determines the driver's address itself."""
    return master.startswith(("local", "spark://127.", "spark://localhost:", "spark://[::1]:"))


def _conf(
    catalogs: Mapping[str, Mapping[str, str]], master: str, jars: str, given: Mapping[str, str]
) -> dict[str, str]:
    conf = {
        "spark.driver.memory": "1g",
        JVM_OPTIONS: DRIVER_JVM,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.extensions": EXTENSIONS,
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.redaction.regex": SECRETS,
    }
    if not given.keys() & JARS_GIVEN:
        conf["spark.jars"] = ",".join(_reachable(jar, master) for jar in find_jars(jars))
    if on_this_machine(master):
        conf |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    for name, properties in catalogs.items():
        conf |= spark_catalog(name, properties)
    return {key: value for key, value in conf.items() if key not in given}


def _reachable(jar: Path, master: str) -> str:
    """On Kubernetes, driver and executors share an image that contains the jars; elsewhere the driver serves them."""
    return f"local://{jar}" if master.startswith("k8s://") else str(jar)
