"""The condition that a partition's value puts on its source column, without the words of a dialect. Pure.

Of two atoms, `excludes` says whether a scan with the first one leaves out a partition with the second one. Iceberg
projects a condition onto the fields of each spec and leaves out only what the projection excludes, so two conditions
that no row can satisfy together do not suffice. The projection of a range of time that ends before 1970 also includes
the following period, because old writers rounded such times up (`ProjectionUtil.fixInclusiveTimeProjection`).
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from limnograph.analysis.advice.statements.periods import DAYS_OF_YEAR, PERIODS, US_PER_DAY, days_of, micros_of
from limnograph.analysis.advice.statements.scopes import PartitionScope, ScopeField

Path = tuple[str, ...]
_SIZED = re.compile(r"(bucket|truncate)\[(\d{1,9})\]")
_TIMESTAMPS = ("timestamp", "timestamptz")


class IsNull(NamedTuple):
    """The column is null."""

    path: Path


class Equal(NamedTuple):
    """The column has this value; a float may be NaN."""

    path: Path
    type: str
    value: int | float | str | bytes | bool


class ValueRange(NamedTuple):
    """The column is within `[low, high)`, in the unit of its type's raw values."""

    path: Path
    type: str
    low: int
    high: int


class Transformed(NamedTuple):
    """A transform with a size, applied to the column, has this value."""

    path: Path
    type: str
    transform: str
    size: int
    value: int | str | bytes


Atom = IsNull | Equal | ValueRange | Transformed


def atom_of(field: ScopeField, value: object) -> Atom | None:
    """The condition of one field. None: the column was dropped, or the transform or the value is unknown."""
    if not field.path or field.transform == "void":
        return None
    if value is None:
        return IsNull(field.path)
    if field.transform == "identity":
        return _equal(field, value)
    if field.transform in PERIODS:
        return _span(field, value)
    sized = _SIZED.fullmatch(field.transform)
    return _sized(field, sized[1], int(sized[2]), value) if sized else None


def atoms_of(scope: PartitionScope) -> tuple[list[Atom], bool]:
    """The conditions of a partition, and whether they distinguish it from all others of its spec."""
    atoms, distinct = [], True
    for field, value in zip(scope.fields, scope.values, strict=True):
        atom = atom_of(field, value)
        if atom is not None:
            atoms.append(atom)
            distinct = distinct and not _rounds_up(atom)
        elif field.transform != "void":
            distinct = False
    return list(dict.fromkeys(atoms)), distinct


def excludes(condition: Atom, other: Atom) -> bool:
    """Whether a scan with `condition` leaves out files of a partition with `other`, a condition on the same column."""
    if isinstance(condition, Transformed):
        return isinstance(other, Transformed) and _values_differ(condition, other)
    if isinstance(condition, IsNull) or isinstance(other, IsNull):
        return type(condition) is not type(other)
    return not isinstance(other, Transformed) and _apart(condition, other)


def _values_differ(one: Transformed, two: Transformed) -> bool:
    """Whether two values of the same transform differ. The projection of any other one is unknown."""
    return (one.transform, one.size) == (two.transform, two.size) and one.value != two.value


def _apart(one: Equal | ValueRange, two: Equal | ValueRange) -> bool:
    if isinstance(one, Equal) and isinstance(two, Equal):
        return _key(one.value) != _key(two.value)
    bounds, others = _bounds(one), _bounds(two)
    if bounds is None or others is None:
        return False
    (start, end), (other_start, other_end) = bounds, others
    return other_end <= start or end + (_longest(one.type) if _rounds_up(one) else 0) <= other_start


def _rounds_up(atom: Atom) -> bool:
    """Whether the projection of the atom includes the following period."""
    return isinstance(atom, ValueRange) and atom.high <= 0 and atom.type in {"date", *_TIMESTAMPS}


def _longest(kind: str) -> int:
    """The longest period, a leap year."""
    return DAYS_OF_YEAR if kind == "date" else DAYS_OF_YEAR * US_PER_DAY


def _bounds(atom: Equal | ValueRange) -> tuple[int, int] | None:
    if isinstance(atom, ValueRange):
        return atom.low, atom.high
    return (atom.value, atom.value + 1) if isinstance(atom.value, int) else None


def _key(value: object) -> object:
    """Values that Iceberg tells apart: NaN equals itself, -0.0 differs from 0.0."""
    if isinstance(value, float):
        return ("nan",) if math.isnan(value) else (value, math.copysign(1, value))
    return value


def _equal(field: ScopeField, value: object) -> Equal | None:
    raw = _raw(field.type, value)
    return None if raw is None else Equal(field.path, field.type, raw)


def _raw(kind: str, value: object) -> int | float | str | bytes | bool | None:
    """The value, if it is one of the type."""
    name = kind.partition("(")[0].partition("[")[0]
    if name == "decimal" and isinstance(value, bytes):
        return int.from_bytes(value, "big", signed=True)
    if name in {"float", "double"} and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    wanted = _RAW.get(name)
    if wanted is None or not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        return None
    return value  # type: ignore[return-value]


_RAW: dict[str, type] = {
    "boolean": bool,
    **dict.fromkeys(("int", "long", "decimal", "date", "time", *_TIMESTAMPS), int),
    **dict.fromkeys(("float", "double"), float),
    "string": str,
    **dict.fromkeys(("uuid", "fixed", "binary"), bytes),
}


def _span(field: ScopeField, value: object) -> ValueRange | None:
    if not isinstance(value, int):
        return None
    if field.type == "date" and field.transform != "hour":
        found = days_of(field.transform, value)
    else:
        found = micros_of(field.transform, value) if field.type in _TIMESTAMPS else None
    return ValueRange(field.path, field.type, *found) if found else None


def _sized(field: ScopeField, transform: str, size: int, value: object) -> Atom | None:
    if size < 1:
        return None
    if transform == "bucket":
        bucket = isinstance(value, int) and not isinstance(value, bool)
        return Transformed(field.path, field.type, transform, size, value) if bucket else None  # type: ignore[arg-type]
    raw = _raw(field.type, value)
    if isinstance(raw, str | bytes):
        return Transformed(field.path, field.type, transform, size, raw)
    numeric = isinstance(raw, int) and field.type.startswith(("int", "long", "decimal"))
    return ValueRange(field.path, field.type, raw, raw + size) if numeric and raw % size == 0 else None  # type: ignore[operator,arg-type]
