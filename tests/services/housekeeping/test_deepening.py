"""Deep history: a first sight reads one commit to its entries; idle steps read the others, newest first."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from lakes import FixedClock
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.meta_tables import HOURLY, SNAPSHOTS
from limnograph.domain.metadata.due import DueTable
from limnograph.ports.extraction import ExtractedRows
from limnograph.services.housekeeping.deepening import Deepening
from limnograph.services.rollups.marks import RAW_FLOOR
from memory_meta import LocalExtraction, MemoryMetaStore, local_passes, local_repairs, run_all
from memory_upkeep import MemoryUpkeep
from pointed_lake import NearLake, PointedLake

HOUR_MS, COMMITS = 3_600_000, 120
DAY = 86_400_000_000


class OldTable:
    """A table of 120 commits in five days, seen for the first time."""

    def __init__(self, folder: Path) -> None:
        self.lake, self.store = PointedLake(folder), MemoryMetaStore()
        self.upkeep = MemoryUpkeep(self.store, FixedClock())
        self.table = self.lake.written()
        self.ids: list[int] = []
        for _ in range(COMMITS):
            self.ids.append(self.table.append(self.table.file("eu")))
            self.table.tick(HOUR_MS)
        self.lake.point("sales.orders", self.table)
        run_all(local_passes(self.lake, self.store, observed=NearLake(self.lake)))

    def deepening(self, extraction: LocalExtraction | None = None, rows: int = 50) -> Deepening:
        return Deepening(self.upkeep, local_repairs(NearLake(self.lake), self.store, extraction=extraction), rows=rows)

    def rows(self) -> dict[int, dict[str, Any]]:
        return {row["snapshot_id"]: row for row in self.store.rows(SNAPSHOTS).to_pylist()}

    def deep(self) -> list[int]:
        rows = self.rows()
        return [place for place, snapshot_id in enumerate(self.ids) if rows[snapshot_id]["tier"] == "entries"]


@pytest.fixture
def old(tmp_path: Path) -> OldTable:
    return OldTable(tmp_path)


def test_rows_get_their_entries_newest_first_and_a_new_process_resumes(old: OldTable) -> None:
    assert old.deep() == [COMMITS - 1]
    assert old.rows()[old.ids[0]]["file_size_p50"] is None
    first = old.deepening()
    days = [row["committed_at"].date() for row in old.rows().values()]
    newest_day = days.count(max(days))
    assert first.run().rows == newest_day - 1
    assert old.deep() == list(range(COMMITS - newest_day, COMMITS))
    assert first.run().deep_since is not None
    second, done = old.deepening(), 0
    while second.behind():
        done += second.run().rows
    assert old.deep() == list(range(COMMITS))
    assert done > 0
    for snapshot_id, row in old.rows().items():
        said = old.table.totals(snapshot_id)
        assert {name: row[name] for name in said} == said
        assert (row["status"], row["file_size_p50"]) == ("ok", old.rows()[old.ids[-1]]["file_size_p50"])
    assert second.deep_since() == (min(days) - dt.date(1970, 1, 1)).days * DAY
    heads = len(old.store.versions["snapshots"])
    assert not second.behind()
    assert old.deepening().run().rows == 0
    assert len(old.store.versions["snapshots"]) == heads


def test_rows_that_cannot_be_read_are_tried_once_and_keep_what_they_had(old: OldTable) -> None:
    for manifests in old.table.manifests.values():
        for manifest in manifests:
            Path(manifest.path.removeprefix("file://")).unlink(missing_ok=True)
    before = old.rows()
    deepening, failed = old.deepening(), 0
    while deepening.behind():
        failed += deepening.run().failed
    assert failed == COMMITS - 1
    assert old.rows() == before


def test_commits_that_the_table_expired_meanwhile_do_not_hold_up_older_days(old: OldTable) -> None:
    gone = old.ids[100:110]
    old.table.expire(*gone)
    old.lake.point("sales.orders", old.table)
    deepening = old.deepening()
    while deepening.behind():
        deepening.run()
    assert {old.ids[place] for place in range(COMMITS)} - {old.ids[place] for place in old.deep()} == set(gone)


def test_a_source_that_is_away_is_asked_again(old: OldTable) -> None:
    class Away(LocalExtraction):
        away = True

        def run(self, due: list[DueTable]) -> ExtractedRows:  # type: ignore[override]
            if self.away:
                raise SourceUnavailable("storage", "away")
            return super().run(due)

    extraction = Away()
    deepening = old.deepening(extraction)
    with pytest.raises(SourceUnavailable):
        deepening.run()
    extraction.away = False
    while deepening.behind():
        deepening.run()
    assert old.deep() == list(range(COMMITS))


def test_days_whose_roll_ups_are_closed_keep_their_rows(old: OldTable) -> None:
    days = sorted({row["committed_at"].date() for row in old.rows().values()})
    old.upkeep.set_properties(HOURLY, {RAW_FLOOR: days[3].isoformat()})
    deepening = old.deepening()
    while deepening.behind():
        deepening.run()
    assert {old.rows()[old.ids[place]]["committed_at"].date() for place in old.deep()} == set(days[3:])
