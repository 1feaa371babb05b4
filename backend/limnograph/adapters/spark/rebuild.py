"""Port MetaTables: checks and creates tables through PyIceberg, reopens roll-ups through Spark SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from py4j.protocol import Py4JError
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchTableError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from limnograph.adapters.meta.loss import CREATED_IN_ORDER, REBUILDING, lost_now
from limnograph.adapters.meta.tables import create_meta_table
from limnograph.adapters.spark.failures import first_line, guarded
from limnograph.adapters.spark.procedures import SparkNames, reopen
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.meta_tables import MetaTable


class SparkMetaTables:
    """Tables in `<catalog>.<namespace>`; `open_catalog` returns a PyIceberg catalog of the same name."""

    def __init__(self, session: SparkSession, open_catalog: Callable[[], Catalog], namespace: str) -> None:
        self._session, self._open, self._namespace = session, open_catalog, namespace
        self._opened: Catalog | None = None

    def lost(self) -> list[MetaTable]:
        names = guarded(lambda: lost_now(self._catalog, self._namespace))
        return [table for table in CREATED_IN_ORDER if table.name in names]

    def recreate(self, tables: Sequence[MetaTable], properties: Mapping[str, Mapping[str, str]]) -> None:
        for table in (table for table in CREATED_IN_ORDER if table in tables):
            guarded(partial(self._recreate, table, properties.get(table.name, {})))

    def reopen(self, tables: Sequence[MetaTable], since: int) -> None:
        for table in tables:
            self._run(reopen(self._names, table, since))

    def finish(self, tables: Sequence[MetaTable]) -> None:
        for table in tables:
            self._run(f"alter table {self._names.table(table)} unset tblproperties ('{REBUILDING}')")

    @property
    def _catalog(self) -> Catalog:
        if self._opened is None:
            self._opened = self._open()
        return self._opened

    @property
    def _names(self) -> SparkNames:
        return SparkNames(self._catalog.name, self._namespace)

    def _recreate(self, table: MetaTable, properties: Mapping[str, str]) -> None:
        with suppress(NoSuchTableError):
            self._catalog.drop_table((self._namespace, table.name))
        create_meta_table(self._catalog, self._namespace, table, {**properties, REBUILDING: "true"})

    def _run(self, statement: str) -> None:
        try:
            self._session.sql(statement).collect()
        except (Py4JError, PySparkException) as error:
            raise SourceUnavailable("meta store", first_line(str(error))) from error
