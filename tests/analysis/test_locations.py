"""Locations: whether two spellings may be one place, and whether a file is surely in a folder."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limnograph.analysis.locations import is_surely_below, may_be_below, may_be_same


def unchanged(path: str) -> str:
    return os.path.normpath(path)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("s3://lake/orders", "s3a://lake/orders/"),
        ("s3n://lake/orders", "S3://lake//orders"),
        ("file:/srv/orders", "file:///srv/orders"),
        ("/srv/orders", "file:///srv/orders/"),
        ("file://localhost/srv/orders", "file:/srv/orders"),
        ("s3://lake/sales/../orders", "s3://lake/orders"),
        ("s3://lake/./orders", "s3://lake/orders"),
        ("s3://lake/my%20orders", "s3://lake/my orders"),
        ("s3://lake/sales%2Forders", "s3://lake/sales/orders"),
        ("s3://lake/sales/%2e%2e/orders", "s3://lake/orders"),
        ("hdfs://nn:8020/orders", "hdfs://nn/orders"),
        ("hdfs:///orders", "hdfs://nn/orders"),
        ("abfss://c@account.dfs.core.windows.net/orders", "wasbs://c@account.blob.core.windows.net/orders"),
        ("gs://lake/orders", "gcs://lake/orders"),
    ],
)
def test_spellings_of_one_place(one: str, other: str) -> None:
    assert may_be_same(one, other)
    assert may_be_below(f"{one}/inner", other)
    assert may_be_below(f"{other}/inner", one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("s3://Lake/orders", "s3://lake/orders"),
        ("s3a://LAKE/orders", "s3://lake/orders"),
        ("s3://lake/Orders", "s3://lake/orders"),
        ("s3://lake/orders2", "s3://lake/orders"),
        ("s3://lake/orders_copy/data", "s3://lake/orders"),
        ("s3://other/orders", "s3://lake/orders"),
        ("gs://lake/orders", "s3://lake/orders"),
        ("file:///lake/orders", "s3://lake/orders"),
        ("hdfs://nn1/orders", "hdfs://nn2/orders"),
        ("abfs://c@one.dfs.core.windows.net/orders", "abfs://c@two.dfs.core.windows.net/orders"),
        ("s3://lake", "s3://lake/orders"),
    ],
)
def test_different_places(one: str, other: str) -> None:
    assert not may_be_same(one, other)
    assert not may_be_below(one, other)


def test_a_bucket_contains_its_tables() -> None:
    assert may_be_below("s3a://lake/orders", "s3://lake")
    assert may_be_below("s3a://lake/orders", "s3://lake/")


@pytest.mark.parametrize(
    ("file", "folder", "sure"),
    [
        ("s3://lake/orders/data/1.parquet", "s3://lake/orders/data", True),
        ("s3a://lake/orders/data/1.parquet", "s3://lake/orders/data", False),
        ("s3://LAKE/orders/data/1.parquet", "s3://lake/orders/data", False),
        ("s3://lake/orders/data/../../items/1.parquet", "s3://lake/orders/data", False),
        ("s3://lake/orders/data/%2e%2e/items/1.parquet", "s3://lake/orders/data", False),
        ("s3://lake/orders/data", "s3://lake/orders/data", False),
        ("s3://lake/orders/database/1.parquet", "s3://lake/orders/data", False),
        ("file:/srv/orders/data/1.parquet", "file:///srv/orders/data", True),
        ("/srv/orders/data/1.parquet", "file:/srv/orders/data", True),
    ],
)
def test_a_file_is_surely_in_a_folder(file: str, folder: str, sure: bool) -> None:
    assert is_surely_below(file, folder, unchanged) is sure


def test_a_local_file_needs_links_to_be_resolved(tmp_path: Path) -> None:
    (tmp_path / "orders/data").mkdir(parents=True)
    (tmp_path / "items").mkdir()
    (tmp_path / "items/1.parquet").touch()
    (tmp_path / "orders/data/linked").symlink_to(tmp_path / "items")
    (tmp_path / "alias").symlink_to(tmp_path / "orders")
    folder = f"file://{tmp_path}/orders/data"
    linked = f"file://{tmp_path}/orders/data/linked/1.parquet"
    assert is_surely_below(linked, folder, unchanged)
    assert not is_surely_below(linked, folder, os.path.realpath)
    assert not is_surely_below(linked, folder)
    assert may_be_below(f"file://{tmp_path}/alias/data/1.parquet", folder, os.path.realpath)
    assert not may_be_below(f"file://{tmp_path}/alias/data/1.parquet", folder)


PARTS = st.lists(st.sampled_from(["a", "b", "..", ".", "c%20d", "%2e%2e", "", "data"]), max_size=6)


@settings(max_examples=300, deadline=None)
@given(PARTS, PARTS)
def test_what_is_surely_below_may_be_below(one: list[str], other: list[str]) -> None:
    file, folder = f"s3://lake/{'/'.join(one)}", f"s3://lake/{'/'.join(other)}"
    assert may_be_below(file, folder) or not is_surely_below(file, folder)
    assert may_be_same(file, file + "/")
    assert may_be_below(f"{folder}/x", folder)
