"""The lab: real Iceberg tables on local disk, real scans, and causes, fixes and placebos that are actually executed.

The guilty commit is known because the lab made it, and nothing else. Durations are measured; the lab's clock (one run
per ten minutes, commits in between) replaces a schedule, so that a case takes seconds instead of hours. Every case is
reported twice: by wall time, and by CPU seconds, which a busy machine affects less.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pyiceberg.catalog.sql import SqlCatalog

from explain.cases import EPOCH, MINUTE, Effect, Labelled, Truth, series, write
from explain.lab_table import BASE_FILES, BASE_ROWS, LabTable

RUNS = 40
PERIOD = 10.0
APPENDS = 14
UPSTREAM = ("orders", "customers")
CLOCKS = ("wall", "cpu")


@dataclass(frozen=True)
class Kind:
    """What is done to a table at the event, and before the first run; `blame`: its commits slow the job."""

    act: Callable[[LabTable, float], None]
    prepare: Callable[[LabTable, float], None] | None = None
    blame: bool = False
    credit: bool = False


def _count(most: int, scale: float) -> int:
    return max(4, round(most * scale))


KINDS: dict[str, Kind] = {
    "500 small files": Kind(lambda table, scale: table.small_files(_count(500, scale)), blame=True),
    "200 delete files": Kind(lambda table, scale: table.delete_files(_count(200, scale)), blame=True),
    "bad partition spec": Kind(lambda table, scale: table.bad_partition_spec(_count(300, scale)), blame=True),
    "widened schema": Kind(lambda table, _: table.widen(), blame=True),
    "snapshot flood": Kind(lambda table, scale: table.flood(_count(60, scale)), blame=True),
    "fix: compaction": Kind(
        lambda table, _: table.compact(), lambda table, scale: table.small_files(_count(300, scale)), credit=True
    ),
    "fix: expiry": Kind(lambda table, _: table.expire(), lambda table, scale: table.flood(_count(40, scale))),
    "placebo: append": Kind(lambda table, _: table.append()),
    "placebo: property": Kind(lambda table, _: table.set_property()),
}


def experiment(
    kind: str,
    seed: int,
    folder: Path,
    *,
    scale: float = 1.0,
    runs: int = RUNS,
    files: int = BASE_FILES,
    rows: int = BASE_ROWS,
) -> dict[str, Labelled]:
    """One executed case for each of CLOCKS. `scale` shrinks the event; the table starts with `files` of `rows` rows."""
    law, rng = KINDS[kind], np.random.default_rng((seed, list(KINDS).index(kind)))
    catalog = SqlCatalog("lab", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
    catalog.create_namespace("lab")
    *upstream, control = (
        LabTable(catalog, folder / name, f"lab.{name}", rng, files=files, rows=rows) for name in (*UPSTREAM, "control")
    )
    target = upstream[int(rng.integers(2))]
    if law.prepare:
        law.prepare(target, scale)
    for table in upstream:
        table.note(-60.0)
    event = int(rng.integers(round(0.4 * runs), round(0.65 * runs)))
    appends = set(rng.choice(runs, min(APPENDS, runs // 2), replace=False).tolist()) - {event}
    times: list[float] = []
    job: list[tuple[float, float]] = []
    other: list[tuple[float, float]] = []
    made: list[int] = []
    for run in range(runs):
        minute = run * PERIOD + float(rng.uniform(-1, 1))
        if run in appends:
            table = upstream[int(rng.integers(2))]
            table.append()
            table.note(minute - float(rng.uniform(2, 7)))
        if run == event:
            law.act(target, scale)
            made = target.note(minute - float(rng.uniform(2, 7)))
        times.append(minute)
        job.append(_timed(upstream))
        other.append(_timed([control]))
    commits = [commit for table in upstream for commit in table.commits()]
    done = _Executed(kind, f"{kind}-{seed}", commits, [str(each) for each in made], event)
    at = EPOCH + np.round(np.array(times) * MINUTE)
    return {
        clock: done.labelled(clock, at, np.array(job)[:, place], np.array(other)[:, place])
        for place, clock in enumerate(CLOCKS)
    }


def _timed(tables: list[LabTable]) -> tuple[float, float]:
    """Wall and CPU seconds of scanning these tables."""
    wall, cpu = time.perf_counter(), time.process_time()
    for table in tables:
        table.scan()
    return time.perf_counter() - wall, time.process_time() - cpu


@dataclass(frozen=True)
class _Executed:
    """Commits of an experiment: all of them, those of the event, and the first run after the event."""

    kind: str
    name: str
    commits: list[dict[str, Any]]
    made: list[str]
    event: int

    def labelled(self, clock: str, at: np.ndarray, job: np.ndarray, other: np.ndarray) -> Labelled:
        """The case by one clock. The true effect's size is measured too: medians after and before."""
        law, name = KINDS[self.kind], f"{self.name}-{clock}"
        ratio = round(float(np.median(job[self.event :]) / np.median(job[: self.event])), 4)
        shape = "step" if law.blame else "drop"
        effects = [Effect(self.made, int(at[self.event]), shape, ratio)] if law.blame or law.credit else []
        case = {
            "id": name,
            "job": {"id": "scan", **series(at, job, "duration_seconds")},
            "controls": [{"id": "control", **series(at + 1000, other, "duration_seconds")}],
            "load": None,
            "commits": self.commits,
            "selection": None,
        }
        return Labelled(case, Truth(name, self.kind, "commit" if law.blame else "none", effects))


def experiments(
    seed: int, seconds: float, *, each: int, scale: float = 1.0, kinds: Sequence[str] = tuple(KINDS)
) -> Iterator[dict[str, Labelled]]:
    """Up to `each` experiments of these kinds in turn, until `seconds` have passed."""
    until = time.monotonic() + seconds
    for turn in range(each):
        for kind in kinds:
            if time.monotonic() > until:
                return
            folder = Path(tempfile.mkdtemp(prefix="limnograph-lab-"))
            try:
                yield experiment(kind, seed + turn, folder, scale=scale)
            finally:
                shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Run experiments, and write those of each clock to a separate folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--each", type=int, default=3, help="experiments of a kind, time permitting")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--kind", action="append", choices=KINDS, help="these alone")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    done = []
    for one in experiments(
        asked.seed, asked.seconds, each=asked.each, scale=asked.scale, kinds=asked.kind or tuple(KINDS)
    ):
        done.append(one)
        truth = one["cpu"].truth
        ratio = f"{truth.effects[0].effect_ratio:.2f}" if truth.effects else "-"
        print(f"{truth.id:32} level after / before {ratio}", flush=True)
    for clock in CLOCKS:
        write((one[clock] for one in done), asked.out / clock)


if __name__ == "__main__":
    main()
