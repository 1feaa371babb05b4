"""The page of a table's schema history: versions of schema, partition spec and sort order, each compared with the
previous one, and every field in all versions of the schema.
"""

from __future__ import annotations

from typing import NamedTuple

from limnograph.analysis.schema import diff as schema_diff
from limnograph.analysis.schema.field_trees import Tree, TreeField, tree_of
from limnograph.domain.answers.schemas import (
    FieldHistory,
    FieldSpan,
    MatrixVersion,
    SchemaPage,
    SpecField,
    StructureVersion,
)
from limnograph.domain.answers.structure import Note
from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import to_millis
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import QueryEngine
from limnograph.services.lake.history import History
from limnograph.services.lake.spec_fields import spec_fields
from limnograph.services.lake.store import HotStore
from limnograph.services.lake.table_changes import ChangeLog, told
from limnograph.services.table.histories import TableHistories

KINDS = ("schema", "spec", "sort_order")
VERSIONS_SHOWN = 200
MATRIX_VERSIONS = 60
_MAPPING = "delta.columnMapping.mode"
_WORDS = {"schema": "Schema", "spec": "Partition spec", "sort_order": "Sort order"}


class _VersionState(NamedTuple):
    """The state when a version became current: the latest change of each kind."""

    schema: ChangeFact | None = None
    spec: ChangeFact | None = None
    sort_order: ChangeFact | None = None

    def of(self, kind: str) -> ChangeFact | None:
        found: ChangeFact | None = getattr(self, kind)
        return found

    def id(self, kind: str) -> str | None:
        change = self.of(kind)
        return change.to_value if change else None


class SchemaPages:
    """Schema history of one table. Immutable after construction."""

    def __init__(self, store: HotStore, engine: QueryEngine, clock: Clock) -> None:
        self._store, self._engine = store, engine
        self._tables = TableHistories(store, clock)

    async def page(self, name: TableName) -> tuple[SchemaPage, bool]:
        """The page, and whether the meta tables could not be read. Raises NotFound, or SourceError if the table is
        unknown.
        """
        return await self._store.reads.ask(self._page, name)

    def _page(self, name: TableName) -> tuple[SchemaPage, bool]:
        history = self._tables.now(name)
        found = told(self._engine, history, (*KINDS, "property"))
        versions, standing = versions_of(found.changes)
        columns, fields = matrix(found.changes)
        notes = [*found.notes, *_notes(history, found, len(versions))]
        page = SchemaPage(
            **self._tables.head(name, history, notes),
            schema_id=standing.id("schema"),
            spec_id=standing.id("spec"),
            sort_order_id=standing.id("sort_order"),
            versions=versions[::-1][:VERSIONS_SHOWN],
            matrix_versions=columns,
            matrix=fields,
        )
        return page, found.failed


def versions_of(changes: list[ChangeFact]) -> tuple[list[StructureVersion], _VersionState]:
    """Versions, oldest first, and the state after each. At equal instants the schema is first: specs name columns."""
    standing, found = _VersionState(), []
    mine = [change for change in changes if change.kind in KINDS and change.to_value is not None]
    for change in sorted(mine, key=lambda change: (change.at, KINDS.index(change.kind))):
        before = standing.of(change.kind)
        standing = standing._replace(**{change.kind: change})
        found.append(_version(change, before, standing))
    return found, standing


def _version(change: ChangeFact, before: ChangeFact | None, standing: _VersionState) -> StructureVersion:
    tree = tree_of(standing.schema.detail) if standing.schema else None
    old = tree_of(before.detail) if before and change.kind == "schema" else None
    known = old is not None and tree is not None and change.kind == "schema"
    changes = schema_diff.compare(old, tree) if old is not None and tree is not None else []
    fields = [] if change.kind == "schema" else spec_fields(change, tree)
    first = before is None and change.from_value is None
    return StructureVersion(
        kind=change.kind,  # type: ignore[arg-type]  # of KINDS
        id=change.to_value or "",
        previous_id=before.to_value if before else change.from_value,
        t=to_millis(change.at),
        not_before=to_millis(change.not_before),
        first=first,
        risk=schema_diff.worst(changes),
        sentence=_sentence(change, first=first, changes=len(changes), known=known, fields=fields, tree=tree),
        changes=changes,
        fields=fields,
        schema_id=standing.id("schema"),
        spec_id=standing.id("spec"),
        sort_order_id=standing.id("sort_order"),
    )


def _sentence(
    change: ChangeFact, *, first: bool, changes: int, known: bool, fields: list[SpecField], tree: Tree | None
) -> str:
    if change.kind == "spec":
        listed = ", ".join(_spelled(field) for field in fields)
        return f"Partitioned by {listed}" if listed else "Not partitioned"
    if change.kind == "sort_order":
        listed = ", ".join(f"{_spelled(field)} {field.order}" for field in fields)
        return f"Sorted by {listed}" if listed else "Not sorted"
    if first:
        return f"First seen, {len(tree):,} fields" if tree is not None else "First seen; its fields are unknown"
    if not known:
        return "Changes are unknown: one of the two schemas is not retained"
    return f"{changes:,} {'change' if changes == 1 else 'changes'}" if changes else "The same fields under a new id"


def _spelled(field: SpecField) -> str:
    column = field.column or (field.name if field.source_id is None else f"field {field.source_id}")
    return column if field.transform == "identity" else f"{field.transform}({column})"


def matrix(changes: list[ChangeFact]) -> tuple[list[MatrixVersion], list[FieldHistory]]:
    """Columns, oldest first, and a row for every field id in any of them: those of the newest schema in its order, then
    removed ones.
    """
    known = [(change, tree) for change in changes if change.kind == "schema" and (tree := tree_of(change.detail))]
    known = known[-MATRIX_VERSIONS:]
    columns = [MatrixVersion(schema_id=c.to_value or "", t=to_millis(c.at)) for c, _ in known]
    trees = [tree for _, tree in known]
    ids = list(dict.fromkeys(field_id for tree in reversed(trees) for field_id in tree))
    return columns, [_history(field_id, trees) for field_id in ids]


def _history(field_id: int, trees: list[Tree]) -> FieldHistory:
    spans: list[FieldSpan] = []
    name = ""
    for place, tree in enumerate(trees):
        field = tree.get(field_id)
        if field is None:
            continue
        name = field.path
        last = spans[-1] if spans else None
        if last and last.first + last.versions == place and _same(last, field):
            spans[-1] = _span(last.first, last.versions + 1, field)
        else:
            spans.append(_span(place, 1, field))
    return FieldHistory(field_id=field_id, name=name, spans=spans)


def _span(first: int, versions: int, field: TreeField) -> FieldSpan:
    return FieldSpan(
        first=first, versions=versions, name=field.path, type=field.type, required=field.required, doc=field.doc
    )


def _same(span: FieldSpan, field: TreeField) -> bool:
    return (span.name, span.type, span.required, span.doc) == (field.path, field.type, field.required, field.doc)


def _notes(history: History, found: ChangeLog, versions: int) -> list[Note]:
    notes = []
    kind = history.head.format if history.head else None
    mapped = any(c.subject == _MAPPING and c.to_value in {"id", "name"} for c in found.changes)
    if kind == "hudi" or (kind == "delta" and not mapped):
        said = "The table has no column ids: columns are identified by name, so a renamed column is shown as "
        notes.append(Note(code="names_are_identity", sentence=said + "dropped and added."))
    if kind in {"delta", "hudi"}:
        notes.append(Note(code="no_sort_orders", sentence=f"{kind.capitalize()} tables have no sort orders."))
    if versions > VERSIONS_SHOWN:
        said = f"The latest {VERSIONS_SHOWN} of {versions:,} versions are shown."
        notes.append(Note(code="versions_left_out", sentence=said))
    return notes
