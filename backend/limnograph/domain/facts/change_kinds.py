"""Kinds of rows in `changes`, and the meaning of their columns. `docs/meta-tables.md` contains this table."""

from __future__ import annotations

from typing import NamedTuple


class ChangeKind(NamedTuple):
    """A kind of change, described in Markdown. `is_event`: it happened once; other kinds are states, with a row for
    each change of the value.
    """

    meaning: str
    subject: str
    values: str
    detail: str = ""
    is_event: bool = False


CHANGE_KINDS: dict[str, ChangeKind] = {
    "schema": ChangeKind("the current schema", "null", "schema ids", "the schema, as Iceberg writes it"),
    "spec": ChangeKind("the default partition spec", "null", "spec ids", "the spec"),
    "sort_order": ChangeKind("the default sort order", "null", "sort order ids", "the sort order"),
    "property": ChangeKind(
        "a property that affects how files are written, `format-version`, or `owner`",
        "key of the property",
        "values; `to_value` null: removed",
    ),
    "ref": ChangeKind(
        "a branch or tag. For `main`, every entry of the table's own log is a row, including rollbacks, at the log's "
        "times",
        "name of the ref",
        "snapshot ids; `to_value` null: removed",
        "`type` and `retention`",
    ),
    "named": ChangeKind(
        "the table has this name", "`catalog.namespace.table`", "`to_value`: the name", "location, format"
    ),
    "dropped": ChangeKind("the table lost this name", "`catalog.namespace.table`", "`from_value`: the name"),
    "first_seen": ChangeKind(
        "the table was first seen; its history begins at `to_value`",
        "`catalog.namespace.table`",
        "`to_value`: sequence number or commit time (`detail.floor` says which)",
        "`floor`, location",
        is_event=True,
    ),
    "gap": ChangeKind(
        "commits expired before they were read",
        "the unknown parent; after a rebuild, `rebuild:` and a snapshot id",
        "snapshot ids: the last known, the first after",
        "`missed_snapshots` (null: unknown), `last_known`, `first_new`",
        is_event=True,
    ),
    "unreadable": ChangeKind(
        "the table's metadata is unreadable",
        "`catalog.namespace.table`",
        "problem code; `to_value` null: readable again",
        "a sentence",
    ),
    "upgraded": ChangeKind(
        "the format version increased, or the table was assigned a uuid",
        "`format-version` or `uuid`",
        "versions, or the uuid",
    ),
    "retained": ChangeKind(
        "the commits that the table's own metadata still contains; no row: all of them",
        "null",
        "sequence numbers, as in `4,7-9,12-`; open at the end",
    ),
    "expired": ChangeKind(
        "the table expired commits, between `not_before` and `at`; `metadata_location` is the first file without them",
        "null",
        "`to_value`: sequence numbers, as in `3-14,16`",
        "`commits`: their number",
        is_event=True,
    ),
}
