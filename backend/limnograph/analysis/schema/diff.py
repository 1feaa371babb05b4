"""Two schemas compared by field id, and the consequence of each difference for programs that read the table.

Promotions: Iceberg's spec, "Schema Evolution" (int to long, float to double, wider decimals, in v3 date to timestamp);
Delta's type widening adds its own. A column is reported once: fields below a dropped, added or renamed one are included
in it.
"""

from __future__ import annotations

import bisect
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain

from limnograph.analysis.schema.field_trees import Tree, TreeField
from limnograph.domain.answers.schemas import FieldChange, FieldChangeKind, Risk

_WIDER = {
    "int": {"long"},
    "float": {"double"},
    "date": {"timestamp", "timestamp_ns"},
    "byte": {"short", "integer", "long", "double"},
    "short": {"integer", "long", "double"},
    "integer": {"long", "double"},
    "unknown": None,
}
"""None: to any type."""
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)")
_RISKS: dict[FieldChangeKind, Risk] = {
    "dropped": "breaking",
    "renamed": "breaking",
    "retyped": "breaking",
    "reparented": "breaking",
    "promoted": "check",
    "optional": "check",
    "reordered": "check",
}
"""Kinds that are missing here are safe for readers. Order matters to `select *` and to reading files by position."""
_WORST: tuple[Risk, ...] = ("breaking", "check", "safe")


def compare(before: Tree, after: Tree) -> list[FieldChange]:
    """Differences, by descending risk, then in the order of the newer schema."""
    found = [
        *(_dropped(field) for field in before.values() if _goes(field, before, after)),
        *chain.from_iterable(_of_one(before[i], field, before, after) for i, field in after.items() if i in before),
        *(_added(field) for field in after.values() if _goes(field, after, before)),
        *_reordered(before, after),
    ]
    return sorted(found, key=lambda change: _WORST.index(change.risk))


def worst(changes: list[FieldChange]) -> Risk:
    """The greatest risk of all changes."""
    return min((change.risk for change in changes), key=_WORST.index, default="safe")


def _goes(field: TreeField, own: Tree, other: Tree) -> bool:
    """Whether the other schema lacks a field but has the field that contains it."""
    return field.id not in other and (field.parent is None or field.parent in other or field.parent not in own)


def _dropped(field: TreeField) -> FieldChange:
    return _change(field, "dropped", _typed(field), None, f"{field.path} was dropped")


def _added(field: TreeField) -> FieldChange:
    return _change(field, "added", None, _typed(field), f"{field.path} was added, {_typed(field)}")


def _of_one(old: TreeField, new: TreeField, before: Tree, after: Tree) -> Iterator[FieldChange]:
    """Changes of a field that both schemas have."""
    if old.name != new.name:
        said = f"{old.path} was renamed to {new.name}; its field id is still {new.id}"
        yield _change(new, "renamed", old.name, new.name, said)
    if old.parent != new.parent:
        was, now = _holder(old, before), _holder(new, after)
        yield _change(new, "reparented", was, now, f"{new.path} moved from {was} to {now}")
    if old.type != new.type:
        kind: FieldChangeKind = "promoted" if promotes(old.type, new.type) else "retyped"
        said = "was widened" if kind == "promoted" else "changed type"
        yield _change(new, kind, old.type, new.type, f"{new.path} {said} from {old.type} to {new.type}")
    if old.required != new.required:
        kind = "required" if new.required else "optional"
        said = "is now required" if new.required else "is now optional"
        yield _change(new, kind, _need(old), _need(new), f"{new.path} {said}")
    if old.doc != new.doc:
        yield _change(new, "doc", old.doc, new.doc, f"the comment of {new.path} changed")
    if old.default != new.default:
        yield _change(new, "default", old.default, new.default, f"the default of {new.path} changed")


def promotes(old: str, new: str) -> bool:
    """Whether every value of the old type is a value of the new one."""
    if old in _WIDER:
        wider = _WIDER[old]
        return wider is None or new in wider
    was, now = _DECIMAL.fullmatch(old), _DECIMAL.fullmatch(new)
    if was is None or now is None:
        return False
    (digits, scale), (more_digits, more_scale) = map(int, was.groups()), map(int, now.groups())
    return scale <= more_scale and digits - scale <= more_digits - more_scale


def _reordered(before: Tree, after: Tree) -> Iterator[FieldChange]:
    """Fields that are out of the old order among their siblings: the smallest set whose move explains the new order."""
    siblings: dict[int | None, list[TreeField]] = defaultdict(list)
    for field in after.values():
        if field.id in before and before[field.id].parent == field.parent:
            siblings[field.parent].append(field)
    for group in siblings.values():
        stay = _longest_rising([before[field.id].place for field in group])
        for place, field in enumerate(group):
            if place not in stay:
                was, now = before[field.id].place + 1, field.place + 1
                said = f"{field.path} moved from position {was} to {now}"
                yield _change(field, "reordered", str(was), str(now), said)


def _longest_rising(values: list[int]) -> set[int]:
    """Indexes of a longest increasing subsequence. O(n log n)."""
    tails: list[int] = []
    ends: list[int] = []
    back: list[int | None] = []
    for place, value in enumerate(values):
        at = bisect.bisect_left(tails, value)
        back.append(ends[at - 1] if at else None)
        if at == len(tails):
            tails.append(value)
            ends.append(place)
        else:
            tails[at], ends[at] = value, place
    found: set[int] = set()
    step = ends[-1] if ends else None
    while step is not None:
        found.add(step)
        step = back[step]
    return found


def _change(
    field: TreeField, kind: FieldChangeKind, before: str | None, after: str | None, sentence: str
) -> FieldChange:
    return FieldChange(
        field_id=field.id,
        name=field.path,
        kind=kind,
        before=before,
        after=after,
        risk=_RISKS.get(kind, "safe"),
        sentence=sentence,
    )


def _typed(field: TreeField) -> str:
    return f"{field.type}, {_need(field)}"


def _need(field: TreeField) -> str:
    return "required" if field.required else "optional"


def _holder(field: TreeField, tree: Tree) -> str:
    return tree[field.parent].path if field.parent in tree else "the top"
