"""Sums of manifests: arrays add up to what counting entry by entry gives, however manifests are listed or merged."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limnograph.adapters.iceberg.manifests.entries import ADDED, DATA, DELETED, EQUALITY_DELETES, NO_SNAPSHOT, Entries
from limnograph.adapters.iceberg.sums.cache_codec import key_of, opened, pack_sums, sealed, unpack_sums
from limnograph.adapters.iceberg.sums.sums import DELTA, HISTOGRAM, LIVE, TOTALS, ManifestSums, sum_entries
from limnograph.adapters.iceberg.sums.table_sums import Line, TableSums
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.manifests import size_bin

SMALL_BELOW = 20_000
PARTITIONS = ["", "day=1", "day=2", "day=null"]

Row = tuple[int, int, bool, int, int, int, int]
"""Status, content, deletion vector, snapshot, records, size, partition."""
COMMITS = {1: 300, 2: 100, 3: 200}
"""Instants of the snapshots that are retained."""
ROWS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.integers(0, 2),
        st.booleans(),
        st.sampled_from([NO_SNAPSHOT, 1, 2, 3]),
        st.integers(0, 1_000),
        st.integers(0, 40_000),
        st.integers(0, 3),
    ),
    max_size=25,
)


def entries(rows: list[Row]) -> Entries:
    columns = list(zip(*rows, strict=True)) if rows else [()] * 7
    dtypes = (np.int8, np.int8, np.bool_, np.int64, np.int64, np.int64, np.int32)
    arrays = [np.array(column, dtype) for column, dtype in zip(columns, dtypes, strict=True)]
    status, content, is_dv, snapshot, records, size, partition = arrays
    return Entries(status, content, is_dv & (content == 1), snapshot, records, size, partition, PARTITIONS)


def line(path: str, spec_id: int = 0, **other: Any) -> Line:
    return Line(path, 1, spec_id, other.get("deletes", False), other.get("added", 1))


def summed(*manifests: list[Row]) -> tuple[TableSums, list[Line]]:
    table, lines = TableSums(), []
    for number, rows in enumerate(manifests):
        lines.append(line(f"m{number}", number % 2))
        table.add(lines[-1], sum_entries(entries(rows), SMALL_BELOW, number % 2))
    return table, lines


def counted(manifests: list[tuple[int, list[Row]]], snapshot_id: int) -> dict[str, Any]:
    """The same numbers, entry by entry. `manifests`: spec id and entries."""
    totals: Counter[str] = Counter()
    delta: Counter[str] = Counter()
    states: dict[tuple[int, str], Counter[str]] = {}
    touched: set[tuple[int, str]] = set()
    writers: dict[tuple[int, str], set[int]] = {}
    histogram: Counter[int] = Counter()
    for spec_id, rows in manifests:
        for status, content, is_dv, snapshot, records, size, partition in rows:
            key, is_data = (spec_id, PARTITIONS[partition]), content == DATA
            own = {"data_files": is_data, "delete_files": not is_data} | (
                {"records": records, "bytes": size} if is_data else {}
            )
            if status != DELETED:
                small = is_data and size < SMALL_BELOW
                totals.update(own | {"small_files": small})
                held = own | {"small_files": small, "delete_bytes": 0 if is_data else size}
                states.setdefault(key, Counter()).update(held)
                if not is_data:
                    writers.setdefault(key, set()).add(snapshot)
                if is_data:
                    histogram[size_bin(size)] += 1
                else:
                    kind = "equality_deletes" if content == EQUALITY_DELETES else "position_deletes"
                    totals.update({"delete_bytes": size, kind: records, "dvs": is_dv and content == 1})
            if status in {ADDED, DELETED} and snapshot == snapshot_id:
                touched.add(key)
                delta.update(
                    {f"{'added' if status == ADDED else 'removed'}_{name}": value for name, value in own.items()}
                )
    oldest = {
        key: min(COMMITS[each] for each in ids) if ids <= COMMITS.keys() else None for key, ids in writers.items()
    }
    found = {"totals": totals, "delta": delta, "states": states, "touched": touched, "histogram": histogram}
    return {**found, "oldest": oldest}


@settings(deadline=None)
@given(st.lists(ROWS, max_size=4), st.lists(st.integers(0, 3), max_size=6), st.integers(1, 3))
def test_the_numbers_of_a_snapshot_are_the_sum_of_the_entries_of_its_manifests(
    manifests: list[list[Row]], listed: list[int], snapshot_id: int
) -> None:
    table, lines = summed(*manifests)
    listed = [number for number in listed if number < len(lines)]
    weights = table.weights(lines[number] for number in listed)
    found = table.select(weights, snapshot_id)
    expected = counted([(number % 2, manifests[number]) for number in listed], snapshot_id)
    assert dict(zip(TOTALS, found.totals.tolist(), strict=False)) == {n: expected["totals"][n] for n in TOTALS}
    bins = found.totals[HISTOGRAM].tolist()
    assert bins == [expected["histogram"][index] for index in range(len(bins))]
    assert dict(zip(DELTA, found.delta.tolist(), strict=True)) == {name: expected["delta"][name] for name in DELTA}
    assert {table.partitions[place] for place in found.touched} == expected["touched"]
    assert {table.partitions[p] for p in np.flatnonzero(found.live_partitions)} == set(expected["states"])
    states = table.states(weights)
    for place, key in enumerate(table.partitions):
        wanted = expected["states"].get(key, Counter())
        assert dict(zip(LIVE, states[:, place].tolist(), strict=True)) == {name: wanted[name] for name in LIVE}
    oldest = table.oldest_deletes(weights, np.arange(len(table.partitions)), COMMITS)
    assert {table.partitions[place]: at for place, at in oldest.items()} == expected["oldest"]


@settings(deadline=None)
@given(st.lists(ROWS, min_size=2, max_size=4))
def test_forgetting_manifests_leaves_the_others_unchanged(manifests: list[list[Row]]) -> None:
    table, lines = summed(*manifests)
    kept = lines[1:]
    before = table.select(table.weights(kept), 1)
    names = {table.partitions[place] for place in before.touched}
    table.forget_others(kept)
    after = table.select(table.weights(kept), 1)
    assert after.totals.tolist() == before.totals.tolist()
    assert {table.partitions[place] for place in after.touched} == names
    assert lines[0] not in table
    assert len(table) == len(kept)
    table.add(lines[0], sum_entries(entries(manifests[0]), SMALL_BELOW))
    whole = table.select(table.weights(lines), 1)
    fresh, _ = summed(*manifests)
    assert whole.totals.tolist() == fresh.select(fresh.weights(lines), 1).totals.tolist()


def test_the_newest_writer_of_live_files_dates_a_partition() -> None:
    rows: list[Row] = [(1, 0, False, 1, 1, 1, 1), (0, 0, False, 3, 1, 1, 1), (2, 0, False, 2, 1, 1, 1)]
    table, lines = summed(rows)
    place = np.array([table.partitions.index((0, "day=1"))])
    weights = table.weights(lines)
    assert table.newest(weights, place, {1: 10, 2: 99, 3: 30}) == {int(place[0]): 30}
    assert table.newest(weights, place, {2: 99}) == {}


def test_one_path_listed_in_two_ways_is_two_manifests() -> None:
    table = TableSums()
    first, second = line("m", 0), line("m", 1)
    table.add(first, sum_entries(entries([(1, 0, False, 1, 5, 100, 1)]), SMALL_BELOW, 0))
    assert second not in table
    table.add(second, sum_entries(entries([(1, 0, False, 1, 5, 100, 1)]), SMALL_BELOW, 1))
    found = table.select(table.weights([first, second]), 1)
    assert found.totals[TOTALS.index("data_files")] == 2
    assert {table.partitions[place] for place in found.touched} == {(0, "day=1"), (1, "day=1")}


def test_a_manifest_that_is_listed_twice_counts_twice() -> None:
    table, lines = summed([(1, 0, False, 1, 5, 100, 1)])
    found = table.select(table.weights(lines * 2), 1)
    assert found.totals[TOTALS.index("records")] == 10
    assert found.delta[DELTA.index("added_bytes")] == 200


def test_sizes_beyond_64_bits_are_damage() -> None:
    rows: list[Row] = [(1, 0, False, 1, 1, 2**50, 0)] * 4_097
    with pytest.raises(MetadataError) as damage:
        sum_entries(entries(rows), SMALL_BELOW)
    assert damage.value.code == "manifest_implausible"
    table, lines = summed([(1, 0, False, 1, 1, 2**50, 0)] * 4_000)
    with pytest.raises(MetadataError):
        table.select(table.weights(lines * 2), 1)
    removed, lines = summed(*[[(2, 0, False, 1, 1, 2**50, 0)] * 4_000] * 2)
    with pytest.raises(MetadataError):
        removed.select(removed.weights(lines), 1)


@settings(deadline=None)
@given(ROWS)
def test_sums_survive_being_written_and_read(rows: list[Row]) -> None:
    sums, key = sum_entries(entries(rows), SMALL_BELOW), key_of("m")
    parts = opened(key, sealed(key, pack_sums(sums)))
    assert parts is not None
    again: ManifestSums = unpack_sums(parts)
    assert again.partitions == sums.partitions
    assert again.totals.tolist() == sums.totals.tolist()
    for one, other in zip((*again.live, *again.deltas), (*sums.live, *sums.deltas), strict=True):
        assert one.tolist() == other.tolist()


@settings(deadline=None)
@given(st.binary(max_size=60), st.integers(0, 400), st.integers(1, 255))
def test_a_changed_value_is_rejected(tail: bytes, at: int, flip: int) -> None:
    key = key_of("m")
    value = bytearray(sealed(key, pack_sums(sum_entries(entries([(1, 0, False, 1, 5, 100, 1)]), SMALL_BELOW))))
    value[at % len(value)] ^= flip
    assert opened(key, bytes(value)) is None
    assert opened(key, tail) is None
    assert opened(key_of("other"), sealed(key, ["x"])) is None
