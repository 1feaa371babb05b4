"""A lake that does whatever lakes do, passes that race, die and repair, and a model of what the facts must then say.

LIMNOGRAPH_STEPS: steps in all (CI 600, nightly more).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from lakes import FixedClock, path_of
from limnograph.domain.facts.meta_tables import CHANGES, SNAPSHOTS, MetaTable
from limnograph.domain.failpoints import PASS_STEPS, FailpointReached, around
from limnograph.domain.ids import location_uuid
from limnograph.services.pipeline.ledger import Ledger
from memory_meta import MemoryMetaStore, local_passes, local_repairs
from metadata_writer import DATA, EQUALITY_DELETES, POSITION_DELETES, UNPARTITIONED, Field, File, MetadataTable
from pointed_lake import NearLake, PointedLake

STEPS = int(os.environ.get("LIMNOGRAPH_STEPS", "600"))
STEPS_A_LIFE = 60
PHASES = [Phase.generate]
"""A failing life is told as it was: to shrink it would take longer than to read it."""
NAMES = ("sales.a", "sales.b", "aside.a", "aside.c")
SPECS = (UNPARTITIONED, (Field(2, "region"),), (Field(1, "id_bucket", "bucket[4]", "int"), Field(2, "region")))
FIRST_NOW = 1_900_000_000_000_000
DAY_MS = 86_400_000
COUNTED = ("total_data_files", "total_records", "total_bytes", "total_delete_files", "total_position_deletes")
taken = [0]
RANDOM = st.randoms(use_true_random=True)
"""One draw a rule; choices inside are plain chance, so that lives are long and busy and not as simple as can be."""
ACTIONS = [
    *[("append", "main")] * 8,
    *[("append", "branch"), ("expire", "all"), ("expire", "half")],
    *(("rewrite", how) for how in ("delete", "overwrite", "compact", "manifests", "deletes", "deletes")),
    *(("move", how) for how in ("rollback", "branch", "tag", "drop", "stage", "pick")),
    *(("evolve", how) for how in ("upgrade", "spec", "column", "property", "later")),
]


class Known:
    """What the model knows of one table beyond what its writer remembers."""

    def __init__(self, table: MetadataTable) -> None:
        self.table = table
        self.series = ""
        self.seen: set[int] = set()
        self.moves: set[tuple[str, int]] = set()
        self.born = table.version
        self.picked: set[int] = set()


class LakeModel(RuleBasedStateMachine):
    """Rules change the lake or let a pipeline look at it; after every look facts and model are compared."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="lake-model-"))
        self.lake, self.store, self.clock = PointedLake(self.folder), MemoryMetaStore(), FixedClock(FIRST_NOW)
        self.listed: dict[str, Known] = {}
        self.all: list[Known] = []
        self.aside: dict[Path, Path] = {}
        self.jumps = 0
        self.processes = [self.process(), self.process()]
        for version, name in enumerate(NAMES[:2], start=1):
            table = self.lake.written(version=version, list_it=False)
            for _ in range(3):
                table.append(table.file("eu"))
            self.register(name, Known(table))

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder, ignore_errors=True)

    def process(self, failpoint: str = "") -> Any:
        return local_passes(self.lake, self.store, failpoint, observed=NearLake(self.lake), clock=self.clock)

    @invariant()
    def count(self) -> None:
        taken[0] += 1

    # What lakes do ---------------------------------------------------------------------------------------------------

    def some(self, rng: Random) -> Known:
        return self.listed[rng.choice(sorted(self.listed))]

    def publish(self, known: Known) -> None:
        for name, other in self.listed.items():
            if other is known:
                self.lake.point(name, known.table)

    @rule(rng=RANDOM, version=st.sampled_from([1, 2, 2, 3]), spec=st.sampled_from(SPECS), nameless=st.booleans())
    def create(self, rng: Random, version: int, spec: tuple[Field, ...], nameless: bool) -> None:
        free = [name for name in NAMES if name not in self.listed]
        if not free:
            return
        uuid = None if nameless and version == 1 else ""
        table = self.lake.written(version=version, table_uuid=uuid, spec=spec, list_it=False)
        self.register(rng.choice(free), Known(table))

    def register(self, name: str, known: Known) -> None:
        self.listed[name] = known
        if known not in self.all:
            self.all.append(known)
        self.publish(known)

    @precondition(lambda self: self.listed)
    @rule(rng=RANDOM)
    def work(self, rng: Random) -> None:
        known = self.some(rng)
        for kind, how in rng.choices(ACTIONS, k=rng.randint(4, 20)):
            getattr(self, kind)(known, rng, how)
            self.publish(known)

    @precondition(lambda self: self.listed)
    @rule(rng=RANDOM, which=st.integers(0, 1))
    def work_under_watch(self, rng: Random, which: int) -> None:
        self.work(rng)
        self.settle(self.processes[which])

    def append(self, known: Known, rng: Random, how: str) -> None:
        files = [self.file(known.table, rng) for _ in range(rng.randint(1, 4))]
        known.table.append(*files, branch=self.branch(known, rng, how == "branch"))

    def file(self, table: MetadataTable, rng: Random, content: int = DATA) -> File:
        values = {"region": rng.choice(["eu", "us", None]), "id_bucket": rng.randint(0, 3)}
        partition = [values[field.name] for field in table.specs[-1]]
        size = rng.choice([100, 9_000, 2_000_000, 600_000_000])
        return table.file(*partition, records=rng.randint(0, 50), size=size, content=content)

    def branch(self, known: Known, rng: Random, wanted: bool) -> str:
        branches = [name for name, ref in known.table.refs.items() if ref["type"] == "branch" and name != "main"]
        return rng.choice(branches) if wanted and branches else "main"

    def rewrite(self, known: Known, rng: Random, how: str) -> None:
        table = known.table
        files = table.files()
        chosen = rng.sample(files, min(len(files), rng.randint(1, 3)))
        if how == "manifests":
            table.rewrite_manifests()
        elif how == "deletes" and table.version == 2:
            kind = rng.choice([POSITION_DELETES, EQUALITY_DELETES])
            gone = table.files(content=POSITION_DELETES)[:1]
            table.overwrite([self.file(table, rng, kind)], gone)
        elif how == "deletes" and table.version == 3:
            vectors = {f.dv_of for f in table.files(content=POSITION_DELETES)}
            table.overwrite([table.vector(f) for f in chosen if f.path not in vectors], ())
        elif chosen and how == "delete":
            table.delete(*chosen)
        elif chosen and how == "compact":
            table.compact(*chosen)
        elif how == "overwrite":
            table.overwrite([self.file(table, rng)], chosen)

    def move(self, known: Known, rng: Random, how: str) -> None:
        table = known.table
        retained = sorted(table.snapshots)
        others = sorted(name for name in table.refs if name != "main")
        if how == "stage":
            table.stage(self.file(table, rng), wap_id="w")
        elif not retained:
            return
        elif how == "rollback":
            if ancestors := table.retained():
                table.set_main(rng.choice(ancestors))
        elif how == "drop" and others:
            table.drop_ref(rng.choice(others))
        elif how == "pick":
            staged = [i for i in retained if "wap.id" in table.snapshots[i]["summary"] and i not in table.retained()]
            fresh = [i for i in staged if i not in known.picked]  # Iceberg refuses to publish a commit twice
            if fresh:
                known.picked.add(picked := rng.choice(fresh))
                table.cherry_pick(picked)
        elif how in {"branch", "tag"}:
            name = rng.choice(["audit", "v1", "nightly"])
            table.set_ref(name, rng.choice(retained), how)

    @staticmethod
    def expire(known: Known, _rng: Random, how: str) -> None:
        held = {ref["snapshot-id"] for ref in known.table.refs.values()}
        free = [i for i in known.table.snapshots if i not in held]
        gone = free if how == "all" else free[: max(1, len(free) // 2)]
        if gone:
            known.table.expire(*gone)

    def evolve(self, known: Known, rng: Random, how: str) -> None:
        table = known.table
        if how == "upgrade" and table.version < 3:
            table.upgrade(table.version + 1, None if table.table_uuid else f"uuid-{len(self.all)}-{table.now_ms}")
        elif how == "spec":
            table.set_spec(rng.choice(SPECS))
        elif how == "column":
            table.add_column(f"c{len(table.schemas)}")
        elif how == "property":
            table.set_property("write.target-file-size-bytes", rng.choice(["1000", "134217728"]))
        elif how == "later" and self.jumps < 3:
            self.jumps += 1
            table.tick(20 * DAY_MS)

    @precondition(lambda self: self.listed)
    @rule(rng=RANDOM, how=st.sampled_from(["drop", "rename", "twin", "again", "recreate"]))
    def names(self, rng: Random, how: str) -> None:
        if rng.random() < 0.5:
            return
        name = rng.choice(sorted(self.listed))
        free = [other for other in NAMES if other not in self.listed]
        away = [known for known in self.all if known not in self.listed.values()]
        if how == "drop":
            del self.listed[name]
            self.lake.drop(name)
        elif how == "rename" and free:
            self.listed[free[0]] = self.listed.pop(name)
            self.lake.rename(name, free[0])
        elif how == "twin" and free:
            self.register(free[0], self.listed[name])
        elif how == "again" and away and free:
            self.register(free[0], rng.choice(away))
        elif how == "recreate":
            self.register(name, Known(self.lake.written(version=self.listed[name].table.version, list_it=False)))

    # Damage ----------------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.listed)
    @rule(rng=RANDOM, a_list=st.booleans())
    def lose_a_file(self, rng: Random, a_list: bool) -> None:
        known = self.some(rng)
        if not known.table.snapshots:
            return
        chosen = known.table.snapshots[rng.choice(sorted(known.table.snapshots))]
        manifests = known.table.manifests[chosen["snapshot-id"]]
        lost = path_of(chosen["manifest-list"] if a_list or not manifests else manifests[0].path)
        if lost.exists():
            self.aside[lost] = lost.rename(lost.with_suffix(".aside"))

    @rule()
    def find_the_files_and_retry(self) -> None:
        for lost, aside in self.aside.items():
            aside.rename(lost)
        self.aside.clear()
        self.settle()
        local_repairs(NearLake(self.lake), self.store).retry_damaged()
        self.compare()
        rows = self.rows()
        for known in self.listed.values():
            assert {rows[known.series, i]["status"] for i in known.table.snapshots} <= {"ok"}

    # Pipelines -------------------------------------------------------------------------------------------------------

    @rule(which=st.integers(0, 1))
    def look(self, which: int) -> None:
        self.settle(self.processes[which])

    @rule()
    def look_after_a_restart(self) -> None:
        self.processes[0] = self.process()
        self.settle(self.processes[0])

    @rule(failpoint=st.sampled_from(around(PASS_STEPS)), nth=st.integers(1, 2))
    def look_and_die(self, failpoint: str, nth: int) -> None:
        with contextlib.suppress(FailpointReached):
            self.process(f"{failpoint}:{nth}:raise").run()
        self.settle()

    @rule(after=st.integers(0, 2))
    def look_at_once(self, after: int) -> None:
        rival, left = self.process(), [after]

        def race(_table: MetaTable) -> None:
            left[0] -= 1
            if left[0] == -1:
                rival.run()

        self.store.before_append = race
        self.processes[1].run()
        self.store.before_append = lambda _table: None
        self.settle()

    @rule(rng=RANDOM)
    def lose_a_row(self, rng: Random) -> None:
        rows = self.store.rows(SNAPSHOTS)
        kept = [known for known in self.listed.values() if known.seen & known.table.snapshots.keys()]
        if not kept:
            return
        known = rng.choice(kept)
        victim = rng.choice(sorted(known.seen & known.table.snapshots.keys()))
        self.store.overwrite(SNAPSHOTS, rows.filter([row != victim for row in rows.column("snapshot_id").to_pylist()]))
        self.settle(self.processes[0])

    def settle(self, passes: Any = None) -> None:
        """Passes until nothing is due."""
        passes = passes or self.process()
        before = {id(known): set(known.seen) for known in self.all}
        gaps = len(self.gaps())
        for _ in range(30):
            report = passes.run()
            assert report.failed == ()
            if not report.pending:
                break
        else:
            raise AssertionError("a pass is always due")
        assert passes.run().tables_changed == 0
        for known in dict.fromkeys(self.listed.values()):
            self.take(known)
        self.compare()
        self.compare_gaps(before, self.gaps()[gaps:])

    def take(self, known: Known) -> None:
        table = known.table
        known.series = known.series or table.table_uuid or location_uuid(table.location)
        known.seen |= table.snapshots.keys()
        known.moves |= {(str(entry["snapshot-id"]), entry["timestamp-ms"] * 1000) for entry in table.snapshot_log}

    # What must then be so --------------------------------------------------------------------------------------------

    def rows(self) -> dict[tuple[str, int], dict[str, Any]]:
        found = self.store.rows(SNAPSHOTS).to_pylist()
        keyed = {(row["table_uuid"], row["snapshot_id"]): row for row in found}
        assert len(keyed) == len(found)
        return keyed

    def gaps(self) -> list[Any]:
        return [row for row in self.store.changes(self.store.head(CHANGES)) if row.kind == "gap"]

    def compare(self) -> None:
        rows = self.rows()
        assert rows.keys() == {(known.series, i) for known in self.all for i in known.seen}
        for known in self.all:
            for snapshot_id in known.seen:
                self.compare_row(known.table, rows[known.series, snapshot_id])
        self.compare_changes()

    def compare_row(self, table: MetadataTable, row: dict[str, Any]) -> None:
        said = table.totals(row["snapshot_id"])
        if row["tier"] == "entries":
            assert row["status"] == "ok"
            wrong = {name: (row[name], value) for name, value in said.items() if row[name] != value}
            assert not wrong, (table.version, row["operation"], wrong)
            assert row["summary_mismatch"] == []
            if row["partitions_scope"] == "full":
                for name, total in (("data_files", "total_data_files"), ("records", "total_records")):
                    assert sum(part[name] for part in row["partitions"]) == said[total]
        elif row["tier"] == "manifest_list":
            assert {name: row[name] for name in COUNTED if row[name] is not None}.items() <= said.items()
        assert row["status"] == "ok" or row["problems"]

    def compare_changes(self) -> None:
        changes = self.store.changes(self.store.head(CHANGES))
        keys = [(row.table_uuid, row.kind, row.subject, row.to_value, row.at) for row in changes]
        assert len(keys) == len(set(keys))
        ledger = Ledger(changes)
        assert ledger.owners() == {f"lake.{name}": known.series for name, known in self.listed.items()}
        for known in self.all:
            if known.series:
                assert ledger.main_log(known.series) == known.moves
                assert ledger.first_seen(known.series) is not None
        for known in self.listed.values():
            self.compare_states(known, lambda *state, of=known: ledger.latest(of.series, *state))

    def compare_states(self, known: Known, latest: Callable[..., Any]) -> None:
        table = known.table
        assert latest("schema", None).to_value == str(len(table.schemas) - 1)
        assert latest("spec", None).to_value == str(len(table.specs) - 1)
        for key, value in table.properties.items():
            assert latest("property", key).to_value == value
        for name in ("audit", "v1", "nightly"):
            row, head = latest("ref", name), table.head(name)
            assert (row.to_value if row else None) == (None if head is None else str(head))
        upgrade = latest("upgraded", "format-version")
        assert (upgrade.to_value if upgrade else str(known.born)) == str(table.version)

    def compare_gaps(self, before: dict[int, set[int]], new: list[Any]) -> None:
        """A gap lies below a retained snapshot whose parent is gone; missed commits are counted, and once."""
        for known in self.all:
            mine = [row for row in new if row.table_uuid == known.series]
            told = {row.subject for row in self.gaps() if row.table_uuid == known.series}
            for row in mine:
                assert int(row.subject) not in known.seen
                assert int(row.to_value) in known.seen
                assert row.from_value is None or int(row.from_value) in before[id(known)]
                assert (row.not_before or row.at) <= row.at
            counts = [json.loads(row.detail)["missed_snapshots"] for row in mine]
            numbers = known.table.sequences
            if mine and None not in counts:
                between = {
                    n for row in mine for n in range(numbers[int(row.from_value)] + 1, numbers[int(row.to_value)])
                }
                lost = {n for i, n in numbers.items() if n in between and i not in known.seen}
                assert sum(counts) == len(lost)
            seen = before.get(id(known), set())
            if known in self.listed.values() and seen:
                for i, snapshot in known.table.snapshots.items():
                    parent = snapshot.get("parent-snapshot-id")
                    fresh = i not in seen and parent is not None and parent not in known.seen
                    earlier = any(snapshot["timestamp-ms"] >= self.time(known, old) for old in seen)
                    assert not (fresh and earlier) or str(parent) in told

    @staticmethod
    def time(known: Known, snapshot_id: int) -> int:
        return known.table.times[snapshot_id]


@pytest.mark.filterwarnings("ignore::hypothesis.errors.NonInteractiveExampleWarning")
def test_facts_equal_the_model_for_any_history_of_a_lake() -> None:
    chosen = settings(
        max_examples=max(1, -(-STEPS // (STEPS_A_LIFE - 6))),
        stateful_step_count=STEPS_A_LIFE,
        deadline=None,
        derandomize="LIMNOGRAPH_STEPS" not in os.environ,
        suppress_health_check=list(HealthCheck),
        phases=PHASES,
    )
    run_state_machine_as_test(LakeModel, settings=chosen)
    assert taken[0] >= min(STEPS, 500)
