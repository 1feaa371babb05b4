"""Fleet rows: reasons with their numbers, order, pages."""

import asyncio
import uuid

import msgspec
import pytest

from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import InvalidInput, NotFound, SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import Series
from limnograph.domain.queries import CommitsQuery, FleetQuery
from limnograph.services.sources import templates
from serving_kit import BIG, HOUR, MINUTE, NOW, SECOND, FixedClock, change, lake, moved, parts, row

DAY = 24 * HOUR
START = (NOW - DAY) // 1000
BURST = NOW - 6 * HOUR - 56 * MINUTE
"""03:04 UTC."""


def page(made, **given):
    query = FleetQuery(**{"start": START, "end": NOW // 1000, **given})
    return asyncio.run(made.backend.fleet.page(query))


def only(made, **given):
    return page(made, **given).rows[0]


def burst(*after, **fields):
    given = {"added_data_files": 50_000, "added_bytes": 50_000 * 900_000, "target_file_bytes": 128 << 20, **fields}
    rows = [row(1, NOW - 30 * HOUR, 1_202), row(BIG, BURST, 51_202, parent_id=1, **given), *after]
    return lake(rows, [moved(r.snapshot_id, r.committed_at) for r in rows])


def test_a_burst_of_small_files_has_its_number_and_size_whatever_the_range() -> None:
    """M1 of the audit: severity and story do not depend on the range on screen."""
    made = parts(burst(total_bytes=1 << 20))
    for start in (START, (NOW - HOUR) // 1000):
        found = only(made, start=start)
        (finding,) = found.findings
        assert (finding.code, finding.severity, finding.opened_at) == ("file_burst", "info", BURST // 1000)
        assert found.reason.sentence == "50,000 small files in one commit, average 0.9 MB"
        assert (found.reason.code, found.reason.snapshot_id) == ("file_burst", str(BIG))


def test_a_large_table_is_warned_of() -> None:
    found = only(parts(burst(total_bytes=2 << 30)))
    assert (found.findings[0].severity, found.reason.severity) == ("warning", "warning")


def test_a_compacted_burst_is_no_longer_open() -> None:
    repair = row(3, NOW - 4 * HOUR, 1_554, parent_id=BIG, operation="replace", removed_data_files=50_000)
    made = parts(burst(repair))
    found = only(made)
    assert (found.findings, found.reason.code, found.reason.severity) == ((), "none", "ok")
    (recovered,) = asyncio.run(made.backend.tables.detail(TableName("lake", "sales", "orders"))).findings
    assert (recovered.state, recovered.closed_by) == ("closed", "3")


def test_an_unknown_number_fulfils_no_rule() -> None:
    engine = lake([row(1, NOW - 30 * HOUR, None), row(2, NOW - HOUR, None, added_data_files=None)])
    found = only(parts(engine))
    assert found.reason.code == "none"
    assert found.values.data_files is None
    assert found.deltas.data_files is None
    assert set(found.spark) == {None}


def test_a_table_that_was_not_evaluated_is_not_called_healthy() -> None:
    found = only(parts(burst(), evaluated=False))
    assert (found.reason.code, found.reason.severity) == ("none", "unknown")


def test_a_stale_table_is_a_known_state() -> None:
    """m4 of the audit: late is not unknown."""
    engine = lake([row(i, NOW - 20 * HOUR - (9 - i) * 10 * MINUTE, i, observed_at=NOW) for i in range(1, 10)])
    found = only(parts(engine))
    assert [(each.code, each.severity) for each in found.findings] == [("stale", "warning")]
    assert found.reason.sentence == "no commit; usually one every 10 min"


def slow_source(now_s: float, before_s: float = 52.0) -> MemoryMetrics:
    labels = {"catalog": "lake", "table_namespace": "sales", "table": "orders", "job_name": "churn"}
    series = Series(labels, [START + 3_600_000, NOW // 1000], [before_s, now_s])
    return MemoryMetrics("main", {templates.median_duration_by_table(3_600): [series]})


def test_the_duration_of_a_job_is_shown_when_it_was_measured() -> None:
    found = only(parts(lake([row(1, NOW - HOUR)]), slow_source(160.0)))
    assert (found.values.job_duration_seconds, found.deltas.job_duration_ratio) == (160, 3.077)
    assert only(parts(lake([row(1, NOW - HOUR)]))).values.job_duration_seconds is None


def reader(table: str, before_s: float, now_s: float) -> Series:
    labels = {"catalog": "lake", "table_namespace": "sales", "table": table, "job_name": f"of-{table}"}
    return Series(labels, [START + 3_600_000, NOW // 1000], [before_s, now_s])


def test_the_95th_percentile_is_shown_with_the_median_and_can_be_sorted_by() -> None:
    told = {
        templates.median_duration_by_table(3_600): [reader("a", 50, 100), reader("b", 50, 90), reader("c", 50, 80)],
        templates.p95_duration_by_table(3_600): [reader("a", 100, 110), reader("b", 60, 180)],
    }
    rows = [row(i, NOW - HOUR, i, table_uuid=str(uuid.UUID(int=i)), table=name) for i, name in enumerate("abc", 1)]
    made = parts(lake(rows), MemoryMetrics("main", told))

    def by(sort: str) -> list[tuple[str, float | None, float | None]]:
        found = page(made, sort=sort).rows
        return [(each.table, each.values.job_p95_seconds, each.deltas.job_p95_ratio) for each in found]

    assert by("job_p95") == by("delta_job_p95") == [("b", 180, 3.0), ("a", 110, 1.1), ("c", None, None)]
    assert [each.values.job_duration_seconds for each in page(made, sort="job_duration").rows] == [100, 90, 80]


def test_a_failing_metrics_source_does_not_affect_the_fleet() -> None:
    source = slow_source(160.0)
    source.failure = SourceUnavailable("main", "down")
    assert only(parts(lake([row(1, NOW - HOUR)]), source)).reason.code == "none"


def many(count: int) -> MemoryEngine:
    rows = []
    for i in range(count):
        name = {"table_uuid": str(uuid.UUID(int=i)), "table": f"t{i:03}", "namespace": "a" if i % 2 else "b"}
        rows.append(row(i + 1, NOW - HOUR, None if i == 3 else i, **name))
    return lake(rows)


def test_pages_hold_every_table_once() -> None:
    made, seen, cursor = parts(many(25)), [], None
    while True:
        found = page(made, limit=10, cursor=cursor, sort="data_files")
        assert found.total == 25
        seen += [r.table for r in found.rows]
        cursor = found.next_cursor
        if cursor is None:
            break
    assert sorted(seen) == [f"t{i:03}" for i in range(25)]
    assert seen[0] == "t024"
    assert seen[-1] == "t003"


def test_unknown_values_are_last_in_both_directions() -> None:
    made = parts(many(6))
    for direction in ("asc", "desc"):
        assert page(made, sort="data_files", direction=direction).rows[-1].table == "t003"


def test_a_cursor_of_another_query_is_refused() -> None:
    made = parts(many(25))
    cursor = page(made, limit=10).next_cursor
    with pytest.raises(InvalidInput, match="another query"):
        page(made, limit=10, cursor=cursor, sort="name")


def test_tables_are_found_by_name_and_namespace() -> None:
    made = parts(many(10))
    assert [r.table for r in page(made, text="T00", namespace="lake.a", sort="name", direction="asc").rows] == [
        "t001",
        "t003",
        "t005",
        "t007",
        "t009",
    ]
    assert page(made, namespace="b").total == 5
    assert page(made).namespaces == ["lake.a", "lake.b"]


def test_attention_puts_the_most_severe_first_and_the_newest_within() -> None:
    def table(number, at, **fields):
        name = {"table_uuid": str(uuid.UUID(int=number)), "table": f"t{number}"}
        return [
            row(number * 10, NOW - 30 * HOUR, 100, **name, **fields),
            row(number * 10 + 1, at, 9_100, added_data_files=9_000, **name, **fields),
        ]

    broken = change("unreadable", NOW - HOUR, "metadata_truncated", table_uuid=None, table="broken")
    large, calm = {"total_bytes": 2 << 30}, row(5, NOW - HOUR, 1, table_uuid=str(uuid.UUID(int=9)), table="t0")
    small = {"total_bytes": 1 << 20}
    facts = [
        *table(1, NOW - 2 * HOUR, **small),
        *table(2, NOW - 3 * HOUR, **large),
        *table(3, NOW - 2 * HOUR, **large),
        calm,
    ]
    made = parts(lake(facts, [broken]))
    assert [r.table for r in page(made).rows] == ["broken", "t3", "t2", "t1", "t0"]
    assert page(made).rows[0].findings[0].code == "unreadable"


def test_a_dropped_table_leaves_the_fleet_and_a_renamed_one_is_listed_once() -> None:
    named = change("named", NOW - 9 * HOUR, "lake.sales.orders", subject="lake.sales.orders")
    renamed = change("named", NOW - HOUR, "lake.sales.v2", subject="lake.sales.v2", table="v2")
    gone = change("dropped", NOW - HOUR + SECOND, None, subject="lake.sales.orders")
    assert [r.table for r in page(parts(lake([row(1, NOW - 9 * HOUR)], [named, renamed, gone]))).rows] == ["v2"]
    assert page(parts(lake([row(1, NOW - 9 * HOUR)], [named, gone]))).rows == []


def test_spark_ends_at_the_end_of_the_range() -> None:
    spark = only(parts(burst())).spark
    assert (len(spark), spark[0], spark[-1]) == (24, 1_202, 51_202)


def commits(made, **given):
    query = CommitsQuery(**{"start": START, "end": NOW // 1000, **given})
    return asyncio.run(made.backend.commits.page(query))


def test_commits_of_all_tables_are_newest_first_and_paged_without_loss() -> None:
    times = [row(i, NOW - i * MINUTE, i, table_uuid=str(uuid.UUID(int=i % 3)), table=f"t{i % 3}") for i in range(1, 40)]
    made, seen, cursor = parts(lake(times)), [], None
    while True:
        found = commits(made, limit=7, cursor=cursor)
        seen += [int(r.snapshot_id) for r in found.rows]
        cursor = found.next_cursor
        if cursor is None:
            break
    assert seen == list(range(1, 40))


def test_commits_are_filtered_by_size_operation_and_schema() -> None:
    rows = [
        row(1, NOW - 3 * HOUR, 1, schema_id=0, added_data_files=None),
        row(2, NOW - 2 * HOUR, 2, schema_id=1, parent_id=1, operation="delete", added_data_files=0),
        row(BIG, NOW - HOUR, 3, schema_id=1, parent_id=2, added_data_files=50_000),
    ]
    made = parts(lake(rows))
    assert [r.snapshot_id for r in commits(made, min_added_data_files=1).rows] == [str(BIG)]
    assert [r.snapshot_id for r in commits(made, operation="delete").rows] == ["2"]
    assert [r.snapshot_id for r in commits(made, schema_changed=True).rows] == ["2"]
    with pytest.raises(NotFound):
        commits(made, table=TableName("lake", "sales", "none"))


def test_an_old_range_of_the_fleet_is_read_cold() -> None:
    engine = lake([row(1, NOW - 90 * HOUR, 5), row(2, NOW - HOUR, 9)])
    found = page(parts(engine), start=(NOW - 100 * HOUR) // 1000, end=(NOW - 60 * HOUR) // 1000).rows[0]
    assert (found.values.data_files, found.values.commits) == (5, 1)


def test_a_fixed_clock_is_the_end_of_every_range() -> None:
    made = parts(burst(), clock=FixedClock(NOW))
    later = msgspec.structs.replace(page(made).rows[0])
    assert page(made, end=(NOW + DAY) // 1000).rows[0].values == later.values


def test_the_page_of_a_table_shows_the_same_findings_as_the_fleet() -> None:
    made = parts(burst())
    detail = asyncio.run(made.backend.tables.detail(TableName("lake", "sales", "orders")))
    assert (detail.reason, detail.findings) == (only(made).reason, only(made).findings)
    assert detail.reason.code == "file_burst"


def test_an_unknown_number_of_files_before_a_burst_is_not_shown() -> None:
    orphan = row(BIG, BURST, 51_202, added_data_files=50_000, parent_id=77)
    found = only(parts(lake([orphan], [moved(BIG, BURST)]))).reason
    assert found.sentence == "50,000 small files in one commit"


def test_differences_are_relative_to_the_requested_instant_and_reasons_are_not() -> None:
    made = parts(burst())
    assert only(made, compare_s=86_400) == only(made)
    recent = only(made, compare_s=3_600)
    assert (recent.deltas.data_files, only(made).deltas.data_files) == (0, 50_000)
    assert (recent.reason, recent.values, recent.spark) == (only(made).reason, only(made).values, only(made).spark)
    short = {"start": (NOW - HOUR) // 1000}
    assert only(made, **short).deltas.data_files == 0
    assert only(made, **short, compare_s=86_400).deltas.data_files == 50_000
    assert only(made, **short, compare_s=10 * 86_400).deltas.data_files is None


def test_a_job_is_compared_with_the_requested_instant() -> None:
    labels = {"catalog": "lake", "table_namespace": "sales", "table": "orders", "job_name": "churn"}
    hour, end = (NOW - HOUR) // 1000, NOW // 1000
    series = {
        templates.median_duration_by_table(600): [Series(labels, [hour, end], [150.0, 160.0])],
        templates.median_duration_by_table(3_600): [Series(labels, [START, end], [52.0, 160.0])],
    }
    made = parts(lake([row(1, NOW - 2 * HOUR)]), MemoryMetrics("main", series))
    found = only(made, start=hour, compare_s=86_400)
    assert (found.deltas.job_duration_ratio, found.reason.code) == (3.077, "none")


def sized(number, before, after, **fields):
    name = {"table_uuid": str(uuid.UUID(int=number)), "table": f"t{number}"}
    small, deletes, skew = fields.get("small", 0), fields.get("deletes", 0), fields.get("skew")
    told = {"small_files": small, "total_delete_files": deletes, "skew_max_over_median": skew}
    return [row(10 * number, NOW - 30 * HOUR, before, **name), row(10 * number + 1, NOW - HOUR, after, **name, **told)]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("delta_data_files", "2134"),
        ("delta_share_data_files", "1234"),
        ("small_share", "3124"),
        ("delete_share", "1324"),
        ("skew", "2134"),
    ],
)
def test_rows_can_be_sorted_by_shares_and_skew(sort: str, order: str) -> None:
    told = [
        sized(1, 10, 20, small=10, deletes=10, skew=1.5),
        sized(2, 1_000, 1_100, small=100, deletes=11, skew=9.0),
        sized(3, 100, 100, small=90, deletes=20),
        sized(4, None, None),
    ]
    found = page(parts(lake([fact for rows in told for fact in rows])), sort=sort).rows
    assert "".join(each.table[1:] for each in found) == order
    if sort == "skew":
        assert [each.values.skew_max_over_median for each in found] == [9.0, 1.5, None, None]
