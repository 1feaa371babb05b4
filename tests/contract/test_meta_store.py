"""One suite over every MetaStore: memory, and Spark on real Iceberg tables."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
import pytest
from msgspec.structs import replace as replaced

from limnograph.adapters.meta.schema import arrow_table
from limnograph.domain.errors import Conflict
from limnograph.domain.facts.events import AlertFact, RunFact
from limnograph.domain.facts.meta_tables import (
    ALERTS,
    CHANGES,
    META_TABLES,
    RUNS,
    SNAPSHOTS,
    ChangeFact,
    PartitionFact,
    SnapshotFact,
)
from limnograph.ports.meta_store import Candidates, Known, KnownRow, MetaStore
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


def partitioned(known: Known) -> dict[str, dict[int, bool]]:
    return {series: {i: row.has_partitions for i, row in rows.items()} for series, rows in known.items()}


def everything(store: MetaStore) -> dict[int, KnownRow]:
    return store.known(store.head(SNAPSHOTS), [Candidates("u", None, None)]).get("u", {})


def table_of(*facts: SnapshotFact) -> pa.Table:
    return arrow_table(SNAPSHOTS, facts)


def test_tables_are_created_once_and_start_empty(stores: Callable[[], MetaStore]) -> None:
    store = stores()
    assert store.head(SNAPSHOTS) is None
    assert sorted(store.ensure()) == sorted(table.name for table in META_TABLES)
    assert stores().ensure() == []
    assert store.head(SNAPSHOTS) is None
    assert store.known(None, [Candidates("u", None, None)]) == {}
    assert store.changes(None) == []


def test_appended_rows_are_visible_at_that_head_and_later(stores: Callable[[], MetaStore]) -> None:
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
    assert partitioned(store.known(first, wanted)) == {"u": {2**62 + 1: True, -5: False}}
    assert partitioned(stores().known(store.head(SNAPSHOTS), wanted)) == {"u": {2**62 + 1: True, -5: False, 3: False}}
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
    found = store.known(store.head(SNAPSHOTS), [Candidates("u", None, None)])
    assert partitioned(found) == {"u": {1: False, 2: False}}


def test_one_of_several_racing_appends_on_one_head_wins(stores: Callable[[], MetaStore]) -> None:
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


def test_among_some_keys_those_with_a_row_at_the_head_are_found(stores: Callable[[], MetaStore]) -> None:
    store = stores()
    store.ensure()
    assert store.held(RUNS, None, {("r", "ok")}) == set()
    runs = [RunFact(run_id="r", status="running", at=5), RunFact(run_id="ü", status="ok", at=400 * DAY)]
    store.append(RUNS, arrow_table(RUNS, runs), None, "run")
    head = store.head(RUNS)
    wanted = {("r", "running"), ("r", "ok"), ("ü", "ok"), ("x", "ok")}
    assert stores().held(RUNS, head, wanted) == {("r", "running"), ("ü", "ok")}
    alerts = [AlertFact(fingerprint="f", starts_at=at, status="firing", labels={"a": "b"}) for at in (7, 90 * DAY + 1)]
    store.append(ALERTS, arrow_table(ALERTS, alerts), None, "run")
    asked = {("f", 7, "firing"), ("f", 7, "resolved"), ("f", 90 * DAY + 1, "firing"), ("f", 8, "firing")}
    assert store.held(ALERTS, store.head(ALERTS), asked) == {("f", 7, "firing"), ("f", 90 * DAY + 1, "firing")}
    assert store.held(RUNS, head, set()) == set()


def test_changes_are_read_back_as_they_were_written(stores: Callable[[], MetaStore]) -> None:
    store = stores()
    store.ensure()
    written = [
        ChangeFact(table_uuid=None, catalog="c", namespace="n", table="t", kind="unreadable", to_value="x", at=1),
        ChangeFact(table_uuid="u", kind="ref", subject="main", to_value=str(2**62), at=DAY * 400, not_before=5),
    ]
    store.append(CHANGES, arrow_table(CHANGES, written), None, "run")
    found = store.changes(store.head(CHANGES))
    assert sorted(found, key=lambda row: row.at) == written


def test_names_of_all_tables_and_states_of_some_are_read_separately(stores: Callable[[], MetaStore]) -> None:
    store = stores()
    store.ensure()
    assert (store.names(None), store.states(None, {"u"})) == ([], [])
    kept: list[ChangeFact] = []
    for number in range(3):
        rows = [
            ChangeFact(table_uuid="u", table="t", kind="first_seen", to_value="7", at=number * 40 * DAY, detail="{}"),
            ChangeFact(
                table_uuid="v", table="w", kind="named", subject="c.n.w", to_value="c.n.w", at=number * 40 * DAY
            ),
            ChangeFact(
                table_uuid="u", table="t", kind="schema", to_value=str(number), at=number * 40 * DAY, detail="S"
            ),
            ChangeFact(table_uuid="v", table="w", kind="ref", subject="main", to_value="5", at=number * 40 * DAY),
        ]
        store.append(CHANGES, arrow_table(CHANGES, rows), store.head(CHANGES), "run")
        kept += rows
        head = store.head(CHANGES)
        for reader in (store, stores()):  # one that has read before, and one that has not
            names = sorted(reader.names(head), key=lambda row: (row.at, row.kind))
            assert names == [row for row in kept if row.kind in {"first_seen", "named"}]
            states = sorted(reader.states(head, {"u", "nobody"}), key=lambda row: row.at)
            assert states == [replaced(row, detail=None) for row in kept if row.kind == "schema"]
    assert len(store.states(store.head(CHANGES), {"u", "v"})) == 6


def test_added_rows_are_distinguished_from_removed_rows(stores: Callable[[], MetaStore]) -> None:
    store = stores()
    store.ensure()
    assert store.only_added(None, None, SNAPSHOTS)
    heads: list[int | None] = [None]
    for number in range(3):
        put(store, snapshot(number, number))
        heads.append(store.head(SNAPSHOTS))
    assert store.only_added(None, heads[3], SNAPSHOTS)
    assert store.only_added(heads[1], heads[3], SNAPSHOTS)
    assert not store.only_added(heads[3], heads[1], SNAPSHOTS)
    store.replace(table_of(snapshot(1, 1, status="ok", tier="entries")))
    put(store, snapshot(3, 3))
    assert store.only_added(heads[1], store.head(SNAPSHOTS), SNAPSHOTS)


def test_the_status_of_a_row_is_known_and_damaged_rows_are_found_on_all_days(
    stores: Callable[[], MetaStore],
) -> None:
    store = stores()
    store.ensure()
    assert store.damaged(None) == {}
    put(
        store,
        snapshot(1, 1, status="ok", tier="entries", sequence_number=7),
        snapshot(2, 300, status="partial", tier="manifest_list"),
        snapshot(3, 9, series="v", status="unreadable", tier="summary"),
        snapshot(4, 9, series="v"),
    )
    assert everything(store)[1] == KnownRow(False, DAY, 7, "ok", "entries")
    assert store.damaged(store.head(SNAPSHOTS)) == {
        "u": {2: KnownRow(False, 300 * DAY, None, "partial", "manifest_list")},
        "v": {3: KnownRow(False, 9 * DAY, None, "unreadable", "summary")},
    }


def test_a_repair_replaces_rows_by_key_adds_none_and_is_idempotent(
    stores: Callable[[], MetaStore],
) -> None:
    store = stores()
    store.ensure()
    put(store, snapshot(1, 1, status="partial", tier="summary"), snapshot(2, 1, status="ok", tier="entries"))
    put(store, snapshot(3, 2, status="unreadable", tier="summary"), snapshot(1, 1, "v", status="partial"))
    whole = [PartitionFact("a=1", bytes=7)]
    better = table_of(
        snapshot(1, 1, status="ok", tier="entries", partitions=whole, partitions_scope="full", refs=["main"]),
        snapshot(3, 2, status="partial", tier="summary", summary={"operation": "append"}),
        snapshot(9, 2, status="ok", tier="entries"),
    )
    for _ in range(2):
        store.replace(better)
        found = everything(stores())
        assert {i: (row.status, row.tier, row.has_partitions) for i, row in found.items()} == {
            1: ("ok", "entries", True),
            2: ("ok", "entries", False),
            3: ("partial", "summary", False),
        }
    assert store.damaged(store.head(SNAPSHOTS))["v"][1].status == "partial"


def test_a_worse_row_replaces_nothing(stores: Callable[[], MetaStore]) -> None:
    store = stores()
    store.ensure()
    put(store, snapshot(1, 1, status="ok", tier="entries"), snapshot(2, 1, status="partial", tier="manifest_list"))
    store.replace(
        table_of(snapshot(1, 1, status="partial", tier="entries"), snapshot(2, 1, status="partial", tier="summary"))
    )
    store.replace(table_of(snapshot(1, 1, status="ok", tier="manifest_list"), snapshot(2, 1)))
    assert {i: (row.status, row.tier) for i, row in everything(store).items()} == {
        1: ("ok", "entries"),
        2: ("partial", "manifest_list"),
    }


def test_concurrent_repairs_and_appends_leave_one_row_per_key_at_every_snapshot(
    stores: Callable[[], MetaStore],
) -> None:
    store = stores()
    store.ensure()
    put(store, snapshot(1, 1, status="partial", tier="summary"), snapshot(2, 2, status="partial", tier="summary"))
    head = store.head(SNAPSHOTS)
    surprises: list[BaseException] = []

    def tried(act: Callable[[], None]) -> None:
        try:
            act()
        except Conflict:
            pass
        except BaseException as error:  # noqa: BLE001 - the test must see it
            surprises.append(error)

    repaired = table_of(snapshot(1, 1, status="ok", tier="entries"))
    acts = [
        lambda: stores().replace(repaired),
        lambda: stores().append(SNAPSHOTS, table_of(snapshot(3, 1)), head, "rival"),
        lambda: stores().replace(table_of(snapshot(1, 1, status="partial", tier="entries"))),
    ]
    racers = [threading.Thread(target=tried, args=(act,)) for act in acts]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert surprises == []
    store.replace(repaired)
    assert everything(store)[1].rank == (2, 2)
    assert set(everything(store)) in ({1, 2}, {1, 2, 3})
    for version in versions(store):
        keys = version.column("snapshot_id").to_pylist()
        assert len(keys) == len(set(keys))


def versions(store: MetaStore) -> list[pa.Table]:
    """Rows of `snapshots` at every snapshot that its main had."""
    if isinstance(store, MemoryMetaStore):
        return [rows for _, rows in store.versions["snapshots"]]
    loaded = store._load(SNAPSHOTS)
    fields = ("table_uuid", "snapshot_id")
    return [loaded.scan(snapshot_id=s.snapshot_id, selected_fields=fields).to_arrow() for s in loaded.snapshots()]
