"""extract: facts equal what PyIceberg and the manifests say; what is not known is null, never 0."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyiceberg.expressions import EqualTo

from lakes import Lake, facts, path_of, placeholders, rewrite_metadata, rows, strip_summaries
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.metadata.manifests import histogram_percentile, size_bin

COUNTS = (
    *("total_data_files", "total_delete_files", "total_records", "total_bytes"),
    *("added_data_files", "added_records", "added_bytes", "removed_data_files", "removed_records", "removed_bytes"),
)


def counts(found: list[SnapshotFact]) -> list[tuple[int | None, ...]]:
    return [tuple(getattr(fact, name) for name in COUNTS) for fact in found]


def test_appends_add_up_and_agree_with_the_summaries(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu", "us"))
    table.append(rows("eu"))
    first, second = facts(table.metadata_location)
    assert (first.total_data_files, first.added_data_files, first.total_records) == (2, 2, 2)
    assert (second.total_data_files, second.added_data_files, second.total_records) == (3, 1, 3)
    assert second.parent_id == first.snapshot_id
    assert (second.tier, second.status, second.problems, second.summary_mismatch) == ("entries", "ok", [], [])
    assert (first.on_main, second.on_main, second.refs) == (True, True, ["main"])
    files = table.inspect.files().to_pylist()
    assert second.total_bytes == sum(file["file_size_in_bytes"] for file in files)
    assert sum(second.file_size_histogram or []) == 3
    assert second.small_files == 3
    assert second.metadata_bytes == path_of(table.metadata_location).stat().st_size


def test_a_delete_removes_files_and_an_overwrite_does_both(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu", "us"))
    table.delete(EqualTo("region", "us"))
    table.overwrite(rows("asia"))
    found = facts(table.metadata_location)
    deleted = next(fact for fact in found if fact.operation == "delete")
    assert (deleted.removed_data_files, deleted.removed_records, deleted.total_data_files) == (1, 1, 1)
    assert (found[-1].total_data_files, found[-1].total_records) == (1, 1)
    assert all(fact.summary_mismatch == [] for fact in found)


@settings(max_examples=8, deadline=None)
@given(st.lists(st.sampled_from(["append", "append_two", "delete_eu", "overwrite"]), min_size=1, max_size=7))
def test_files_equal_the_parents_files_plus_added_minus_removed(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    table = Lake(tmp_path_factory.mktemp("chain")).table()
    for step in steps:
        if step == "append":
            table.append(rows(random.choice(["eu", "us"])))
        elif step == "append_two":
            table.append(rows("eu", "us"))
        elif step == "delete_eu":
            table.delete(EqualTo("region", "eu"))
        else:
            table.overwrite(rows("asia"))
    found = facts(table.metadata_location)
    by_id = {fact.snapshot_id: fact for fact in found}
    for fact in found:
        parent = by_id.get(fact.parent_id or 0)
        for what in ("data_files", "records", "bytes"):
            before = getattr(parent, f"total_{what}") if parent else 0
            moved = getattr(fact, f"added_{what}") - getattr(fact, f"removed_{what}")
            assert getattr(fact, f"total_{what}") == before + moved


def test_the_first_row_lists_all_partitions_and_later_ones_the_changed_ones(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu", "us"))
    table.append(rows("eu"))
    first, second = facts(table.metadata_location)
    assert first.partitions_scope == "full"
    assert {p.partition: p.data_files for p in first.partitions or []} == {"region=eu": 1, "region=us": 1}
    assert (second.partitions_scope, second.partitions_base) == ("changed", first.snapshot_id)
    (changed,) = second.partitions or []
    assert (changed.partition, changed.data_files, changed.added_data_files, changed.records) == ("region=eu", 2, 1, 2)
    assert changed.last_committed_at == second.committed_at
    assert second.partitions_total == 2


def test_an_emptied_partition_is_listed_with_zero_files(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu", "us"))
    table.delete(EqualTo("region", "us"))
    gone = facts(table.metadata_location)[-1]
    (state,) = gone.partitions or []
    assert (state.partition, state.data_files, state.removed_data_files) == ("region=us", 0, 1)


def test_a_row_whose_parent_has_no_partitions_lists_all(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu", "us"))
    table.append(rows("eu"))
    second = table.current_snapshot()
    assert second is not None
    (alone,) = facts(table.metadata_location, {second.snapshot_id})
    assert alone.partitions_scope == "full"
    (based,) = facts(table.metadata_location, {second.snapshot_id}, with_partitions=[second.parent_snapshot_id])
    assert based.partitions_scope == "changed"


def test_beyond_a_thousand_changed_partitions_the_row_is_a_full_one_with_the_largest(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))
    table.append(rows(*(f"r{i}" for i in range(1_050))))
    wide = facts(table.metadata_location)[-1]
    assert wide.partitions_scope == "full"
    assert len(wide.partitions or []) == 1_000
    assert (wide.partitions_total, wide.changed_partitions) == (1_051, 1_050)


def test_stripped_summaries_change_no_count(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu", "us"))
    table.delete(EqualTo("region", "us"))
    stripped = rewrite_metadata(table, strip_summaries)
    assert counts(facts(stripped)) == counts(facts(table.metadata_location))


def test_without_manifest_list_and_summary_every_number_is_null(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu", "us"))
    stripped = rewrite_metadata(table, strip_summaries)
    snapshot = table.current_snapshot()
    assert snapshot is not None
    path_of(snapshot.manifest_list).unlink()
    (fact,) = facts(stripped)
    numbers = [name for name in SnapshotFact.__struct_fields__ if name.startswith(("total_", "added_", "removed_"))]
    assert [name for name in numbers if getattr(fact, name) is not None] == []
    assert (fact.manifests, fact.file_size_p50, fact.small_files, fact.partitions) == (None, None, None, None)
    assert (fact.status, fact.tier, fact.problems) == ("partial", "summary", ["manifest_list_missing"])


def test_without_manifest_list_the_numbers_of_the_summary_are_used(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu", "us"))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    path_of(snapshot.manifest_list).unlink()
    (fact,) = facts(table.metadata_location)
    assert (fact.total_data_files, fact.total_records, fact.tier, fact.status) == (2, 2, "summary", "partial")


def test_a_missing_manifest_leaves_the_counts_of_the_manifest_list(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu", "us"))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    path_of(snapshot.manifests(table.io)[0].manifest_path).unlink()
    (fact,) = facts(table.metadata_location)
    assert (fact.total_data_files, fact.total_records, fact.tier) == (2, 2, "manifest_list")
    assert (fact.status, fact.problems, fact.file_size_histogram) == ("partial", ["manifest_missing"], None)


def test_a_truncated_manifest_list_is_reported_as_damage_and_does_not_crash(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    file = path_of(snapshot.manifest_list)
    file.write_bytes(file.read_bytes()[:-20])
    (fact,) = facts(table.metadata_location)
    assert fact.problems == ["manifest_list_unreadable"]


def test_beyond_fifty_new_snapshots_manifest_entries_are_read_for_the_head_only(lake: Lake) -> None:
    table = lake.table()
    for index in range(51):
        placeholders(table, 2, tag=f"t{index}", size=1_000)
    found = facts(table.metadata_location)
    assert [fact.tier for fact in found] == ["manifest_list"] * 50 + ["entries"]
    assert [fact.total_data_files for fact in found] == [2 * (i + 1) for i in range(51)]
    assert [fact.total_bytes for fact in found] == [2_000 * (i + 1) for i in range(51)]
    assert {fact.added_data_files for fact in found} == {2}
    assert found[0].total_position_deletes == 0
    stripped = facts(rewrite_metadata(table, strip_summaries))
    assert [fact.total_bytes for fact in stripped[:50]] == [None] * 50
    assert counts(stripped)[-1] == counts(found)[-1]


def test_a_contradicting_summary_is_recorded_and_not_trusted(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))

    def lie(document: dict) -> None:
        document["snapshots"][0]["summary"] |= {"total-data-files": "7", "total-files-size": "1"}

    (fact,) = facts(rewrite_metadata(table, lie))
    assert fact.total_data_files == 1
    assert fact.summary_mismatch == ["total-data-files", "total-files-size"]


def test_a_rolled_back_snapshot_is_not_on_main(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))
    first = table.current_snapshot()
    table.append(rows("us"))
    assert first is not None
    table.manage_snapshots().set_current_snapshot(first.snapshot_id).commit()
    table.manage_snapshots().create_tag(first.snapshot_id, "v1").commit()
    found = facts(table.metadata_location)
    assert [fact.on_main for fact in found] == [True, False]
    assert found[0].refs == ["main", "v1"]


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ({"app-id": "a-1", "engine-name": "Spark", "engine-version": "4.1"}, ("spark", "a-1", "4.1", None)),
        ({"spark.app.id": "local-1"}, ("spark", "local-1", None, None)),
        ({"trino_query_id": "q7"}, ("trino", None, None, "q7")),
        ({"flink.job-id": "j"}, ("flink", None, None, None)),
        ({}, (None, None, None, None)),
    ],
)
def test_writers_are_recognised_by_their_summary_properties(
    lake: Lake, summary: dict[str, str], expected: tuple
) -> None:
    table = lake.table()
    table.append(rows("eu"), snapshot_properties=summary)
    (fact,) = facts(table.metadata_location)
    assert (fact.engine, fact.app_id, fact.engine_version, fact.query_id) == expected


def test_the_target_size_comes_from_the_table(lake: Lake) -> None:
    table = lake.table(**{"write.target-file-size-bytes": "1000000"})
    placeholders(table, 3, size=749_999)
    placeholders(table, 2, size=750_000, tag="q")
    fact = facts(table.metadata_location)[-1]
    assert (fact.target_file_bytes, fact.small_files) == (1_000_000, 3)


def test_percentiles_are_in_the_bin_of_the_exact_value() -> None:
    sizes = sorted(random.Random(7).choices(range(1, 2**31), k=999))
    histogram = [0] * 21
    for size in sizes:
        histogram[size_bin(size)] += 1
    for share in (0.1, 0.5, 0.9):
        exact = sizes[round(share * len(sizes))]
        assert abs(size_bin(histogram_percentile(histogram, share) or 0) - size_bin(exact)) <= 1
    assert histogram_percentile([0] * 21, 0.5) is None


def test_format_v1_is_counted_without_sequence_numbers(lake: Lake) -> None:
    table = lake.table(**{"format-version": "1"})
    table.append(rows("eu", "us"))
    table.delete(EqualTo("region", "us"))
    found = facts(table.metadata_location)
    assert [(f.format_version, f.total_data_files, f.status) for f in found] == [(1, 2, "ok"), (1, 1, "ok")]
    assert found[-1].removed_data_files == 1


def test_a_merged_manifest_counts_old_files_as_existing(lake: Lake) -> None:
    table = lake.table(**{"commit.manifest-merge.enabled": "true", "commit.manifest.min-count-to-merge": "2"})
    for _ in range(4):
        table.append(rows("eu"))
    found = facts(table.metadata_location)
    assert [fact.added_data_files for fact in found] == [1, 1, 1, 1]
    assert [fact.total_data_files for fact in found] == [1, 2, 3, 4]
    assert min(fact.manifests or 9 for fact in found[1:]) == 1
    assert [fact.summary_mismatch for fact in found] == [[]] * 4


FULL = {
    "operation": "append",
    "total-data-files": "5",
    "total-delete-files": "0",
    "total-records": "50",
    "total-files-size": "500",
}


@pytest.mark.parametrize(
    ("summary", "added", "removed"),
    [
        (FULL, (None, None, None), (None, None, None)),
        (FULL | {"added-data-files": "2", "added-records": "9"}, (2, 0, 9), (None, None, None)),
        (FULL | {"added-records": "9"}, (None, 0, 9), (None, None, None)),
        (FULL | {"added-files-size": "9"}, (None, 0, None), (None, None, None)),
        (FULL | {"added-by": "a job"}, (None, None, None), (None, None, None)),
        (FULL | {"operation": "delete", "deleted-data-files": "1"}, (None, None, None), (1, 0, 0)),
        (FULL | {"operation": "overwrite", "added-delete-files": "1"}, (0, 1, 0), (None, None, None)),
        (FULL | {"operation": "replace", "removed-files-size": "7"}, (None, None, None), (0, 0, 0)),
        (FULL | {"operation": "overwrite", "added-records": "-1"}, (None, None, None), (None, None, None)),
        ({"operation": "overwrite", "added-data-files": "3"}, (3, 0, 0), (None, None, None)),
    ],
)
def test_absent_counts_of_a_partly_stripped_summary_are_zero_or_unknown(
    lake: Lake, summary: dict[str, str], added: tuple[int | None, ...], removed: tuple[int | None, ...]
) -> None:
    table = lake.table()
    table.append(rows("eu", "us"))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    path_of(snapshot.manifest_list).unlink()
    (fact,) = facts(rewrite_metadata(table, lambda document: document["snapshots"][0].update(summary=summary)))
    assert (fact.added_data_files, fact.added_delete_files, fact.added_records) == added
    assert (fact.removed_data_files, fact.removed_delete_files, fact.removed_records) == removed
