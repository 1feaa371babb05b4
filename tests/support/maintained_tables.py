"""Tables to maintain, with other writers beside the maintainer: in memory, and real ones that Spark maintains."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

import pyarrow as pa

from lakes import BY_REGION, SCHEMA, Lake
from limnograph.adapters.memory.table_maintainer import MemoryLake, MemoryMaintainer
from limnograph.domain.advice.survey import SurveyedPartition
from limnograph.domain.ids import TableName
from limnograph.ports.table_maintainer import ActionOutcome, ActionRequest, TableMaintainer

if TYPE_CHECKING:
    from pyiceberg.table import Table
    from pyspark.sql import SparkSession

DAY_MS = 86_400_000
WHOLE = {"rewrite-all": "true"}
STEPWISE = {**WHOLE, "partial-progress.enabled": "true", "partial-progress.max-commits": "10"}
ONE_BY_ONE = {**STEPWISE, "max-concurrent-file-group-rewrites": "1"}


class MaintainedWorld(Protocol):
    """A lake with a maintainer and other writers. A new table has partitions `a` and `b`, two commits, and in each of
    them one file of one row per partition.
    """

    maintainer: TableMaintainer

    def table(self, *, merge_on_read: bool = False) -> TableName: ...
    def append(self, name: TableName, region: str = "a") -> int: ...
    def overwrite(self, name: TableName, region: str = "a") -> int: ...
    def delete_row(self, name: TableName, region: str = "a") -> int: ...
    def tag(self, name: TableName, tag: str, snapshot_id: int) -> None: ...
    def condition(self, region: str) -> str: ...
    def stray(self, name: TableName, age_days: int = 8) -> str: ...
    def exists(self, location: str) -> bool: ...
    def snapshots(self, name: TableName) -> list[int]: ...
    def live(self, name: TableName) -> list[str]: ...


def never() -> bool:
    """Not cancelled."""
    return False


def ignore(_name: str) -> None:
    """A failpoint that is not set."""


def on(point: str, act: Callable[[], Any]) -> Callable[[str], None]:
    """Does something, once, when an action reaches a failpoint."""
    done: list[str] = []

    def reached(name: str) -> None:
        if name == point and not done:
            done.append(name)
            act()

    return reached


def request(plan: str, action: str = "rewrite_data_files", **arguments: Any) -> ActionRequest:
    """A request; rewrites take all files of the table."""
    if action.startswith("rewrite_") and action != "rewrite_manifests":
        arguments.setdefault("options", WHOLE)
    return ActionRequest(plan, action, **arguments)


def execute(world: MaintainedWorld, name: TableName, asked: ActionRequest) -> ActionOutcome:
    """Open a table and run an action without disturbance."""
    return world.maintainer.run(world.maintainer.open(name), asked, ignore, never)


def total(world: MaintainedWorld, name: TableName) -> int:
    """Rows of a table's head."""
    opened = world.maintainer.open(name)
    assert opened.head_id is not None
    return world.maintainer.rows(opened, opened.head_id)


def now_ms() -> int:
    """The wall clock."""
    return int(time.time() * 1000)


class MemoryWorld:
    """In memory. A condition is the text of a partition."""

    def __init__(self) -> None:
        self.lake = MemoryLake()
        self.maintainer = MemoryMaintainer(self.lake)

    def table(self, *, merge_on_read: bool = False) -> TableName:
        name = TableName.of("lake", ["sales"], f"t{uuid4().hex[:8]}")
        self.lake.create(name)
        for _ in range(2):
            made = [self.lake.file(name, region) for region in ("a", "b")]
            self.lake.commit(name, "append", lambda live, made=made: (*live, *made))
        return name

    def append(self, name: TableName, region: str = "a") -> int:
        return self.lake.append(name, region)

    def overwrite(self, name: TableName, region: str = "a") -> int:
        return self.lake.overwrite(name, region)

    def delete_row(self, name: TableName, region: str = "a") -> int:
        return self.lake.delete_rows(name, region)

    def tag(self, name: TableName, tag: str, snapshot_id: int) -> None:
        self.lake.set_ref(name, tag, snapshot_id)

    def condition(self, region: str) -> str:
        return region

    def stray(self, name: TableName, age_days: int = 8) -> str:
        return self.lake.file(name, "a", modified_at_ms=now_ms() - age_days * DAY_MS).location

    def exists(self, location: str) -> bool:
        return location in self.lake.disk

    def snapshots(self, name: TableName) -> list[int]:
        return [each.snapshot_id for each in self.lake.current(name).snapshots]

    def live(self, name: TableName) -> list[str]:
        head = self.lake.current(name).head
        return [file.location for file in head.files] if head else []


def region(text: str) -> SurveyedPartition:
    """A partition of the tables of these worlds."""
    return SurveyedPartition(spec_id=0, text=text, values=[text])


class SparkWorld:
    """Real tables in the lake of the shared session. PyIceberg writes; Spark deletes rows and maintains."""

    def __init__(self, spark: SparkSession, lake: Lake, folder: Path) -> None:
        from limnograph.adapters.spark.maintenance.maintainer import SparkMaintainer

        self.spark, self.lake = spark, lake
        self.namespace = f"m_{uuid4().hex[:8]}"
        self.state = folder
        self.maintainer = SparkMaintainer(spark, folder)
        lake.catalog.create_namespace(self.namespace)

    def table(
        self, *, merge_on_read: bool = False, levels: Sequence[str] = (), table: str = "", **properties: str
    ) -> TableName:
        name = TableName.of(self.lake.name, levels or [self.namespace], table or f"t{uuid4().hex[:8]}")
        told = {"write.delete.mode": "merge-on-read"} if merge_on_read else {}
        if levels:
            self.lake.catalog.create_namespace_if_not_exists(tuple(levels))
        made = self.lake.catalog.create_table(
            self.path(name), SCHEMA, partition_spec=BY_REGION, properties={**told, **properties}
        )
        for _ in range(2):
            made.append(self.rows_of("a", "b"))
        return name

    def path(self, name: TableName) -> tuple[str, ...]:
        """As PyIceberg expects it."""
        return (*name.levels, name.plain.table)

    def load(self, name: TableName) -> Table:
        """The table as PyIceberg sees it."""
        return self.lake.catalog.load_table(self.path(name))

    def rows_of(self, *regions: str) -> pa.Table:
        """One row of a random id per region."""
        return pa.table({"id": [uuid4().int >> 66 for _ in regions], "region": list(regions)})

    def sql(self, name: TableName) -> str:
        """The table in a statement."""
        return ".".join(f"`{part.replace('`', '``')}`" for part in (name.catalog, *self.path(name)))

    def append(self, name: TableName, region: str = "a") -> int:
        self.load(name).append(self.rows_of(region))
        return self.head(name)

    def overwrite(self, name: TableName, region: str = "a") -> int:
        from pyiceberg.expressions import EqualTo

        self.load(name).overwrite(self.rows_of(region), overwrite_filter=EqualTo("region", region))
        return self.head(name)

    def delete_row(self, name: TableName, region: str = "a") -> int:
        one = self.load(name).scan(row_filter=f"region = '{region}'", limit=1).to_arrow()["id"][0].as_py()
        self.spark.sql(f"DELETE FROM {self.sql(name)} WHERE id = {one} AND region = '{region}'")
        return self.head(name)

    def head(self, name: TableName) -> int:
        """Main's current snapshot."""
        found = self.load(name).current_snapshot()
        assert found is not None
        return found.snapshot_id

    def tag(self, name: TableName, tag: str, snapshot_id: int) -> None:
        with self.load(name).manage_snapshots() as refs:
            refs.create_tag(snapshot_id, tag)

    def condition(self, region: str) -> str:
        return f"`region` = '{region}'"

    def stray(self, name: TableName, age_days: int = 8) -> str:
        path = self.folder(name) / "data" / f"stray-{uuid4().hex[:6]}.parquet"
        path.write_bytes(b"stray")
        self.age(path, age_days)
        return f"file://{path}"

    def age(self, path: Path, days: int) -> None:
        """Set when a file was last modified."""
        then = time.time() - days * 86_400
        os.utime(path, (then, then))

    def folder(self, name: TableName) -> Path:
        """The table's location."""
        return local(self.load(name).location())

    def exists(self, location: str) -> bool:
        return local(location).exists()

    def snapshots(self, name: TableName) -> list[int]:
        return [each.snapshot_id for each in self.load(name).metadata.snapshots]

    def live(self, name: TableName) -> list[str]:
        return [task.file.file_path for task in self.load(name).scan().plan_files()]


def local(location: str) -> Path:
    """The path of a local file's location."""
    return Path("/" + location.removeprefix("file:").lstrip("/"))
