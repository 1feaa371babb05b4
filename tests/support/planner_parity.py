"""Plans of random tables beside those of Iceberg's own planners, which run in the JVM of a Spark session."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limnograph.adapters.iceberg.planning.survey import GROUP_BYTES, PURGE_RATIO, survey
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.advice.survey import GroupPlan, TableSurvey
from random_layouts import random_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Group = tuple[int, int, int, int]
"""Groups, files, bytes and outputs of one partition."""


class IcebergPlanner:
    """Iceberg's planners of one table, in the JVM."""

    def __init__(self, spark: SparkSession, location: str) -> None:
        self._java = spark._jvm
        io = self._java.org.apache.iceberg.hadoop.HadoopFileIO(spark._jsc.hadoopConfiguration())
        operations = self._java.org.apache.iceberg.StaticTableOperations(location, io)
        self._table = self._java.org.apache.iceberg.BaseTable(operations, "t")

    def data(self, **options: str) -> Counter[Group]:
        """Groups of `rewrite_data_files`, by partition."""
        every = self._java.org.apache.iceberg.expressions.Expressions.alwaysTrue()
        head = self._table.currentSnapshot().snapshotId()
        return self._plan(
            self._java.org.apache.iceberg.actions.BinPackRewriteFilePlanner(self._table, every, head, True), options
        )

    def deletes(self) -> Counter[Group]:
        """Groups of `rewrite_position_delete_files`, by partition."""
        return self._plan(self._java.org.apache.iceberg.actions.BinPackRewritePositionDeletePlanner(self._table), {})

    def _plan(self, planner: Any, options: dict[str, str]) -> Counter[Group]:
        given = self._java.java.util.HashMap()
        given.put("max-file-group-size-bytes", str(GROUP_BYTES))
        for name, value in options.items():
            given.put(name.replace("_", "-"), value)
        planner.init(given)
        found: dict[tuple[Any, ...], list[int]] = {}
        any_type = self._java.java.lang.Class.forName("java.lang.Object")
        groups = planner.plan().groups().iterator()
        while groups.hasNext():
            group = groups.next()
            partition = group.info().partition()
            key = tuple(partition.get(i, any_type) for i in range(partition.size()))
            sums = found.setdefault(key, [0, 0, 0, 0])
            numbers = (1, group.inputFileNum(), group.inputFilesSizeInBytes(), group.expectedOutputFiles())
            sums[:] = [a + b for a, b in zip(sums, numbers, strict=True)]
        return Counter(tuple(sums) for sums in found.values())  # type: ignore[misc]


def groups_of(plans: Iterable[GroupPlan | None]) -> Counter[Group]:
    return Counter((plan.groups, plan.files, plan.bytes, plan.outputs) for plan in plans if plan is not None)


def surveyed(location: str) -> TableSurvey:
    storage = FileStorage({})
    reader = IcebergReader(storage)
    return survey(storage, reader, reader.metadata(location))


def both(spark: SparkSession, folder: Path, seed: int) -> tuple[dict[str, Counter[Group]], dict[str, Counter[Group]]]:
    """Our plans of a random table and Iceberg's, by the kind of rewrite. The table is removed."""
    table = random_table(folder, seed)
    found, planner = surveyed(table.metadata_location), IcebergPlanner(spark, table.metadata_location)
    ours = {
        "compact": groups_of(group.compact for group in found.groups),
        "purge": groups_of(group.purge for group in found.groups),
        "deletes": groups_of(group.plan for group in found.deletes),
    }
    expected = {
        "compact": planner.data(),
        "purge": planner.data(delete_ratio_threshold=str(PURGE_RATIO)),
        "deletes": planner.deletes() if table.version == 2 else Counter(),
    }
    shutil.rmtree(folder)
    return ours, expected


def differing(spark: SparkSession, folder: Path, seed: int) -> list[str]:
    """Kinds of rewrites whose plans differ."""
    ours, expected = both(spark, folder, seed)
    return [kind for kind, groups in expected.items() if ours[kind] != groups]
