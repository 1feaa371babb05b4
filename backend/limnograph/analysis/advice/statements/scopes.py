"""Partitions as a plan names them: the fields of their spec and the raw values of their manifest entry. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from limnograph.domain.metadata.partition_text import NULL


class ScopeField(NamedTuple):
    """A field of a partition spec.

    path       current name of the source column, after those of the structs that enclose it; empty: the column was
               dropped
    type       the column's type as Iceberg writes it (`timestamptz`, `decimal(9, 2)`)
    transform  as Iceberg writes it (`day`, `bucket[16]`)
    """

    name: str
    path: tuple[str, ...]
    type: str
    transform: str


class PartitionScope(NamedTuple):
    """A partition. `values`: one per field, as decoded from the manifest's partition record: None for null; days,
    months, years or hours since 1970 of a period; days of a date; microseconds of a timestamp or time; the unscaled
    integer of a decimal, or its big-endian bytes; the 16 bytes of a UUID.
    """

    fields: tuple[ScopeField, ...]
    values: tuple[object, ...]


class PartitionChoice(NamedTuple):
    """The partitions of a plan. `others`: all other live partitions of the table, with those of older specs: the
    statement must not select them.
    """

    chosen: Sequence[PartitionScope]
    others: Sequence[PartitionScope]


def label(scope: PartitionScope) -> str:
    """The partition in a sentence, with raw values."""
    named = zip(scope.fields, scope.values, strict=True)
    return "/".join(f"{field.name}={NULL if value is None else value}" for field, value in named)
