"""Predicates made of touched partitions and their specs."""

import pytest

from limnograph.analysis.advice.statements.touched_rows import MOST_PARTITIONS, PredicateColumn, Touched, predicate
from limnograph.domain.answers.tables import PartitionField
from limnograph.domain.metadata.partition_text import MAX_TEXT

LOCAL = "TIMESTAMP_NTZ '"
UTC_DAY = "TIMESTAMP '2026-11-{} 00:00:00+00:00'"
COLUMNS = {
    1: PredicateColumn(("event_time",), "timestamptz"),
    2: PredicateColumn(("local_time",), "timestamp"),
    3: PredicateColumn(("day",), "date"),
    4: PredicateColumn(("region",), "string"),
    5: PredicateColumn(("customer_id",), "long"),
    6: PredicateColumn(("price",), "decimal(10, 2)"),
    7: PredicateColumn(("open",), "boolean"),
    8: PredicateColumn(("order", "re`gion"), "string"),
    9: PredicateColumn(("blob",), "binary"),
    10: PredicateColumn(("event_ns",), "timestamp_ns"),
}


def made(text, *fields, columns=COLUMNS):
    spec = [PartitionField(name=name, transform=transform, source_id=source) for name, transform, source in fields]
    return predicate(
        [Touched(0, each) for each in ([text] if isinstance(text, str) else text)], {0: spec}, columns, "lake"
    )


@pytest.mark.parametrize(
    ("text", "field", "sql"),
    [
        (
            "event_time_day=2026-11-21",
            ("event_time_day", "day", 1),
            f"`event_time` >= {UTC_DAY.format(21)} AND `event_time` < {UTC_DAY.format(22)}",
        ),
        (
            "h=2026-12-31-23",
            ("h", "hour", 2),
            f"`local_time` >= {LOCAL}2026-12-31 23:00:00' AND `local_time` < {LOCAL}2027-01-01 00:00:00'",
        ),
        ("m=2026-12", ("m", "month", 3), "`day` >= DATE '2026-12-01' AND `day` < DATE '2027-01-01'"),
        ("y=2024", ("y", "year", 3), "`day` >= DATE '2024-01-01' AND `day` < DATE '2025-01-01'"),
        ("day_day=2024-02-29", ("day_day", "day", 3), "`day` = DATE '2024-02-29'"),
        ("day=2026-11-21", ("day", "identity", 3), "`day` = DATE '2026-11-21'"),
        ("region=O'Hare%2F100%25", ("region", "identity", 4), r"`region` = 'O\'Hare/100%'"),
        (r"region=a\b", ("region", "identity", 4), r"`region` = 'a\\b'"),
        ("region=${env:HOME}", ("region", "identity", 4), r"`region` = '\u0024{env:HOME}'"),
        ('region="null"', ("region", "identity", 4), "`region` = 'null'"),
        ("region=null", ("region", "identity", 4), "`region` IS NULL"),
        ("region=", ("region", "identity", 4), "`region` = ''"),
        ("event_time_day=null", ("event_time_day", "day", 1), "`event_time` IS NULL"),
        ("customer_id=-7", ("customer_id", "identity", 5), "`customer_id` = -7"),
        ("price=1.20", ("price", "identity", 6), "`price` = CAST('1.20' AS DECIMAL(10,2))"),
        ("open=true", ("open", "identity", 7), "`open` = true"),
        ("p=eu", ("p", "identity", 8), "`order`.`re``gion` = 'eu'"),
        (
            "event_time=2026-11-21T03:04:12.000005",
            ("event_time", "identity", 1),
            "`event_time` = TIMESTAMP '2026-11-21 03:04:12.000005+00:00'",
        ),
    ],
)
def test_each_transform_and_type(text, field, sql) -> None:
    assert made(text, field)[:2] == (sql, None)


LONG = "x" * MAX_TEXT + "...digest"


def test_fields_are_joined_and_those_whose_values_are_unknown_are_left_out_and_named() -> None:
    fields = [("region", "identity", 4), ("customer_id_bucket", "bucket[16]", 5), ("m", "month", 3)]
    found = made(f"region={LONG}/customer_id_bucket=3/m=2026-11", *fields)
    assert found.sql == (
        "lake.system.bucket(16, `customer_id`) = 3 AND `day` >= DATE '2026-11-01' AND `day` < DATE '2026-12-01'"
    )
    assert found.note == "region is omitted: the predicate may select more rows than the commit wrote."
    both = made(f"region={LONG}/p={LONG}/m=2026-11", fields[0], ("p", "truncate[900]", 8), fields[2])
    assert (both.note or "").startswith("region, truncate[900] of order.re`gion are omitted: ")


def test_trino_has_a_condition_for_one_alternative_of_one_spec() -> None:
    day = ("d", "day", 3)
    assert made("d=2026-11-21", day).trino == "\"day\" >= DATE '2026-11-21' AND \"day\" < DATE '2026-11-22'"
    assert made(["d=2026-11-21", "d=2026-11-23"], day).trino is None
    assert made("b=1", ("b", "bucket[4]", 5)).trino is None


def test_partitions_are_alternatives_and_adjacent_periods_are_merged() -> None:
    day = ("d", "day", 3)
    assert (
        made(["d=2026-11-21", "d=2026-11-23"], day).sql == "(`day` = DATE '2026-11-21') OR (`day` = DATE '2026-11-23')"
    )
    hours = made(["h=2026-11-21-01", "h=2026-11-21-00", "h=2026-11-21-05"], ("h", "hour", 2)).sql
    assert hours == (
        f"(`local_time` >= {LOCAL}2026-11-21 00:00:00' AND `local_time` < {LOCAL}2026-11-21 02:00:00')"
        f" OR (`local_time` >= {LOCAL}2026-11-21 05:00:00' AND `local_time` < {LOCAL}2026-11-21 06:00:00')"
    )
    fields = [("region", "identity", 4), ("d", "day", 3)]
    merged = made(["region=eu/d=2026-11-21", "region=eu/d=2026-11-22"], *fields).sql
    assert merged == "`region` = 'eu' AND `day` >= DATE '2026-11-21' AND `day` < DATE '2026-11-23'"


def test_a_renamed_source_column_has_its_present_name_and_an_old_spec_has_its_own_fields() -> None:
    specs = {
        0: [PartitionField(name="p", transform="day", source_id=3)],
        1: [PartitionField(name="p", transform="month", source_id=3)],
    }
    columns = {3: PredicateColumn(("sold_on",), "date")}
    assert predicate([Touched(0, "p=2026-11-21")], specs, columns, "lake").sql == "`sold_on` = DATE '2026-11-21'"
    month = predicate([Touched(1, "p=2026-11")], specs, columns, "lake").sql
    assert month == "`sold_on` >= DATE '2026-11-01' AND `sold_on` < DATE '2026-12-01'"


@pytest.mark.parametrize(
    ("text", "fields", "says"),
    [
        ("b=x", [("b", "bucket[16]", 5)], "bucket[16] of customer_id"),
        ("r=eu", [("r", "zorder", 4)], "zorder of region"),
        ("v=null", [("v", "void", 4)], "no column's values are known"),
        ("blob=A", [("blob", "identity", 9)], "blob"),
        ("d=2026-11-21", [("d", "day", 10)], "day of event_ns"),
        ("d=2026-11-21", [("d", "day", 99)], "day of d"),
        ("d=2026-13-41", [("d", "day", 3)], "day of day"),
        ("region=" + "x" * 600, [("region", "identity", 4)], "region"),
        ("other=1", [("region", "identity", 4)], "does not match"),
        ("region=eu/more=1", [("region", "identity", 4)], "does not match"),
        ("", [], "not partitioned"),
    ],
)
def test_an_inexpressible_selection_is_a_reason_instead_of_a_predicate(text, fields, says) -> None:
    found = made(text, *fields)
    assert found.sql is None
    assert says in (found.note or "")


def test_no_partitions_an_unknown_spec_and_too_many_are_reasons_too() -> None:
    assert "unknown" in (predicate([], {}, COLUMNS, "lake").note or "")
    assert "unknown" in (predicate([Touched(7, "d=2026-11-21")], {0: []}, COLUMNS, "lake").note or "")
    assert "unknown" in (predicate([Touched(None, "d=2026-11-21")], {0: []}, COLUMNS, "lake").note or "")
    days = [f"d=2026-{1 + n // 28:02}-{1 + n % 28:02}" for n in range(MOST_PARTITIONS + 1)]
    assert "21 partitions" in (made(days, ("d", "day", 3)).note or "")
