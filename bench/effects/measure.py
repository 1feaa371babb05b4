"""`make bench-effects`: scores every scene, writes results.json, and updates the tables of docs/effects.md."""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

from effects.heldout import HELDOUT
from effects.laws import ABSTAIN, ALONE, DESIGN, OWN, POWER, Law
from effects.report import write_page
from effects.score import EFFECT, score

RESULTS = Path(__file__).with_name("results.json")
GROUPS: dict[str, Mapping[str, Law]] = {
    "design": DESIGN,
    "own": OWN,
    "heldout": HELDOUT,
    "alone": ALONE,
    "abstain": ABSTAIN,
}
POWER_GROUP = "power"
RATIOS = (0.97, 0.95, 0.9, 0.8)
RUNS_AFTER = (5, 8, 12, 24, 48)


class _Task(NamedTuple):
    """A row of a table. A law of `power` is looked up by its runs after, because functions do not travel."""

    group: str
    name: str
    ratio: float = EFFECT


def measure(groups: Collection[str], histories: int, seed: int, processes: int) -> dict[str, Any]:
    """The tables of these groups."""
    tasks = [_Task(group, name) for group in groups if group != POWER_GROUP for name in GROUPS[group]]
    if POWER_GROUP in groups:
        tasks += [_Task(POWER_GROUP, str(after), ratio) for ratio in RATIOS for after in RUNS_AFTER]
    found: dict[str, Any] = {group: {} for group in groups}
    with ProcessPoolExecutor(processes) as pool:
        rows = pool.map(_scored, tasks, repeat(histories), repeat(seed))
        for task, row in zip(tasks, rows, strict=False):
            table = found[task.group]
            (table.setdefault(str(task.ratio), {}) if task.group == POWER_GROUP else table)[task.name] = row
    return found


def _scored(task: _Task, histories: int, seed: int) -> dict[str, Any]:
    law: Law = GROUPS[task.group][task.name] if task.group in GROUPS else replace(POWER, after=int(task.name))
    row = {**score(law, histories, seed, task.ratio), "source": law.source}
    print(*task, {key: value for key, value in row.items() if key != "source"}, flush=True)
    return row


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=400, help="per scene; half of them without an effect")
    parser.add_argument("--seed", type=int, default=2_026)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--groups", nargs="+", choices=[*GROUPS, POWER_GROUP], default=[*GROUPS, POWER_GROUP])
    given = parser.parse_args()
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    measured = measure(given.groups, given.histories, given.seed, given.processes)
    RESULTS.write_text(json.dumps({**known, "seed": given.seed, **measured}, indent=1) + "\n")
    write_page()
