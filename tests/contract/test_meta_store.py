"""One suite over every MetaStore: memory, and Spark on real Iceberg tables."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from limnograph.adapters.iceberg.schema import arrow_table
from limnograph.domain.errors import Conflict
from limnograph.domain.facts import CHANGES, SNAPSHOTS, ChangeFact, PartitionFact, SnapshotFact
from limnograph.ports.meta_store import Candidates, MetaStore
from memory_meta import MemoryMetaStore

if TYPE_CHECKING:
    from lakes import Lake

DAY = 86_400_000_000


@pytest.fixture(params=["memory", pytest.param("spark", marks=pytest.mark.spark)])
def stores(request: pytest.FixtureRequest) -> Callable[[], MetaStore]:
    """Opens the same empty meta tables again and again, as another process would."""
    if request.param == "memory":
        store = MemoryMetaStore()
        return lambda: store
    from limnograph.adapters.spark.store import SparkMetaStore

    session: Any = request.getfixturevalue("spark")
    lake: Lake = request.getfixturevalue("shared_lake")
    namespace = f"meta_{uuid4().hex[:8]}"
    return lambda: SparkMetaStore(session, lambda: lake.catalog, namespace)


def snapshot(snapshot_id: int, day: int = 0, series: str = "u", **columns: Any) -> SnapshotFact:
    return SnapshotFact(table_uuid=series, snapshot_id=snapshot_id, committed_at=day * DAY, **columns)


def put(store: MetaStore, *facts: SnapshotFact) -> None:
    store.append(SNAPSHOTS, arrow_table(SNAPSHOTS, facts), store.head(SNAPSHOTS), "run")


def test_tables_are_created_once_and_start_empty(stores: Callable[[], MetaStore]) -> None:
    store = stores()
    assert store.head(SNAPSHOTS) is None
    assert sorted(store.ensure()) == ["changes", "snapshots"]
    assert stores().ensure() == []
    assert store.head(SNAPSHOTS) is None
    assert store.known(None, [Candidates("u", None, None)]) == {}
    assert store.changes(None) == []


def test_what_was_appended_is_known_at_that_head_and_later(stores: Callable[[], MetaStore]) -> None:
    store = stores()
    store.ensure()
    put(
        store,
        snapshot(2**62 + 1, 1, partitions=[PartitionFact("a=1", bytes=7)], partitions_scope="full"),
        snapshot(-5, 9),
    )
    first = store.head(SNAPSHOTS)
    put(store, snapshot(3, 2), snapshot(4, 2, series="v"))
    wanted = [Candidates("u", 0, 10 * DAY)]
    assert store.known(first, wanted) == {"u": {2**62 + 1: True, -5: False}}
    assert stores().known(store.head(SNAPSHOTS), wanted) == {"u": {2**62 + 1: True, -5: False, 3: False}}
    assert store.known(first, [Candidates("v", None, None)]) == {}


def test_an_append_on_a_stale_head_is_refused_and_writes_nothing(stores: Callable[[], MetaStore]) -> None:
    store = stores()
    store.ensure()
    stale = store.head(SNAPSHOTS)
    put(store, snapshot(1))
    with pytest.raises(Conflict):
        store.append(SNAPSHOTS, arrow_table(SNAPSHOTS, [snapshot(1)]), stale, "late")
    older = store.head(SNAPSHOTS)
    put(store, snapshot(2))
    with pytest.raises(Conflict):
        store.append(SNAPSHOTS, arrow_table(SNAPSHOTS, [snapshot(3)]), older, "late")
    assert store.known(store.head(SNAPSHOTS), [Candidates("u", None, None)]) == {"u": {1: False, 2: False}}


def test_of_racing_appends_on_one_head_one_wins(stores: Callable[[], MetaStore]) -> None:
    store = stores()
    store.ensure()
    put(store, snapshot(1))
    head = store.head(SNAPSHOTS)
    outcomes: list[str] = []

    def race(mine: MetaStore) -> None:
        try:
            mine.append(SNAPSHOTS, arrow_table(SNAPSHOTS, [snapshot(7)]), head, "racer")
            outcomes.append("won")
        except Conflict:
            outcomes.append("refused")

    racers = [threading.Thread(target=race, args=(stores(),)) for _ in range(3)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert sorted(outcomes) == ["refused", "refused", "won"]


def test_changes_come_back_as_they_were_written(stores: Callable[[], MetaStore]) -> None:
    store = stores()
    store.ensure()
    written = [
        ChangeFact(table_uuid=None, catalog="c", namespace="n", table="t", kind="unreadable", to_value="x", at=1),
        ChangeFact(table_uuid="u", kind="ref", subject="main", to_value=str(2**62), at=DAY * 400, not_before=5),
    ]
    store.append(CHANGES, arrow_table(CHANGES, written), None, "run")
    found = store.changes(store.head(CHANGES))
    assert sorted(found, key=lambda row: row.at) == written
