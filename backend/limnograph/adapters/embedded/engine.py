"""QueryEngine without a query server: PyIceberg plans the files of a pinned snapshot, polars reads them.

Missing and extra columns are tolerated. If a planned file is gone (compaction, expiry), it plans once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import polars as pl

from limnograph.adapters.embedded import frames
from limnograph.adapters.embedded.plan import planned
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.time import Millis, to_micros
from limnograph.ports.query_engine import MetaHead, MetaQuery, Table

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import FileScanTask
    from pyiceberg.table import Table as IcebergTable


class EmbeddedEngine:
    """Reads the meta tables of one namespace. `open_catalog` is called at the first read.

    Thread-safe: concurrent first reads may each open the catalog; one is kept. No lock is held meanwhile.
    """

    name = "embedded"

    def __init__(self, open_catalog: Callable[[], Catalog], namespace: tuple[str, ...]) -> None:
        self._open = open_catalog
        self._namespace = namespace
        self._catalog: Catalog | None = None

    def head(self) -> MetaHead:
        """Current snapshots, and the pass of the latest append to `snapshots`, from its summary."""
        snapshots, changes = self._load("snapshots"), self._load("changes")
        newest = snapshots.current_snapshot() if snapshots else None
        properties = newest.summary.additional_properties if newest and newest.summary else {}
        return MetaHead(
            snapshots=newest.snapshot_id if newest else None,
            changes=_head_id(changes),
            written_at=to_micros(Millis(newest.timestamp_ms)) if newest else None,
            run_id=properties.get("limnograph-run-id"),
        )

    def pin(self, table: Table) -> int | None:
        """Current snapshot of a table; None if the table is missing or empty. Raises SourceError."""
        return _head_id(self._load(table))

    def properties(self, table: Table) -> Mapping[str, str]:
        """Table properties, as the port specifies."""
        found = self._load(table)
        return dict(found.properties) if found else {}

    def select(self, query: MetaQuery) -> pl.DataFrame:
        """Rows, as the port specifies; planned again once if a planned file is gone."""
        return self._twice(query, in_order=True)

    def _twice(self, query: MetaQuery, *, in_order: bool) -> pl.DataFrame:
        try:
            return self._read(query, in_order=in_order)
        except FileNotFoundError:
            try:
                return self._read(query, in_order=in_order)
            except FileNotFoundError as error:
                raise SourceUnavailable("meta", f"a planned file vanished twice: {error}") from error

    def _read(self, query: MetaQuery, *, in_order: bool) -> pl.DataFrame:
        table = self._load(query.table)
        if table is None:
            return frames.empty(query)
        try:
            tasks = planned(table, query, table.current_snapshot())
            if not tasks:
                return frames.empty(query)
            local = [local_path(task.file.file_path) for task in tasks]
            if any(path is None for path in local) or any(task.delete_files for task in tasks):
                return frames.answer(through_pyiceberg(table, tasks, query), query, in_order=in_order)
            return frames.answer(files([path for path in local if path], query), query, in_order=in_order)
        except FileNotFoundError:
            raise
        except (OSError, ValueError, pl.exceptions.PolarsError) as error:
            raise SourceUnavailable("meta", f"cannot read {query.table}: {error}") from error

    def _load(self, table: Table) -> IcebergTable | None:
        from pyiceberg.exceptions import NoSuchTableError

        try:
            catalog = self._catalog
            if catalog is None:
                catalog = self._catalog = self._open()
            return catalog.load_table((*self._namespace, table))
        except NoSuchTableError:
            return None
        except FileNotFoundError as error:
            raise SourceUnavailable("meta", f"metadata of {table} is missing: {error}") from error
        except Exception as error:
            raise SourceUnavailable("meta", f"cannot open {table}: {error}") from error


def _head_id(table: IcebergTable | None) -> int | None:
    newest = table.current_snapshot() if table else None
    return newest.snapshot_id if newest else None


def local_path(location: str) -> str | None:
    """Path of a `file:` location or a bare path; None for any other store."""
    if location.startswith("/"):
        return location
    parts = urlsplit(location)
    return (unquote(parts.path) if "%" in parts.path else parts.path) if parts.scheme == "file" else None


def files(paths: list[str], query: MetaQuery) -> pl.LazyFrame:
    """Rows of local data files with the columns that the query needs."""
    return pl.concat([_shaped(pl.scan_parquet(path), query) for path in paths], how="vertical")


def through_pyiceberg(table: IcebergTable, tasks: Iterable[FileScanTask], query: MetaQuery) -> pl.LazyFrame:
    """For object stores and tables with delete files: PyIceberg's own reader of the same tasks."""
    from pyiceberg.expressions import AlwaysTrue
    from pyiceberg.io.pyarrow import ArrowScan

    reader = ArrowScan(table.metadata, table.io, table.schema(), AlwaysTrue(), case_sensitive=True)
    found: Any = pl.from_arrow(reader.to_table(tasks))
    return _shaped(found.lazy(), query)


def _shaped(rows: pl.LazyFrame, query: MetaQuery) -> pl.LazyFrame:
    """The meta table's columns and types: missing columns are null, extra ones dropped, instants are microseconds."""
    present = rows.collect_schema()
    shaped = []
    for column in frames.needed(query):
        kind = frames.data_type(column.type)
        if column.name not in present:
            shaped.append(pl.lit(None, dtype=kind).alias(column.name))
        else:
            shaped.append(_cast(pl.col(column.name), present[column.name], kind).alias(column.name))
    return rows.select(shaped)


def _cast(value: pl.Expr, found: Any, wanted: Any) -> pl.Expr:
    if isinstance(found, pl.Datetime):
        return value.dt.timestamp("us")
    if isinstance(wanted, pl.List) and isinstance(wanted.inner, pl.Struct) and isinstance(found, pl.List):
        return value.list.eval(_struct(found.inner, wanted.inner)) if isinstance(found.inner, pl.Struct) else value
    return value.cast(wanted)


def _struct(found: pl.Struct, wanted: pl.Struct) -> pl.Expr:
    have = {field.name: field.dtype for field in found.fields}
    parts = []
    for field in wanted.fields:
        kind: Any = field.dtype
        if field.name in have:
            parts.append(_cast(pl.element().struct.field(field.name), have[field.name], kind).alias(field.name))
        else:
            parts.append(pl.lit(None, dtype=kind).alias(field.name))
    return pl.when(pl.element().is_not_null()).then(pl.struct(parts))
