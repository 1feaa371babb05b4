"""A lake with a maintenance file, and `limnograph maintain` on it: as processes, and in a session that stands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa

from lakes import Lake, path_of, rewrite_metadata
from limnograph.adapters.inbox.database import InboxDatabase
from limnograph.adapters.inbox.plan_states import SqlPlanStates
from limnograph.domain.failpoints import FAILPOINT_ENV, Failpoints
from limnograph.ports.table_maintainer import STAMP
from limnograph.services.maintenance.executor import MaintenanceExecutor
from limnograph.services.maintenance.lease_keeper import LeaseTiming
from limnograph.settings.maintenance import MaintainSettings, load_maintenance
from limnograph.wiring.maintain.building import parts_of
from quick_jvm import QUICK, quick_options
from standing_jvm import StandingJvm

if TYPE_CHECKING:
    from pyiceberg.table import Table
    from pyspark.sql import SparkSession

DAY_MS = 86_400_000
CHEAP = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
POLICY = """
[[maintenance.policy]]
name = "all"
tables = ["{catalog}.{namespace}.*"]
quiet = "0s"
max_rewrite_ratio = 1000
retain = {{ age = "24h", last = 2 }}
readers = [{{ job = "churn", lag = "1h" }}]
orphans = {{ age = "7d", mode = "auto", longest_run = "1h" }}
worth = {{ saved_files = 2, freed_bytes = "1 B", paying = false }}
"""


class MaintainSite:
    """Tables of one namespace, partitioned by region, with the files of the settings and of maintenance beside them."""

    def __init__(
        self,
        folder: Path,
        lake: Lake | None = None,
        *,
        mode: str = "auto",
        policy: str = POLICY,
        jvm: StandingJvm | None = None,
        python: Path | None = None,
    ) -> None:
        self.folder, self.lake, self.jvm = folder, lake or Lake(folder), jvm
        self.python, self.namespace = str(python or sys.executable), f"m{uuid4().hex[:6]}"
        self.lake.catalog.create_namespace(self.namespace)
        self.config, self.maintenance = folder / "limnograph.toml", folder / "maintenance.toml"
        catalog = "\n".join(f'{key} = "{value}"' for key, value in self.lake.properties.items())
        options = QUICK if jvm is not None else quick_options()
        conf = {**CHEAP, "spark.driver.extraJavaOptions": options}
        told = "".join(f'"{key}" = "{value}"\n' for key, value in conf.items())
        self.config.write_text(
            f'[catalogs.{self.lake.name}]\n{catalog}\n[spark]\nmaster = "local[1]"\n[spark.conf]\n{told}'
        )
        section = f'[maintenance]\nmode = "{mode}"\nconflict_after = "1s"\n[maintenance.catalogs.{self.lake.name}]\n'
        self.maintenance.write_text(section + policy.format(catalog=self.lake.name, namespace=self.namespace))

    @property
    def settings(self) -> MaintainSettings:
        return load_maintenance(self.maintenance, self.config, env={})

    @property
    def states(self) -> SqlPlanStates:
        return SqlPlanStates(InboxDatabase(self.settings.settings.inbox_url))

    def run(
        self, failpoint: str = "", *options: str, timeout: float = 600, own_jvm: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """`limnograph maintain`, to its end; with `NAME:NTH:ACTION` it dies there."""
        files = ["--maintenance", str(self.maintenance), "--config", str(self.config)]
        arguments = ["-m", "limnograph", "maintain", *files, "--json", *(options or ("--once",))]
        env = {**os.environ, FAILPOINT_ENV: failpoint}
        if self.jvm is None or own_jvm:
            command = [sys.executable, *arguments]
            return subprocess.run(command, env=env, capture_output=True, text=True, timeout=timeout, check=False)
        try:
            env |= self.jvm.environment() | {"PYSPARK_PYTHON": self.python}
            command = [self.python, *arguments]
            return subprocess.run(command, env=env, capture_output=True, text=True, timeout=timeout, check=False)
        finally:
            self.jvm.clear()

    @contextmanager
    def watching(self) -> Iterator[subprocess.Popen[str]]:
        """`limnograph maintain --watch`, on the standing JVM. An interpreter of its own gets the signals."""
        assert self.jvm is not None
        files = ["--maintenance", str(self.maintenance), "--config", str(self.config)]
        command = [sys.executable, "-m", "limnograph", "maintain", *files, "--json", "--watch"]
        env = {**os.environ, **self.jvm.environment()}
        pipe = subprocess.PIPE
        with subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, text=True) as process:
            try:
                yield process
            finally:
                process.kill()
                self.jvm.clear()

    def executor(
        self, session: SparkSession, *, executor_id: str = "test", failpoint: str = "", **fields: Any
    ) -> MaintenanceExecutor:
        """An executor in a session that stands."""
        parts = parts_of(
            *(self.settings, session),
            executor_id=executor_id,
            stop=threading.Event(),
            progress=lambda _line: None,
            failpoints=Failpoints(failpoint),
            timing=LeaseTiming(grace_s=0.1),
        )
        return MaintenanceExecutor(parts._replace(**fields))

    def table(self, name: str, files: int = 5, **properties: str) -> Table:
        """A table of one small file per commit."""
        self.lake.table(f"{self.namespace}.{name}", **properties)
        for number in range(files):
            self.append(name, [10 * number + each for each in range(3)])
        return self.load(name)

    def load(self, name: str) -> Table:
        return self.lake.load(f"{self.namespace}.{name}")

    def append(self, name: str, ids: list[int], region: str = "eu") -> None:
        self.load(name).append(pa.table({"id": pa.array(ids, pa.int64()), "region": [region] * len(ids)}))

    def age(self, name: str, days: float) -> None:
        """Every commit of a table was made days earlier, and so was every file."""
        table, by = self.load(name), int(days * DAY_MS)

        def older(document: dict[str, Any]) -> None:
            for key in ("snapshots", "snapshot-log", "metadata-log"):
                for entry in document.get(key, []):
                    entry["timestamp-ms"] -= by
            document["last-updated-ms"] -= by

        self.lake.move(f"{self.namespace}.{name}", renumbered(table, older))
        for file in path_of(table.location()).rglob("*"):
            if file.is_file():
                at = file.stat().st_mtime - days * 86_400
                os.utime(file, (at, at))

    def rows(self, name: str) -> list[int]:
        return sorted(self.load(name).scan().to_arrow()["id"].to_pylist())

    def stamps(self, *names: str) -> Counter[str]:
        """How many commits carry each stamp."""
        found = Counter[str]()
        for name in names:
            for snapshot in self.load(name).snapshots():
                if snapshot.summary is not None and (stamp := snapshot.summary.additional_properties.get(STAMP)):
                    found[stamp] += 1
        return found

    def missing(self, name: str) -> list[str]:
        """Files of retained snapshots that do not exist."""
        table = self.load(name)
        found = set()
        for snapshot in table.snapshots():
            found.add(snapshot.manifest_list)
            for manifest in snapshot.manifests(table.io):
                found.add(manifest.manifest_path)
                found |= {entry.data_file.file_path for entry in manifest.fetch_manifest_entry(table.io)}
        return sorted(each for each in found if not path_of(each).exists())


def renumbered(table: Table, change: Callable[[dict[str, Any]], None]) -> str:
    """A new metadata file of a name that engines count on from."""
    source = path_of(rewrite_metadata(table, change))
    number = int(path_of(table.metadata_location).name.split("-")[0]) + 1
    target = source.with_name(f"{number:05d}-{uuid4()}.metadata.json")
    source.rename(target)
    return f"file://{target}"


def summary(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The JSON of a run."""
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for something that another process does."""
    end_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end_at, "it did not happen"
        time.sleep(0.1)
