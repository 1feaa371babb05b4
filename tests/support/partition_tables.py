"""Iceberg tables that consist of metadata alone: partitions of any type and transform, each with one file that does not
exist. Iceberg's own Java library writes them, so that values are those of the specification. They carry no column
bounds: a scan excludes a file by its partition or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from limnograph.analysis.advice.statements.scopes import PartitionScope, ScopeField

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_files = count()


class PartitionTable:
    """A table by its full name in Spark. `spec_fields`: those of its current spec."""

    def __init__(self, spark: SparkSession, name: str, spec_fields: Sequence[ScopeField]) -> None:
        self.spark, self.name = spark, name
        self.spec_fields = tuple(spec_fields)
        self.scopes: dict[str, PartitionScope] = {}
        """The partition of each file, by its location."""
        self._jvm: Any = spark._jvm  # type: ignore[attr-defined]
        self.java = self._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, name)  # type: ignore[attr-defined]

    def evolve(self, spec_fields: Sequence[ScopeField]) -> None:
        """Replace the spec: fields have the names that `spec_fields` say."""
        update = self.java.updateSpec()
        kept = {field.name for field in spec_fields}
        for field in self.spec_fields:
            if field.name not in kept:
                update.removeField(field.name)
        for field in spec_fields:
            if field not in self.spec_fields:
                update.addField(field.name, self._term(field))
        update.commit()
        self.spec_fields = tuple(spec_fields)

    def add(self, *values: Sequence[object]) -> list[PartitionScope]:
        """A file for each partition of the current spec."""
        spec, append = self.java.spec(), self.java.newAppend()
        fields = {spec.fields().get(at).name(): at for at in range(spec.fields().size())}
        types = spec.partitionType().fields()
        added = []
        for each in values:
            record = self._jvm.org.apache.iceberg.data.GenericRecord.create(spec.partitionType())
            for field, value in zip(self.spec_fields, each, strict=True):
                at = fields[field.name]
                self._set(record, at, types.get(at).type(), value)
            path = f"{self.java.location()}/data/{next(_files)}.parquet"
            builder = self._jvm.org.apache.iceberg.DataFiles.builder(spec).withPath(path).withFormat("PARQUET")
            append.appendFile(builder.withFileSizeInBytes(1024).withRecordCount(1).withPartition(record).build())
            self.scopes[path] = PartitionScope(self.spec_fields, tuple(each))
            added.append(self.scopes[path])
        append.commit()
        return added

    def selected(self, where: str) -> set[PartitionScope]:
        """The partitions whose files Spark's procedures choose by `where`: its parser, Iceberg's planner."""
        converter = self._jvm.org.apache.spark.sql.execution.datasources.SparkExpressionConverter
        session = self.spark._jsparkSession  # type: ignore[attr-defined]
        resolved = converter.collectResolvedSparkExpression(session, self.name, where)
        expression = converter.convertToIcebergExpression(resolved)
        files = self.java.newScan().filter(expression).ignoreResiduals().planFiles().iterator()
        found = set()
        while files.hasNext():
            found.add(self.scopes[files.next().file().location()])
        return found

    def _term(self, field: ScopeField) -> Any:
        expressions = self._jvm.org.apache.iceberg.expressions.Expressions
        name, _, size = field.transform.removesuffix("]").partition("[")
        column = ".".join(field.path)
        if name == "identity":
            return expressions.ref(column)
        return getattr(expressions, name)(column, int(size)) if size else getattr(expressions, name)(column)

    def _set(self, record: Any, at: int, kind: Any, value: Any) -> None:
        name = kind.toString()
        if value is None or isinstance(value, str) or name in {"int", "date", "boolean", "double"}:
            record.set(at, value)
        elif name in _BOXES:
            self._set_boxed(record, at, _BOXES[name], value)
        elif name.startswith("decimal"):
            unscaled = self._jvm.java.math.BigInteger(str(value))
            record.set(at, self._jvm.java.math.BigDecimal(unscaled, kind.scale()))
        else:
            packed = self._jvm.java.nio.ByteBuffer.wrap(value)
            record.set(at, self._jvm.org.apache.iceberg.types.Conversions.fromByteBuffer(kind, packed))

    def _set_boxed(self, record: Any, at: int, box: str, value: float) -> None:
        """Py4J passes a small integer as an Integer and a float as a Double, except into an array of another type."""
        gateway = self.spark.sparkContext._gateway
        values = gateway.new_array(getattr(self._jvm.java.lang, box), 1)
        values[0] = value
        arguments = gateway.new_array(self._jvm.java.lang.Object, 2)
        arguments[0] = at
        self._jvm.java.lang.System.arraycopy(values, 0, arguments, 1, 1)
        methods = [each for each in record.getClass().getMethods() if each.getName() == "set"]
        methods[0].invoke(record, arguments)


_BOXES = {"long": "Long", "timestamp": "Long", "timestamptz": "Long", "float": "Float"}
