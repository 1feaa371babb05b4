"""Duration of one explanation at the documented size: 10,000 runs, 50 tables, 10,000 commits, three controls."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import numpy as np

from explain.cases import DAY, EPOCH, MINUTE, series
from limnograph.domain.answers.explanations import Case

POINTS, TABLES, COMMITS, CONTROLS, CHANGES = 10_000, 50, 10_000, 3, 5


def large_case(seed: int) -> dict[str, Any]:
    """A week of runs, one per minute, with five changes of 10 to 50 %."""
    rng = np.random.default_rng(seed)
    times = EPOCH + np.arange(POINTS) * MINUTE
    level = np.zeros(POINTS)
    for place in rng.integers(POINTS // 10, POINTS, CHANGES):
        level[place:] += rng.choice([-1, 1]) * rng.uniform(0.1, 0.4)
    jobs = [
        {"id": name, **series(times, 60 * np.exp(own + _noise(rng)), "duration_seconds")}
        for name, own in [("job", level), *((f"control-{number}", 0 * level) for number in range(CONTROLS))]
    ]
    at = np.sort(rng.integers(EPOCH, EPOCH + 7 * DAY, COMMITS))
    sizes = np.exp(rng.normal(3, 0.6, (COMMITS, 6))).astype(int)
    commits = [
        {
            "id": str(index),
            "table": f"lake.t{index % TABLES}",
            "committed_at": int(at[index]),
            "operation": ("append", "append", "overwrite", "delete")[index // TABLES % 4],
            "app_id": f"app-{index % TABLES}",
            "added_data_files": int(sizes[index, 0]),
            "added_bytes": int(sizes[index, 1]) * 1_000_000,
            "removed_data_files": int(sizes[index, 2]),
            "added_delete_files": int(sizes[index, 3]),
            "added_records": int(sizes[index, 4]) * 1000,
            "manifests": int(sizes[index, 5]),
            "changed_partitions": 1 + index % 7,
            "schema_changed": False,
            "spec_changed": False,
        }
        for index in range(COMMITS)
    ]
    load = series(times, 1000 * np.exp(_noise(rng)), "values")
    return {"id": str(seed), "job": jobs[0], "controls": jobs[1:], "load": load, "commits": commits, "selection": None}


def _noise(rng: np.random.Generator) -> np.ndarray:
    white = rng.normal(0, 0.05, POINTS)
    return white + np.convolve(white, 0.6 ** np.arange(20))[:POINTS]


def measured(cases: int, repeats: int) -> dict[str, Any]:
    """Median and p95 of one explanation in milliseconds, wall and CPU, over `cases` cases `repeats` times."""
    from limnograph.analysis.explain import explain

    wall, cpu = [], []
    for seed in range(cases):
        case = msgspec.convert(large_case(seed), Case)
        explain(case)
        for _ in range(repeats):
            start, used = time.perf_counter(), time.process_time()
            explain(case)
            wall.append(1000 * (time.perf_counter() - start))
            cpu.append(1000 * (time.process_time() - used))
    return {
        "explanations": len(wall),
        **{
            f"{name}_{label}_ms": round(float(np.quantile(values, share)), 1)
            for name, values in (("wall", wall), ("cpu", cpu))
            for label, share in (("median", 0.5), ("p95", 0.95))
        },
    }
