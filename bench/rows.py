"""A row of results.json: a measured number next to a peer's or a limit, from one run, with a goal for the ratio."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
TASK_SECONDS = 3_600
_NEAR = (HERE.parent / "tests" / "support", HERE.parent / "backend")


class Row(NamedTuple):
    """`ratio` = peer / ours: how many times better. `goal`: the ratio to reach; CI asserts half of it."""

    name: str
    ours: float
    peer: float
    unit: str
    goal: float
    note: str

    @property
    def ratio(self) -> float:
        return self.peer / self.ours if self.ours else float("inf")

    @property
    def holds(self) -> bool:
        """Whether the ratio is above the floor."""
        return self.ratio >= self.goal / 2


class Taken(NamedTuple):
    """Cost of one task. CPU seconds are of all threads, the minimum of several runs; wall time is the median."""

    value: Any
    cpu_s: float
    wall_s: float
    peak_mb: float


class Bench(NamedTuple):
    """`scratch`: folder for fixtures. `full`: peers at full size, else at a tenth with the law stated in the note."""

    scratch: Path
    full: bool


Measure = Callable[[Bench], list[Row]]


def taken(task: str, *arguments: object) -> Taken:
    """Run a task of `tasks.py` in a separate process."""
    found = subprocess.run(
        [sys.executable, str(HERE / "tasks.py"), task, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=TASK_SECONDS,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(str(path) for path in (HERE, *_NEAR))},
    )
    if found.returncode:
        raise SystemExit(f"{task} failed:\n{found.stderr[-3000:]}")
    return Taken(**json.loads(found.stdout.splitlines()[-1]))


def same(ours: Taken, peer: Taken) -> None:
    """Fail if the results differ: no side may be fast by leaving something out."""
    if ours.value != peer.value:
        raise SystemExit(f"we found {ours.value}, the peer {peer.value}")
