"""Whether a table's partition spec has a field with as many values as its column: identity or truncate."""

from __future__ import annotations

import json

import numpy as np

from limnograph.analysis.findings.facts import Flags, TableChange, TableFacts
from limnograph.analysis.partition_periods import period_of
from limnograph.analysis.schema.field_trees import Tree, tree_of

_TIMES = frozenset({"date", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns", "timestamp_ntz"})


def splits_by_value(facts: TableFacts) -> Flags | np.bool_:
    """At each move, whether the default spec then has such a field. A column of dates or times, or of texts that name a
    period (`dt=2026-11-20`), has a value per period, as a time transform has. False while the spec is unknown.
    """
    specs = [change for change in facts.changes if change.kind == "spec"]
    if not specs:
        return np.False_
    schemas = [change for change in facts.changes if change.kind == "schema"]
    codes, texts = facts.hot_partitions
    periods = [_period_fields(text) for text in texts]
    fields = [frozenset[str](), *(_by_value(each, schemas) for each in specs)]
    values = np.array([[bool(of_spec - period) for period in periods] for of_spec in fields], np.bool_)
    found: Flags = values[np.searchsorted([each.at for each in specs], facts.times, "right"), codes]
    return found


def _period_fields(partition: str | None) -> frozenset[str]:
    """Fields whose values name the period of a partition."""
    period = period_of(partition) if partition else None
    parts = period.peers.partition(" ")[2].split("/") if period else ()
    return frozenset(part[:-1].lower() for part in parts if part.endswith("="))


def _by_value(spec: TableChange, schemas: list[TableChange]) -> frozenset[str]:
    """Names of such fields of one spec, by the newest schema of its time, or the first one after it."""
    try:
        document = json.loads(spec.detail) if spec.detail else None
    except (ValueError, RecursionError):
        return frozenset()
    items = document.get("fields") if isinstance(document, dict) else document
    before = [each for each in schemas if each.at <= spec.at] or schemas[:1]
    tree = tree_of(before[-1].detail) if before else None
    fields = (item for item in (items if isinstance(items, list) else ()) if isinstance(item, dict))
    return frozenset(str(item.get("name", "")).lower() for item in fields if _is_value(item, tree))


def _is_value(item: dict[str, object], tree: Tree | None) -> bool:
    transform = str(item.get("transform", ""))
    if transform.startswith("truncate"):
        return True
    source = item.get("source-id")
    column = tree.get(source) if tree and isinstance(source, int) else None
    return transform == "identity" and (column is None or column.type not in _TIMES)
