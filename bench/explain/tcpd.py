"""The product's segmenter on change points marked by humans: `annotations.json` and `datasets/*/*.json` of TCPD.

Scores are those of TCPDBench (van den Burg and Williams, 2020): F1 with a margin of five samples, and cover.
`python -m explain.tcpd --tcpd DIR`. The project includes no data: the series have their own licences.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

MARGIN = 5
Marks = dict[str, list[int]]


def f1(annotations: Marks, predicted: Iterable[int], margin: int = MARGIN) -> float:
    """Precision against the marks of all annotators combined, recall as their mean; the start is a mark for all."""
    found = {0, *predicted}
    sets = [{0, *marks} for marks in annotations.values()]
    precision = _hits(set().union(*sets), found, margin) / len(found)
    recall = sum(_hits(marks, found, margin) / len(marks) for marks in sets) / len(sets)
    return 2 * precision * recall / (precision + recall)


def _hits(marks: set[int], found: set[int], margin: int) -> int:
    """Marks with a predicted point within the margin; each point matches one mark."""
    left, hits = set(found), 0
    for mark in sorted(marks):
        near = min((abs(mark - each), each) for each in left) if left else (margin + 1, 0)
        if near[0] <= margin:
            left.remove(near[1])
            hits += 1
    return hits


def cover(annotations: Marks, predicted: Iterable[int], size: int) -> float:
    """Mean over annotators of how well the prediction matches each of their segments (Jaccard, weighted by length)."""
    ours = _segments(predicted, size)
    return float(np.mean([_cover_of(_segments(marks, size), ours, size) for marks in annotations.values()]))


def _segments(points: Iterable[int], size: int) -> list[tuple[int, int]]:
    edges = [0, *sorted({each for each in points if 0 < each < size}), size]
    return list(pairwise(edges))


def _cover_of(theirs: list[tuple[int, int]], ours: list[tuple[int, int]], size: int) -> float:
    return sum((b - a) * max(_jaccard((a, b), each) for each in ours) for a, b in theirs) / size


def _jaccard(one: tuple[int, int], other: tuple[int, int]) -> float:
    both = max(0, min(one[1], other[1]) - max(one[0], other[0]))
    return both / ((one[1] - one[0]) + (other[1] - other[0]) - both)


def segment(values: np.ndarray) -> list[int]:
    """Indexes at which the product finds a new level, with its one fixed setting."""
    from limnograph.analysis.explain.changes import find_levels
    from limnograph.analysis.explain.engine import KEPT

    spread = float(values.std())
    return find_levels((values - values.mean()) / spread, KEPT).places if spread else []


def load(folder: Path) -> dict[str, tuple[np.ndarray, Marks]]:
    """Univariate annotated series whose data are in the folder, by name; unknown values are interpolated linearly."""
    annotations: dict[str, Marks] = json.loads((folder / "annotations.json").read_text())
    out = {}
    for name, marks in sorted(annotations.items()):
        path = folder / "datasets" / name / f"{name}.json"
        document: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"series": []}
        if len(document["series"]) != 1:
            continue
        raw = np.array([np.nan if value is None else value for value in document["series"][0]["raw"]], float)
        known = np.isfinite(raw)
        out[name] = (np.interp(np.arange(len(raw)), np.flatnonzero(known), raw[known]), marks)
    return out


def scores(folder: Path) -> dict[str, tuple[float, float]]:
    """F1 and cover of each series, and the mean of all as `mean`."""
    table = {}
    for name, (values, marks) in load(folder).items():
        found = segment(values)
        table[name] = (f1(marks, found), cover(marks, found, len(values)))
    if table:
        table["mean"] = tuple(float(each) for each in np.mean(list(table.values()), axis=0))
    return table


def main() -> None:
    """Print F1 and cover of each series."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tcpd", type=Path, required=True, help="folder of annotations.json and datasets/")
    for name, (one, other) in scores(parser.parse_args().tcpd).items():
        print(f"{name:28} F1 {one:.3f}  cover {other:.3f}")


if __name__ == "__main__":
    main()
