"""FR3 and pitfall 6: three kinds of deletes, five engines, equal answers or a refusal in the engine's own words."""

from __future__ import annotations

from functools import partial
from typing import Any

from lakehouse.check.observer import awaited
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.world import ScenarioWorld
from lakehouse.engines import EngineAnswer, ask_all
from lakehouse.parts.lake import MERGE_ON_READ, Lake, TableLayout

COLUMNS = "id int, country string, amount double"
POSITION = TableLayout("lake.lab.position_deletes", COLUMNS, "", MERGE_ON_READ)
EQUALITY = TableLayout("lake.lab.equality_deletes", COLUMNS, "", MERGE_ON_READ)
VECTORS = TableLayout("lake.lab.deletion_vectors", COLUMNS, "", {**MERGE_ON_READ, "format-version": "3"})
REFUSALS = {
    ("trino", VECTORS.name): "PUFFIN",
    ("pyiceberg", EQUALITY.name): "equality deletes",
    ("polars", EQUALITY.name): "equality deletes",
}
"""Who refuses what, by a word of the engine's own sentence."""


class EngineMatrix:
    """Engines by features."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """No engine gives another number than Spark."""
        lake = self._world.lake
        for layout in (POSITION, EQUALITY, VECTORS):
            lake.create(layout)
            _fill(lake, layout.name)
        for first in (500, 510):
            delete_by_equality(lake, EQUALITY.name, range(first, first + 10))
        answers = {layout.name: ask_all(lake, layout.name) for layout in (POSITION, EQUALITY, VECTORS)}
        log.figures["matrix"] = {
            table: {engine: _shown(answer) for engine, answer in row.items()} for table, row in answers.items()
        }
        for table, row in answers.items():
            for engine, answer in row.items():
                self._compare(log, table, engine, answer, row["spark"])

    def _compare(self, log: ScenarioLog, table: str, engine: str, answer: EngineAnswer, spark: EngineAnswer) -> None:
        refusal = REFUSALS.get((engine, table))
        if refusal is None:
            log.equal(f"{engine} reads {table} as Spark does", answer, spark)
        else:
            log.claim(f"{engine} refuses {table}: {refusal}", refusal in answer.sentence, answer)

    def observe(self, log: ScenarioLog) -> None:
        """Equality deletes are a finding; the page Reads has who read each table, by engine and version."""
        observer = self._world.observer
        log.claim("Limnograph reports equality_deletes", observer.finding("equality_deletes", EQUALITY.name))
        for layout in (POSITION, VECTORS):
            readers = awaited(partial(self._trinos, layout.name))
            log.claim(f"the page Reads has Trino's query of {layout.name}", readers)
            log.equal("with its version", {reader["engine_version"] for reader in readers}, {"476"})

    def _trinos(self, table: str) -> list[Any]:
        readers = self._world.observer.table(table, "/reads").get("readers", ())
        return [each for each in readers if each["engine"] == "trino" and each["queries"]]


def _shown(answer: EngineAnswer) -> Any:
    return answer.sentence if answer.numbers is None else [str(number) for number in answer.numbers]


def _fill(lake: Lake, table: str) -> None:
    """A thousand rows, of which a hundred are deleted and others updated, each merge-on-read."""
    lake.sql(
        f"insert into {table} select cast(id as int), element_at(array('VN', 'DE', 'FR'), cast(id % 3 + 1 as int)),"
        " id * 1.5 from range(0, 1000, 1, 1)"
    )
    lake.sql(f"delete from {table} where id % 10 = 0")
    lake.sql(f"update {table} set amount = amount + 1 where id % 7 = 3")


def delete_by_equality(lake: Lake, table: str, ids: range) -> None:
    """What Flink's upsert leaves: one equality delete file on `id`, by Iceberg's generic writer in Spark's own JVM."""
    spark: Any = lake.spark
    jvm, gateway = spark._jvm, spark.sparkContext._gateway  # noqa: SLF001 - PySpark's only way to Iceberg's Java API
    iceberg = jvm.org.apache.iceberg
    loaded = iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, table)  # noqa: SLF001 - the same
    names = gateway.new_array(jvm.java.lang.String, 1)
    fields = gateway.new_array(jvm.int, 1)
    names[0], fields[0] = "id", loaded.schema().findField("id").fieldId()
    keys = loaded.schema().select(names)
    parquet = iceberg.FileFormat.PARQUET
    factory = iceberg.data.GenericAppenderFactory(loaded.schema(), loaded.spec(), fields, keys, None)
    output = iceberg.io.OutputFileFactory.builderFor(loaded, 1, 1).format(parquet).build().newOutputFile()
    writer = factory.newEqDeleteWriter(output, parquet, None)
    for number in ids:
        record = iceberg.data.GenericRecord.create(keys)
        record.setField("id", number)
        writer.write(record)
    writer.close()
    loaded.newRowDelta().addDeletes(writer.toDeleteFile()).commit()
