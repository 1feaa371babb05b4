"""Builds the observed lake: creates the tables and makes every planned commit. `timeshift.py` moves the times
afterwards.

PyIceberg's appends run in two worker processes, because they are pure Python; Spark's steps run in this process. Tables
are built concurrently.
"""

from __future__ import annotations

import itertools
import multiprocessing
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from limnograph.demo.lake import spark_steps
from limnograph.demo.lake.commits import LakeLocation, Mark, make_appends, mark, newest_snapshot, open_table
from limnograph.demo.progress import Progress
from limnograph.demo.story.steps import Append, Compaction, RowAppend, SqlStep, Step, TablePlan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKERS = 2
TABLES_AT_ONCE = 4
FEW = 12


def build(
    spark: SparkSession,
    database: Path,
    place: LakeLocation,
    plans: Sequence[TablePlan],
    *,
    progress: Progress,
) -> dict[str, list[Mark]]:
    """Build the whole lake. Returns the marks of each table. The tables must not exist yet."""
    prepare(database)
    created = {}
    for plan in plans:
        spark_steps.create(spark, plan)
        created[plan.name] = mark(open_table(place, plan.name), plan.steps[0].at - 1_000, None)
    progress.say(f"{len(plans)} tables created")
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(WORKERS, mp_context=context) as workers,
        ThreadPoolExecutor(TABLES_AT_ONCE) as threads,
    ):
        # The longest first; tables that alternate between the engines take longest.
        order = sorted(plans, key=lambda plan: -_cost(plan))
        futures = {plan.name: threads.submit(_history, spark, workers, place, plan, progress) for plan in order}
        return {name: [created[name], *future.result()] for name, future in futures.items()}


def prepare(database: Path) -> None:
    """Create the catalog's SQLite file in WAL mode, so that one engine can write while others read."""
    with sqlite3.connect(database) as connection:
        connection.execute("pragma journal_mode=wal")


def _cost(plan: TablePlan) -> int:
    by_spark = sum(isinstance(step, SqlStep | Compaction) for step in plan.steps)
    return len(plan.steps) + 15 * by_spark


def _history(
    spark: SparkSession, workers: Executor, place: LakeLocation, plan: TablePlan, progress: Progress
) -> list[Mark]:
    marks: list[Mark] = []
    for by_spark, group in itertools.groupby(plan.steps, key=lambda step: isinstance(step, SqlStep | Compaction)):
        if by_spark:
            marks += _make_by_spark(spark, place, plan.name, group)
        else:
            steps = [step for step in group if isinstance(step, Append | RowAppend)]
            # A few steps run here instead of waiting for a worker.
            few = len(steps) <= FEW
            marks += (
                make_appends(place, plan.name, steps)
                if few
                else workers.submit(make_appends, place, plan.name, steps).result()
            )
    commits = sum(one.snapshot_id is not None for one in marks)
    progress.say(f"{plan.name}: {commits} commits")
    return marks


def _make_by_spark(spark: SparkSession, place: LakeLocation, name: str, steps: Iterator[Step]) -> list[Mark]:
    marks = []
    for step in steps:
        if not isinstance(step, SqlStep | Compaction):
            continue
        before = newest_snapshot(open_table(place, name))
        spark_steps.make(spark, name, step)
        marks.append(mark(open_table(place, name), step.at, before))
    return marks
