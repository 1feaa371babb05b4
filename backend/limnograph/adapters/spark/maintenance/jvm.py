"""Iceberg's Java API in the driver of a Spark session: tables, their states and their files, and own Java helpers.

What is read here never refreshes a table. `BaseTable.currentSnapshot()`, by which every action plans, is that of
`TableOperations.current()`, which loads metadata only before the first use and after a commit of the same object
(Iceberg 1.11: BaseMetastoreTableOperations, RESTTableOperations). So a Java Table stays at the state that was opened
until its own first commit.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from limnograph.domain.errors import InvalidInput, NotFound, SourceRejected
from limnograph.domain.ids import TableName, unescape_level

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

TOOLS = "LakeTools"
LISTED, NAMED = "location string, size bigint, modified_at_ms bigint", "location string, kind int"


class IcebergJvm:
    """Thread-safe: guarded by `_lock`; PySpark gives each Python thread a Java thread of its own."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._inner: Any = session
        self._lock = threading.Lock()
        self._tools: Any = None

    @property
    def java(self) -> Any:
        """Java packages."""
        return self._inner._jvm  # noqa: SLF001 - PySpark's way to the JVM

    @property
    def spark(self) -> Any:
        """The session in the JVM."""
        return self._inner._jsparkSession  # noqa: SLF001 - the same

    @property
    def iceberg(self) -> Any:
        """Package `org.apache.iceberg`."""
        return self.java.org.apache.iceberg

    @property
    def actions(self) -> Any:
        """Iceberg's actions on this session."""
        return self.iceberg.spark.actions.SparkActions.get(self.spark)

    @property
    def tools(self) -> Any:
        """An instance of our own Java class."""
        with self._lock:
            if self._tools is None:
                from pyspark.java_gateway import ensure_callback_server_started

                start: Any = ensure_callback_server_started
                start(self._inner.sparkContext._gateway)  # noqa: SLF001 - gates are called back
                name = f"{TOOLS}_{uuid4().hex}"  # py4j finds methods by the name of the class, whatever its loader
                source = Path(__file__).with_name(f"{TOOLS}.java").read_text()
                compiler = self.java.org.codehaus.janino.SimpleCompiler()
                compiler.setParentClassLoader(self.java.java.lang.Thread.currentThread().getContextClassLoader())
                compiler.cook(source.replace(f"class {TOOLS}", f"class {name}"))
                self._tools = compiler.getClassLoader().loadClass(f"limnograph.{name}").newInstance()
            return self._tools

    def load(self, name: TableName) -> Any:
        """The Java Table as its catalog has it now. Raises NotFound."""
        table = unescape_level(name.table)
        parts = self._inner.sparkContext._gateway.new_array(self.java.java.lang.String, len(name.levels))  # noqa: SLF001
        for place, level in enumerate(name.levels):
            parts[place] = level
        namespace = self.iceberg.catalog.Namespace.of(parts)
        catalog = self.spark.sessionState().catalogManager().catalog(name.catalog).icebergCatalog()
        wanted = self.iceberg.catalog.TableIdentifier.of(namespace, table)
        # A catalog that has no table `files` takes it for a metadata table of the namespace.
        if getattr(self.iceberg.MetadataTableType, "from")(table) and not catalog.listTables(namespace).contains(
            wanted
        ):
            raise NotFound(f"there is no table {name.plain}")
        return catalog.loadTable(wanted)

    def at(self, metadata: Any, io: Any) -> Any:
        """A read-only table at a state: Java metadata, or the location of a metadata file."""
        operations = self.iceberg.StaticTableOperations(metadata, io)
        return self.iceberg.BaseTable(operations, "state")

    def document(self, metadata: Any) -> dict[str, Any]:
        """Java metadata as the document of its file: one call instead of several per snapshot."""
        found: dict[str, Any] = json.loads(self.iceberg.TableMetadataParser.toJson(metadata))
        return found

    def metadata_table(self, table: Any, kind: str) -> DataFrame:
        """A metadata table, such as `ALL_FILES`, of exactly the state of a Java Table."""
        wanted = getattr(self.iceberg.MetadataTableType, kind)
        return self.frame(self.iceberg.spark.SparkTableUtil.loadMetadataTable(self.spark, table, wanted))

    def snapshot(self, table: Any, snapshot_id: int) -> DataFrame:
        """The rows of a snapshot, with its deletes applied. No name of a table is written into a statement."""
        return self.frame(self.iceberg.spark.SparkTableUtil.loadTable(self.spark, table, snapshot_id))

    def frame(self, dataset: Any) -> DataFrame:
        """A Java Dataset as a DataFrame."""
        from pyspark.sql import DataFrame

        made: DataFrame = DataFrame(dataset, self._inner)
        return made

    def expression(self, table: Any, where: str) -> Any:
        """Iceberg's expression for a condition of Spark SQL, as procedures convert it, but over the schema of the
        opened state instead of the table's present one. Raises InvalidInput.
        """
        from pyspark.errors import PySparkException

        view = f"limnograph_{uuid4().hex}"
        schema = self.iceberg.spark.SparkSchemaUtil.convert(table.schema())
        self.spark.createDataFrame(self.java.java.util.ArrayList(), schema).createTempView(view)
        converter = self.java.org.apache.spark.sql.execution.datasources.SparkExpressionConverter
        try:
            resolved = converter.collectResolvedSparkExpression(self.spark, view, where)
            return converter.convertToIcebergExpression(resolved)
        except PySparkException as error:
            raise InvalidInput("where", f"Spark cannot resolve it: {error}"[:300]) from error
        finally:
            self.session.catalog.dropTempView(view)

    def map_of(self, values: Mapping[str, str]) -> Any:
        """A Java map."""
        made = self.java.java.util.HashMap()
        for key, value in values.items():
            made.put(key, value)
        return made

    def delete(self, io: Any, locations: Sequence[str]) -> list[str]:
        """Delete files; returns those that are still there. Absent files are no failure."""
        left = self.tools.deleted(io, "\0".join(locations)) if locations else ""
        return left.split("\0") if left else []

    def listing(self, io: Any, prefix: str) -> DataFrame:
        """Files below a location. Raises SourceRejected: the catalog's file access cannot list."""
        rows = self.tools.listed(io, prefix)
        if rows is None:
            raise SourceRejected("storage", f"{io.getClass().getSimpleName()} cannot list files; set another io-impl")
        return self._rows(rows, LISTED)

    def walk(self, folder: Path, root: str) -> DataFrame:
        """Files below a local folder, without symbolic links. `root`: how locations spell the folder."""
        return self._rows(self.tools.walked(str(folder), root), LISTED)

    def named(self, locations: Iterable[str], kind: int) -> DataFrame:
        """Columns `location` and `kind`."""
        return self._rows(self.tools.named("\0".join(locations), kind), NAMED)

    def _rows(self, rows: Any, schema: str) -> DataFrame:
        struct = self.java.org.apache.spark.sql.types.StructType.fromDDL(schema)
        return self.frame(self.spark.createDataFrame(rows, struct))
