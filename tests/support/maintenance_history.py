"""Random histories of a table beside the real executor: writers and readers during each action, a model of the rows."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
from pyiceberg.expressions import EqualTo
from pyiceberg.transforms import BucketTransform

from limnograph.domain.failpoints import Failpoints
from maintain_site import MaintainSite

if TYPE_CHECKING:
    from pyiceberg.table import Table
    from pyspark.sql import SparkSession

REGIONS = ("eu", "us", "ap'x")
MERGE_ON_READ = {"write.delete.mode": "merge-on-read", "write.update.mode": "merge-on-read"}


def quoted(text: str) -> str:
    """A literal of Spark SQL."""
    return "'" + text.replace("'", "\\'") + "'"


class RivalPoints(Failpoints):
    """Calls `act` when an action has planned, or has its outputs and has not committed."""

    def __init__(self) -> None:
        super().__init__()
        self.act: Callable[[str], None] = lambda _name: None

    def reach(self, name: str) -> None:
        super().reach(name)
        self.act(name)


class MaintenanceHistory:
    """One table. `figures`: what was done, and what must stay 0."""

    def __init__(self, site: MaintainSite, session: SparkSession, seed: int) -> None:
        self.site, self.session, self.dice = site, session, random.Random(seed)
        self.name = f"h{uuid4().hex[:6]}"
        self.path = f"`{site.lake.name}`.`{site.namespace}`.`{self.name}`"
        site.lake.table(f"{site.namespace}.{self.name}", **MERGE_ON_READ)
        self.model: dict[int, str] = {}
        self.deleted: set[int] = set()
        self.pinned: dict[str, tuple[int, frozenset[int]]] = {}
        self.next_id = 0
        self.columns = 0
        self.figures = Counter[str]()
        self._rivals: list[threading.Thread] = []
        self._broken: list[str] = []
        self._points = RivalPoints()
        self._executor = site.executor(session, failpoints=self._points)
        for _ in range(3):
            self.append()

    # Writers ---------------------------------------------------------------------------------------------------------

    def append(self) -> None:
        """Rows of one partition, in a file of their own."""
        ids = list(range(self.next_id, self.next_id + self.dice.randint(2, 12)))
        self.next_id += len(ids)
        region = self.dice.choice(REGIONS)
        self._retried(lambda: self._append(ids, region))
        self.model.update(dict.fromkeys(ids, region))

    def _append(self, ids: list[int], region: str) -> None:
        """PyIceberg cannot write into buckets here: then Spark does."""
        table = self.site.load(self.name)
        if self._has_buckets(table):
            rows = ", ".join(f"({each}, {quoted(region)})" for each in ids)
            self.session.sql(f"INSERT INTO {self.path} (id, region) VALUES {rows}")
            return
        columns = {"id": pa.array(ids, pa.int64()), "region": pa.array([region] * len(ids))}
        for field in table.schema().fields[2:]:
            columns[field.name] = pa.array([1] * len(ids), pa.int32())
        table.append(pa.table(columns))

    def delete_rows(self) -> None:
        """Merge-on-read, by Spark: fails if a rewrite of the files commits first."""
        divisor, region = self.dice.randint(2, 7), self.dice.choice(REGIONS)
        self.session.sql(f"DELETE FROM {self.path} WHERE id % {divisor} = 1 AND region = {quoted(region)}")
        self._gone([key for key, own in self.model.items() if key % divisor == 1 and own == region])

    def overwrite(self) -> None:
        """All files of a partition go: by PyIceberg, or by Spark, which sees that whole files match."""
        region = self.dice.choice(REGIONS)
        if self._has_buckets(self.site.load(self.name)):
            self.session.sql(f"DELETE FROM {self.path} WHERE region = {quoted(region)}")
        else:
            self._retried(lambda: self.site.load(self.name).delete(EqualTo("region", region)))
        self._gone([key for key, own in self.model.items() if own == region])

    def add_column(self) -> None:
        """A schema change."""
        from pyiceberg.types import IntegerType

        self.columns += 1
        with self.site.load(self.name).update_schema() as update:
            update.add_column(f"c{self.columns}", IntegerType())

    def change_spec(self) -> None:
        """Later files are partitioned in another way."""
        with self.site.load(self.name).update_spec() as update:
            names = {field.name for field in self.site.load(self.name).spec().fields}
            if "id_b" in names:
                update.remove_field("id_b")
            else:
                update.add_field("id", BucketTransform(2), "id_b")

    def tag(self) -> None:
        """A tag, or a branch with a commit of its own."""
        table, name = self.site.load(self.name), f"r{len(self.pinned)}"
        head = table.current_snapshot()
        assert head is not None
        if self.dice.random() < 0.6:
            table.manage_snapshots().create_tag(head.snapshot_id, name).commit()
            self.pinned[name] = (head.snapshot_id, frozenset(self.model))
            return
        table.manage_snapshots().create_branch(head.snapshot_id, name).commit()
        own = self.next_id
        self.next_id += 1
        self.session.sql(f"INSERT INTO {self.path}.branch_{name} (id, region) VALUES ({own}, 'eu')")
        branch = self.site.load(self.name).metadata.refs[name].snapshot_id
        self.pinned[name] = (branch, frozenset({*self.model, own}))

    def age(self) -> None:
        """Nine days pass."""
        self.site.age(self.name, 9)

    def stray(self) -> None:
        """A file that a writer left long ago."""
        import os

        from lakes import path_of

        path = path_of(self.site.load(self.name).location()) / "data" / f"stray-{uuid4().hex}.parquet"
        path.write_bytes(b"left by a writer that died")
        os.utime(path, (time.time() - 9 * 86_400,) * 2)

    # The executor -----------------------------------------------------------------------------------------------------

    def maintain(self, rival: Callable[[], None] | None = None) -> None:
        """A round of the real executor, with a writer and a reader during its actions."""
        stop, failures = threading.Event(), list[str]()
        reader = threading.Thread(target=self._read_pinned, args=(stop, failures))
        reader.start()
        passed: list[str] = []
        at = self.dice.choice(["maintain.planned", "maintain.outputs-written"])

        def act(name: str) -> None:
            if rival is not None and name == at and not passed:
                passed.append(name)
                self._begin(rival, wait=name == "maintain.outputs-written")

        self._points.act = act
        report = self._executor.round()
        for thread in self._rivals:
            thread.join()
        self._rivals = []
        stop.set()
        reader.join()
        self.figures["failed_readers"] += len(failures)
        assert failures == []
        assert self._broken == []
        assert [(each.table, each.text) for each in report.troubles] == []
        for breaker in self.site.states.breakers():
            assert breaker.code != "verification", breaker
            self.figures[f"breaker:{breaker.code}"] += 1
            self.site.states.close_breaker(breaker.key)  # the history goes on
        for plan in report.plans:
            assert plan.state != "failed", plan
            self.figures[f"{plan.action}:{plan.state}"] += 1

    def _begin(self, rival: Callable[[], None], *, wait: bool) -> None:
        """A writer beside the action; it may be the one that loses."""

        def write() -> None:
            try:
                rival()
                self.figures["rivals"] += 1
            except Exception as error:  # noqa: BLE001 - any engine's
                text = str(error)
                is_conflict = "Validation" in text or "Cannot commit" in text or "conflict" in text.lower()
                self.figures["rivals_lost"] += is_conflict
                self._broken += [] if is_conflict else [text[:500]]

        thread = threading.Thread(target=write)
        thread.start()
        if wait:
            thread.join()
        self._rivals.append(thread)

    def _read_pinned(self, stop: threading.Event, failures: list[str]) -> None:
        """A query that planned before the action and reads on while it runs."""
        table, expected = self.site.load(self.name), sorted(self.model)
        head = table.current_snapshot()
        assert head is not None
        while not stop.is_set():
            try:
                found = sorted(table.scan(snapshot_id=head.snapshot_id).to_arrow()["id"].to_pylist())
                if found != expected:
                    failures.append(f"{len(found)} rows instead of {len(expected)}")
                self.figures["pinned_reads"] += 1
            except Exception as error:  # noqa: BLE001 - counted
                failures.append(str(error)[:300])
            stop.wait(0.3)

    # The model --------------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Rows = model, no deleted row, no missing file, references as they were."""
        self.figures["checks"] += 1
        rows = self.site.rows(self.name)
        self.figures["lost_rows"] += len(set(self.model) - set(rows))
        self.figures["resurrected_rows"] += len(set(rows) & self.deleted)
        missing = self.site.missing(self.name)
        self.figures["missing_files"] += len(missing)
        assert rows == sorted(self.model)
        assert missing == []
        table = self.site.load(self.name)
        for name, (snapshot_id, ids) in self.pinned.items():
            assert table.metadata.refs[name].snapshot_id == snapshot_id
            if name in list(self.pinned)[-2:]:
                assert set(table.scan(snapshot_id=snapshot_id).to_arrow()["id"].to_pylist()) == ids
        stamps = self.site.stamps(self.name)
        assert all(count == 1 for count in stamps.values()), stamps

    def step(self) -> str:
        """One thing happens, and everything is checked."""
        writers: dict[str, Callable[[], None]] = {
            "append": self.append,
            "delete": self.delete_rows,
            "overwrite": self.overwrite,
            "column": self.add_column,
            "spec": self.change_spec,
            "tag": self.tag,
            "age": self.age,
            "stray": self.stray,
        }
        weights = {"append": 6, "delete": 3, "overwrite": 1, "column": 1, "spec": 1, "tag": 1, "age": 2, "stray": 1}
        if self.dice.random() < 0.45:
            what = self.dice.choice(["alone", "append", "delete", "overwrite"])
            self.maintain(writers.get(what))
            what = f"maintain+{what}"
        else:
            (what,) = self.dice.choices(list(weights), list(weights.values()))
            writers[what]()
        self.figures[what] += 1
        self.check()
        return what

    def _gone(self, ids: list[int]) -> None:
        for key in ids:
            del self.model[key]
        self.deleted |= set(ids)

    @staticmethod
    def _has_buckets(table: Table) -> bool:
        return any(field.name == "id_b" for field in table.spec().fields)

    @staticmethod
    def _retried(commit: Callable[[], Any]) -> None:
        """PyIceberg does not retry a commit that another writer overtook."""
        from pyiceberg.exceptions import CommitFailedException

        for _ in range(10):
            try:
                commit()
            except CommitFailedException:
                continue
            return
        raise AssertionError("ten commits in a row were overtaken")
