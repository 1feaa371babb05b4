"""Generates `docs/meta-tables.md` from the facts: `python -m limnograph.domain.facts.reference`. CI compares it with
the file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from limnograph.domain.facts.change_kinds import CHANGE_KINDS
from limnograph.domain.facts.columns import Column, ListOf, MapOf, StructOf, Type
from limnograph.domain.facts.meta_tables import CHANGES, META_TABLES, SCHEMA_VERSION, MetaTable

INTRODUCTION = f"""# Meta tables

Generated from `backend/limnograph/domain/facts/meta_tables.py`: change it there, then run `make types`.

Plain Iceberg tables (format v2, copy-on-write, zstd) in namespace `limnograph` of the meta catalog. Trino, Spark,
polars and DuckDB can read them: tests run the queries of the [cookbook](cookbook.md) on each of these engines.
Schema version {SCHEMA_VERSION} (property `limnograph.schema-version`). Columns are only
ever added, by field id: tolerate a missing or an extra one. **A number that is not known is null, never 0.**
"""


def document() -> str:
    """The whole page as Markdown."""
    return "\n".join((INTRODUCTION, *_tables()))


def _tables() -> Iterator[str]:
    for table in META_TABLES:
        yield _table(table)
        if table is CHANGES:
            yield _kinds()


def _kinds() -> str:
    """The table of kinds of rows in `changes`."""
    head = (
        "### Kinds of `changes`\n\nA state has a row each time it changes, with `from_value` before and `to_value` "
        "after, at some instant between `not_before` and `at`.\nAn event has one row.\n\n| kind | | meaning | "
        "`subject` | `from_value`, `to_value` | `detail` |\n|---|---|---|---|---|---|\n"
    )
    rows = (
        f"| `{name}` | {'event' if kind.is_event else 'state'} | {kind.meaning} | {kind.subject} | {kind.values} "
        f"| {kind.detail or 'null'} |"
        for name, kind in CHANGE_KINDS.items()
    )
    return head + "\n".join(rows) + "\n"


def _table(table: MetaTable) -> str:
    partition = "partitioned by `{1}({0})`".format(*table.partition) if table.partition else "unpartitioned"
    head = (
        f"## `{table.name}`\n\n"
        f"Key `({', '.join(table.key)})`, {partition}, "
        f"files sorted by `({', '.join(table.sort)})`.\n\n"
        "| id | column | type | meaning |\n|---:|---|---|---|\n"
    )
    return head + "\n".join(_rows(table.columns, "")) + "\n"


def _rows(columns: tuple[Column, ...], prefix: str) -> Iterator[str]:
    for column in columns:
        required = " **key**" if column.required else ""
        yield f"| {column.field_id} | `{prefix}{column.name}` | {_spell(column.type)}{required} | {column.doc} |"
        if isinstance(column.type, ListOf) and isinstance(column.type.element, StructOf):
            yield from _rows(column.type.element.fields, f"{prefix}{column.name}[].")


def _spell(kind: Type) -> str:
    match kind:
        case ListOf(element=element):
            return f"list<{_spell(element)}>"
        case MapOf(key=key, value=value):
            return f"map<{_spell(key)}, {_spell(value)}>"
        case StructOf():
            return "struct"
        case _:
            return kind.name


if __name__ == "__main__":
    sys.stdout.write(document())
