"""A JVM that outlives its drivers, as that of spark-submit or of a notebook's server does: a driver that connects to it
starts in a second or two, where one with a JVM of its own needs ten to load Spark before its first line of work.

A driver that is killed leaves its Spark context behind; `clear` ends that, as the end of a JVM of its own would.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway

from limnograph.adapters.spark.session import GATEWAY_ENV, find_jars, prepare_environment
from quick_jvm import quick_options

HEAP = "1g"


class StandingJvm:
    """A JVM for one driver at a time."""

    def __init__(self, conf: Mapping[str, str]) -> None:
        prepare_environment()
        given = {
            "spark.master": "local[1]",
            "spark.driver.memory": HEAP,
            "spark.driver.extraJavaOptions": quick_options(),
            "spark.jars": ",".join(str(jar) for jar in find_jars()),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        own = SparkConf(loadDefaults=False).setAll(list({**given, **conf}.items()))
        self._gateway = launch_gateway(own, {"stderr": subprocess.DEVNULL})

    def environment(self) -> dict[str, str]:
        """Variables by which a driver finds it."""
        server = self._gateway.gateway_parameters
        return {GATEWAY_ENV: str(server.port), "PYSPARK_GATEWAY_SECRET": server.auth_token}

    def clear(self) -> None:
        """End what the last driver left running."""
        sessions = self._gateway.jvm.org.apache.spark.sql.classic.SparkSession
        left = sessions.getDefaultSession()
        if left.isDefined():
            left.get().stop()
        sessions.clearDefaultSession()
        sessions.clearActiveSession()

    def end(self) -> None:
        """End it."""
        end_jvm(self._gateway)


def end_jvm(gateway: Any) -> None:
    """Its standard input ends, and the JVM with that."""
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(120)


@contextmanager
def standing_jvm(conf: Mapping[str, str]) -> Iterator[StandingJvm]:
    """One that ends with the block."""
    jvm = StandingJvm(conf)
    try:
        yield jvm
    finally:
        jvm.end()
