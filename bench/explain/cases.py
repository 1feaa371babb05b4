"""A case in the format of `limnograph explain --cases`, its truth, and both as JSON lines."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

Case = dict[str, Any]
Answer = dict[str, Any]
MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
EPOCH = 1_790_553_600_000
"""Start of all generated series (a Monday, UTC midnight), epoch milliseconds."""


class Effect(msgspec.Struct):
    """One true change of the job: the commits that cause it, its first run, and the level after over the level before.

    `kind`: step, ramp, pulse, decay; or drop, if the job became faster.
    """

    commit_ids: list[str]
    onset: int
    kind: str
    effect_ratio: float


class Truth(msgspec.Struct):
    """The truth of a case. `cause` of an innocent case: none, infrastructure or load; of a guilty one: commit."""

    id: str
    scenario: str
    cause: str
    effects: list[Effect] = []

    @property
    def guilty(self) -> set[str]:
        """Ids of the commits that slowed the job; empty for an innocent case, even if the job became faster."""
        return {commit for effect in self.effects if effect.kind != "drop" for commit in effect.commit_ids}

    @property
    def credited(self) -> set[str]:
        """Ids of the commits that made the job faster: naming them is right, blaming them is not."""
        return {commit for effect in self.effects if effect.kind == "drop" for commit in effect.commit_ids}


class Labelled(msgspec.Struct):
    """A case and its truth. A tested method never sees the truth."""

    case: Case
    truth: Truth


def series(times: np.ndarray, values: np.ndarray, name: str) -> dict[str, Any]:
    """A series in the case format; values that are not finite are null."""
    rounded = [round(value, 4) if value == value else None for value in values.tolist()]  # noqa: PLR0124 - NaN only
    return {"times": times.astype(np.int64).tolist(), name: rounded}


def write(labelled: Iterable[Labelled], folder: Path) -> tuple[Path, Path]:
    """Paths of `cases.jsonl` and `truth.jsonl`, one line per case, in the same order."""
    folder.mkdir(parents=True, exist_ok=True)
    cases, truth = folder / "cases.jsonl", folder / "truth.jsonl"
    with cases.open("wb") as case_lines, truth.open("wb") as truth_lines:
        for each in labelled:
            case_lines.write(msgspec.json.encode(each.case) + b"\n")
            truth_lines.write(msgspec.json.encode(each.truth) + b"\n")
    return cases, truth


def read(folder: Path) -> list[Labelled]:
    """The cases that `write` stored."""
    cases = (folder / "cases.jsonl").read_bytes().splitlines()
    truth = (folder / "truth.jsonl").read_bytes().splitlines()
    return [
        Labelled(msgspec.json.decode(case), msgspec.json.decode(line, type=Truth))
        for case, line in zip(cases, truth, strict=True)
    ]


def command(
    about: str | None,
    made: Callable[[int, int, tuple[str, ...]], list[Labelled]],
    scenarios: tuple[str, ...],
    *,
    seed: int,
    each: int,
) -> None:
    """A generator as a program: write the cases of a seed, `each` per scenario, and print their location."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--seed", type=int, default=seed)
    parser.add_argument("--cases", type=int, default=each, help="cases a scenario")
    parser.add_argument("--scenario", action="append", choices=scenarios, help="these alone")
    parser.add_argument("--out", type=Path, required=True, help="folder of cases.jsonl and truth.jsonl")
    asked = parser.parse_args()
    print(*write(made(asked.seed, asked.cases, tuple(asked.scenario or scenarios)), asked.out), sep="\n")
