"""Facts of a Delta table: the same rows however passes were split, and columns that say what the log says."""

from __future__ import annotations

from pathlib import Path

import msgspec

from delta_log import DeltaLog, add, field, info, remove, vector
from lakes import FixedClock
from limnograph.adapters.delta.reader import DeltaReader, SharedCaches
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.metadata.due import DueTable
from limnograph.services.extraction.extract import extract

DAY = 86_400_000
VERSIONS = 70


def long_log(folder: Path) -> DeltaLog:
    """More versions than one pass reads of other formats, over three days, with vectors and emptied partitions."""
    log = DeltaLog(folder)
    log.begin(add("f0", p="0"), columns=(field("p"), field("id")), partitions=("p",))
    for version in range(1, VERSIONS):
        gone = [remove(f"f{version - 1}")] if version % 2 else []
        kept = (
            [remove(f"f{version - 2}"), add(f"f{version - 2}", dv=vector("v", version), p="x")]
            if version % 5 == 4
            else []
        )
        at = version * DAY // 25
        log.commit(
            info("WRITE", at, engineInfo="delta-rs:py-1.6.6"), add(f"f{version}", p=str(version % 7)), *gone, *kept
        )
    return log


def rows(log: DeltaLog, parts: list[list[int]], *, fresh: bool) -> dict[int, SnapshotFact]:
    """Facts of passes over these versions; `fresh`: every pass is another process."""
    shared, found, known = SharedCaches(), dict[int, SnapshotFact](), list[int]()
    for part in parts:
        reader = DeltaReader(FileStorage(), SharedCaches() if fresh else shared)
        due = DueTable(
            catalog="files",
            namespace="lake",
            table="t",
            table_uuid="a-delta-table",
            metadata_location=log.newest(),
            snapshot_ids=part,
            with_partitions=list(known),
            format="delta",
            source="poll",
        )
        for fact in extract(due, reader, FixedClock()):
            found[fact.snapshot_id] = msgspec.structs.replace(fact, observed_at=None)
            known.append(fact.snapshot_id)
    return found


def test_rows_do_not_depend_on_how_passes_were_split(tmp_path: Path) -> None:
    log = long_log(tmp_path / "table")
    whole = rows(log, [list(range(VERSIONS))], fresh=True)
    halves = [list(range(33)), list(range(33, VERSIONS))]
    assert rows(log, halves, fresh=True) == whole
    assert rows(log, halves, fresh=False) == whole
    assert rows(log, [[version] for version in range(VERSIONS)], fresh=False) == whole


def test_file_counts_are_known_for_every_version_however_many_are_new(tmp_path: Path) -> None:
    facts = rows(long_log(tmp_path / "table"), [list(range(VERSIONS))], fresh=True)
    assert {fact.tier for fact in facts.values()} == {"entries"}
    files = 0
    for fact in facts.values():
        assert fact.status == "ok"
        files += (fact.added_data_files or 0) - (fact.removed_data_files or 0)
        assert fact.total_data_files == files == sum(fact.file_size_histogram or [])
    newest = facts[VERSIONS - 1]
    assert (newest.engine, newest.engine_version, newest.format) == ("delta-rs", "1.6.6", "delta")
    assert newest.summary
    assert newest.summary["delta.operation"] == "WRITE"
    assert (newest.parent_id, newest.sequence_number, newest.on_main) == (VERSIONS - 2, VERSIONS - 1, True)


def test_partition_changes_applied_in_order_are_the_state(tmp_path: Path) -> None:
    facts = rows(long_log(tmp_path / "table"), [list(range(VERSIONS))], fresh=True)
    state: dict[str, int | None] = {}
    for fact in facts.values():
        if fact.partitions_scope == "full":
            state = {}
        else:
            assert fact.partitions_base == fact.parent_id
        state |= {partition.partition: partition.data_files for partition in fact.partitions or []}
        assert sum(count or 0 for count in state.values()) == fact.total_data_files
        assert sum(1 for count in state.values() if count) == fact.partitions_total
