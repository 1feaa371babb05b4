"""Small cases for Explain: a job with a level per stretch of runs, commits of one table, one of them unusual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from limnograph.analysis.explain import explain
from limnograph.domain.answers.explanations import Case, Explanation

START = 1_790_553_600_000
MINUTE = 60_000
GUILTY = "guilty"


def runs(count: int = 600, gap_minutes: float = 5, seed: int = 1, noise: float = 0.05) -> dict[str, Any]:
    """A job of 300 s without any change."""
    rng = np.random.default_rng(seed)
    times = START + (np.arange(count) * gap_minutes * MINUTE).astype(np.int64)
    seconds = 300 * np.exp(noise * rng.standard_normal(count))
    return {"id": "churn", "times": times.tolist(), "duration_seconds": seconds.tolist()}


def slowed(job: dict[str, Any], first: int, ratio: float, last: int | None = None) -> dict[str, Any]:
    """The job with runs `first` to `last` taking `ratio` times as long."""
    seconds = list(job["duration_seconds"])
    seconds[first:last] = [each * ratio for each in seconds[first:last]]
    return {**job, "duration_seconds": seconds}


def commit(name: str, at: float, table: str = "lake.sales.orders", **numbers: Any) -> dict[str, Any]:
    """An ordinary append, at `at` minutes."""
    usual: dict[str, Any] = {
        "added_data_files": 10,
        "added_bytes": 2_000_000,
        "removed_data_files": 0,
        "added_delete_files": 0,
        "added_records": 5_000,
        "manifests": 20,
        "changed_partitions": 2,
        "schema_changed": False,
        "spec_changed": False,
    }
    told = {"id": name, "table": table, "committed_at": START + round(at * MINUTE), "operation": "append"}
    return {**told, "app_id": "ingest", **usual, **numbers}


def ordinary(count: int = 50, every: float = 57, seed: int = 2, **told: Any) -> list[dict[str, Any]]:
    """Commits whose numbers vary as those of real tables do."""
    rng = np.random.default_rng(seed)
    found = []
    for index in range(count):
        files = int(10 * np.exp(0.3 * rng.standard_normal()))
        sizes = {"added_data_files": files, "added_bytes": files * 200_000, "added_records": files * 500}
        found.append(commit(f"usual-{seed}-{index}", (index + 0.5) * every, **{**sizes, **told}))
    return found


def burst(at: float, name: str = GUILTY) -> dict[str, Any]:
    """The commit of the story: very many small files, by another application."""
    return commit(name, at, added_data_files=5_000, changed_partitions=40, app_id="backfill")


def case(job: dict[str, Any], commits: Sequence[dict[str, Any]] = (), **more: Any) -> dict[str, Any]:
    """A case of the wire format."""
    return {"id": "case", "job": job, "controls": [], "load": None, "commits": list(commits), "selection": None, **more}


def guilty_case(ratio: float = 1.5, first: int = 300, **more: Any) -> dict[str, Any]:
    """A step at run `first`, four minutes after the burst."""
    return case(slowed(runs(), first, ratio), [*ordinary(), burst(first * 5 - 4)], **more)


def answered(told: dict[str, Any]) -> Explanation:
    """The engine's answer."""
    return explain(msgspec.convert(told, Case))


def posterior(answer: Explanation, commit_id: str = GUILTY) -> float:
    """The highest posterior of a commit."""
    return max((each.posterior for each in answer.hypotheses if each.commit_id == commit_id), default=0.0)
