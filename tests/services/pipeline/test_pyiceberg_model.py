"""As `test_lake_model.py`, in the small, on a lake that PyIceberg writes: its own reader says what is right."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from pyiceberg.table import Table
from pyiceberg.types import IntegerType

from lakes import FixedClock, rows
from limnograph.domain.facts.meta_tables import CHANGES, SNAPSHOTS
from limnograph.services.pipeline.ledger import Ledger
from memory_meta import MemoryMetaStore, local_passes
from pointed_lake import NearLake, PointedLake

STEPS_A_LIFE = 20
LIVES = max(3, int(os.environ.get("LIMNOGRAPH_STEPS", "0")) // 400)
ACTIONS = ("append",) * 4 + (
    "delete",
    "overwrite",
    "rollback",
    "tag",
    "branch",
    "untag",
    "expire",
    "column",
    "property",
)


class PyIcebergLake(RuleBasedStateMachine):
    """Two tables that are written, renamed, dropped and made again."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pyiceberg-model-"))
        self.lake, self.store, self.clock = (
            PointedLake(self.folder),
            MemoryMetaStore(),
            FixedClock(4_000_000_000_000_000),
        )
        self.passes = local_passes(self.lake, self.store, observed=NearLake(self.lake), clock=self.clock)
        self.seen: dict[str, set[int]] = {}
        self.counted: dict[int, tuple[int, int, int]] = {}
        for name in ("sales.a", "sales.b"):
            self.lake.table(name).append(rows("eu", "us"))

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.lake.catalog.engine.dispose()
            shutil.rmtree(self.folder, ignore_errors=True)

    @rule(chance=st.randoms(use_true_random=True))
    def work(self, chance: Random) -> None:
        name = chance.choice([f"sales.{table}" for _, table in self.lake.catalog.list_tables("sales")])
        for action in chance.choices(ACTIONS, k=chance.randint(1, 4)):
            getattr(self, action)(self.lake.load(name), chance)

    @staticmethod
    def append(table: Table, chance: Random) -> None:
        table.append(fitting(table, chance.choices(["eu", "us", "asia"], k=chance.randint(1, 4))))

    @staticmethod
    def delete(table: Table, chance: Random) -> None:
        table.delete(f"region == '{chance.choice(['eu', 'us', 'asia'])}'")

    @staticmethod
    def overwrite(table: Table, _chance: Random) -> None:
        table.overwrite(fitting(table, ["eu"]))

    @staticmethod
    def rollback(table: Table, chance: Random) -> None:
        entries = [e.snapshot_id for e in table.history() if table.snapshot_by_id(e.snapshot_id)]
        if entries:
            table.manage_snapshots().set_current_snapshot(chance.choice(entries)).commit()

    @staticmethod
    def tag(table: Table, chance: Random) -> None:
        if known := table.snapshots():
            table.manage_snapshots().create_tag(chance.choice(known).snapshot_id, f"t{chance.randrange(99)}").commit()

    @staticmethod
    def branch(table: Table, chance: Random) -> None:
        if known := table.snapshots():
            name = f"b{chance.randrange(99)}"
            table.manage_snapshots().create_branch(chance.choice(known).snapshot_id, name).commit()

    @staticmethod
    def untag(table: Table, _chance: Random) -> None:
        if tags := [name for name, ref in table.metadata.refs.items() if ref.snapshot_ref_type == "tag"]:
            table.manage_snapshots().remove_tag(tags[0]).commit()

    @staticmethod
    def expire(table: Table, chance: Random) -> None:
        held = {ref.snapshot_id for ref in table.metadata.refs.values()}
        free = [s.snapshot_id for s in table.snapshots() if s.snapshot_id not in held]
        if free:
            table.maintenance.expire_snapshots().by_ids(chance.sample(free, max(1, len(free) // 2))).commit()

    @staticmethod
    def column(table: Table, _chance: Random) -> None:
        with table.update_schema() as update:
            update.add_column(f"c{len(table.schema().fields)}", IntegerType())

    @staticmethod
    def property(table: Table, chance: Random) -> None:
        with table.transaction() as tx:
            tx.set_properties({"write.target-file-size-bytes": str(chance.choice([1_000, 2_000]))})

    @rule(name=st.sampled_from(["sales.a", "sales.b"]), how=st.sampled_from(["drop", "rename", "create"]))
    def names(self, name: str, how: str) -> None:
        there = self.lake.catalog.table_exists(name)
        if how == "drop" and there and len(self.lake.catalog.list_tables("sales")) > 1:
            self.lake.catalog.drop_table(name)
        elif how == "rename" and there:
            self.lake.catalog.rename_table(name, f"sales.moved{len(self.seen)}x{self.clock.now()}")
        elif how == "create" and not there:
            self.lake.table(name).append(rows("eu"))

    @rule(fresh=st.booleans())
    def look(self, fresh: bool) -> None:
        if fresh:
            self.passes = local_passes(self.lake, self.store, observed=NearLake(self.lake), clock=self.clock)
        report = self.passes.run()
        assert (report.pending, report.failed, report.unreadable) == (False, (), 0)
        for _, name in self.lake.catalog.list_tables("sales"):
            self.count(self.lake.load(f"sales.{name}"))
        self.compare()

    def count(self, table: Table) -> None:
        """What PyIceberg says of every snapshot that it still holds."""
        series = self.seen.setdefault(str(table.metadata.table_uuid), set())
        for snapshot in table.snapshots():
            if snapshot.snapshot_id not in series:
                files = table.inspect.data_files(snapshot.snapshot_id)
                sums = [pc.sum(files.column(c)).as_py() or 0 for c in ("record_count", "file_size_in_bytes")]
                self.counted[snapshot.snapshot_id] = (files.num_rows, *sums)
                series.add(snapshot.snapshot_id)

    def compare(self) -> None:
        found = {(row["table_uuid"], row["snapshot_id"]): row for row in self.store.rows(SNAPSHOTS).to_pylist()}
        assert found.keys() == {(uuid, i) for uuid, ids in self.seen.items() for i in ids}
        for (_, snapshot_id), row in found.items():
            assert (row["status"], row["tier"], row["summary_mismatch"]) == ("ok", "entries", [])
            counted = (row["total_data_files"], row["total_records"], row["total_bytes"])
            assert counted == self.counted[snapshot_id]
        ledger = Ledger(self.store.changes(self.store.head(CHANGES)))
        listed = [name for _, name in self.lake.catalog.list_tables("sales")]
        assert ledger.owners().keys() == {f"lake.sales.{name}" for name in listed}
        for name in listed:
            self.compare_states(self.lake.load(f"sales.{name}"), ledger.latest)

    def compare_states(self, table: Table, latest: Callable[..., Any]) -> None:
        uuid = str(table.metadata.table_uuid)
        assert latest(uuid, "schema", None).to_value == str(table.metadata.current_schema_id)
        for name, ref in table.metadata.refs.items():
            if name != "main":
                assert latest(uuid, "ref", name).to_value == str(ref.snapshot_id)


def fitting(table: Table, regions: list[str]) -> Any:
    """Rows with nothing in the columns that came later."""
    found = rows(*regions)
    for field in table.schema().fields[2:]:
        found = found.append_column(field.name, [[None] * found.num_rows])
    return found.cast(table.schema().as_arrow())


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_facts_equal_the_operations_of_pyiceberg() -> None:
    chosen = settings(
        max_examples=LIVES,
        stateful_step_count=STEPS_A_LIFE,
        deadline=None,
        derandomize="LIMNOGRAPH_STEPS" not in os.environ,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    run_state_machine_as_test(PyIcebergLake, settings=chosen)
