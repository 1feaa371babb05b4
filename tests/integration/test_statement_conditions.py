"""Conditions of generated statements against real Spark and Iceberg: they select the plan's partitions and no other,
for every transform and type, and in a table whose partition spec changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import parse_transform

from lakes import Lake
from limnograph.analysis.advice.statements.iceberg import rewrite_data_files
from limnograph.analysis.advice.statements.periods import PERIODS
from limnograph.analysis.advice.statements.scopes import PartitionChoice, PartitionScope, ScopeField
from limnograph.analysis.advice.statements.subject import StatementTable
from partition_tables import PartitionTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAY = 86_400_000_000
TIMES = (0, -1, 1_795_136_523_000_004, -62_135_596_800_000_000, 253_402_300_799_999_999)
TEXTS = (
    "a",
    "",
    "it's \\",
    "x\n\u202e\U0001f600",
    "\0",
    "${x}",
    "ends\\",
    "a; -- /* x */ '' \"",
    "`",
    "null",
    "\u00fc",
)
UUIDS = (bytes.fromhex("f79c3e09677c4bbda4793f349cb785e7"), bytes(16))
CASES: list[tuple[str, str, tuple[Any, ...]]] = [
    ("boolean", "identity", (True, False)),
    ("int", "identity", (0, 7, -(2**31), 2**31 - 1)),
    ("long", "identity", (0, 7, -(2**63), 2**63 - 1)),
    ("float", "identity", (0.0, -0.0, 1.5, 0.10000000149011612, float("inf"), float("-inf"), float("nan"))),
    ("double", "identity", (0.0, -0.0, 0.1, 5e-324, 1.7976931348623157e308, float("inf"), float("nan"))),
    ("decimal(9, 2)", "identity", (0, 150, -1, 999_999_999)),
    ("decimal(38, 10)", "identity", (12345678901234567890123456780123456789, -7)),
    ("date", "identity", (0, 20777, -719_162, 2_932_896)),
    ("timestamp", "identity", TIMES),
    ("timestamptz", "identity", TIMES),
    ("string", "identity", TEXTS),
    ("binary", "identity", (b"\x00\xff", b"", b"'")),
    ("fixed[4]", "identity", (b"\x01\x02\x03\xff", bytes(4))),
    ("uuid", "identity", UUIDS),
    *[("date", each, (56, 57, 0, -1)) for each in ("year", "month")],
    ("date", "day", (20777, 20778, 0, -1)),
    *[("timestamp", each, (56, 57, 0, -1)) for each in ("year", "month", "day", "hour")],
    *[("timestamptz", each, (56, 57, 0, -1)) for each in ("year", "month", "day", "hour")],
    *[
        (each, "bucket[8]", (0, 3, 7))
        for each in (
            "int",
            "long",
            "decimal(9, 2)",
            "date",
            "timestamp",
            "timestamptz",
            "string",
            "binary",
            "uuid",
            "fixed[4]",
        )
    ],
    ("int", "truncate[10]", (0, -10, 20)),
    ("long", "truncate[10]", (0, -10, 9_223_372_036_854_775_800)),
    ("decimal(9, 2)", "truncate[50]", (0, -50, 1050)),
    ("string", "truncate[2]", ("ab", "a", "", "\u00e4\U0001f600", "''", "\\")),
    ("binary", "truncate[2]", (b"ab", b"")),
]


def made(spark: SparkSession, lake: Lake, name: str, *fields: ScopeField) -> PartitionTable:
    """A table whose columns are the sources of the fields; a nested one is in a struct of its own."""
    lake.catalog.create_namespace_if_not_exists("conditions")
    columns: dict[tuple[str, ...], dict[str, Any]] = {}
    for at, field in enumerate(fields):
        leaf = {"id": 10 + at, "name": field.path[-1], "type": field.type, "required": False}
        inside = {"type": "struct", "fields": [leaf]}
        outer = {"id": 100 + at, "name": field.path[0], "type": inside, "required": False}
        columns.setdefault(field.path, leaf if len(field.path) == 1 else outer)
    schema = Schema.model_validate({"type": "struct", "fields": list(columns.values())})
    ids = {path: column["id"] % 100 + (10 if column["id"] >= 100 else 0) for path, column in columns.items()}
    spec = PartitionSpec(
        *(
            PartitionField(ids[field.path], 1000 + at, parse_transform(field.transform), field.name)
            for at, field in enumerate(fields)
        )
    )
    lake.catalog.create_table(("conditions", name), schema, partition_spec=spec)
    return PartitionTable(spark, f"shared.conditions.{name}", fields)


def condition(table: PartitionTable, chosen: list[PartitionScope], others: list[PartitionScope]) -> str | None:
    _, namespace, name = table.name.split(".")
    subject = StatementTable("shared", (namespace,), name, "")
    return rewrite_data_files(subject, PartitionChoice(chosen, others), {}).where


@pytest.mark.parametrize(("kind", "transform", "values"), CASES)
def test_each_transform_and_type(
    spark: SparkSession, shared_lake: Lake, kind: str, transform: str, values: Any
) -> None:
    name = f"m_{kind}_{transform}".translate({ord(each): "_" for each in "(), []"})
    table = made(spark, shared_lake, name, ScopeField("p", ("it's`a.b",), kind, transform))
    scopes = table.add(*((value,) for value in (*values, None)))
    for scope in scopes:
        where = condition(table, [scope], [each for each in scopes if each != scope])
        if scope.values == (-1,) and transform in PERIODS:  # Iceberg would select the period after it, too
            assert where is None
        else:
            assert where is not None
            assert table.selected(where) == {scope}, where
    where = condition(table, scopes[:2], scopes[2:])
    assert where is not None
    assert table.selected(where) == set(scopes[:2])


SPECS = [
    [ScopeField("m", ("at",), "timestamptz", "month")],
    [ScopeField("d", ("at",), "timestamptz", "day")],
    [ScopeField("d", ("at",), "timestamptz", "day"), ScopeField("r", ("in", "region"), "string", "identity")],
    [ScopeField("b", ("id",), "long", "bucket[4]"), ScopeField("r", ("in", "region"), "string", "identity")],
    [ScopeField("t", ("id",), "long", "truncate[10]"), ScopeField("h", ("at",), "timestamptz", "hour")],
]


@pytest.fixture(scope="module")
def evolved(spark: SparkSession, shared_lake: Lake) -> PartitionTable:
    """A table with files of five partition specs. The first columns are those of all fields."""
    columns = [SPECS[1][0], SPECS[2][1], SPECS[3][0]]
    table = made(spark, shared_lake, "evolved", *columns)
    for fields, rows in zip(
        SPECS,
        (
            [(681,), (682,), (-1,), (-2,), (0,), (None,)],
            [(-1,), (-40,), (-500,), (20757,), (20777,), (20778,), (20788,)],
            [(20777, "a"), (20777, "b"), (20778, "a"), (20788, None), (None, "a")],
            [(0, "a"), (3, "b"), (None, "c"), (3, None)],
            [(0, 498_649), (10, 498_650), (-10, None), (None, 480_000)],
        ),
        strict=True,
    ):
        table.evolve(fields)
        table.add(*rows)
    return table


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_a_condition_selects_exactly_the_plans_partitions_of_an_evolved_table(
    evolved: PartitionTable, data: st.DataObject
) -> None:
    scopes = list(evolved.scopes.values())
    live = data.draw(st.lists(st.sampled_from(scopes), min_size=1, max_size=12, unique=True))
    chosen = live[: data.draw(st.integers(1, min(3, len(live))))]
    where = condition(evolved, chosen, live[len(chosen) :])
    if where is not None:
        assert evolved.selected(where) & set(live) == set(chosen), where


def test_partitions_of_another_spec_are_excluded_where_their_values_do(evolved: PartitionTable) -> None:
    """The reason of the statement is not always that the specs differ."""
    scopes = list(evolved.scopes.values())
    months = [each for each in scopes if each.fields == tuple(SPECS[0])]
    days = {each.values[0]: each for each in scopes if each.fields == tuple(SPECS[1])}
    october = months[0]
    assert condition(evolved, [days[20788]], months) is not None  # 1 December
    assert condition(evolved, [days[20777]], months) is None  # 20 November
    assert condition(evolved, [october], [days[20757]]) is None  # 31 October
    assert condition(evolved, [october], [days[20777], days[20788]]) is not None
