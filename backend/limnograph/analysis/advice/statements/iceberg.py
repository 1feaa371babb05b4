"""Statements of the maintenance actions of Iceberg tables, one function per action. Pure.

Each function returns the text for Spark, Trino and Python, or the reason why an engine has none. A text does exactly
what its action says: it addresses the table by its full name and selects the plan's partitions, snapshots or age and
nothing else. docs/adr/0047 has what Spark 4.1, Trino 476 and PyIceberg 0.12 accept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from limnograph.analysis.advice.statements import python, spark, trino
from limnograph.analysis.advice.statements.instants import timestamp_text
from limnograph.analysis.advice.statements.scopes import PartitionChoice, PartitionScope
from limnograph.analysis.advice.statements.selection import select
from limnograph.analysis.advice.statements.subject import (
    NoStatement,
    StatementResult,
    StatementTable,
    Write,
    listed_first,
    nothing,
    result,
)
from limnograph.domain.time import MICROS_PER_MS, Millis

_EPOCH_AGE = "TIMESTAMP '1970-01-02 00:00:00'"
"""Older than any snapshot: without it, Spark also expires snapshots by age."""
_NO_PYICEBERG = "PyIceberg does not support this action."
_MS_PER_DAY = 86_400_000
_SNAPSHOTS = "Trino expires snapshots by age only: it cannot name snapshot ids."


def rewrite_data_files(
    table: StatementTable, choice: PartitionChoice | None, options: Mapping[str, str]
) -> StatementResult:
    """Compact the data files of the chosen partitions, or of the whole table. `options`: of Spark's procedure; Trino
    gets the size below which Spark rewrites a file (`min-file-size-bytes`, or three quarters of the target size).
    """
    where = _where(table, choice)

    def for_spark() -> str:
        return _call(table, "rewrite_data_files", where=where and where(), options=options)

    def for_trino() -> str:
        least = _least_bytes(options)
        threshold = "" if least is None else f"(file_size_threshold => '{least}B')"
        return _for_each(f"ALTER TABLE {trino.table_name(table)} EXECUTE optimize{threshold}", choice)

    return result(for_spark, for_trino, nothing(_NO_PYICEBERG), where)


def rewrite_position_delete_files(
    table: StatementTable, choice: PartitionChoice | None, options: Mapping[str, str]
) -> StatementResult:
    """Merge the position delete files of the chosen partitions, or of the whole table, and drop dangling deletes."""
    where = _where(table, choice)

    def for_spark() -> str:
        return _call(table, "rewrite_position_delete_files", where=where and where(), options=options)

    no_trino = nothing("Trino rewrites position deletes only together with the data files (`optimize`).")
    return result(for_spark, no_trino, nothing(_NO_PYICEBERG), where)


def rewrite_manifests(table: StatementTable, spec_id: int | None, *, only_spec: bool) -> StatementResult:
    """Rewrite the manifests of one partition spec; None: of the current one. `only_spec`: whether all live files have
    this spec, so that Trino, which rewrites the manifests of all specs, does the same.
    """

    def for_trino() -> str:
        if not only_spec:
            raise NoStatement("Trino rewrites the manifests of all partition specs.")
        return f"ALTER TABLE {trino.table_name(table)} EXECUTE optimize_manifests;"

    def for_spark() -> str:
        return _call(table, "rewrite_manifests", spec_id=None if spec_id is None else str(spec_id))

    return result(for_spark, for_trino, nothing(_NO_PYICEBERG))


def expire_snapshots(
    table: StatementTable, snapshot_ids: Sequence[int], *, own_retention: Sequence[str] = ()
) -> StatementResult:
    """Expire exactly these snapshots and delete the files that only they reach. `own_retention`: branches and tags
    whose own maximum ages would also expire something now; Spark applies them in every expiry.
    """

    def for_spark() -> str:
        if own_retention:
            refs = ", ".join(sorted(own_retention))
            raise NoStatement(f"Spark would also apply the maximum ages of these branches and tags: {refs}.")
        ids = ", ".join(f"{int(each)}L" for each in _some(snapshot_ids))
        return _call(table, "expire_snapshots", snapshot_ids=f"array({ids})", older_than=_EPOCH_AGE)

    def for_python() -> str:
        ids = ", ".join(str(int(each)) for each in _some(snapshot_ids))
        left = "# Removes the snapshots. Their files stay until orphan files are removed.\n"
        return f"{left}{python.loading(table)}table.maintenance.expire_snapshots().by_ids([{ids}]).commit()\n"

    made = result(for_spark, nothing(_SNAPSHOTS), for_python)
    if made.statements.python is None:
        return made
    left = "PyIceberg removes the snapshots and leaves their files, which are orphans afterwards."
    return made._replace(notes={**made.notes, "python": left})


def remove_orphan_files(table: StatementTable, older_than_ms: Millis) -> StatementResult:
    """Delete files under the table's location that no metadata references and that are older than an instant. The text
    lists them first; the deletion is commented out.
    """

    def for_spark() -> str:
        older = f"TIMESTAMP '{timestamp_text(older_than_ms * MICROS_PER_MS)}+00:00'"
        listing = _call(table, "remove_orphan_files", older_than=older, dry_run="true")
        removal = _call(table, "remove_orphan_files", older_than=older)
        return listed_first("--", listing, removal)

    no_trino = nothing("Trino deletes orphan files without listing them first, by an age relative to the present.")
    return result(for_spark, no_trino, nothing(_NO_PYICEBERG))


def set_properties(table: StatementTable, properties: Mapping[str, str]) -> StatementResult:
    """Set table properties."""

    def for_spark() -> str:
        pairs = ", ".join(f"{spark.string(k)} = {spark.string(v)}" for k, v in _given(properties).items())
        return f"ALTER TABLE {spark.name(table.path)} SET TBLPROPERTIES ({pairs});"

    def for_python() -> str:
        pairs = ", ".join(f"{python.string(k)}: {python.string(v)}" for k, v in _given(properties).items())
        return (
            f"{python.loading(table)}with table.transaction() as transaction:\n"
            f"    transaction.set_properties({{{pairs}}})\n"
        )

    no_trino = nothing("Trino sets other properties only if its catalog allows them (`allowed-extra-properties`).")
    return result(for_spark, no_trino, for_python)


def write_ordered_by(table: StatementTable, columns: Sequence[tuple[str, ...]]) -> StatementResult:
    """Sort new files by these columns, ascending. Existing files are not rewritten. Spark's text has no semicolon: its
    parser refuses one after this statement.
    """

    def for_spark() -> str:
        order = ", ".join(spark.column(path) for path in columns)
        return f"ALTER TABLE {spark.name(table.path)} WRITE ORDERED BY {order}"

    def for_trino() -> str:
        if any(len(path) > 1 for path in columns):
            raise NoStatement("Trino sorts by top-level columns only.")
        order = ", ".join(trino.string(trino.identifier(path[0])) for path in columns)
        return f"ALTER TABLE {trino.table_name(table)} SET PROPERTIES sorted_by = ARRAY[{order}];"

    return result(for_spark, for_trino, nothing(_NO_PYICEBERG))


def _where(table: StatementTable, choice: PartitionChoice | None) -> Write | None:
    """Writes Spark's condition; None: the whole table."""
    return None if choice is None else cache(lambda: spark.condition(select(choice), table.catalog))


def _least_bytes(options: Mapping[str, str]) -> int | None:
    """Size below which Spark rewrites a file; None: by default."""
    if "min-file-size-bytes" in options:
        return int(options["min-file-size-bytes"])
    target = options.get("target-file-size-bytes")
    return int(target) * 3 // 4 if target else None


def _call(
    table: StatementTable,
    procedure: str,
    *,
    where: str | None = None,
    options: Mapping[str, str] | None = None,
    **arguments: str | None,
) -> str:
    """A CALL of one of the catalog's procedures. The table's name includes the catalog: a namespace may have the name
    of a catalog.
    """
    given = {"table": spark.string(spark.name(table.path)), **arguments}
    if where is not None:
        given["where"] = spark.string(where)
    if options:
        pairs = (f"{spark.string(key)}, {spark.string(value)}" for key, value in options.items())
        given["options"] = f"map({', '.join(pairs)})"
    lines = ",\n".join(f"  {key} => {value}" for key, value in given.items() if value is not None)
    return f"CALL {spark.name(table.path[:1])}.system.{procedure}(\n{lines}\n);"


def _for_each(statement: str, choice: PartitionChoice | None) -> str:
    """The statement for Trino, once per alternative."""
    if choice is None:
        return f"{statement};"
    if not _one_spec(choice):
        raise NoStatement("Trino accepts only conditions that every partition spec of the live files decides.")
    return "\n".join(f"{statement}\nWHERE {trino.condition(each)};" for each in select(choice))


def _one_spec(choice: PartitionChoice) -> bool:
    scopes: list[PartitionScope] = [*choice.chosen, *choice.others]
    return all(scope.fields == scopes[0].fields for scope in scopes)


def _some(ids: Sequence[int]) -> Sequence[int]:
    if not ids:
        raise NoStatement("The plan names no snapshot.")
    return ids


def _given(properties: Mapping[str, str]) -> Mapping[str, str]:
    if not properties:
        raise NoStatement("The plan names no property.")
    return properties
