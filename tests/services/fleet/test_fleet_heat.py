"""The fleet over time: what each part of a range holds, and what is not known of it."""

import asyncio
import uuid

from limnograph.domain.facts.events import AlertFact
from limnograph.domain.queries import FleetQuery
from serving_kit import HOUR, NOW, SECOND, change, lake, parts, row

START = NOW - 24 * HOUR


def heat(made, start=START, end=NOW, **given):
    return asyncio.run(made.backend.fleet.heat(FleetQuery(start=start // 1000, end=end // 1000, **given)))


def alert(starts_at, ends_at=None, mark="a" * 16):
    status, about = "firing" if ends_at is None else "resolved", {"catalog": "lake", "namespace": "sales"}
    times = {"starts_at": starts_at, "ends_at": ends_at, "observed_at": NOW}
    return AlertFact(fingerprint=mark, status=status, alert_name="Slow", table="orders", **about, **times)


def table(number):
    return {"table_uuid": str(uuid.UUID(int=number)), "table": f"t{number:02}"}


def test_a_part_after_the_watermark_is_unknown_and_not_calm() -> None:
    rows = [row(1, START - HOUR, 10), row(2, START + HOUR, 12, observed_at=START + 2 * HOUR)]
    (found,) = heat(parts(lake(rows))).rows
    assert found.commits == [0, 0, 1, 0] + [None] * 44
    assert found.data_files == [0, 0, 2, 0] + [None] * 44
    assert found.risk == ["none"] * 4 + [None] * 44


def test_an_alert_is_shown_in_every_part_in_which_it_fired() -> None:
    made = parts(lake([row(1, START - HOUR, 10), row(2, NOW - HOUR, 10, **{**table(2), "table": "other"})]))
    assert {tuple(each.alerts or ()) for each in heat(made).rows} == {()}
    told = [alert(START + HOUR + 1), alert(START + HOUR + 1, START + 2 * HOUR), alert(NOW - HOUR, mark="b" * 16)]
    asyncio.run(made.alerts.accept(told))
    found = {each.table: each.alerts for each in heat(made).rows}
    assert found == {"orders": [0, 0, 1, 1, *[0] * 42, 1, 1], "other": [0] * 48}


def test_parts_begin_on_the_clock_and_stay_while_the_range_moves_on() -> None:
    made = parts(lake([row(1, NOW - HOUR, 10)]))
    minute = 60 * SECOND
    for hours, width in ((24, 30 * minute), (6, 10 * minute), (1, 2 * minute), (24 * 30, 24 * HOUR)):
        first = heat(made, NOW - hours * HOUR + 7 * SECOND, NOW + 7 * SECOND)
        later = heat(made, NOW - hours * HOUR + 17 * SECOND, NOW + 17 * SECOND)
        assert (first.start, first.end) == (later.start, later.end)
        assert first.start * 1000 % width == first.end * 1000 % width == 0
        (one,) = first.rows
        assert len(one.commits) * width == (first.end - first.start) * 1000


def test_the_worst_thirty_that_match_are_shown_and_all_are_counted() -> None:
    rows = [row(i, NOW - HOUR, i, **table(i)) for i in range(1, 41)]
    burst = row(99, NOW - 30 * 60 * SECOND, 50_040, parent_id=40, added_data_files=50_000, **table(40))
    found = heat(parts(lake([*rows, burst])))
    assert (found.total, len(found.rows), found.rows[0].table) == (40, 30, "t40")
    (one,) = heat(parts(lake([*rows, burst])), text="t07").rows
    assert one.table == "t07"


def test_a_table_that_was_never_readable_has_no_data() -> None:
    unreadable = change("unreadable", NOW - HOUR, "bad-metadata", table_uuid=None, subject="lake.sales.orders")
    (found,) = heat(parts(lake([], [unreadable]))).rows
    assert set(found.commits) == set(found.data_files) == set(found.risk) == {None}


def test_risk_is_the_finding_of_each_part_and_unknown_before_the_table_was_known() -> None:
    part = 30 * 60 * SECOND
    burst = row(2, START + 5 * part + 1, 50_010, parent_id=1, added_data_files=50_000)
    repair = row(3, START + 9 * part + 1, 20, parent_id=2, operation="replace", removed_data_files=50_000)
    found = heat(parts(lake([row(1, START + 2 * part, 10), burst, repair]))).rows[0].risk
    assert found[:2] == [None, None]
    assert found[2:5] == ["none"] * 3
    assert found[5:10] == ["file_burst"] * 5
    assert "file_burst" not in found[10:]


def test_a_part_in_which_the_metadata_was_unreadable_says_so() -> None:
    part = 30 * 60 * SECOND
    broken = change("unreadable", NOW - 2 * part, "bad-metadata")
    found = heat(parts(lake([row(1, START + 2 * part, 10, observed_at=NOW)], [broken]))).rows[0].risk
    assert found[-2:] == ["unreadable"] * 2
    assert "unreadable" not in found[:-2]
