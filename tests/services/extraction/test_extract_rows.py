"""Rows do not depend on how passes were split: partitions walk back to truth, shapes come at fixed commits."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from pyiceberg.table.sorting import SortField, SortOrder
from pyiceberg.transforms import BucketTransform, IdentityTransform

from lakes import BY_REGION, SCHEMA, Lake, facts, path_of, placeholders, rows
from limnograph.domain.facts.meta_tables import SnapshotFact
from metadata_records import list_line
from metadata_writer import DATA, EQUALITY_DELETES, Field, File, Manifest, MetadataTable

BUCKET = Field(1, "id_bucket", "bucket[4]", "int")
STEPS = st.lists(
    st.sampled_from(["append", "wide", "delete", "compact", "merge", "deletes", "spec", "branch", "rollback", "day"]),
    min_size=1,
    max_size=12,
)


def grown(folder: Path, steps: list[str], seed: int) -> MetadataTable:
    """A table with a history; partitioned by region and, after a step `spec`, by a bucket too."""
    rng, table = random.Random(seed), MetadataTable(folder, seed=seed)

    def new(count: int, content: int = DATA) -> list[File]:
        bucket = [rng.randrange(3)] if len(table.specs[-1]) > 1 else []
        regions = [rng.choice(["eu", "us", None]) for _ in range(count)]
        sizes = [{"records": rng.randrange(9), "size": rng.randrange(1, 2**29)} for _ in range(count)]
        return [table.file(r, *bucket, content=content, **size) for r, size in zip(regions, sizes, strict=True)]

    actions: dict[str, Callable[[], object]] = {
        "append": lambda: table.append(*new(2)),
        "wide": lambda: table.append(*new(9)),
        "delete": lambda: table.delete(*table.files()[:1]),
        "compact": lambda: table.compact(*table.files()[:4]),
        "merge": table.rewrite_manifests,
        "deletes": lambda: table.overwrite(new(1, EQUALITY_DELETES), table.files()[:1]),
        "spec": lambda: len(table.specs) > 1 or table.set_spec((Field(2, "region"), BUCKET)),
        "branch": lambda: table.append(*new(1), branch="audit"),
        "rollback": lambda: len(table.retained()) > 1 and table.set_main(table.retained()[1]),
        "day": lambda: table.tick(86_400_000),
    }
    for step in steps:
        table.tick(rng.choice([1_000, 400_000, 700_000]))
        actions[step]()
    return table


def plain(found: list[SnapshotFact]) -> dict[int, SnapshotFact]:
    return {fact.snapshot_id: structs.replace(fact, observed_at=None) for fact in found}


@settings(max_examples=25, deadline=None)
@given(STEPS, st.integers(0, 99), st.data())
def test_rows_are_the_same_however_passes_are_split(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], seed: int, data: st.DataObject
) -> None:
    table = grown(tmp_path_factory.mktemp("split"), steps, seed)
    whole = plain(facts(table.metadata_location))
    ids = [fact.snapshot_id for fact in sorted(whole.values(), key=lambda fact: fact.sequence_number or 0)]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(ids)), max_size=3)))
    split: dict[int, SnapshotFact] = {}
    for start, end in zip([0, *cuts], [*cuts, len(ids)], strict=True):
        known = [fact.snapshot_id for fact in split.values() if fact.partitions is not None]
        split |= plain(facts(table.metadata_location, set(ids[start:end]), with_partitions=known))
    assert split == whole


@settings(max_examples=25, deadline=None)
@given(STEPS, st.integers(0, 99))
def test_partitions_walk_back_to_what_the_table_held(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], seed: int
) -> None:
    table = grown(tmp_path_factory.mktemp("walk"), steps, seed)
    found = {fact.snapshot_id: fact for fact in facts(table.metadata_location)}
    for snapshot_id, fact in found.items():
        held = overlaid(found, snapshot_id)
        data = [file for file in table.live[snapshot_id].values() if file.content == DATA]
        assert sum(number for number, _ in held.values()) == fact.total_data_files == len(data)
        assert sum(size for _, size in held.values()) == fact.total_bytes == sum(file.size for file in data)
        assert len([key for key, (number, _) in held.items() if number]) == len(
            {(f.spec_id, f.partition) for f in data}
        )


def overlaid(found: dict[int, SnapshotFact], snapshot_id: int) -> dict[tuple[int | None, str], tuple[int, int]]:
    """Data files and bytes by partition: from the nearest full row up to this one."""
    chain = [found[snapshot_id]]
    while chain[-1].partitions_scope == "changed":
        chain.append(found[chain[-1].partitions_base or 0])
    held: dict[tuple[int | None, str], tuple[int, int]] = {}
    for fact in reversed(chain):
        held |= {(p.spec_id, p.partition): (p.data_files or 0, p.bytes or 0) for p in fact.partitions or []}
    return held


def test_the_first_row_and_the_first_of_each_day_list_all_partitions(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    for _ in range(2):
        table.append(table.file("eu"))
        table.append(table.file("us"))
        table.tick(86_400_000)
    assert [fact.partitions_scope for fact in facts(table.metadata_location)] == ["full", "changed"] * 2


def test_shape_metrics_are_computed_every_ten_minutes_or_when_a_tenth_of_the_manifests_is_new(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.now_ms -= table.now_ms % 600_000
    for _ in range(14):
        table.append(table.file("eu"))
    table.tick(600_000)
    table.append(table.file("eu"))
    shaped = [fact.shape_at == fact.committed_at for fact in facts(table.metadata_location)]
    # The first ten wrote at least one in ten of their manifests.
    assert shaped == [True] * 10 + [False] * 4 + [True]
    unshaped = [fact for fact in facts(table.metadata_location) if fact.shape_at is None]
    assert {(f.debt_files, f.overlap_depth_max, f.skew_cv) for f in unshaped} == {(None, None, None)}


def test_debt_counts_small_files_and_files_of_older_specs_together(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(*(table.file(region, size=100) for region in ("eu", "us") for _ in range(3)))
    (apart,) = facts(table.metadata_location)
    assert (apart.debt_files, apart.debt_groups, apart.debt_bytes) == (0, 0, 0)
    table.set_spec((Field(2, "region"), BUCKET))
    table.append(table.file("eu", 1, size=2**30))
    together = facts(table.metadata_location)[-1]
    assert (together.debt_files, together.debt_groups, together.debt_bytes) == (7, 2, 600 + 2**30)


def test_older_files_are_planned_with_the_partition_of_nulls(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(*(table.file(region, size=100) for region in ("eu", "us")))
    table.set_spec((Field(2, "region"), BUCKET))
    table.append(table.file(None, 1, size=100), *(table.file(None, None, size=100) for _ in range(2)))
    assert facts(table.metadata_location)[-1].debt_files == 0
    table.append(table.file(None, None, size=100))
    found = facts(table.metadata_location)[-1]
    assert (found.debt_files, found.debt_groups, found.debt_bytes) == (5, 1, 500)


def test_skew_is_of_partition_bytes_and_unknown_without_partitions(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path / "by_region")
    table.append(table.file("eu", size=300), *(table.file(r, size=100) for r in ("us", "asia")))
    (fact,) = facts(table.metadata_location)
    assert (fact.skew_max_over_median, fact.skew_top1_share) == (3.0, 0.6)
    flat = MetadataTable(tmp_path / "flat", spec=())
    flat.append(flat.file(size=300), flat.file(size=100))
    (fact,) = facts(flat.metadata_location)
    assert (fact.skew_max_over_median, fact.skew_gini, fact.debt_files) == (None, None, 0)


def test_the_fullest_partition_is_counted_and_unknown_without_partitions(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path / "by_region")
    table.append(table.file("us"), *(table.file("eu") for _ in range(3)))
    table.append(*(table.file("us") for _ in range(4)))
    assert [fact.partition_files_max for fact in facts(table.metadata_location)] == [3, 5]
    flat = MetadataTable(tmp_path / "flat", spec=())
    flat.append(flat.file(), flat.file())
    assert facts(flat.metadata_location)[0].partition_files_max is None


def test_a_new_partition_is_compared_with_the_same_period_before(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path / "by_day")
    today = datetime.fromtimestamp(table.now_ms / 1_000, UTC).date()
    table.append(*(table.file(f"{today - timedelta(days=n)}", size=100) for n in range(9)))
    table.append(*(table.file(f"{today}", size=200) for _ in range(11)))
    expected = [(f"{today}", 1.0), (f"{today}", 12.0)]
    found = [(fact.hot_partition, fact.hot_partition_ratio) for fact in facts(table.metadata_location)]
    assert found == [(f"region={day}", ratio) for day, ratio in expected]
    other = MetadataTable(tmp_path / "by_region")
    other.append(*(other.file(f"r{n}") for n in range(12)))
    (fact,) = facts(other.metadata_location)
    assert (fact.hot_partition, fact.hot_partition_ratio) == (None, None)


def test_metadata_files_that_the_newest_one_lists_are_counted(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    for _ in range(3):
        table.append(table.file("eu"))
    document = json.loads(path_of(table.metadata_location).read_text())
    listed = len(document["metadata-log"])
    assert listed > 0
    assert {fact.metadata_log_entries for fact in facts(table.metadata_location)} == {listed}


def test_overlap_is_of_the_first_sort_field_else_of_the_partition_column(lake: Lake) -> None:
    table = lake.table()
    for _ in range(3):
        table.append(rows("eu", "us"))
    by_region = facts(table.metadata_location)[-1]
    assert (by_region.overlap_depth_max, by_region.overlap_depth_mean) == (3, 3.0)
    ordered = lake.catalog.create_table(
        "sales.ordered", SCHEMA, partition_spec=BY_REGION, sort_order=SortOrder(SortField(1, IdentityTransform()))
    )
    placeholders(ordered, 2)
    assert facts(ordered.metadata_location)[-1].overlap_depth_max == 2
    hashed = lake.catalog.create_table("sales.hashed", SCHEMA, sort_order=SortOrder(SortField(1, BucketTransform(4))))
    hashed.append(rows("eu"))
    assert facts(hashed.metadata_location)[-1].overlap_depth_max is None


class Boasting(MetadataTable):
    """A table whose manifest lists claim two million files a manifest."""

    @staticmethod
    def line(manifest: Manifest) -> dict[str, Any]:
        return list_line(manifest) | {"added_files_count": 2_000_000}


def test_beyond_a_million_files_debt_and_overlap_are_unknown_with_a_note_and_the_row_is_ok(tmp_path: Path) -> None:
    table = Boasting(tmp_path)
    table.append(table.file("eu"), table.file("us", size=3_000))
    (fact,) = facts(table.metadata_location)
    notes = ["shape_too_large", "manifest_list_disagrees"]
    assert (fact.status, fact.problems, fact.tier) == ("ok", notes, "entries")
    assert (fact.debt_files, fact.overlap_depth_max, fact.total_data_files) == (None, None, 2)
    assert (fact.skew_top1_share, fact.shape_at) == (0.75, fact.committed_at)


def test_the_debt_of_a_table_without_a_usable_target_is_unknown(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.set_property("write.target-file-size-bytes", "huge")
    table.append(*(table.file("eu") for _ in range(9)))
    (fact,) = facts(table.metadata_location)
    assert (fact.target_file_bytes, fact.small_files, fact.debt_files) == (None, None, None)
    assert fact.skew_gini == 0
