"""The rows that a commit wrote, as a predicate for users' statements, built from the commit's partitions and their
specs.
"""

from __future__ import annotations

from limnograph.analysis.advice.statements.touched_rows import Predicate, PredicateColumn, Touched, predicate
from limnograph.analysis.schema.field_trees import Tree, tree_of
from limnograph.domain.answers.commits import TouchedRows
from limnograph.domain.answers.tables import PartitionField
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.services.lake.history import History
from limnograph.services.table.schema import versions as schemas

ICEBERG = "iceberg"
_OTHER_FORMAT = Predicate(None, "Iceberg statements do not run on tables of other formats.")
_IN_PART = Predicate(None, "Some partitions that the commit touched are unknown.")


def touched_rows(history: History, row: SnapshotFact) -> TouchedRows:
    """Rows of the partitions that the commit added files to; if it only removed files, of those it removed from."""
    found = touched_predicate(history, row)
    return TouchedRows(spark_sql=found.sql, note=found.note)


def touched_predicate(history: History, row: SnapshotFact) -> Predicate:
    """The same for each engine."""
    if row.format not in {None, ICEBERG}:
        return _OTHER_FORMAT
    changed = [p for p in row.partitions or () if p.added_data_files or p.removed_data_files]
    if row.changed_partitions is not None and changed and len(changed) < row.changed_partitions:
        return _IN_PART
    written = [p for p in changed if p.added_data_files] or changed
    touched = [Touched(p.spec_id, p.partition) for p in written]
    return predicate(touched, specs_of(history), columns_of(history), row.catalog)


def specs_of(history: History) -> dict[int, list[PartitionField]]:
    """All known partition specs of the table, by id."""
    return {
        int(change.to_value): schemas.partition_fields(change.detail)
        for change in history.of_kind("spec")
        if change.detail and change.to_value and change.to_value.isdecimal()
    }


def columns_of(history: History) -> dict[int, PredicateColumn]:
    """Columns of the current schema by field id; columns inside lists and maps cannot be partition sources."""
    schema = history.latest("schema")
    tree = tree_of(schema.detail) if schema else None
    return {field.id: PredicateColumn(_path(tree, field.id), field.type) for field in tree.values()} if tree else {}


def _path(tree: Tree, field_id: int | None) -> tuple[str, ...]:
    field = tree.get(field_id) if field_id is not None else None
    return () if field is None else (*_path(tree, field.parent), field.name)
