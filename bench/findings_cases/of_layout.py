"""Cases of layout: partitions that are too large or too many, and files that overlap."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from findings_cases.cases import fault, look_alike
from findings_cases.lake import GeneratedTable
from findings_cases.scene import DAY, GIB, MIB, START, Scene
from limnograph.analysis.findings.storage.cold_data import KnownReads, PartitionWrite, cold_levels
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros
from metadata_records import BY_REGION, Field

SKEWED = "https://github.com/apache/iceberg/issues/7455"
BY_ID = "https://github.com/apache/iceberg/issues/12888"
TRANSFORMS = "https://github.com/redpanda-data/docs/pull/1042"
DATES = "https://github.com/datafusion-contrib/datafusion-distributed/pull/733"
LATE = "https://github.com/apache/iceberg/issues/2173"
SORTED = "https://github.com/apache/iceberg/issues/8010"
BY_DAY = (Field(2, "dt"),)
BY_USER = (Field(2, "user_id"),)


def _partitioned(rng: random.Random, sizes: list[float], spec: tuple[Field, ...] = BY_REGION) -> GeneratedTable:
    """A partition per size, in target files."""
    table = GeneratedTable(rng, spec)
    files = []
    for place, size in enumerate(sizes):
        whole = max(1, round(size))
        files += [table.file(f"r{place}", share=size / whole) for _ in range(whole)]
    rng.shuffle(files)
    table.later(1).table.append(*files)
    for _ in range(2):
        table.later(2).table.append(table.file("r0", share=0.05))
    return table


@fault("partition_skew", SKEWED)
def one_partition_with_most_of_the_data(rng: random.Random) -> bool:
    sizes = [rng.uniform(0.5, 2) for _ in range(rng.randint(10, 30))]
    sizes[rng.randrange(1, len(sizes))] = rng.uniform(30, 60)
    return _partitioned(rng, sizes).opens("partition_skew")


@look_alike("partition_skew", "https://github.com/apache/iceberg/pull/16855")
def a_long_tail_below_ten_times(rng: random.Random) -> bool:
    sizes = [rng.uniform(1, 2) for _ in range(rng.randint(10, 30))]
    sizes[rng.randrange(1, len(sizes))] = rng.uniform(3, 9)
    return _partitioned(rng, sizes).opens("partition_skew")


@look_alike("partition_skew", "https://github.com/apache/iceberg/issues/7406")
def few_partitions(rng: random.Random) -> bool:
    sizes = [rng.uniform(0.5, 2) for _ in range(rng.randint(2, 8))]
    sizes[0] = rng.uniform(30, 60)
    return _partitioned(rng, sizes).opens("partition_skew")


@look_alike("partition_skew", SKEWED)
def partitions_smaller_than_a_file(rng: random.Random) -> bool:
    sizes = [rng.uniform(0.001, 0.01) for _ in range(rng.randint(10, 30))]
    sizes[rng.randrange(1, len(sizes))] = rng.uniform(0.3, 0.9)
    return _partitioned(rng, sizes).opens("partition_skew")


def _days(rng: random.Random, sizes: dict[int, float], weekly: float = 1.0) -> GeneratedTable:
    """A partition per day, written on that day. `sizes`: files of the days, by days before the last one; `weekly`:
    times as many on the last day's weekday.
    """
    table = GeneratedTable(rng, BY_DAY)
    midnight = table.table.now_ms // (DAY // 1_000) * (DAY // 1_000)
    last = max(sizes)
    for before in range(last, -1, -1):
        at = midnight + (last - before) * (DAY // 1_000) + rng.randint(6, 16) * 3_600_000
        day = datetime.fromtimestamp(at / 1_000, UTC).date() - timedelta(
            days=round(sizes.get(-1, 0)) if not before else 0
        )
        files = sizes.get(before, 4) * (weekly if before % 7 == 0 and before else 1)
        table.table.now_ms = at
        added = [table.file(str(day), share=rng.uniform(0.4, 0.8)) for _ in range(max(1, round(files)))]
        table.table.append(*added)
    return table.later(0.5)


@look_alike("partition_skew", "https://github.com/re-data/re-data/issues/392")
def the_newest_day_is_large(rng: random.Random) -> bool:
    """That is `hot_partition`: the table is not skewed because of one busy day."""
    return _days(rng, {rng.randint(12, 30): 4, 0: rng.randint(55, 120)}).opens("partition_skew")


@fault("hot_partition", LATE)
def a_day_of_ten_times_the_data(rng: random.Random) -> bool:
    days = rng.randint(10, 30)
    table = _days(rng, {days: 4, 0: rng.randint(55, 120)})
    return table.opens("hot_partition")


@look_alike("hot_partition", LATE)
def a_new_table_with_few_days(rng: random.Random) -> bool:
    return _days(rng, {rng.randint(2, 6): 4, 0: rng.randint(55, 120)}).opens("hot_partition")


@look_alike("hot_partition", "https://github.com/re-data/re-data/issues/392")
def the_large_day_of_each_week(rng: random.Random) -> bool:
    return _days(rng, {60: 4, 0: rng.randint(50, 70)}, weekly=15).opens("hot_partition")


@look_alike("hot_partition", "https://github.com/re-data/re-data/issues/392")
def a_day_of_a_few_times_the_data(rng: random.Random) -> bool:
    return _days(rng, {rng.randint(10, 30): 4, 0: rng.randint(6, 28)}).opens("hot_partition")


@look_alike("hot_partition", LATE)
def a_backfill_of_an_old_day(rng: random.Random) -> bool:
    return _days(rng, {rng.randint(12, 30): 4, 0: rng.randint(55, 90), -1: rng.randint(4, 9)}).opens("hot_partition")


def _many(rng: random.Random, partitions: int, share: float, spec: tuple[Field, ...], kind: str = "string") -> bool:
    """Partitions with one file each, of a share of the target."""
    table = GeneratedTable(rng, spec)
    table.table.schemas[0][1] = {"id": 2, "name": spec[0].name, "required": False, "type": kind}
    table.table.write()
    first = datetime.fromtimestamp(table.table.now_ms / 1_000, UTC).date() - timedelta(days=partitions - 1)
    names: list[object] = [f"u{place}" for place in range(partitions)]
    if spec[0].kind != "string":
        names = [19_000 + place for place in range(partitions)]
    elif spec[0].name == "dt":
        names = [str(first + timedelta(days=place)) for place in range(partitions)]
    table.table.append(*(table.file(name, share=share * rng.uniform(0.5, 1.5)) for name in names))
    for _ in range(2):
        table.later(1).table.append(table.file(names[-1], share=0.01))
    return table.opens("high_cardinality_partitioning")


@fault("high_cardinality_partitioning", BY_ID)
def a_partition_per_user(rng: random.Random) -> bool:
    return _many(rng, rng.randint(1_010, 1_400), rng.uniform(0.0005, 0.06), BY_USER)


@fault("high_cardinality_partitioning", "https://github.com/ClickHouse/ClickHouse/issues/86210")
def a_partition_per_prefix(rng: random.Random) -> bool:
    return _many(rng, rng.randint(1_010, 1_400), rng.uniform(0.0005, 0.06), (Field(2, "path_trunc", "truncate[4]"),))


@look_alike("high_cardinality_partitioning", TRANSFORMS)
def a_bucket_transform(rng: random.Random) -> bool:
    spec = (Field(2, "id_bucket", "bucket[2048]", "int"),)
    return _many(rng, rng.randint(1_010, 1_400), rng.uniform(0.0005, 0.06), spec)


@look_alike("high_cardinality_partitioning", TRANSFORMS)
def years_of_days(rng: random.Random) -> bool:
    spec = (Field(2, "ts_day", "day", "int"),)
    return _many(rng, rng.randint(1_010, 1_400), rng.uniform(0.0005, 0.06), spec, "timestamptz")


@look_alike("high_cardinality_partitioning", DATES)
def a_date_column_as_it_is(rng: random.Random) -> bool:
    spec = (Field(2, "pickup_date", "identity", "int"),)
    return _many(rng, rng.randint(1_010, 1_400), rng.uniform(0.0005, 0.06), spec, "date")


@look_alike("high_cardinality_partitioning", "https://github.com/cchenax/streamforge-ai/pull/56")
def dates_as_texts(rng: random.Random) -> bool:
    return _many(rng, rng.randint(1_010, 1_400), rng.uniform(0.0005, 0.06), BY_DAY)


@look_alike("high_cardinality_partitioning", "https://github.com/apache/iceberg/issues/3494")
def large_partitions_by_customer(rng: random.Random) -> bool:
    return _many(rng, rng.randint(1_010, 1_400), rng.uniform(0.4, 3), BY_USER)


@look_alike("high_cardinality_partitioning", "https://github.com/os-climate/os_c_data_commons/issues/151")
def hundreds_of_partitions(rng: random.Random) -> bool:
    return _many(rng, rng.randint(100, 950), rng.uniform(0.0005, 0.06), BY_USER)


def _overlapping(rng: random.Random, depth: int, files: int) -> bool:
    scene = Scene(rng)
    for _ in range(4):
        scene.commit(overlap_depth_max=depth, partition_files_max=files, total_data_files=files * rng.randint(1, 20))
    return scene.opens("overlap")


@fault("overlap", SORTED)
def a_sort_order_that_writers_ignore(rng: random.Random) -> bool:
    files = rng.randint(20, 4_000)
    return _overlapping(rng, rng.randint(max(10, files // 2 + 1), files), files)


@look_alike("overlap", SORTED)
def a_table_that_was_sorted(rng: random.Random) -> bool:
    return _overlapping(rng, rng.randint(1, 4), rng.randint(20, 4_000))


@look_alike("overlap", "https://github.com/apache/iceberg/pull/3323")
def the_newest_files_of_a_sorted_table(rng: random.Random) -> bool:
    files = rng.randint(100, 4_000)
    return _overlapping(rng, rng.randint(10, files // 2 - 5), files)


@look_alike("overlap", "https://github.com/apache/iceberg/issues/3494")
def a_partition_with_few_files(rng: random.Random) -> bool:
    files = rng.randint(2, 9)
    return _overlapping(rng, files, files)


def _cold(rng: random.Random, share: float, size: int, written: int, read: int | None) -> bool:
    partitions = rng.randint(20, 300)
    old = round(partitions * share)
    held = [
        PartitionWrite(size // partitions, Micros(START - (written if place < old else rng.randint(0, 20)) * DAY))
        for place in range(partitions)
    ]
    reads = KnownReads(Micros(START - 200 * DAY), None if read is None else Micros(START - read * DAY))
    return any(each.is_over for each in cold_levels(held, size, reads, START, FindingLimits()))


@fault("cold_data", "https://docs.aws.amazon.com/AmazonS3/latest/userguide/storage-class-intro.html")
def years_that_no_one_reads(rng: random.Random) -> bool:
    return _cold(rng, rng.uniform(0.6, 1), rng.randint(30, 4_000) * GIB, rng.randint(95, 900), None)


@look_alike("cold_data", "https://github.com/dbt-labs/dbt-core/issues/4450")
def an_archive_that_is_read(rng: random.Random) -> bool:
    return _cold(rng, rng.uniform(0.6, 1), rng.randint(30, 4_000) * GIB, rng.randint(95, 900), rng.randint(0, 85))


@look_alike("cold_data", LATE)
def a_table_that_is_mostly_new(rng: random.Random) -> bool:
    return _cold(rng, rng.uniform(0.05, 0.45), rng.randint(30, 4_000) * GIB, rng.randint(95, 900), None)


@look_alike("cold_data", "https://github.com/apache/iceberg/issues/1476")
def a_small_reference_table(rng: random.Random) -> bool:
    return _cold(rng, 1, rng.randint(1, 9_000) * MIB, rng.randint(95, 900), None)


@look_alike("cold_data", LATE)
def data_of_the_last_quarter(rng: random.Random) -> bool:
    return _cold(rng, 1, rng.randint(30, 4_000) * GIB, rng.randint(20, 85), None)
