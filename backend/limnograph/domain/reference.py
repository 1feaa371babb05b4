"""`docs/meta-tables.md` out of `facts.py`: `python -m limnograph.domain.reference`. CI compares it with the file."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from limnograph.domain.columns import Column, ListOf, MapOf, StructOf, Type
from limnograph.domain.facts import META_TABLES, SCHEMA_VERSION, MetaTable

INTRODUCTION = f"""# Meta tables

Generated from `backend/limnograph/domain/facts.py`: change it there, then run `make types`.

Plain Iceberg tables (format v2, copy-on-write, zstd) in namespace `limnograph` of the meta catalog; Trino, Spark,
polars and DuckDB read them. Schema version {SCHEMA_VERSION} (property `limnograph.schema-version`). Columns are only
ever added, by field id: tolerate a missing or an extra one. **A number that is not known is null, never 0.**
"""


def document() -> str:
    """The whole page as Markdown."""
    return "\n".join((INTRODUCTION, *map(_table, META_TABLES)))


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
