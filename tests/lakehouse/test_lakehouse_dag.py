"""The DAG: order, failures, skips, and the events that it emits."""

from __future__ import annotations

from graphlib import CycleError
from typing import Any
from uuid import UUID

import pytest

from lakehouse.parts.dag import LakeDag, LakeTask, dataset, order, run_id


class KeptEvents:
    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def emit(self, event: dict[str, Any]) -> None:
        self.events.append(event)


def fail() -> None:
    raise ValueError("no rows")


def run(*tasks: LakeTask):
    kept = KeptEvents()
    results = LakeDag("daily", kept, lambda _: 42).run(tasks)
    return results, kept.events


def test_tasks_come_after_those_they_need() -> None:
    tasks = [LakeTask("gold", fail, ("silver",)), LakeTask("silver", fail, ("bronze",)), LakeTask("bronze", fail)]
    assert [task.name for task in order(tasks)] == ["bronze", "silver", "gold"]


def test_a_circle_is_refused() -> None:
    with pytest.raises(CycleError):
        order([LakeTask("a", fail, ("b",)), LakeTask("b", fail, ("a",))])


def test_what_needs_a_failed_task_is_skipped_and_others_go_on() -> None:
    done: list[str] = []
    results, events = run(
        LakeTask("bronze", fail),
        LakeTask("silver", fail, ("bronze",)),
        LakeTask("clicks", lambda: done.append("clicks")),
    )
    assert {name: each.state for name, each in results.items()} == {
        "bronze": "failed",
        "silver": "skipped",
        "clicks": "done",
    }
    assert done == ["clicks"]
    assert [(each["eventType"], each["job"]["name"]) for each in events if each["job"]["name"] != "clicks"] == [
        ("START", "daily"),
        ("START", "bronze"),
        ("FAIL", "bronze"),
        ("FAIL", "daily"),
    ]


def test_a_run_names_its_parent_and_the_snapshot_that_it_wrote() -> None:
    results, events = run(LakeTask("silver", lambda: 3, writes=("lake.silver.orders",), reads=("clicks",)))
    ended = next(each for each in events if each["eventType"] == "COMPLETE" and each["job"]["name"] == "silver")
    assert ended["run"]["runId"] == results["silver"].run_id
    assert ended["run"]["facets"]["parent"]["run"]["runId"] == events[0]["run"]["runId"]
    assert ended["outputs"][0]["name"] == "warehouse/silver/orders"
    assert ended["outputs"][0]["facets"]["version"]["datasetVersion"] == "42"
    assert ended["inputs"] == [dataset("clicks")]


def test_ids_of_runs_are_uuids_of_version_7() -> None:
    found = UUID(run_id())
    assert (found.version, found.variant) == (7, UUID(run_id()).variant)
    assert run_id() != run_id()
