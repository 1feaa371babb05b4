"""Repairs: what can be read again replaces what was damaged, for what the lake still has, and nothing gets worse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakes import path_of
from limnograph.domain.errors import InvalidInput, SourceUnavailable
from limnograph.domain.facts.meta_tables import SNAPSHOTS, MetaTable
from limnograph.domain.ids import TableName
from limnograph.domain.metadata.due import DueTable
from limnograph.ports.extraction import ExtractedRows
from limnograph.services.pipeline.repair import Repairs
from memory_meta import LocalExtraction, MemoryMetaStore, local_passes, local_repairs, run_all
from metadata_writer import MetadataTable
from pointed_lake import NearLake, PointedLake

ORDERS = TableName("lake", "sales", "orders")


class Clinic:
    """A lake with a table of five commits, the second of which has lost a manifest, seen by a pass."""

    def __init__(self, folder: Path) -> None:
        self.lake = PointedLake(folder)
        self.near = NearLake(self.lake)
        self.store = MemoryMetaStore()
        self.table = self.lake.written()
        self.ids = [self.table.append(self.table.file("eu")) for _ in range(5)]
        self.lake.point("sales.orders", self.table)
        self.lost = path_of(self.table.manifests[self.ids[1]][0].path)
        self.aside = self.lost.with_suffix(".aside")
        self.lost.rename(self.aside)
        self.see()

    def see(self) -> None:
        run_all(local_passes(self.lake, self.store, observed=self.near))

    def heal(self) -> None:
        self.aside.rename(self.lost)

    def repairs(self, **how: Any) -> Repairs:
        return local_repairs(NearLake(self.lake), self.store, **how)

    def rows(self) -> dict[int, dict[str, Any]]:
        found = self.store.rows(SNAPSHOTS).to_pylist()
        assert len({(row["table_uuid"], row["snapshot_id"]) for row in found}) == len(found)
        return {row["snapshot_id"]: row for row in found}

    def state(self) -> list[tuple[str, str]]:
        return [(self.rows()[i]["status"], self.rows()[i]["tier"]) for i in self.ids]


@pytest.fixture
def clinic(tmp_path: Path) -> Clinic:
    return Clinic(tmp_path)


HURT = [("ok", "entries")] + [("partial", "manifest_list")] * 4
WHOLE = [("ok", "entries")] * 5


def test_damaged_rows_that_have_become_readable_are_replaced_once(clinic: Clinic) -> None:
    assert clinic.state() == HURT
    clinic.heal()
    report = clinic.repairs().retry_damaged()
    assert report.document() == {
        "run_id": report.run_id,
        "tables_seen": 1,
        "tables_changed": 1,
        "snapshots_appended": 0,
        "snapshots_replaced": 4,
        "gaps": 0,
        "unreadable": 0,
        "seconds": report.seconds,
    }
    assert clinic.state() == WHOLE
    for snapshot_id, row in clinic.rows().items():
        said = clinic.table.totals(snapshot_id)
        assert {name: row[name] for name in said} == said
        assert row["problems"] == []
    repaired = clinic.rows()[clinic.ids[1]]
    assert (repaired["run_id"], repaired["source"]) == (report.run_id, "backfill")
    heads = len(clinic.store.versions["snapshots"])
    assert clinic.repairs().retry_damaged().snapshots_replaced == 0
    assert len(clinic.store.versions["snapshots"]) == heads


def test_rows_that_are_still_damaged_stay_and_cause_no_commit(clinic: Clinic) -> None:
    heads = len(clinic.store.versions["snapshots"])
    report = clinic.repairs().retry_damaged()
    assert (report.snapshots_replaced, report.failed) == (0, ())
    assert (clinic.state(), len(clinic.store.versions["snapshots"])) == (HURT, heads)


def test_a_repair_reads_more_than_a_backfill_could(tmp_path: Path) -> None:
    clinic = Clinic(tmp_path)
    clinic.ids += [clinic.table.append(clinic.table.file("eu")) for _ in range(120)]
    clinic.lake.point("sales.orders", clinic.table)
    clinic.see()
    clinic.heal()
    report = clinic.repairs().reextract(ORDERS, None)
    assert report.snapshots_replaced == 125
    assert set(clinic.state()) == {("ok", "entries")}
    bases = {i: row["partitions_base"] for i, row in clinic.rows().items() if row["partitions_scope"] == "changed"}
    assert all(clinic.rows()[base]["partitions"] is not None for base in bases.values())


def test_only_ids_that_the_lake_still_has_are_replaced_and_none_is_added(clinic: Clinic) -> None:
    kept = clinic.rows()
    unseen = clinic.table.append(clinic.table.file("eu"))
    clinic.table.expire(*clinic.ids[:3])
    clinic.lake.point("sales.orders", clinic.table)
    clinic.heal()
    assert clinic.repairs().retry_damaged().snapshots_replaced == 2
    assert clinic.repairs().reextract(ORDERS, None).snapshots_replaced == 2
    assert unseen not in clinic.rows()
    assert [clinic.rows()[i] for i in clinic.ids[:3]] == [kept[i] for i in clinic.ids[:3]]
    assert clinic.state()[3:] == WHOLE[3:]


def test_a_repair_while_storage_is_down_replaces_nothing(clinic: Clinic) -> None:
    clinic.heal()
    clinic.repairs().retry_damaged()
    whole = clinic.rows()

    class Down(LocalExtraction):
        def run(self, due: list[DueTable]) -> ExtractedRows:
            return super().run([])

    report = clinic.repairs(extraction=Down()).reextract(ORDERS, None)
    assert report.failed == ("lake.sales.orders: 5 of 5 snapshots could not be read",)
    assert (report.snapshots_replaced, clinic.rows()) == (0, whole)


def test_worse_rows_do_not_replace_better_ones(clinic: Clinic) -> None:
    clinic.heal()
    clinic.repairs().retry_damaged()
    clinic.lost.rename(clinic.aside)
    report = clinic.repairs().reextract(ORDERS, None)
    assert (report.snapshots_replaced, report.failed) == (1, ())
    assert clinic.state() == WHOLE


def test_a_row_that_another_repair_improved_meanwhile_stays(clinic: Clinic) -> None:
    def rival(_table: MetaTable) -> None:
        clinic.store.before_append = lambda _t: None
        clinic.heal()
        local_repairs(NearLake(clinic.lake), clinic.store).retry_damaged()

    clinic.store.before_append = rival
    clinic.repairs().reextract(ORDERS, None)
    assert clinic.state() == WHOLE


def test_a_lost_reply_is_harmless(clinic: Clinic) -> None:
    clinic.heal()

    def lose(_table: MetaTable) -> None:
        clinic.store.after_append = lambda _t: None
        raise SourceUnavailable("meta store", "the connection broke after the commit")

    clinic.store.after_append = lose
    assert clinic.repairs().retry_damaged().snapshots_replaced == 4
    assert clinic.state() == WHOLE


def test_since_leaves_older_rows_alone(clinic: Clinic) -> None:
    clinic.heal()
    since = clinic.table.snapshots[clinic.ids[3]]["timestamp-ms"] * 1000
    assert clinic.repairs().reextract(ORDERS, since).snapshots_replaced == 2
    assert clinic.state() == [*HURT[:3], *WHOLE[3:]]


def test_a_row_that_is_read_again_shows_the_present_lake(clinic: Clinic) -> None:
    clinic.table.set_main(clinic.ids[2])
    clinic.table.set_ref("kept", clinic.ids[4], "tag")
    clinic.lake.point("sales.orders", clinic.table)
    clinic.heal()
    assert (clinic.rows()[clinic.ids[4]]["on_main"], clinic.rows()[clinic.ids[4]]["refs"]) == (True, ["main"])
    clinic.repairs().reextract(ORDERS, None)
    assert (clinic.rows()[clinic.ids[4]]["on_main"], clinic.rows()[clinic.ids[4]]["refs"]) == (False, ["kept"])


def test_an_unknown_table_is_named_and_one_without_rows_is_not_an_error(clinic: Clinic) -> None:
    with pytest.raises(InvalidInput, match=r"--reextract: lake.sales.nowhere is not among the 1 observed tables"):
        clinic.repairs().reextract(TableName("lake", "sales", "nowhere"), None, "--reextract")
    fresh = local_repairs(NearLake(clinic.lake), MemoryMetaStore())
    assert fresh.reextract(ORDERS, None).snapshots_replaced == 0
    assert fresh.retry_damaged().tables_seen == 0


def test_a_table_that_cannot_be_read_at_all_stays_as_it_is(clinic: Clinic) -> None:
    before = clinic.rows()
    clinic.lake.point("sales.orders", clinic.table.metadata_location.replace(".metadata", ".gone"))
    for report in (clinic.repairs().retry_damaged(), clinic.repairs().reextract(ORDERS, None)):
        assert (report.unreadable, report.snapshots_replaced) == (1, 0)
    assert clinic.rows() == before


def test_tables_that_are_no_longer_listed_are_not_searched_for(clinic: Clinic) -> None:
    clinic.lake.drop("sales.orders")
    assert clinic.repairs().retry_damaged().tables_seen == 0


def test_a_copy_and_its_original_are_repaired_separately(clinic: Clinic) -> None:
    copy = MetadataTable(clinic.table.folder.parent / "copy", table_uuid=clinic.table.table_uuid, seed=77)
    theirs = copy.append(copy.file("us"))
    clinic.lake.point("sales.copy", copy)
    clinic.see()
    clinic.heal()
    assert clinic.repairs().reextract(TableName("lake", "sales", "copy"), None).snapshots_replaced == 1
    assert clinic.state() == HURT
    assert clinic.rows()[theirs]["table_uuid"].startswith(f"{clinic.table.table_uuid}@")
    assert clinic.repairs().retry_damaged().snapshots_replaced == 4
