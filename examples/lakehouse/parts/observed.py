"""How the programs of the lakehouse are observed on a machine that is busy."""

from __future__ import annotations

from limnograph import spark_executions

PATIENCE_S = 3.0


def read_patiently() -> None:
    """Let `job_run` read for three seconds of a run what Spark knows of it, not for a quarter of one. Where a dozen
    programs share two cores, the quarter is over before Spark's listeners have run, and reports are given up.
    """
    spark_executions.FREE_SECONDS = PATIENCE_S
