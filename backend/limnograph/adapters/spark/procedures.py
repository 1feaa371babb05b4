"""SQL statements of housekeeping: Iceberg's Spark procedures, and the merges. Executes nothing.

Values are inserted as numbers or as names from `domain/facts`, never as text from an observed table.
"""

from __future__ import annotations

from collections.abc import Sequence

from limnograph.domain.facts.forecasts import FORECAST_KEY, OUTCOME_COLUMNS
from limnograph.domain.facts.meta_tables import FORECASTS, REPORTS, MetaTable
from limnograph.domain.facts.report_contents import METADATA_KEYS
from limnograph.ports.meta_upkeep import PartitionFiles


class SparkNames:
    """SQL names of the tables in a namespace."""

    def __init__(self, catalog: str, namespace: str) -> None:
        self._catalog, self._namespace = catalog, namespace

    def table(self, table: MetaTable) -> str:
        """`catalog`.`namespace`.`name`."""
        return f"`{self._catalog}`.`{self._namespace}`.`{table.name}`"

    def call(self, procedure: str, table: MetaTable, *arguments: str) -> str:
        """A call of a catalog procedure for one table."""
        told = ", ".join((f"table => '`{self._namespace}`.`{table.name}`'", *arguments))
        return f"call `{self._catalog}`.system.{procedure}({told})"


def instant(micros: int) -> str:
    """A timestamp, exact and independent of the session's time zone."""
    return f"timestamp_micros({micros}L)"


def compact(names: SparkNames, table: MetaTable, part: PartitionFiles, *, whole: bool) -> str:
    """Compacts files of partitions, sorted by the table's order; one group at a time keeps the driver small."""
    arguments = ["strategy => 'sort'", f"sort_order => '{', '.join(table.sort)}'"]
    if table.partition is not None and part.start is not None and part.end is not None:
        column = table.partition[0]
        bounds = f"{column} >= {instant(part.start)} and {column} < {instant(part.end)}"
        arguments.append(f"where => '{bounds}'")
    options = {"max-concurrent-file-group-rewrites": "1", "min-input-files": "2"}
    options |= {"rewrite-all": "true"} if whole else {}
    told = ", ".join(f"'{key}', '{value}'" for key, value in options.items())
    return names.call("rewrite_data_files", table, *arguments, f"options => map({told})")


def orphans(names: SparkNames, table: MetaTable, older_than: int, *, remove: bool) -> str:
    """Files of no snapshot, listed by the catalog's own client: Hadoop's file systems may not support the store."""
    told = (f"older_than => {instant(older_than)}", f"dry_run => {'false' if remove else 'true'}")
    return names.call("remove_orphan_files", table, *told, "prefix_listing => true")


def merge_rollups(names: SparkNames, table: MetaTable, view: str, columns: Sequence[str], span: tuple[int, int]) -> str:
    """Both branches: at serializable isolation, Iceberg checks that no row of these spans was inserted meanwhile. A
    column of the key may be null.
    """
    unit = table.key[1]
    same = " and ".join(f"t.{name} <=> s.{name}" for name in table.key[2:])
    newer = " or ".join(f"s.{name} > t.{name}" for name in ("source_sequence", "changes_sequence"))
    not_older = " and ".join(f"s.{name} >= t.{name}" for name in ("source_sequence", "changes_sequence"))
    bounds = f"t.{unit} between {instant(span[0])} and {instant(span[1])}"
    quoted = [f"`{name}`" for name in columns]
    parts = (
        f"merge into {names.table(table)} t using {view} s",
        f"on t.table_uuid = s.table_uuid and t.{unit} = s.{unit} and {bounds}" + (f" and {same}" if same else ""),
        f"when matched and {not_older} and ({newer}) then update set",
        ", ".join(f"t.{name} = s.{name}" for name in quoted),
        f"when not matched then insert ({', '.join(quoted)})",
        f"values ({', '.join(f's.{name}' for name in quoted)})",
    )
    return " ".join(parts)


def judge_forecasts(names: SparkNames, view: str, span: tuple[int, int]) -> str:
    """Fills in outcomes where there is none; the span lets Iceberg skip files of other days."""
    same = " and ".join(f"t.{name} = s.{name}" for name in FORECAST_KEY)
    filled = ", ".join(f"t.{name} = s.{name}" for name in OUTCOME_COLUMNS)
    return (
        f"merge into {names.table(FORECASTS)} t using {view} s on {same} "
        f"and t.as_of between {instant(span[0])} and {instant(span[1])} "
        f"when matched and t.judged_at is null then update set {filled}"
    )


def clear_literals(names: SparkNames) -> str:
    """Clears filters, and metadata other than that of an allow-list, in the rows of `reports` that have any."""
    keys = ", ".join(f"'{key}'" for key in METADATA_KEYS)
    kept = f"map_filter(metadata, (key, _value) -> key in ({keys}))"
    parts = (
        f"update {names.table(REPORTS)}",
        f"set filter = null, metadata = if(size({kept}) > 0, {kept}, null)",
        f"where filter is not null or exists(map_keys(metadata), key -> key not in ({keys}))",
    )
    return " ".join(parts)


def delete_before(names: SparkNames, table: MetaTable, column: str, before: int) -> str:
    """Deletes rows before an instant; if it is the start of a partition, only metadata is written."""
    return " ".join(("delete from", names.table(table), f"where {column} < {instant(before)}"))


def delete_keys(names: SparkNames, table: MetaTable, view: str, span: tuple[int, int] | None) -> str:
    """Deletes rows by key; the span lets Iceberg skip files of other days."""
    bounds = f" and t.committed_at between {instant(span[0])} and {instant(span[1])}" if span else ""
    return (
        f"merge into {names.table(table)} t using {view} s "
        f"on t.table_uuid = s.table_uuid and t.snapshot_id = s.snapshot_id{bounds} when matched then delete"
    )


def reopen(names: SparkNames, table: MetaTable, since: int) -> str:
    """Marks roll-ups since an instant as derived from the oldest possible heads, so that they are computed again."""
    zero = "source_sequence = 0, changes_sequence = 0"
    return " ".join(("update", names.table(table), f"set {zero} where {table.key[1]} >= {instant(since)}"))
