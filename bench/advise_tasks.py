"""Tasks of `advise.py`: a table of 1,000 commits, and plans beside Iceberg's planner and real rewrites."""

from __future__ import annotations

import contextlib
import resource
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Clock = Callable[[], contextlib.AbstractContextManager[None]]


def advise_large(clock: Clock, location: str) -> list[Any]:
    """Files to rewrite, and the peak memory of the parser's process, MB."""
    from limnograph.domain.advice.prices import Prices
    from limnograph.domain.time import Millis
    from limnograph.wiring.locations.advise import advise_location

    with clock():
        found = advise_location(location, None, {}, Millis(1_900_000_000_000), Prices())
    (table,) = found.advice.tables
    planned = sum(plan.predicted.files_in or 0 for plan in table.recommendations if plan.rule == "compact")
    return [planned, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024]


def advise_on_spark(clock: Clock, tables: str, rewrites: str) -> list[int]:
    """Tables whose plans differ from those of Iceberg's planner, rewrites, and those with bytes outside the bounds."""
    from lakes import Lake
    from limnograph.adapters.spark.session import start_session
    from planner_parity import differing
    from real_rewrites import executed, stratified

    folder = Path(tempfile.mkdtemp(prefix="limnograph-advise-"))
    lake = Lake(folder, name="shared")
    conf = {"spark.driver.memory": "1g", "spark.default.parallelism": "2"}
    spark = start_session({"shared": lake.properties}, master="local[2]", conf=conf, app_name="advise")
    try:
        with clock():
            wrong = sum(bool(differing(spark, folder / str(seed), seed)) for seed in range(int(tables)))
            tried = [executed(spark, lake, case) for case in stratified(int(rewrites), seed=8)]
            done = [one for one in tried if one is not None]
        outside = sum(not one.bounds.low <= one.bytes_out <= one.bounds.high for one in done)
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return [wrong, len(done), outside]


TASKS: dict[str, Callable[..., Any]] = {task.__name__: task for task in (advise_large, advise_on_spark)}
