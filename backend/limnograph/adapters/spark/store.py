"""Port MetaStore: reads through PyIceberg (no job for a few rows), appends through Spark by compare-and-set, repairs
through an update-only MERGE. An insert-only MERGE is never used: Spark plans it as an append without a conflict check.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from py4j.protocol import Py4JError
from pyiceberg import expressions
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.expressions import BooleanExpression
from pyiceberg.table import Table
from pyspark.errors import PySparkException
from pyspark.sql import DataFrameWriterV2, SparkSession
from pyspark.sql.functions import lit

from limnograph.adapters.meta.loss import load_meta_table
from limnograph.adapters.meta.replacing import REPLACES_ROWS
from limnograph.adapters.meta.tables import ensure_meta_tables
from limnograph.adapters.spark.changes_reads import ChangesReads, change_facts, only_added
from limnograph.adapters.spark.failures import first_line, guarded, is_full, placed
from limnograph.domain.errors import Conflict, LimnographError, SourceUnavailable
from limnograph.domain.facts.meta_tables import CHANGES, SNAPSHOTS, ChangeFact, MetaTable
from limnograph.ports.meta_store import STATUS_RANK, TIER_RANK, Candidates, Key, Known, KnownRow, keys_of

_X: Any = expressions  # its constructors are typed for bound terms; these are names
KNOWN_COLUMNS = ("table_uuid", "snapshot_id", "partitions_scope", "committed_at", "sequence_number", "status", "tier")
"""Fields of KnownRow, after the key."""
RUN_ID_PROPERTY = "limnograph-run-id"
_LOST = ("ValidationException", "CommitFailedException", "Cannot commit")


class SparkMetaStore:
    """Meta tables in `<catalog>.<namespace>`; `open_catalog` returns a PyIceberg catalog of the same name."""

    def __init__(self, session: SparkSession, open_catalog: Callable[[], Catalog], namespace: str) -> None:
        self._session, self._open, self._namespace = session, open_catalog, namespace
        self._catalog: Catalog | None = None
        self._changes = ChangesReads(lambda: self._load(CHANGES))
        self._exists = False

    def ensure(self) -> list[str]:
        if self._exists:
            return []
        created = guarded(lambda: ensure_meta_tables(self._pyiceberg(), self._namespace))
        self._exists = True
        return created

    def head(self, table: MetaTable) -> int | None:
        def read() -> int | None:
            try:
                main = self._load(table).metadata.refs.get("main")
            except NoSuchTableError:
                if not self._exists:
                    return None
                # It existed a moment ago: either all tables are gone, which is a fresh start, or this is an error.
                self._exists = False
                self.ensure()
                return None
            return main.snapshot_id if main else None

        return guarded(read)

    def known(self, head: int | None, candidates: Sequence[Candidates]) -> Known:
        return self._known(head, _filter(candidates))

    def damaged(self, head: int | None) -> Known:
        return self._known(head, _X.In("status", {"partial", "unreadable"}))

    def _known(self, head: int | None, where: BooleanExpression) -> Known:
        rows = guarded(lambda: self._scan(SNAPSHOTS, head, KNOWN_COLUMNS, where))
        return {} if rows is None else known_rows(rows)

    def changes(self, head: int | None) -> list[ChangeFact]:
        columns = tuple(column.name for column in CHANGES.columns)
        rows = guarded(lambda: self._scan(CHANGES, head, columns, expressions.AlwaysTrue()))
        return [] if rows is None else change_facts(rows)

    def names(self, head: int | None) -> list[ChangeFact]:
        return guarded(lambda: self._changes.names(head))

    def states(self, head: int | None, series: Collection[str]) -> list[ChangeFact]:
        return guarded(lambda: self._changes.states(head, series))

    def only_added(self, old: int | None, new: int | None, table: MetaTable) -> bool:
        return guarded(lambda: only_added(self._load(table), old, new))

    def held(self, table: MetaTable, head: int | None, keys: Collection[Key]) -> set[Key]:
        if not keys:
            return set()
        rows = guarded(lambda: self._scan(table, head, table.key, _any_of(table, keys)))
        return set() if rows is None else set(keys).intersection(keys_of(table, rows))

    def append(self, table: MetaTable, rows: pa.Table, head: int | None, run_id: str) -> None:
        try:
            self._writer(table, rows, head, run_id).overwrite(lit(False))
        except (Py4JError, PySparkException) as error:
            raise self._lost(table, error) from error

    def replace(self, rows: pa.Table) -> None:
        view = f"limnograph_repair_{uuid.uuid4().hex}"
        # Listed explicitly: a newer version may have added columns that this version does not know.
        columns = ", ".join(f"t.`{name}` = s.`{name}`" for name in rows.column_names)
        mark = f"spark.sql.iceberg.snapshot-property.{REPLACES_ROWS}"
        try:
            self._session.createDataFrame(rows).createOrReplaceTempView(view)
            self._session.conf.set(mark, "true")
            self._session.sql(
                f"merge into {self._name(SNAPSHOTS)} t using {view} s on {_same_key(rows)} "
                f"when matched and {_rank('s')} >= {_rank('t')} then update set {columns}"
            )
        except (Py4JError, PySparkException) as error:
            raise self._lost(SNAPSHOTS, error) from error
        finally:
            self._session.conf.unset(mark)
            self._session.catalog.dropTempView(view)

    def _writer(self, table: MetaTable, rows: pa.Table, head: int | None, run_id: str) -> DataFrameWriterV2:
        frame = self._session.createDataFrame(rows).coalesce(1)
        # One open writer at a time: rows of a partition are adjacent, and files are sorted in the table's order.
        part = "date_trunc('{1}', {0})".format(*table.partition) if table.partition else "0"
        frame = frame.selectExpr("*", f"{part} as _part").sortWithinPartitions("_part", *table.sort).drop("_part")
        writer = frame.writeTo(self._name(table)).option("isolation-level", "serializable")
        if head is not None:
            writer = writer.option("validate-from-snapshot-id", str(head))
        writer = writer.option(f"snapshot-property.{RUN_ID_PROPERTY}", run_id)
        return writer.option("fanout-enabled", "false").option("distribution-mode", "none")

    def _name(self, table: MetaTable) -> str:
        return f"`{self._pyiceberg().name}`.`{self._namespace}`.`{table.name}`"

    def _lost(self, table: MetaTable, error: Exception) -> LimnographError:
        """Whether another commit intervened, or the outcome is unknown."""
        text = str(error)
        if any(sign in text for sign in _LOST) and not is_full(text):
            return Conflict(f"{table.name}: {first_line(text)}")
        return SourceUnavailable("meta store", placed(text, lambda: self._load(table).location()))

    def _pyiceberg(self) -> Catalog:
        if self._catalog is None:
            self._catalog = self._open()
        return self._catalog

    def _load(self, table: MetaTable) -> Table:
        return load_meta_table(self._pyiceberg(), self._namespace, table.name)

    def _scan(
        self, table: MetaTable, head: int | None, columns: tuple[str, ...], rows: BooleanExpression
    ) -> pa.Table | None:
        if head is None:
            return None
        return self._load(table).scan(row_filter=rows, selected_fields=columns, snapshot_id=head).to_arrow()


def _same_key(rows: pa.Table) -> str:
    """The key, and constants that let Iceberg skip files of other days. Values are never quoted into it."""
    times = pc.min_max(rows.column("committed_at").cast(pa.int64())) if rows.num_rows else None
    key = "t.table_uuid = s.table_uuid and t.snapshot_id = s.snapshot_id"
    if times is None or rows.column("committed_at").null_count:
        return key
    low, high = times["min"].as_py(), times["max"].as_py()
    return f"{key} and t.committed_at between timestamp_micros({low}L) and timestamp_micros({high}L)"


def _rank(row: str) -> str:
    """`KnownRow.rank` as SQL: one number that increases with status, then tier."""
    return f"({_case(row, 'status', STATUS_RANK)} * {len(TIER_RANK) + 1} + {_case(row, 'tier', TIER_RANK)})"


def _case(row: str, column: str, order: tuple[str, ...]) -> str:
    cases = " ".join(f"when '{value}' then {place}" for place, value in enumerate(order))
    return f"(case {row}.{column} {cases} else -1 end)"


def known_rows(rows: pa.Table) -> Known:
    """Rows with KNOWN_COLUMNS by series and id."""
    found: Known = {}
    plain = rows.set_column(rows.column_names.index("committed_at"), "committed_at", _micros(rows))
    columns = [plain.column(name).to_pylist() for name in KNOWN_COLUMNS]
    for series, snapshot_id, scope, *rest in zip(*columns, strict=True):
        found.setdefault(series, {})[snapshot_id] = KnownRow(scope is not None, *rest)
    return found


def _micros(rows: pa.Table) -> pa.ChunkedArray:
    return rows.column("committed_at").cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())


def _filter(candidates: Sequence[Candidates]) -> BooleanExpression:
    """Tables and days of the candidates. Times only limit the files to read; the caller compares ids."""
    mine: BooleanExpression = _X.In("table_uuid", {c.table_uuid for c in candidates})
    lows, highs = [c.earliest for c in candidates], [c.latest for c in candidates]
    if None in lows or None in highs:
        return mine
    low = min(value for value in lows if value is not None)
    high = max(value for value in highs if value is not None)
    return expressions.And(
        mine, _X.GreaterThanOrEqual("committed_at", _iso(low)), _X.LessThanOrEqual("committed_at", _iso(high))
    )


def _any_of(table: MetaTable, keys: Collection[Key]) -> BooleanExpression:
    """Rows that may have one of the keys: by first value, and by time if the key allows pruning files."""
    mine: BooleanExpression = _X.In(table.key[0], {key[0] for key in keys})
    column = table.partition[0] if table.partition else None
    if column is None or column not in table.key:
        return mine
    times = [key[table.key.index(column)] for key in keys]
    return expressions.And(
        mine, _X.GreaterThanOrEqual(column, _iso(min(times))), _X.LessThanOrEqual(column, _iso(max(times)))
    )


def _iso(micros: int) -> str:
    return str(pa.scalar(micros, pa.timestamp("us", tz="UTC")).as_py().isoformat())
