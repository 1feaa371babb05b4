"""The page of partitions: states out of rows that tell only changes, leaderboard, two instants, partitions by time."""

import asyncio

import pytest

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import InvalidInput, NotFound, SourceUnavailable
from limnograph.domain.facts.meta_tables import PartitionFact
from limnograph.domain.ids import TableName
from limnograph.domain.queries import PartitionsQuery
from limnograph.services.lake.lake import Facts
from limnograph.services.table.partitions.rows import fits
from serving_kit import HOUR, MINUTE, NOW, change, lake, moved, parts, row

NAME = TableName("lake", "sales", "orders")
MIDNIGHT = NOW - 10 * HOUR


def part(day: str, files: int, size: int = 10**6, **fields) -> PartitionFact:
    given = {"spec_id": 0, "delete_files": 0, "small_files": 0, "bytes": files * size, **fields}
    return PartitionFact(partition=f"day={day}", data_files=files, **given)


def full(snapshot_id, at, *found, total=None, **fields):
    files = sum(p.data_files for p in found)
    given = {"total_bytes": sum(p.bytes for p in found), "total_delete_files": 0, **fields}
    return row(
        snapshot_id,
        at,
        given.pop("files", files),
        partitions=list(found),
        partitions_scope="full",
        partitions_total=len(found) if total is None else total,
        **given,
    )


def changed(snapshot_id, at, base, *found, files, total, **fields):
    return row(
        snapshot_id,
        at,
        files,
        partitions=list(found),
        partitions_scope="changed",
        partitions_base=base,
        changed_partitions=len(found),
        partitions_total=total,
        parent_id=base,
        **fields,
    )


def burst() -> MemoryEngine:
    """84 files of one day become 50,084 at 03:04 and 436 at 05:31."""
    rows = [
        full(1, MIDNIGHT + MINUTE, part("19", 60), part("20", 84)),
        changed(2, MIDNIGHT + 3 * HOUR + 4 * MINUTE, 1, part("20", 50_084, 10**5), files=50_144, total=2),
        changed(3, MIDNIGHT + 4 * HOUR, 2, part("21", 5, delete_files=1), files=50_149, total=3),
        changed(4, MIDNIGHT + 5 * HOUR + 31 * MINUTE, 3, part("20", 436, 10**8), files=501, total=3),
        changed(5, MIDNIGHT + 6 * HOUR, 4, part("19", 0), files=441, total=2),
    ]
    return lake(rows, [moved(r.snapshot_id, r.committed_at) for r in rows])


def page(made, at=NOW, compare=None, start=MIDNIGHT, end=NOW, **given):
    query = PartitionsQuery(
        table=NAME,
        at=at // 1000,
        compare_s=None if compare is None else (at - compare) // 10**6,
        start=start // 1000,
        end=end // 1000,
        **given,
    )
    return asyncio.run(made.backend.partitions.page(query))


def files_of(found):
    return {r.partition: r.data_files for r in found.rows}


def test_a_state_is_the_full_row_with_every_later_change_applied() -> None:
    made = parts(burst())
    assert files_of(page(made, at=MIDNIGHT + 2 * HOUR)) == {"day=19": 60, "day=20": 84}
    assert files_of(page(made, at=MIDNIGHT + 4 * HOUR)) == {"day=19": 60, "day=20": 50_084, "day=21": 5}
    assert files_of(page(made)) == {"day=20": 436, "day=21": 5}


def test_the_row_that_grew_is_first_with_its_share_and_its_change() -> None:
    found = page(parts(burst()), at=MIDNIGHT + 3 * HOUR + 10 * MINUTE, compare=MIDNIGHT + 3 * HOUR)
    first = found.rows[0]
    assert (first.partition, first.data_files, first.data_files_delta) == ("day=20", 50_084, 50_000)
    assert first.files_share == pytest.approx(50_084 / 50_144)
    assert (found.after.snapshot_id, found.before.snapshot_id) == ("2", "1")
    assert found.rows[1].data_files_delta == 0
    assert found.rest is None


def test_a_partition_emptied_since_is_listed_with_what_it_lost() -> None:
    found = {r.partition: r for r in page(parts(burst()), compare=MIDNIGHT + 4 * HOUR).rows}
    assert (found["day=19"].data_files, found["day=19"].data_files_delta) == (0, -60)
    assert found["day=19"].average_file_bytes is None
    assert (found["day=21"].delete_ratio, found["day=21"].data_files_delta) == (0.2, 0)


def test_a_step_shows_the_maximum_of_files_within_it_and_zero_before_the_first() -> None:
    heat = page(parts(burst()), end=MIDNIGHT + 8 * HOUR).heat
    cells = {r.partition: dict(zip(heat.t, r.data_files, strict=True)) for r in heat.rows}
    assert (list(cells), heat.step) == (["day=21", "day=20", "day=19"], 600_000)
    by_hour = {r.partition: r.data_files[5::6] for r in heat.rows}
    assert by_hour["day=20"] == [84, 84, 84, 50_084, 50_084, 436, 436, 436]
    assert by_hour["day=21"] == [0, 0, 0, 0, 5, 5, 5, 5]
    burst_step = next(t for t in heat.t if t <= (MIDNIGHT + 5 * HOUR + 31 * MINUTE) // 1000 < t + heat.step)
    assert cells["day=20"][burst_step] == 50_084  # it held for a part of the step in which it ended


def test_after_the_watermark_nothing_is_known() -> None:
    made = parts(burst())
    made.store.probed(MIDNIGHT + 7 * HOUR, ["lake"], [])
    found = page(made)
    assert found.heat.rows[0].data_files[-1] is None
    assert (found.track.t[-1], found.track.data_files[-1]) == ((MIDNIGHT + 7 * HOUR) // 1000, None)


def test_the_track_is_every_move_of_main_and_the_state_before_the_range() -> None:
    found = page(parts(burst()), start=MIDNIGHT + 3 * HOUR)
    assert found.track.data_files == [144, 50_144, 50_149, 501, 441]
    assert found.track.t[0] == (MIDNIGHT + 3 * HOUR) // 1000


def test_beyond_the_thousand_largest_the_rest_is_obtained_by_subtraction() -> None:
    named = [part(f"{n:04}", 10) for n in range(1_000)]
    rows = [full(1, MIDNIGHT, *named, total=12_410, files=100_000, total_bytes=10**12)]
    found = page(parts(lake(rows, [moved(1, MIDNIGHT)])))
    assert (len(found.rows), found.matching, found.named, found.after.partitions) == (200, 1_000, 1_000, 12_410)
    assert (found.rest.partitions, found.rest.data_files) == (12_210, 98_000)
    assert found.rest.delete_files == 0
    assert {note.code for note in found.notes} == {"top_only", "shown_only"}
    assert found.rows[0].bytes_over_median is None  # the median of the largest is not the median
    assert page(parts(lake(rows, [moved(1, MIDNIGHT)])), limit=1_000).rest.partitions == 11_410


def test_a_partition_that_no_row_lists_is_unknown_and_not_empty() -> None:
    rows = [
        full(1, MIDNIGHT, part("1", 10), total=5_000, files=90_000),
        changed(2, MIDNIGHT + HOUR, 1, part("2", 7), files=90_001, total=5_000),
    ]
    found = page(parts(lake(rows, [moved(r.snapshot_id, r.committed_at) for r in rows])), compare=MIDNIGHT)
    assert {r.partition: r.data_files_delta for r in found.rows} == {"day=1": 0, "day=2": None}
    cells = next(r for r in found.heat.rows if r.partition == "day=2").data_files
    assert cells[0] is None


def test_without_a_full_row_partitions_are_unknown() -> None:
    rows = [changed(2, MIDNIGHT + HOUR, 1, part("2", 7), files=9, total=3)]
    found = page(parts(lake(rows, [moved(2, MIDNIGHT + HOUR)])), compare=MIDNIGHT)
    assert (found.rows, found.named) == ([], 0)
    assert [note.code for note in found.notes][:2] == ["no_state", "no_state_before"]
    assert (found.after.data_files, found.before.data_files) == (9, None)
    assert (found.rest.partitions, found.rest.data_files) == (3, 9)


def test_a_cyclic_chain_ends() -> None:
    rows = [
        changed(1, MIDNIGHT + HOUR, 2, part("1", 1), files=1, total=1),
        changed(2, MIDNIGHT + 2 * HOUR, 1, part("1", 2), files=2, total=1),
    ]
    found = page(parts(lake(rows, [moved(r.snapshot_id, r.committed_at) for r in rows])))
    assert "no_state" in {note.code for note in found.notes}


def test_after_a_rollback_the_state_is_that_of_the_snapshot_main_went_back_to() -> None:
    engine = burst()
    engine.append([], [moved(1, NOW - HOUR, from_value="5")])
    found = page(parts(engine))
    assert (found.after.snapshot_id, files_of(found)) == ("1", {"day=19": 60, "day=20": 84})


def test_a_filter_matches_values_of_fields_and_their_prefixes() -> None:
    assert fits("day=2026-11-20/region=eu", [("region", "eu")])
    assert fits("day=2026-11-20/region=eu", [("day", "2026-11-*"), ("region", "eu")])
    assert not fits("day=2026-11-20/region=europe", [("region", "eu")])
    assert not fits("day=2026-11-20", [("region", "eu")])
    assert fits("a=%3D=b", [("a", "%3D=b")])
    found = page(parts(burst()), conditions=(("day", "21"),))
    assert (files_of(found), found.matching, found.rest) == ({"day=21": 5}, 1, None)
    assert [r.partition for r in found.heat.rows] == ["day=21"]


@pytest.mark.parametrize(
    ("sort", "direction", "first"),
    [
        ("data_files", "desc", "day=20"),
        ("data_files", "asc", "day=19"),
        ("partition", "asc", "day=19"),
        ("delete_ratio", "desc", "day=21"),
        ("average_file_bytes", "desc", "day=20"),
        ("data_files_delta", "desc", "day=20"),
        ("data_files_delta", "asc", "day=21"),
    ],
)
def test_rows_are_sorted_by_any_column(sort, direction, first) -> None:
    found = page(parts(burst()), compare=MIDNIGHT + 5 * HOUR, sort=sort, direction=direction, limit=1)
    assert found.rows[0].partition == first


def test_rows_known_only_to_the_watcher_count_too() -> None:
    made = parts(burst())
    late = changed(6, NOW - MINUTE, 5, part("21", 99), files=540, total=2)
    made.store.apply(Facts([late], [moved(6, NOW - MINUTE)]))
    found = page(made)
    assert (found.after.snapshot_id, files_of(found)) == ("6", {"day=20": 436, "day=21": 99})


def test_instants_before_the_hot_window_are_read_from_the_meta_tables() -> None:
    at = MIDNIGHT - 96 * HOUR
    rows = [
        full(1, at, part("1", 3)),
        changed(2, at + HOUR, 1, part("2", 4), files=7, total=2),
        full(3, MIDNIGHT, part("1", 9)),
    ]
    made = parts(lake(rows, [moved(r.snapshot_id, r.committed_at) for r in rows]))
    found = page(made, at=at + 2 * HOUR, compare=at + MINUTE, start=at, end=at + 4 * HOUR)
    assert files_of(found) == {"day=1": 3, "day=2": 4}
    assert [r.data_files_delta for r in found.rows] == [4, 0]


def test_deletes_have_bytes_a_ratio_and_an_age_where_they_are_known() -> None:
    held = part("20", 10, 10**6, delete_files=4, delete_bytes=50_000, oldest_delete_at=NOW - 9 * HOUR)
    old = part("19", 5, delete_files=2)
    found = page(parts(lake([full(1, NOW - HOUR, held, old)], [moved(1, NOW - HOUR)])), sort="delete_bytes")
    assert [(r.partition, r.delete_bytes, r.delete_bytes_ratio, r.oldest_delete_at) for r in found.rows] == [
        ("day=20", 50_000, 0.005, (NOW - 9 * HOUR) // 1_000),
        ("day=19", None, None, None),
    ], "rows of earlier versions do not know them"


def test_two_specs_of_one_text_are_two_partitions() -> None:
    rows = [full(1, MIDNIGHT, part("1", 3), part("1", 4, spec_id=1))]
    found = page(parts(lake(rows, [moved(1, MIDNIGHT)])))
    assert [(r.partition, r.spec_id, r.data_files) for r in found.rows] == [("day=1", 1, 4), ("day=1", 0, 3)]


def test_skew_is_computed_from_the_partitions_where_the_row_has_none() -> None:
    rows = [full(1, MIDNIGHT, part("1", 10), part("2", 10), part("3", 59))]
    assert page(parts(lake(rows, [moved(1, MIDNIGHT)]))).after.skew_max_over_median == 5.9
    told = [full(1, MIDNIGHT, part("1", 10), skew_max_over_median=7.0)]
    assert page(parts(lake(told, [moved(1, MIDNIGHT)]))).after.skew_max_over_median == 7.0
    named = [full(1, MIDNIGHT, part("1", 10), total=5_000)]
    assert page(parts(lake(named, [moved(1, MIDNIGHT)]))).after.skew_max_over_median is None


def test_a_very_long_range_has_its_leaderboard_without_the_picture() -> None:
    found = page(parts(burst()), start=NOW - 60 * 24 * HOUR)
    assert (found.heat, files_of(found)) == (None, {"day=20": 436, "day=21": 5})
    assert "heat_left_out" in {note.code for note in found.notes}


def test_numbers_that_a_row_does_not_know_stay_unknown() -> None:
    rows = [full(1, MIDNIGHT, part("1", 3), files=None, total_bytes=None)]
    found = page(parts(lake(rows, [moved(1, MIDNIGHT)])))
    assert (found.rows[0].files_share, found.rows[0].bytes_share, found.after.histogram) == (None, None, None)


def test_terms_of_delta_are_explained() -> None:
    rows = [full(1, MIDNIGHT, part("1", 3), format="delta")]
    found = page(parts(lake(rows, [moved(1, MIDNIGHT)])))
    assert [note.code for note in found.notes] == ["deletes_are_vectors"]


def test_a_table_that_was_never_readable_has_a_page_that_says_why() -> None:
    engine = burst()
    damage = change("unreadable", NOW, "metadata_missing", table_uuid=None, table="gone", detail="the file is gone")
    engine.append([], [damage])
    query = PartitionsQuery(table=TableName("lake", "sales", "gone"), at=NOW // 1000, start=0, end=1)
    found = asyncio.run(parts(engine).backend.partitions.page(query))
    assert (found.status, found.notes[0].code) == ("unreadable", "unreadable")
    assert "the file is gone" in found.notes[0].sentence


def test_an_unknown_table_and_an_instant_before_1970_are_errors() -> None:
    made = parts(burst())
    query = PartitionsQuery(table=TableName("lake", "sales", "none"), at=1, start=0, end=1)
    with pytest.raises(NotFound):
        asyncio.run(made.backend.partitions.page(query))
    with pytest.raises(InvalidInput, match="1970"):
        page(made, at=10**9, compare=-(10**9))


def test_meta_tables_that_fail_are_an_error_and_not_an_empty_page() -> None:
    engine = burst()
    made = parts(engine)
    engine.failure = SourceUnavailable("meta", "no storage")
    with pytest.raises(SourceUnavailable):
        page(made)
