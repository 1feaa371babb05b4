"""Boosted trees as plain arrays: prediction without the library that trained them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.analysis.forecast.grid import Floats

_ROWS = 4_096


class Trees(NamedTuple):
    """Nodes of all trees in one list. `root`: first node of each tree. A leaf is its own child. `value`: of leaves."""

    base: float
    root: npt.NDArray[np.int32]
    feature: npt.NDArray[np.int16]
    limit: Floats
    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    missing_left: npt.NDArray[np.bool_]
    value: npt.NDArray[np.float32]
    depth: int

    def predict(self, rows: Floats) -> Floats:
        """Sum of all trees for each row of features; NaN are missing."""
        found = np.empty(len(rows))
        for first in range(0, len(rows), _ROWS):
            found[first : first + _ROWS] = self._predict(rows[first : first + _ROWS])
        return found

    def _predict(self, rows: Floats) -> Floats:
        total = np.full(len(rows), self.base)
        flat, first = np.ascontiguousarray(rows).ravel(), np.arange(len(rows)) * rows.shape[1]
        children = np.stack([self.right, self.left], axis=1).ravel()
        for root in self.root.tolist():
            node = np.full(len(rows), root, np.int32)
            for _ in range(self.depth):
                values = flat.take(first + self.feature.take(node))
                goes_left = values <= self.limit.take(node)
                missing = np.isnan(values)
                if missing.any():
                    goes_left |= missing & self.missing_left.take(node)
                below = children.take(2 * node + goes_left)
                if np.array_equal(below, node):
                    break
                node = below
            total += self.value.take(node)
        return total

    def arrays(self, name: str) -> dict[str, npt.NDArray[Any]]:
        """Arrays to store, with the prefix `name`."""
        return {f"{name}.{field}": np.asarray(getattr(self, field)) for field in self._fields}

    @classmethod
    def stored(cls, arrays: Mapping[str, npt.NDArray[Any]], name: str) -> Trees | None:
        """Trees of a stored model, None if it has none of that name."""
        if f"{name}.root" not in arrays:
            return None
        values: dict[str, Any] = {field: arrays[f"{name}.{field}"] for field in cls._fields}
        values["base"], values["depth"] = float(values["base"]), int(values["depth"])
        return cls(**values)


def from_boosting(model: Any) -> Trees:
    """Trees of a fitted `HistGradientBoosting` model of scikit-learn with one output."""
    parts: dict[str, list[npt.NDArray[Any]]] = {
        name: [] for name in ("feature", "limit", "left", "right", "missing_left", "value")
    }
    roots, offset, depth = [], 0, 0
    for (predictor,) in model._predictors:  # noqa: SLF001 - there is no public access to the nodes
        nodes = predictor.nodes
        own = np.arange(len(nodes)) + offset
        leaf = nodes["is_leaf"].astype(bool)
        roots.append(offset)
        parts["feature"].append(np.where(leaf, 0, nodes["feature_idx"]).astype(np.int16))
        parts["limit"].append(np.where(leaf, 0.0, nodes["num_threshold"]))
        parts["left"].append(np.where(leaf, own, nodes["left"] + offset).astype(np.int32))
        parts["right"].append(np.where(leaf, own, nodes["right"] + offset).astype(np.int32))
        parts["missing_left"].append(nodes["missing_go_to_left"].astype(bool))
        parts["value"].append(np.where(leaf, nodes["value"], 0.0).astype(np.float32))
        depth = max(depth, int(nodes["depth"].max()))
        offset += len(nodes)
    base = float(np.ravel(model._baseline_prediction)[0])  # noqa: SLF001
    joined = {name: np.concatenate(each) for name, each in parts.items()}
    return Trees(base=base, root=np.array(roots, np.int32), depth=depth, **joined)
