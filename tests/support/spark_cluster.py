"""A Spark standalone cluster from the pip package on loopback: a master, workers of one executor each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pyspark

from limnograph.adapters.spark.java import java_home
from postgres import free_port

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
DEPLOY = "org.apache.spark.deploy"
EXECUTOR = "CoarseGrainedExecutorBackend"
PATIENCE_S = 600
"""A busy machine takes minutes for what a quiet one does in seconds."""


class Cluster:
    """`url` for `[spark] master`; `workers` are processes, which may be killed and are then started again."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder, self._started = folder, 0
        folder.mkdir(parents=True)
        port = free_port()
        self.url = f"spark://127.0.0.1:{port}"
        self.master = self._start("master.Master", "-p", str(port))
        wait_for(lambda: "I have been elected leader" in self._log("master"), "the master")
        self.workers: list[subprocess.Popen[bytes]] = []
        self.fill(workers)

    def fill(self, count: int) -> None:
        """As many workers as there should be, registered."""
        alive = [worker for worker in self.workers if worker.poll() is None]
        self.workers = alive
        names = [f"worker{self._started + number}" for number in range(1, count - len(alive) + 1)]
        self._started += len(names)
        for name in names:
            options = ("-c", "1", "-m", "1g", "-d", str(self.folder / name), self.url)
            self.workers.append(self._start("worker.Worker", *options, name=name))
        wait_for(lambda: all("Successfully registered" in self._log(name) for name in names), "the workers")

    def executors(self) -> list[psutil.Process]:
        """JVMs of the executors that live now, one for each worker that has one."""
        found = [child for worker in self.workers for child in children(worker.pid)]
        return [process for process in found if EXECUTOR in " ".join(command(process))]

    def processes(self) -> list[psutil.Process]:
        """Master, workers and all that they started."""
        roots = [self.master.pid, *(worker.pid for worker in self.workers)]
        return [process for root in roots for process in (psutil.Process(root), *children(root))]

    def stop(self) -> None:
        """End all of it."""
        for process in self.processes():
            end(process)
        for started in (self.master, *self.workers):
            started.wait(20)

    def _start(self, what: str, *options: str, name: str = "master") -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "JAVA_HOME": java_home(),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
        }
        environment["SPARK_WORKER_OPTS"] = "-Dspark.worker.cleanup.enabled=true"
        command = [str(SPARK_CLASS), f"{DEPLOY}.{what}", "-h", "127.0.0.1", "--webui-port", "0", *options]
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=self.folder)

    def _log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A running cluster; everything of it is gone afterwards."""
    made = Cluster(folder, workers)
    try:
        yield made
    finally:
        made.stop()


def children(pid: int) -> list[psutil.Process]:
    """All descendants that live now."""
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def command(process: psutil.Process) -> list[str]:
    """Its command line; empty when it has gone."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def end(process: psutil.Process) -> None:
    """SIGKILL, to one that may have gone."""
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)


def lives(process: psutil.Process) -> bool:
    """Whether it runs: neither gone nor a zombie that nobody has waited for."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def wait_for(what: Callable[[], Any], told: str, patience: float = PATIENCE_S) -> Any:
    """The first truthy answer; an AssertionError that says what did not come."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if found := what():
            return found
        time.sleep(0.2)
    raise AssertionError(f"did not happen within {patience:.0f} s: {told}")


def events(folder: Path, kind: str) -> list[dict[str, Any]]:
    """Events of one kind (`SparkListenerTaskEnd`, …) in the event logs of a folder."""
    text = "".join(file.read_text() for file in sorted(folder.iterdir()))
    # The last line may still be written.
    lines = text[: text.rfind("\n") + 1].splitlines()
    return [event for line in lines if (event := json.loads(line))["Event"].endswith(kind)]
