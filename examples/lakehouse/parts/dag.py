"""A small DAG: tasks in the order of their needs, each a run that OpenLineage events report to Limnograph."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from graphlib import TopologicalSorter
from typing import Any, NamedTuple, Protocol
from uuid import UUID

PRODUCER = "https://github.com/limnograph/limnograph/tree/main/examples/lakehouse"
NAMESPACE = "lakehouse"
SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"


class LakeTask(NamedTuple):
    """A task: `needs` are tasks that must have succeeded; `reads` and `writes` are tables. `columns`: lineage of the
    columns of what it writes, if it is known.
    """

    name: str
    run: Callable[[], Any]
    needs: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    columns: Mapping[str, object] = {}


class TaskResult(NamedTuple):
    """What became of a task. `state`: done, failed or skipped; `result`: what it returned or raised."""

    name: str
    state: str
    result: Any
    run_id: str


class RunListener(Protocol):
    """Receives the events of runs."""

    def emit(self, event: dict[str, Any]) -> None:
        """Take one OpenLineage event."""
        ...


class HttpRunListener:
    """Sends events to Limnograph. An observer that is down stops no job."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}/api/v1/lineage"
        self.refused = 0

    def emit(self, event: dict[str, Any]) -> None:
        body = json.dumps(event).encode()
        request = urllib.request.Request(self._url, body, {"Content-Type": "application/json"})  # noqa: S310
        try:
            urllib.request.urlopen(request, timeout=10).close()  # noqa: S310 - our own loopback address
        except OSError:
            self.refused += 1


def order(tasks: Iterable[LakeTask]) -> list[LakeTask]:
    """Tasks after those they need. Raises CycleError or KeyError (an unknown need)."""
    by_name = {task.name: task for task in tasks}
    graph = {name: task.needs for name, task in by_name.items()}
    return [by_name[name] for name in TopologicalSorter(graph).static_order()]


class LakeDag:
    """Runs tasks under one run of its own. Used by one thread at a time."""

    def __init__(self, name: str, listener: RunListener, snapshot: Callable[[str], int | None]) -> None:
        self._name, self._listener, self._snapshot = name, listener, snapshot

    def run(self, tasks: Iterable[LakeTask]) -> dict[str, TaskResult]:
        """Run all tasks; one that needs a failed one is skipped, others go on."""
        results: dict[str, TaskResult] = {}
        parent = run_id()
        self._emit("START", self._name, parent, None)
        for task in order(tasks):
            if all(results[need].state == "done" for need in task.needs):
                results[task.name] = self._one(task, parent)
            else:
                results[task.name] = TaskResult(task.name, "skipped", None, "")
        is_done = all(result.state == "done" for result in results.values())
        self._emit("COMPLETE" if is_done else "FAIL", self._name, parent, None)
        return results

    def _one(self, task: LakeTask, parent: str) -> TaskResult:
        own = run_id()
        self._emit("START", task.name, own, parent, task)
        try:
            result = TaskResult(task.name, "done", task.run(), own)
        except Exception as error:  # noqa: BLE001 - whatever a job raises, the others go on
            result = TaskResult(task.name, "failed", error, own)
        self._emit("COMPLETE" if result.state == "done" else "FAIL", task.name, own, parent, task)
        return result

    def _emit(self, kind: str, name: str, run: str, parent: str | None, task: LakeTask | None = None) -> None:
        facets: dict[str, Any] = {}
        if parent:
            parts = {"run": {"runId": parent}, "job": {"namespace": NAMESPACE, "name": self._name}}
            facets["parent"] = {**_facet("ParentRunFacet"), **parts}
        ends = kind == "COMPLETE" and task is not None
        self._listener.emit(
            {
                "eventType": kind,
                "eventTime": datetime.now(UTC).isoformat(),
                "producer": PRODUCER,
                "schemaURL": SCHEMA,
                "run": {"runId": run, "facets": facets},
                "job": {"namespace": NAMESPACE, "name": name},
                "inputs": [dataset(table) for table in (task.reads if task else ())],
                "outputs": [self._output(table, task, ends=ends) for table in (task.writes if task else ())],
            }
        )

    def _output(self, table: str, task: LakeTask | None, *, ends: bool) -> dict[str, Any]:
        """What a run wrote: the snapshot that main points at when it has ended, and where its columns come from."""
        facets: dict[str, Any] = {}
        if ends and (snapshot := self._snapshot(table)) is not None:
            facets["version"] = {**_facet("DatasetVersionDatasetFacet"), "datasetVersion": str(snapshot)}
        if task and task.columns:
            facets["columnLineage"] = {**_facet("ColumnLineageDatasetFacet"), "fields": dict(task.columns)}
        return {**dataset(table), "facets": facets}


def dataset(table: str) -> dict[str, Any]:
    """A table by the folder that it lies in; anything else (a topic, a file) by its own name."""
    if not table.startswith("lake."):
        return {"namespace": NAMESPACE, "name": table}
    return {"namespace": "s3://lake", "name": f"warehouse/{'/'.join(table.split('.')[1:])}"}


def run_id() -> str:
    """A new UUID of version 7: its order is the order of time."""
    import secrets

    value = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    value = value & ~(0xF << 76) | 0x7 << 76
    return str(UUID(int=value & ~(0b11 << 62) | 0b10 << 62))


def _facet(name: str) -> dict[str, str]:
    return {"_producer": PRODUCER, "_schemaURL": f"https://openlineage.io/spec/facets/1-0-0/{name}.json"}
