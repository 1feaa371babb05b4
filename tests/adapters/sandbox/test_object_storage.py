"""Object stores through the catalog's properties: objects, listings, credentials; the whole of it inside a child."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lakes import Lake, path_of, rows
from limnograph.adapters.sandbox.messages import StorageAccess
from limnograph.adapters.sandbox.pool import Pool
from limnograph.adapters.sandbox.tables import SandboxTables
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.due import DueTable
from object_store import ObjectStore, object_store


@pytest.fixture
def store() -> Iterator[ObjectStore]:
    with object_store() as made:
        yield made


def test_objects_are_read_and_measured_under_their_literal_keys(store: ObjectStore) -> None:
    store.objects["lake/t/a=b%2F c#d?e.avro"] = b"content"
    storage = FileStorage(store.properties)
    assert storage.read("s3a://lake/t/a=b%2F c#d?e.avro", 100) == b"content"
    assert storage.size("s3://lake/t/a=b%2F c#d?e.avro") == 7


def test_a_missing_and_an_oversized_object_are_damage(store: ObjectStore) -> None:
    store.objects["lake/long"] = b"x" * 101
    storage = FileStorage(store.properties)
    for location, code in (("s3://lake/none", "file_missing"), ("s3://lake/long", "file_too_large")):
        with pytest.raises(MetadataError) as damage:
            storage.read(location, 100)
        assert damage.value.code == code


def test_a_listing_uses_the_credentials_of_the_catalog(store: ObjectStore) -> None:
    store.objects |= {"lake/t/b": b"12", "lake/t/a": b"1", "lake/t/sub/c": b"123", "lake/tt/d": b""}
    storage = FileStorage(store.properties)
    assert [(found.name, found.size) for found in storage.list("s3://lake/t")] == [("a", 1), ("b", 2)]
    assert [found.name for found in storage.list("s3://lake/t", deep=True)] == ["a", "b", "sub/c"]
    assert storage.list("s3://lake/nowhere") == []
    assert store.asked
    assert all("Credential=READER/" in authorization for _, authorization in store.asked)


def test_a_table_without_a_catalog_has_a_store_of_its_own(store: ObjectStore) -> None:
    store.objects |= {f"lake/events/_delta_log/{version:020}.json": b"{}" for version in range(3)}
    reading = SandboxTables(StorageAccess({}, stores={"s3a://lake/events/": store.properties}))
    assert reading.newest("delta", "s3://lake/events").endswith("00000000000000000002.json")
    assert all("Credential=READER/" in authorization for _, authorization in store.asked)


def test_a_table_on_an_object_store_is_read_in_a_child(store: ObjectStore, lake: Lake) -> None:
    """Its address space holds the store's client and the compiled reader together. The path map leads to the store."""
    table = lake.table()
    table.append(rows("eu", "us"))
    home = f"file://{lake.folder}/warehouse/"
    for file in (path_of(table.location()) / "metadata").iterdir():
        store.objects[f"bucket/sales/orders/metadata/{file.name}"] = file.read_bytes()
    pool = Pool(size=1)
    access = StorageAccess({"far": store.properties}, {home: "s3://bucket/"}, deadline_seconds=60)
    reading = SandboxTables(access, pool)
    location = table.metadata_location
    metadata = reading.outline("far", "iceberg", location)
    due = DueTable(
        catalog="far",
        namespace="sales",
        table="orders",
        table_uuid=metadata.table_uuid,
        metadata_location=location,
        snapshot_ids=list(metadata.snapshots),
    )
    (row,) = reading.extract(due)
    assert all("Credential=READER/" in authorization for _, authorization in store.asked)
    assert (row.status, row.problems, row.tier, row.total_data_files) == ("ok", [], "entries", 2)
    pool.close()
