"""A pass: what is new is appended once, whoever else writes, wherever it dies; names and health become changes."""

from __future__ import annotations

import pyarrow.compute as pc
import pytest

from lakes import SCHEMA, FixedClock, Lake, path_of, rewrite_metadata, rows
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.meta_tables import CHANGES, SNAPSHOTS, ChangeFact, MetaTable
from limnograph.domain.failpoints import PASS_STEPS, FailpointReached, around
from memory_meta import MemoryMetaStore, local_passes, run_all


def ids(store: MemoryMetaStore) -> list[int]:
    return sorted(store.rows(SNAPSHOTS).column("snapshot_id").to_pylist())


def changes(store: MemoryMetaStore, kind: str, subject: str | None = None) -> list[ChangeFact]:
    found = sorted(store.changes(store.head(CHANGES)), key=lambda row: row.at)
    return [row for row in found if row.kind == kind and (subject is None or row.subject == subject)]


def in_table(lake: Lake, name: str = "sales.orders") -> list[int]:
    return sorted(s.snapshot_id for s in lake.load(name).snapshots())


def test_a_pass_appends_every_snapshot_once_and_the_next_one_makes_no_commit(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))
    table.append(rows("us"))
    store = MemoryMetaStore()
    passes = local_passes(lake, store)
    report = passes.run()
    assert (report.snapshots_appended, report.tables_seen, report.tables_changed, report.pending) == (2, 1, 1, False)
    assert ids(store) == in_table(lake)
    heads = {name: len(versions) for name, versions in store.versions.items()}
    for again in (passes, local_passes(lake, store)):
        assert again.run().snapshots_appended == 0
        assert {name: len(versions) for name, versions in store.versions.items()} == heads


def test_a_new_commit_is_found_by_the_same_process_and_by_a_new_one(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))
    store = MemoryMetaStore()
    passes = local_passes(lake, store)
    passes.run()
    passes.run()
    table.append(rows("us"))
    assert passes.run().snapshots_appended == 1
    table.append(rows("us"))
    assert local_passes(lake, store).run().snapshots_appended == 1
    assert ids(store) == in_table(lake)


def test_a_deleted_meta_row_is_restored(lake: Lake) -> None:
    table = lake.table()
    for _ in range(3):
        table.append(rows("eu"))
    store = MemoryMetaStore()
    passes = local_passes(lake, store)
    passes.run()
    passes.run()
    lost = ids(store)[1]
    everything = store.rows(SNAPSHOTS)
    store.overwrite(SNAPSHOTS, everything.filter(pc.not_equal(everything.column("snapshot_id"), lost)))
    assert passes.run().snapshots_appended == 1
    assert ids(store) == in_table(lake)


def test_first_seen_is_durable_before_the_first_snapshot(lake: Lake) -> None:
    lake.table().append(rows("eu"))
    store = MemoryMetaStore()
    seen: list[tuple[str, int]] = []
    store.before_append = lambda table: seen.append((table.name, len(changes(store, "first_seen"))))
    local_passes(lake, store).run()
    assert seen == [("changes", 0), ("snapshots", 1), ("changes", 1)]


@pytest.mark.parametrize("name", around(PASS_STEPS))
def test_a_pass_that_dies_anywhere_is_completed_exactly_by_the_next(lake: Lake, name: str) -> None:
    table = lake.table()
    table.append(rows("eu"))
    table.append(rows("us"))
    store, clock = MemoryMetaStore(), FixedClock(table.metadata.last_updated_ms * 1000)
    with pytest.raises(FailpointReached, match=name):
        local_passes(lake, store, f"{name}:1:raise", clock=clock).run()
    run_all(local_passes(lake, store, clock=clock))
    assert ids(store) == in_table(lake)
    rows_of_changes = store.changes(store.head(CHANGES))
    keys = [(r.table_uuid, r.kind, r.subject, r.to_value, r.at) for r in rows_of_changes]
    assert len(keys) == len(set(keys))
    kinds = [r.kind for r in rows_of_changes]
    assert (kinds.count("first_seen"), kinds.count("named"), kinds.count("ref")) == (1, 1, 2)
    assert changes(store, "named")[0].at <= changes(store, "ref")[0].at


def test_racing_passes_duplicate_no_row(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))
    table.append(rows("us"))
    store = MemoryMetaStore()
    rival = local_passes(lake, store)

    def race(_table: MetaTable) -> None:
        store.before_append = lambda _t: None
        rival.run()

    store.before_append = race
    run_all(local_passes(lake, store))
    assert ids(store) == in_table(lake)
    assert [len(changes(store, kind)) for kind in ("first_seen", "named", "schema", "ref")] == [1, 1, 1, 2]


@pytest.mark.parametrize("table", [SNAPSHOTS, CHANGES])
def test_a_lost_reply_duplicates_nothing(lake: Lake, table: MetaTable) -> None:
    lake.table().append(rows("eu"))
    store = MemoryMetaStore()

    def lose(appended: MetaTable) -> None:
        if appended.name == table.name:
            store.after_append = lambda _t: None
            raise SourceUnavailable("meta store", "the connection broke after the commit")

    store.after_append = lose
    run_all(local_passes(lake, store))
    assert ids(store) == in_table(lake)
    assert [len(changes(store, kind)) for kind in ("first_seen", "named", "schema", "ref")] == [1, 1, 1, 1]


def test_a_truncated_metadata_file_is_a_change_and_the_pass_continues(lake: Lake) -> None:
    lake.table().append(rows("eu"))
    lake.table("sales.broken").append(rows("eu"))
    store = MemoryMetaStore()
    passes = local_passes(lake, store)
    passes.run()
    good = lake.load("sales.broken").metadata_location
    lake.table("sales.late").append(rows("eu"))
    cut = path_of(good).with_name("00077-cut.metadata.json")
    cut.write_bytes(path_of(good).read_bytes()[:200])
    lake.move("sales.broken", f"file://{cut}")
    report = passes.run()
    assert (report.unreadable, report.snapshots_appended) == (1, 1)
    (row,) = changes(store, "unreadable")
    assert (row.to_value, row.table, row.table_uuid is None) == ("metadata_unreadable", "broken", False)
    passes.run()
    assert len(changes(store, "unreadable")) == 1
    lake.move("sales.broken", good)
    passes.run()
    assert [r.to_value for r in changes(store, "unreadable")] == ["metadata_unreadable", None]


def test_a_name_that_was_never_readable_has_no_uuid(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))
    good = table.metadata_location
    lake.move("sales.orders", good.replace("metadata.json", "gone.json"))
    store = MemoryMetaStore()
    passes = local_passes(lake, store)
    assert passes.run().snapshots_appended == 0
    (row,) = changes(store, "unreadable")
    assert (row.table_uuid, row.to_value, row.table) == (None, "file_missing", "orders")
    lake.move("sales.orders", good)
    run_all(passes)
    assert changes(store, "unreadable")[-1].to_value is None
    assert ids(store) == in_table(lake)


def test_a_renamed_table_keeps_its_series_and_that_of_a_dropped_one_ends(lake: Lake) -> None:
    lake.table().append(rows("eu"))
    lake.table("sales.gone").append(rows("eu"))
    store = MemoryMetaStore()
    passes = local_passes(lake, store)
    passes.run()
    lake.catalog.rename_table("sales.orders", "sales.invoices")
    lake.catalog.drop_table("sales.gone")
    assert passes.run().snapshots_appended == 0
    assert {row.subject for row in changes(store, "dropped")} == {"lake.sales.orders", "lake.sales.gone"}
    uuid = str(lake.load("sales.invoices").metadata.table_uuid)
    assert {row.subject for row in changes(store, "named") if row.table_uuid == uuid} == {
        "lake.sales.orders",
        "lake.sales.invoices",
    }
    assert passes.run().tables_changed == 0


def test_a_restored_copy_is_another_series(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))
    copy = rewrite_metadata(table, lambda document: document.update(location=document["location"] + "_copy"))
    store = MemoryMetaStore()
    run_all(local_passes(lake, store))
    lake.catalog.register_table("sales.restored", copy)
    run_all(local_passes(lake, store))
    uuid = str(table.metadata.table_uuid)
    series = set(store.rows(SNAPSHOTS).column("table_uuid").to_pylist())
    assert uuid in series
    (other,) = series - {uuid}
    assert other.startswith(f"{uuid}@")
    assert len(other) == len(uuid) + 9


def test_main_follows_the_log_through_a_rollback(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))
    first = table.current_snapshot()
    table.append(rows("us"))
    second = table.current_snapshot()
    assert first
    assert second
    store = MemoryMetaStore()
    passes = local_passes(lake, store)
    passes.run()
    table.manage_snapshots().set_current_snapshot(first.snapshot_id).commit()
    passes.run()
    moves = [row.to_value for row in changes(store, "ref", "main")]
    assert moves == [str(first.snapshot_id), str(second.snapshot_id), str(first.snapshot_id)]


def test_a_state_that_changes_and_returns_is_three_rows(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))
    store = MemoryMetaStore()
    passes = local_passes(lake, store)
    for value in ("1000", "2000", "1000"):
        with table.transaction() as tx:
            tx.set_properties({"write.target-file-size-bytes": value, "comment": value})
        passes.run()
    written = [(row.from_value, row.to_value) for row in changes(store, "property", "write.target-file-size-bytes")]
    assert written == [(None, "1000"), ("1000", "2000"), ("2000", "1000")]
    assert changes(store, "property", "comment") == []


def test_a_schema_change_before_the_first_pass_is_dated_by_older_metadata(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))
    with table.update_schema() as update:
        update.add_column("extra", SCHEMA.fields[0].field_type)
    changed_at = table.metadata.last_updated_ms * 1000
    table.manage_snapshots().create_tag(table.metadata.current_snapshot_id, "v1", 86_400_000).commit()
    table.append(rows("us").append_column("extra", rows("us").column("id")))
    store = MemoryMetaStore()
    local_passes(lake, store).run()
    assert [(row.to_value, row.at) for row in changes(store, "schema")][-1] == ("1", changed_at)
    (tag,) = changes(store, "ref", "v1")
    assert tag.detail == '{"type":"tag","retention":{"max-ref-age-ms":86400000}}'


def test_a_parent_that_expired_unseen_is_a_gap(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))
    store = MemoryMetaStore()
    passes = local_passes(lake, store)
    passes.run()
    table.append(rows("us"))
    missed = table.current_snapshot()
    table.append(rows("us"))
    assert missed

    def expire(document: dict) -> None:
        document["snapshots"] = [s for s in document["snapshots"] if s["snapshot-id"] != missed.snapshot_id]

    lake.move("sales.orders", rewrite_metadata(table, expire))
    report = passes.run()
    assert (report.gaps, report.snapshots_appended) == (1, 1)
    assert [row.subject for row in changes(store, "gap")] == [str(missed.snapshot_id)]
    assert local_passes(lake, store).run().gaps == 0


def test_an_unresponsive_catalog_drops_nothing(lake: Lake) -> None:
    lake.table().append(rows("eu"))
    store = MemoryMetaStore()
    run_all(local_passes(lake, store))
    (lake.folder / "catalog.db").rename(lake.folder / "away.db")
    (lake.folder / "catalog.db").mkdir()
    report = local_passes(lake, store).run()
    assert report.failed
    assert changes(store, "dropped") == []


def test_the_meta_namespace_is_not_observed_and_patterns_select_tables(lake: Lake) -> None:
    for name in ("sales.orders", "sales.items", "limnograph.snapshots"):
        lake.table(name).append(rows("eu"))
    store = MemoryMetaStore()
    report = local_passes(lake, store, observe={"include": ["lake.sales.*"], "exclude": ["**.items"]}).run()
    assert (report.tables_seen, report.snapshots_appended) == (1, 1)
    assert local_passes(lake, MemoryMetaStore()).run().tables_seen == 2


def test_a_table_without_a_catalog_is_read_by_its_folder(lake: Lake) -> None:
    table = lake.table("aside.events")
    table.append(rows("eu"))
    path = {"format": "iceberg", "name": "landing.events", "location": table.location()}
    store = MemoryMetaStore()
    local_passes(lake, store, observe={"include": ["lake.nothing"], "paths": [path]}).run()
    (name,) = changes(store, "named")
    assert name.subject == "files.landing.events"
    assert len(ids(store)) == 1
