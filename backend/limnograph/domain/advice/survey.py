"""A table's current files as the rules of advice need them: by partition, with what each rewrite would take up.

It is computed beside the files and sent to the rules, so that a table of many files is a short message.
"""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from limnograph.domain.time import Micros

MOST_GROUPS = 10_000
"""Groups of a survey, those with the most files to rewrite first."""
MOST_PARTITIONS = 20_000
PartitionValue = int | float | str | bool | None
"""A value of a partition record. Binary values, also decimals and uuids, are base64; floats that JSON lacks, texts."""


class SurveyedField(msgspec.Struct, frozen=True, kw_only=True):
    """A field of a partition spec. `column`: names of the source column, outermost first, in the current schema, and
    `type` its type; None if the column was dropped. `transform`: as in the spec, such as `bucket[16]`.
    """

    name: str
    transform: str
    column: tuple[str, ...] | None
    type: str | None


class SurveyedPartition(msgspec.Struct, frozen=True, kw_only=True):
    """A partition. `text`: such as `day=2026-11-20`; `values`: of its fields, in the order of the spec."""

    spec_id: int
    text: str
    values: list[PartitionValue]


class GroupPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What the planner would rewrite of a group.

    groups   file groups of the planner
    outputs  files that it expects to write
    rows     of these files, before deletes; `deleted` rows of them that scoped deletes remove
    sha256   of the sorted (hash of the path, size) of the files: the same only for the same files
    """

    files: int
    bytes: int
    groups: int
    outputs: int
    rows: int
    deleted: int
    sha256: str


class SurveyedGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Files that the planner plans together: a partition, all partitions of older specs (`older`), or an unpartitioned
    table.

    written_at  latest commit that added or removed a file; None: not among the retained snapshots
    dangling    delete files of the group that apply to none of its files; they are not in `deleted`
    deleted     rows that position deletes of the group remove, at most
    small       files below the rule's size; counted for Delta only
    compact     by the rule of the table; `purge` also files of which a tenth of the rows is deleted; `every`: all
                files, of a group with delete files
    """

    partitions: list[SurveyedPartition]
    older: bool
    files: int
    bytes: int
    rows: int
    delete_files: int
    equality_files: int
    delete_bytes: int
    dangling: int
    deleted: int
    written_at: Micros | None
    compact: GroupPlan | None
    purge: GroupPlan | None
    every: GroupPlan | None
    small: int = 0


class DeleteGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Position delete files that the planner rewrites together: those of a partition, by its values in all specs."""

    partitions: list[SurveyedPartition]
    written_at: Micros | None
    plan: GroupPlan


class SurveyedManifests(msgspec.Struct, frozen=True, kw_only=True):
    """Manifests of one spec and content (data or deletes). `bytes` None: the metadata lists them without sizes (v1)."""

    spec_id: int
    deletes: bool
    count: int
    bytes: int | None


class TableSurvey(msgspec.Struct, frozen=True, kw_only=True):
    """The head of main. `groups`: those with files to rewrite or with deletes, at most MOST_GROUPS; `left_out` groups
    more were not sent. `partitions`: all that have live files; none if there are more than MOST_PARTITIONS.
    `specs`: fields by spec id. `specs_live`: specs that live data files use.
    """

    snapshot_id: int
    data_files: int
    delete_files: int
    bytes: int
    rows: int
    groups: list[SurveyedGroup]
    left_out: int
    deletes: list[DeleteGroup]
    partitions: list[SurveyedPartition]
    specs: dict[int, list[SurveyedField]]
    specs_live: list[int]
    manifests: list[SurveyedManifests]


def as_value(value: Any) -> PartitionValue:
    """A decoded Avro value as PartitionValue."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float):
        return value if value - value == 0 else repr(value)
    return value if isinstance(value, int | str | bool) or value is None else str(value)
