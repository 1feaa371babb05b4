"""Generated statements as Spark's own parser reads them: names and values are those of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hostile_names import NAMES, VALUES, is_refused
from limnograph.analysis.advice.statements import delta, iceberg
from limnograph.analysis.advice.statements.delta import DeltaField, DeltaPartition
from limnograph.analysis.advice.statements.scopes import PartitionChoice, PartitionScope, ScopeField
from limnograph.analysis.advice.statements.subject import StatementTable
from limnograph.analysis.advice.statements.words import RESERVED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BOUNDED = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


class SparkParser:
    """The session's parser, with the extensions and the substitution of variables."""

    def __init__(self, spark: SparkSession) -> None:
        self.java: Any = spark._jsparkSession.sessionState().sqlParser()  # type: ignore[attr-defined]

    def call(self, text: str) -> tuple[list[str], dict[str, Any]]:
        """Name and literal arguments of a procedure."""
        plan = self.java.parsePlan(text)
        arguments = _list(plan.args())
        return _list(plan.procedure().nameParts()), {each.key(): each.value() for each in arguments}

    def names(self, text: str) -> list[str]:
        return _list(self.java.parseMultipartIdentifier(text))

    def equalities(self, text: str) -> list[tuple[list[str], Any]]:
        """Columns and values of a disjunction of conjunctions of equalities."""
        expression = self.java.parseExpression(text)
        return _equalities(expression)


def _equalities(expression: Any) -> list[tuple[list[str], Any]]:
    kind = expression.getClass().getSimpleName()
    if kind in {"And", "Or"}:
        return _equalities(expression.left()) + _equalities(expression.right())
    assert kind == "EqualTo", kind
    return [(_list(expression.left().nameParts()), _text(expression.right()))]


def _text(literal: Any) -> str:
    return str(literal.value().toString())


def _list(sequence: Any) -> list[Any]:
    return [sequence.apply(at) for at in range(sequence.size())]


@BOUNDED
@given(NAMES, st.lists(NAMES, min_size=1, max_size=2), NAMES, st.lists(NAMES, min_size=1, max_size=2), VALUES)
@example("lake", ["sales"], "customer_events", ["region"], "it's")
@example("Select", ["table"], "1a", ["true"], "${x}")
def test_a_rewrite_is_read_as_it_was_meant(
    spark: SparkSession, catalog: str, namespace: list[str], name: str, path: list[str], value: str
) -> None:
    parser = SparkParser(spark)
    table = StatementTable(catalog, tuple(namespace), name, "")
    fields = (ScopeField("p", tuple(path), "string", "identity"),)
    scopes = [PartitionScope(fields, (each,)) for each in dict.fromkeys((value, "other"))]
    made = iceberg.rewrite_data_files(table, PartitionChoice(scopes, []), {"a'b": value})
    text = made.statements.spark
    if text is None:
        assert any(map(is_refused, (catalog, *namespace, name, *path)))
        assert made.notes["spark"].isprintable()
        return
    assert not any(map(is_refused, (catalog, *namespace, name, *path)))
    assert text.count(";") == 1
    assert text.endswith(";")
    assert not any(each in text for each in ("--", "/*", "*/", "${"))
    assert text.replace("\n", "").isprintable()
    procedure, arguments = parser.call(text)
    assert procedure == [catalog, "system", "rewrite_data_files"]
    assert parser.names(_text(arguments["table"])) == [catalog, *namespace, name]
    assert _text(arguments["where"]) == made.where
    assert [_text(each) for each in _list(arguments["options"].arguments())] == ["a'b", value]
    equal = [(path, each) for each in dict.fromkeys((value, "other"))]
    assert parser.equalities(made.where or "") == equal


@BOUNDED
@given(NAMES, NAMES, st.dictionaries(VALUES, VALUES, min_size=1, max_size=3))
def test_properties_are_read_as_they_were_meant(
    spark: SparkSession, namespace: str, name: str, properties: dict[str, str]
) -> None:
    text = iceberg.set_properties(StatementTable("lake", (namespace,), name, ""), properties).statements.spark
    if text is None:
        assert is_refused(namespace) or is_refused(name)
        return
    plan = SparkParser(spark).java.parsePlan(text)
    assert _list(plan.table().multipartIdentifier()) == ["lake", namespace, name]
    assert {key: plan.properties().apply(key) for key in properties} == properties
    assert plan.properties().size() == len(properties)


@BOUNDED
@given(NAMES, NAMES, VALUES)
def test_a_condition_on_a_delta_table_is_read_as_it_was_meant(
    spark: SparkSession, location: str, column: str, value: str
) -> None:
    """Spark without delta-spark has no OPTIMIZE: the condition and the address are parsed by themselves."""
    table = StatementTable(None, (), None, location)
    partition = DeltaPartition((DeltaField(column, "string"),), (value,))
    made = delta.optimize(table, [partition])
    if made.statements.spark is None:
        assert is_refused(location) or is_refused(column)
        return
    address, _, where = made.statements.spark.removeprefix("OPTIMIZE ").removesuffix(";").partition("\nWHERE ")
    parser = SparkParser(spark)
    assert parser.names(address) == ["delta", location]
    assert where == made.where
    if value:
        assert parser.equalities(where) == [([column], value)]
    else:
        assert where.endswith(" IS NULL")


def test_no_word_that_spark_reserves_is_written_without_quotes(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.ansi.enforceReservedKeywords", "true")
    try:
        rows = spark.sql("SELECT keyword FROM sql_keywords() WHERE reserved").collect()
    finally:
        spark.conf.unset("spark.sql.ansi.enforceReservedKeywords")
    reserved = {row.keyword.lower() for row in rows}
    assert len(reserved) > 50
    assert reserved <= RESERVED
