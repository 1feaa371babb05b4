"""Plans of real Delta tables: what `optimize.compact` and `vacuum` of deltalake do equals what was predicted."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from delta_log import DeltaLog, add, field, info, metadata, protocol, remove, vector
from limnograph.adapters.delta.log import newest_version
from limnograph.adapters.delta.planning.planner import DeltaPlanner
from limnograph.adapters.delta.reader import DeltaReader, SharedCaches
from limnograph.adapters.storage.files import FileStorage
from limnograph.analysis.advice.facts import DAY_MS
from limnograph.domain.advice.document import AdvisedTable, NotKnown, Recommendation
from limnograph.domain.advice.prices import Prices
from limnograph.domain.advice.reading import HeldReading
from limnograph.domain.advice.survey import TableSurvey
from limnograph.domain.metadata.table import TableMetadata
from limnograph.domain.time import Millis
from limnograph.services.advice.reading import advice_reading
from limnograph.services.advice.table_advice import KnownOfTable, advise_table

HOUR_MS = 3_600_000
STORAGE = FileStorage({})


def opened(folder: Path) -> TableMetadata:
    return DeltaReader(STORAGE, SharedCaches()).metadata(newest_version(str(folder), STORAGE))


def surveyed(folder: Path) -> TableSurvey:
    return DeltaPlanner(STORAGE).survey(opened(folder))


def held(folder: Path, later: int = 0) -> HeldReading | NotKnown:
    table = opened(folder)
    return DeltaPlanner(STORAGE).held(table, Millis((table.last_updated_ms or 0) + later), frozenset())


def advised(folder: Path, later: int = DAY_MS) -> AdvisedTable:
    table = opened(folder)
    now = Millis((table.last_updated_ms or 0) + later)
    return advise_table(advice_reading(table, DeltaPlanner(STORAGE), now), KnownOfTable(), Prices()).advised


def plan_of(folder: Path, rule: str, later: int = DAY_MS) -> Recommendation:
    (found,) = [each for each in advised(folder, later).recommendations if each.rule == rule]
    return found


def rows(rng: random.Random, count: int, region: str) -> pa.Table:
    return pa.table({"id": [rng.getrandbits(60) for _ in range(count)], "region": [region] * count})


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("parts", [True, False])
def test_compact_merges_the_files_that_were_predicted(tmp_path: Path, seed: int, parts: bool) -> None:
    rng, folder = random.Random(seed), tmp_path / "t"
    target = rng.choice((40_000, 100_000, 1 << 20))
    by = ["region"] if parts else None
    write_deltalake(folder, rows(rng, 5, "eu"), partition_by=by, configuration={"delta.targetFileSize": str(target)})
    for _ in range(45):
        region = rng.choice(("eu", "us"))
        write_deltalake(folder, rows(rng, rng.choice((5, 50, 500, 3_000, 6_000)), region), mode="append")
        if rng.random() < 0.05:
            DeltaTable(folder).create_checkpoint()
    groups = [group.compact for group in surveyed(folder).groups if group.compact]
    metrics = DeltaTable(folder).optimize.compact(target_size=target)
    assert metrics["numFilesRemoved"] == sum(plan.files for plan in groups)
    assert metrics["numFilesAdded"] == sum(plan.outputs for plan in groups)


def test_a_statement_does_what_its_plan_predicted(tmp_path: Path) -> None:
    rng, folder = random.Random(1), tmp_path / "t"
    for number in range(124):
        write_deltalake(folder, rows(rng, 5, ("eu", "us")[number % 2]), partition_by=["region"], mode="append")
    write_deltalake(folder, rows(rng, 5, "ap"), partition_by=["region"], mode="append")
    found = plan_of(folder, "delta_compact")
    assert (found.action, sorted(found.scope.partitions)) == ("optimize", ["region=eu", "region=us"])
    assert (found.predicted.files_in, found.predicted.files_out) == (124, 2)
    assert found.statements.python is not None
    assert found.statements.trino is None
    assert found.statements.spark == f"OPTIMIZE delta.`{opened(folder).location}`\nWHERE {found.scope.where};"
    before = len(DeltaTable(folder).file_uris())
    exec(found.statements.python, {})
    table = DeltaTable(folder)
    assert before - len(table.file_uris()) == 122
    assert [each for each in advised(folder).recommendations if each.rule == "delta_compact"] == []


@pytest.mark.parametrize(("files", "fires"), [(49, False), (50, True)])
def test_fifty_small_files_in_a_partition_are_due(tmp_path: Path, files: int, fires: bool) -> None:
    log = DeltaLog(tmp_path)
    log.begin(*(add(f"{number}.parquet") for number in range(files)), info("WRITE", 1_790_000_000_000))
    rules = [each.rule for each in advised(tmp_path).recommendations]
    assert ("delta_compact" in rules) is fires


def test_a_file_of_half_the_target_is_not_small(tmp_path: Path) -> None:
    log = DeltaLog(tmp_path)
    half = [add(f"{number}.parquet", size=64 << 20) for number in range(60)]
    log.begin(*half, info("WRITE", 1_790_000_000_000))
    assert "delta_compact" not in [each.rule for each in advised(tmp_path).recommendations]


def test_a_partition_that_is_being_written_is_left_out(tmp_path: Path) -> None:
    log, at = DeltaLog(tmp_path), 1_790_000_000_000
    log.begin(columns=(field("id"), field("r", "string")), partitions=("r",))
    for number in range(60):
        log.commit(add(f"a{number}.parquet", r="a"), info("WRITE", at + number))
    log.commit(*(add(f"b{number}.parquet", r="b") for number in range(60)), info("WRITE", at + 10 * DAY_MS))
    found = plan_of(tmp_path, "delta_compact", later=0)
    assert found.scope.partitions == ["r=a"]
    assert any("1 partition written since then is left out" in each.text for each in found.guards)


@pytest.mark.parametrize(("rows_deleted", "fires"), [(50, False), (51, True)])
def test_a_twentieth_of_the_rows_deleted_by_vectors_is_due(tmp_path: Path, rows_deleted: int, fires: bool) -> None:
    log = DeltaLog(tmp_path)
    log.commit(
        protocol(3, ("deletionVectors",)),
        metadata(),
        add("a.parquet", records=1_000, dv=vector("v", rows_deleted)),
        info("WRITE", 1_790_000_000_000),
    )
    found = [each for each in advised(tmp_path).recommendations if each.rule == "delta_purge"]
    assert bool(found) is fires
    if fires:
        assert (found[0].predicted.files_in, found[0].predicted.files_out) == (1, 1)
        assert found[0].statements.spark == f"REORG TABLE delta.`{opened(tmp_path).location}`\nAPPLY (PURGE);"
        assert found[0].statements.python is None


def test_column_mapping_leaves_no_statement_for_deltalake(tmp_path: Path) -> None:
    log = DeltaLog(tmp_path)
    mapped = {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "col-1"}
    table = metadata(field("id", "long", **mapped), **{"delta.columnMapping.mode": "name"})
    log.commit(protocol(2), table, *(add(f"{n}.parquet") for n in range(60)), info("WRITE", 1_790_000_000_000))
    found = plan_of(tmp_path, "delta_compact")
    assert found.statements.python is None
    assert found.statements.spark is not None


def test_a_vacuum_deletes_the_files_and_bytes_that_were_predicted(tmp_path: Path) -> None:
    rng, folder = random.Random(2), tmp_path / "t"
    for _ in range(20):
        write_deltalake(folder, rows(rng, 500, "eu"), mode="append")
    DeltaTable(folder).optimize.compact()
    write_deltalake(folder, rows(rng, 30, "eu"), mode="overwrite")
    answer = held(folder, later=200 * HOUR_MS)
    assert isinstance(answer, HeldReading)
    assert answer.removable is not None
    table = DeltaTable(folder)
    listed = table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=True)
    assert answer.removable.files == len(listed) == 21
    assert answer.removable.bytes == sum((folder / path).stat().st_size for path in listed) == answer.freed
    assert answer.bytes.held == answer.removable.bytes
    assert answer.bytes.live == sum(Path(uri).stat().st_size for uri in table.file_uris())
    assert answer.bytes.by_age[0] == (0, answer.bytes.held)
    found = plan_of(folder, "delta_vacuum", later=200 * HOUR_MS)
    assert found.predicted.bytes_freed == answer.removable.bytes
    assert "RETAIN 168 HOURS DRY RUN" in (found.statements.spark or "")
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    after = held(folder, later=200 * HOUR_MS)
    assert isinstance(after, HeldReading)
    assert (after.bytes.held, after.removable) == (0, None)


def tombstones(tmp_path: Path, size: int, **configuration: str) -> Path:
    """A table with 1,000 live bytes, and a file that was removed at the instant 5 ms."""
    log = DeltaLog(tmp_path)
    log.commit(protocol(), metadata(**configuration), add("old.parquet", size=size), info("WRITE", 1))
    log.commit(remove("old.parquet", size=size), add("new.parquet", size=1_000), info("WRITE", 5))
    return tmp_path


@pytest.mark.parametrize(("size", "fires"), [(49, False), (50, True)])
def test_a_twentieth_of_the_live_bytes_is_worth_a_vacuum(tmp_path: Path, size: int, fires: bool) -> None:
    found = advised(tombstones(tmp_path, size), later=169 * HOUR_MS)
    assert ("delta_vacuum" in [each.rule for each in found.recommendations]) is fires
    assert ("delta_vacuum" in [each.rule for each in found.not_worth]) is not fires


@pytest.mark.parametrize(("later", "fires"), [(168 * HOUR_MS, False), (168 * HOUR_MS + 1, True)])
def test_files_are_kept_for_a_week(tmp_path: Path, later: int, fires: bool) -> None:
    found = advised(tombstones(tmp_path, 500), later)
    assert ("delta_vacuum" in [each.rule for each in found.recommendations]) is fires


def test_a_longer_retention_of_the_table_holds(tmp_path: Path) -> None:
    folder = tombstones(tmp_path, 500, **{"delta.deletedFileRetentionDuration": "interval 30 days"})
    assert advised(folder, 29 * DAY_MS).recommendations == []
    found = plan_of(folder, "delta_vacuum", 31 * DAY_MS)
    assert "RETAIN 720 HOURS" in (found.statements.spark or "")


def test_a_removal_without_a_size_makes_bytes_unknown(tmp_path: Path) -> None:
    log = DeltaLog(tmp_path)
    log.begin(add("old.parquet"), info("WRITE", 1))
    log.commit(remove("old.parquet"), info("DELETE", 5))
    assert held(tmp_path) == NotKnown(
        rule="held_bytes", missing="the sizes of removed files: commits of the log do not name them"
    )
    assert {each.rule for each in advised(tmp_path).not_known} >= {"held_bytes", "delta_vacuum"}


def test_a_file_whose_vector_was_exchanged_is_no_tombstone(tmp_path: Path) -> None:
    log = DeltaLog(tmp_path)
    log.commit(protocol(3, ("deletionVectors",)), metadata(), add("a.parquet"), info("WRITE", 1))
    log.commit(remove("a.parquet", size=100), add("a.parquet", dv=vector("v", 1, size=40)), info("DELETE", 5))
    answer = held(tmp_path, later=30 * DAY_MS)
    assert isinstance(answer, HeldReading)
    assert (answer.bytes.live, answer.bytes.held, answer.removable) == (140, 0, None)


def test_an_interrupted_vacuum_deleted_nothing_for_certain(tmp_path: Path) -> None:
    folder = tombstones(tmp_path, 500)
    log = DeltaLog.__new__(DeltaLog)
    log.log, log.next = folder / "_delta_log", 2
    start = {"retentionCheckEnabled": False, "specifiedRetentionMillis": 0, "defaultRetentionMillis": 604_800_000}
    log.commit(info("VACUUM START", 10, operationParameters=start))
    answer = held(folder)
    assert isinstance(answer, HeldReading)
    assert answer.bytes.held == 500
    log.commit(info("VACUUM END", 11, operationParameters={"status": "COMPLETED"}))
    answer = held(folder)
    assert isinstance(answer, HeldReading)
    assert answer.bytes.held == 0


def test_a_damaged_log_has_no_survey_and_no_sum(tmp_path: Path) -> None:
    log = DeltaLog(tmp_path)
    log.begin(add("a.parquet"), info("WRITE", 1))
    log.write(b'{"add": {"path": 7}}\n')
    found = advised(tmp_path)
    assert found.status == "partial"
    assert {"delta_compact", "delta_purge", "held_bytes", "delta_vacuum"} <= {each.rule for each in found.not_known}
