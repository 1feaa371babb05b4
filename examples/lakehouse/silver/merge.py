"""Merges changes into the current state: the newest position of a key wins, so a repeated batch changes nothing."""

from __future__ import annotations

from lakehouse.bronze.tables import CDC
from lakehouse.parts.lake import MERGE_ON_READ, Lake, TableLayout
from lakehouse.silver.masks import CUSTOMERS, ORDERS, SourceColumn, expression

SALT = "lakehouse-"
COLUMNS = {"customers": CUSTOMERS, "orders": ORDERS}


def layout(name: str) -> TableLayout:
    """The table of one of the shop's tables."""
    columns = ", ".join(f"{column.name} {column.type}" for column in COLUMNS[name])
    pii = "hash" if any(column.masked for column in COLUMNS[name]) else "none"
    return TableLayout(f"lake.silver.{name}", f"{columns}, _lsn bigint", "bucket(2, id)", MERGE_ON_READ, pii)


def merge_changes(lake: Lake, name: str) -> int:
    """Merge what bronze has and silver lacks. Returns the number of changes that were read.

    The position is in the summary of silver's own commit, so that both are written or neither. Once that snapshot has
    expired, all of bronze is merged again, with the same result.
    """
    target = layout(name)
    lake.create(target)
    done = lake.one(f"select coalesce(max(cast(summary['lake.position'] as bigint)), 0) from {target.name}.snapshots")
    source = f"{CDC.name} where source = 'shop.public.{name}' and commit_lsn > {done}"
    count, upto = lake.sql(f"select count(*), max(commit_lsn) from {source}")[0]
    if count:
        with lake.stamped(position=upto):
            lake.sql(merge_statement(target.name, COLUMNS[name], source))
    return int(count)


def merge_statement(target: str, columns: tuple[SourceColumn, ...], source: str) -> str:
    """One MERGE: deletes delete, updates update, and nothing that is older than the row changes it."""
    names = [column.name for column in columns]
    chosen = ", ".join(expression(column, SALT) for column in columns)
    update = ", ".join(f"t.{name} = s.{name}" for name in (*names, "_lsn"))
    return f"""
        merge into {target} t using (
          select {chosen}, op, lsn as _lsn
          from (
            select *, from_json(coalesce(after, before), 'map<string, string>') as image,
              row_number() over (partition by key order by lsn desc) as newest
            from {source}
          )
          where newest = 1
        ) s
        on t.id = s.id
        when matched and s._lsn > t._lsn and s.op = 'd' then delete
        when matched and s._lsn > t._lsn then update set {update}
        when not matched and s.op <> 'd' then insert ({", ".join((*names, "_lsn"))})
          values ({", ".join(f"s.{name}" for name in (*names, "_lsn"))})"""
