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
    """Files to rewrite, the peak memory of the parser's process in MB, and CPU seconds of both processes."""
    from limnograph.domain.advice.prices import Prices
    from limnograph.domain.time import Millis
    from limnograph.wiring.locations.advise import advise_location

    began = _cpu_s()
    with clock():
        found = advise_location(location, None, {}, Millis(1_900_000_000_000), Prices())
    cpu_s = _cpu_s() - began
    (table,) = found.advice.tables
    planned = sum(plan.predicted.files_in or 0 for plan in table.recommendations if plan.rule == "compact")
    return [planned, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, cpu_s]


def _cpu_s() -> float:
    """Of this process and of its children that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


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
            tried = [executed(spark, lake, case) for case in stratified(int(rewrites), seed=6)]
            done = [one for one in tried if one is not None]
        outside = sum(not one.bounds.low <= one.bytes_out <= one.bounds.high for one in done)
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return [wrong, len(done), outside]


def _queue_of(tables: int) -> Any:
    """Pages of maintenance over so many tables with two plans each, without their files."""
    from msgspec.structs import replace

    from advised_lake import AdvisedLake, evaluate
    from limnograph.services.advice.board import AdviceBoard

    folder = Path(tempfile.mkdtemp(prefix="limnograph-queue-"))
    world = AdvisedLake(folder)
    world.add("orders", 40)
    made = world.start()
    evaluate(made)
    shutil.rmtree(folder, ignore_errors=True)
    (one,) = made.advisor.board.tables.values()
    (plan,) = one.advised.recommendations
    many = {}
    for number in range(tables):
        plans = [
            replace(
                plan,
                plan_id=f"{number:031x}{part}",
                rule=("compact", "manifests")[part],
                predicted=replace(plan.predicted, files_in=number % 977 + 20),
                value=replace(plan.value, money_per_month=(number * 7_919 % 1_000) / 3 if number % 3 else None),
            )
            for part in range(2)
        ]
        name = {"namespace": f"n{number % 50}", "table": f"t{number}", "table_uuid": f"u{number}"}
        many[f"u{number}"] = one._replace(advised=replace(one.advised, recommendations=plans, **name))
    made.advisor.board = AdviceBoard(many)
    return made.backend.maintenance


def advise_queue(clock: Clock, tables: str, text: str = "") -> list[int]:
    """Rows of a page, and plans that match."""
    from limnograph.domain.queries import MaintenanceQuery

    pages, found = _queue_of(int(tables)), None
    query = MaintenanceQuery(text=text, limit=50)
    pages.page(query)  # what all pages of one version of the board share
    for _ in range(30):
        with clock():
            found = pages.page(query)
    return [len(found.rows), found.counts.recommended] if found else []


TASKS: dict[str, Callable[..., Any]] = {task.__name__: task for task in (advise_large, advise_on_spark, advise_queue)}
