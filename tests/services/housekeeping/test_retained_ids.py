"""Which ids the lake still has: of every series that could be read now, and which series are gone for good."""

from __future__ import annotations

from lakes import Lake, path_of, rows
from limnograph.domain.facts.meta_tables import CHANGES
from limnograph.services.housekeeping.live_ids import lake_ids
from limnograph.wiring.observe import SettingsLake
from memory_meta import MemoryMetaStore, local_passes, run_all


def observed(lake: Lake) -> SettingsLake:
    return SettingsLake(lake.settings())


def known(lake: Lake) -> MemoryMetaStore:
    store = MemoryMetaStore()
    run_all(local_passes(lake, store))
    return store


def uuid_of(lake: Lake, name: str) -> str:
    return str(lake.load(name).metadata.table_uuid)


def test_ids_are_those_of_the_present_metadata_without_expired_ones(lake: Lake) -> None:
    table = lake.table()
    for _ in range(3):
        table.append(rows("eu"))
    store = known(lake)
    first, *kept = [snapshot.snapshot_id for snapshot in table.snapshots()]
    table.maintenance.expire_snapshots().by_id(first).commit()
    ids = lake_ids(observed(lake), store)
    assert ids.retained == {uuid_of(lake, "sales.orders"): frozenset(kept)}
    assert ids.left(uuid_of(lake, "sales.orders"), first)
    assert not ids.left("never heard of", first)


def test_a_series_that_cannot_be_read_now_loses_nothing(lake: Lake) -> None:
    lake.table().append(rows("eu"))
    other = lake.table("sales.other")
    other.append(rows("eu"))
    store = known(lake)
    unread = uuid_of(lake, "sales.other")
    path_of(other.metadata_location).unlink()
    ids = lake_ids(observed(lake), store)
    assert unread not in ids.retained
    assert unread not in ids.dropped
    assert not ids.left(unread, 1)


def test_a_dropped_table_is_gone_once_its_drop_is_known(lake: Lake) -> None:
    lake.table().append(rows("eu"))
    store = known(lake)
    gone = uuid_of(lake, "sales.orders")
    lake.catalog.drop_table("sales.orders")
    assert gone not in lake_ids(observed(lake), store).dropped
    run_all(local_passes(lake, store))
    assert "dropped" in {row.kind for row in store.changes(store.head(CHANGES))}
    ids = lake_ids(observed(lake), store)
    assert ids.dropped == {gone}
    assert ids.left(gone, 1)


def test_a_renamed_table_is_not_gone(lake: Lake) -> None:
    lake.table().append(rows("eu"))
    store = known(lake)
    uuid = uuid_of(lake, "sales.orders")
    lake.catalog.rename_table("sales.orders", "sales.moved")
    run_all(local_passes(lake, store))
    ids = lake_ids(observed(lake), store)
    assert (set(ids.retained), ids.dropped) == ({uuid}, frozenset())
