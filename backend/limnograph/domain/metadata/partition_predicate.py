"""Builds a Spark SQL predicate for the rows of partitions from the partitions' texts and specs. A field whose values
cannot be derived from its text (`bucket`, `truncate`, `void`, binary columns, shortened texts) is omitted, so the
predicate may select more than the partitions, never less. Pure.

Literals follow Spark's rules (backslash escapes, `spark.sql.parser.escapedStringLiterals=false`), periods follow
Iceberg's transforms: days and hours of a `timestamptz` are in UTC (table spec, "Partition Transforms").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from limnograph.domain.answers.tables import PartitionField
from limnograph.domain.metadata.partition_text import MAX_TEXT, NULL

MOST_PARTITIONS = 20
"""Maximum number of partitions: users should be able to check a predicate before they run it."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_INTEGER = re.compile(r"-?\d+")
_PLAIN = {
    "boolean": (re.compile("true|false"), "{value}"),
    "int": (_INTEGER, "{value}"),
    "long": (_INTEGER, "{value}"),
    "decimal": (re.compile(r"-?\d+(\.\d+)?"), "CAST('{value}' AS {kind})"),
    "date": (_DATE, "DATE '{value}'"),
}
"""Types whose text is the value: a pattern of the text, and the form of the literal."""
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?")
_PERIODS = {
    "year": re.compile(r"\d{4}"),
    "month": re.compile(r"\d{4}-\d\d"),
    "day": _DATE,
    "hour": re.compile(r"\d{4}-\d\d-\d\d-\d\d"),
}
_FIRST = (1, 1, 0)
"""First month, day and hour of a period."""
_ESCAPED = {"%25": "%", "%2F": "/", "%22": '"'}


class PredicateColumn(NamedTuple):
    """A column by its current name. `path`: its name after those of the enclosing structs, outermost first."""

    path: tuple[str, ...]
    type: str


class Touched(NamedTuple):
    """A partition: its text (`domain/metadata/partition_text.py`) and the id of its spec."""

    spec_id: int | None
    text: str


class Predicate(NamedTuple):
    """`sql`: None if no predicate can be built. `note`: the reason, or the omitted fields; None if the predicate is
    exact.
    """

    sql: str | None
    note: str | None = None


class _Atom(NamedTuple):
    """A condition on one column: its SQL and, for a period, the half-open range `[start, end)`."""

    sql: str
    column: str = ""
    start: str = ""
    end: str = ""


def predicate(
    touched: Sequence[Touched], specs: Mapping[int, Sequence[PartitionField]], columns: Mapping[int, PredicateColumn]
) -> Predicate:
    """The predicate for some partitions. `columns`: those of the current schema, by field id. `specs`: the known specs,
    by id.
    """
    if not touched:
        return Predicate(None, "The partitions that the commit touched are unknown.")
    if len(touched) > MOST_PARTITIONS:
        return Predicate(None, f"The commit touched {len(touched):,} partitions, too many for a predicate.")
    conditions: list[tuple[_Atom, ...]] = []
    omitted: dict[str, None] = {}
    for partition in touched:
        fields = specs.get(partition.spec_id) if partition.spec_id is not None else None
        values = _values(partition.text, [field.name for field in fields]) if fields else None
        if not fields or values is None:
            return Predicate(None, _unreadable(partition, fields))
        atoms = [_atom(field, value, columns) for field, value in zip(fields, values, strict=True)]
        omitted |= {_spelled(fields[i], columns): None for i, atom in enumerate(atoms) if atom is None}
        conditions.append(tuple(atom for atom in atoms if atom is not None))
    fields_left, many = ", ".join(omitted), len(omitted) > 1
    if not all(conditions):
        selects = "they select" if many else "it selects"
        return Predicate(None, f"No predicate can be built from {fields_left}: {selects} no range of a column.")
    left_out = f"{fields_left} {'are' if many else 'is'} omitted"
    note = f"{left_out}: the predicate may select more rows than the commit wrote." if omitted else None
    return Predicate(_disjunction(conditions), note)


def _unreadable(partition: Touched, fields: Sequence[PartitionField] | None) -> str:
    if fields is None:
        return "The commit's partition spec is unknown."
    return (
        f"The partition {partition.text} does not match its partition spec."
        if fields
        else "The table is not partitioned."
    )


def _disjunction(conditions: Iterable[tuple[_Atom, ...]]) -> str:
    distinct = list(dict.fromkeys(conditions))
    if all(len(atoms) == 1 for atoms in distinct):
        distinct = [(atom,) for atom in _merged([atoms[0] for atoms in distinct])]
    texts = [" AND ".join(atom.sql for atom in atoms) for atoms in distinct]
    return texts[0] if len(texts) == 1 else " OR ".join(f"({text})" for text in texts)


def _merged(atoms: list[_Atom]) -> list[_Atom]:
    """Merge adjacent periods of a column."""
    found: list[_Atom] = [atom for atom in atoms if not atom.column]
    for atom in sorted((atom for atom in atoms if atom.column), key=lambda atom: (atom.column, atom.start)):
        last = found[-1] if found else None
        if last is not None and last.column == atom.column and last.end == atom.start:
            found[-1] = _period(atom.column, last.start, atom.end)
        else:
            found.append(atom)
    return found


def _values(text: str, names: Sequence[str]) -> list[str] | None:
    """Values in the order of the fields; None if the text has other fields. Names may contain `/`, values may not."""
    found, rest = [], text
    for name, following in zip(names, [*names[1:], None], strict=True):
        if not rest.startswith(f"{name}="):
            return None
        rest = rest[len(name) + 1 :]
        cut = len(rest) if following is None else rest.find(f"/{following}=")
        if cut < 0 or "/" in rest[:cut]:
            return None
        found.append(rest[:cut])
        rest = rest[cut + 1 :]
    return found


def _atom(field: PartitionField, value: str, columns: Mapping[int, PredicateColumn]) -> _Atom | None:
    column = columns.get(field.source_id) if field.source_id is not None else None
    if column is None or (field.transform != "identity" and field.transform not in _PERIODS):
        return None
    name = identifier(column.path)
    if value == NULL:
        return _Atom(f"{name} IS NULL")
    if field.transform == "identity":
        literal = _literal(column.type, value)
        return None if literal is None else _Atom(f"{name} = {literal}")
    return _period_of(name, column.type, field.transform, value)


def _period_of(name: str, kind: str, transform: str, value: str) -> _Atom | None:
    if not _PERIODS[transform].fullmatch(value):
        return None
    year, month, day, hour = [*map(int, value.split("-")), *_FIRST[value.count("-") :]]
    try:
        first = datetime(year, month, day, hour, tzinfo=UTC)
        after = _after(first, transform)
    except (ValueError, OverflowError):
        return None
    if kind == "date":
        if transform == "day":
            return _Atom(f"{name} = {_date(first.date())}")
        return None if transform == "hour" else _period(name, _date(first.date()), _date(after.date()))
    if kind not in {"timestamp", "timestamptz"}:
        return None
    return _period(name, _timestamp(kind, first), _timestamp(kind, after))


def _after(first: datetime, transform: str) -> datetime:
    if transform == "year":
        return first.replace(year=first.year + 1)
    if transform == "month":
        return (first + timedelta(days=32)).replace(day=1)
    return first + (timedelta(days=1) if transform == "day" else timedelta(hours=1))


def _period(column: str, start: str, end: str) -> _Atom:
    return _Atom(f"{column} >= {start} AND {column} < {end}", column, start, end)


def _date(day: date) -> str:
    return f"DATE '{day.isoformat()}'"


def _timestamp(kind: str, at: datetime) -> str:
    text = at.replace(tzinfo=None).isoformat(" ")
    return f"TIMESTAMP '{text}+00:00'" if kind == "timestamptz" else f"TIMESTAMP_NTZ '{text}'"


def _literal(kind: str, value: str) -> str | None:
    """The literal for the text of an identity partition; None if the value cannot be derived from it."""
    if len(value) > MAX_TEXT:
        return None
    if kind == "string":
        return string_literal(_unescaped(value))
    if kind in {"timestamp", "timestamptz"}:
        return _timestamp(kind, datetime.fromisoformat(value)) if _TIMESTAMP.fullmatch(value) else None
    plain = _PLAIN.get(kind.partition("(")[0])
    if plain is None or not plain[0].fullmatch(value):
        return None
    return plain[1].format(value=value, kind=kind)


def _unescaped(value: str) -> str:
    if value == f'"{NULL}"':
        return NULL
    return re.sub("|".join(_ESCAPED), lambda found: _ESCAPED[found.group()], value)


def string_literal(text: str) -> str:
    """A Spark SQL literal for `text`; `$` of `${` is escaped, because Spark would substitute a variable."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("${", "\\u0024{")
    return f"'{escaped}'"


def identifier(path: Iterable[str]) -> str:
    """A quoted column name: "`a`.`b`"."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in path)


def _spelled(field: PartitionField, columns: Mapping[int, PredicateColumn]) -> str:
    column = columns.get(field.source_id) if field.source_id is not None else None
    name = ".".join(column.path) if column else field.name
    return name if field.transform == "identity" else f"{field.transform} of {name}"
