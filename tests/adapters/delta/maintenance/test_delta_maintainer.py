"""Actions on real Delta tables by deltalake: exactly what was planned, stamped, and never against another writer."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from limnograph.adapters.delta.log import newest_version
from limnograph.adapters.delta.maintenance.calling import call_library
from limnograph.adapters.delta.maintenance.maintainer import DeltaMaintainer
from limnograph.adapters.delta.maintenance.store import (
    DeltaPlace,
    address,
    has_exclusive_puts,
    require_safe_commits,
    store_options,
)
from limnograph.adapters.delta.maintenance.worker import DeltaCall
from limnograph.adapters.delta.planning.planner import DeltaPlanner
from limnograph.adapters.delta.reader import DeltaReader, SharedCaches
from limnograph.adapters.storage.files import FileStorage
from limnograph.analysis.advice.facts import DAY_MS, PlanLimits
from limnograph.analysis.advice.planned import PlannedAction
from limnograph.domain.advice.prices import Prices
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.advice.survey import SurveyedPartition
from limnograph.domain.errors import (
    ActionCancelled,
    ActionConflict,
    InvalidInput,
    MetadataError,
    NotFound,
    SourceUnavailable,
)
from limnograph.domain.ids import TableName
from limnograph.domain.time import Millis
from limnograph.ports.table_maintainer import ActionOutcome, ActionRequest
from limnograph.services.advice.reading import advice_reading
from limnograph.services.advice.table_advice import KnownOfTable, advise_table
from limnograph.services.maintenance.requests import request_of
from limnograph.services.maintenance.verification import CheckedAction, evidence_request, verify

NAME = TableName("files", "landing", "orders")
STORAGE = FileStorage({})
ODD = "a b/ü'%20"
LIMITS = PlanLimits(saved_files=2, freed_bytes=0, paying=False)


class World:
    """A table of four partitions with three files each; one partition is null."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "orders"
        self.maintainer = DeltaMaintainer(lambda name: DeltaPlace(str(self.folder)) if name == NAME else None)
        for number in range(3):
            for region in ("eu", "us", None, ODD):
                self.append(region, number * 10)

    def append(self, region: str | None, start: int = 100, rows: int = 5) -> None:
        ids = list(range(start, start + rows))
        table = pa.table({"id": ids, "region": pa.array([region] * rows, pa.string())})
        write_deltalake(self.folder, table, mode="append", partition_by=["region"])

    def ids(self) -> list[tuple[str | None, int]]:
        table = DeltaTable(self.folder).to_pyarrow_table()
        return sorted(zip(table["region"].to_pylist(), table["id"].to_pylist(), strict=True), key=str)

    def read(self, later: int = DAY_MS) -> AdviceReading:
        metadata = DeltaReader(STORAGE, SharedCaches()).metadata(newest_version(str(self.folder), STORAGE))
        now = Millis((metadata.last_updated_ms or 0) + later)
        return advice_reading(metadata, DeltaPlanner(STORAGE), now)

    def plan(self, rule: str, later: int = DAY_MS) -> PlannedAction:
        judged = advise_table(self.read(later), KnownOfTable(name=NAME), Prices(), LIMITS)
        (found,) = [each for each in judged.plans.values() if each.rule == rule]
        return found

    def run(self, request: ActionRequest, reached: Callable[[str], None] = lambda _point: None) -> ActionOutcome:
        return self.maintainer.run(self.maintainer.open(NAME), request, reached, lambda: False)

    def problems(self, plan: PlannedAction, base: AdviceReading, *, partial: bool = False) -> list[Any]:
        """What the table's own log does not confirm."""
        opened = self.maintainer.open(NAME)
        metadata = DeltaReader(STORAGE, SharedCaches()).metadata(opened.metadata_location)
        found = DeltaPlanner(STORAGE).evidence(metadata, evidence_request("p1", plan))
        rows = lambda version: self.maintainer.rows(opened, version)  # noqa: E731
        return verify(CheckedAction(plan, base, partial), found, rows)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def region(value: str | None) -> SurveyedPartition:
    return SurveyedPartition(spec_id=0, text=f"region={value}", values=[value])


def optimize(*values: str | None, **options: str) -> ActionRequest:
    return ActionRequest(
        "p1", "optimize", partitions=[region(value) for value in values], options={"target_size": "1000000", **options}
    )


def test_an_open_table_is_pinned_at_its_version(world: World) -> None:
    opened = world.maintainer.open(NAME)
    assert (opened.format, opened.head_id, opened.exclusive_puts) == ("delta", 11, True)
    assert opened.metadata_location.endswith(f"{11:020}.json")
    assert opened.table_uuid == str(DeltaTable(world.folder).metadata().id)
    assert world.maintainer.rows(opened, 11) == 60
    assert world.maintainer.rows(opened, 3, "`region` = 'eu'") == 5
    with pytest.raises(InvalidInput, match="backslash"):
        world.maintainer.rows(opened, 3, r"`region` = 'e\\u'")
    with pytest.raises(NotFound, match=r"files\.landing\.absent"):
        world.maintainer.open(NAME._replace(table="absent"))
    with pytest.raises(MetadataError, match="not listed"):
        world.maintainer.unreferenced(opened, 0)


def test_a_plan_removes_exactly_its_files_in_a_stamped_commit_for_each_partition(world: World) -> None:
    plan, base, before, points = world.plan("delta_compact"), world.read(), world.ids(), list[str]()
    done = world.run(request_of("p1", plan), points.append)
    assert (done.files_in, done.files_out, len(done.snapshot_ids)) == (12, 4, 4)
    assert points == ["maintain.outputs-written", "maintain.committed"] * 4
    assert world.maintainer.stamped(world.maintainer.open(NAME), "p1") == [12, 13, 14, 15] == [*done.snapshot_ids]
    assert world.ids() == before
    assert world.problems(plan, base) == []
    stamps = [commit.get("limnograph-plan") for commit in DeltaTable(world.folder).history(5)]
    assert stamps == ["p1"] * 4 + [None]


def test_only_the_chosen_partitions_are_rewritten(world: World) -> None:
    kept = {uri for uri in DeltaTable(world.folder).file_uris() if "region=us" in uri or "region=eu" in uri}
    done = world.run(optimize(None, ODD))
    assert (done.files_in, done.files_out) == (6, 2)
    assert kept < {*DeltaTable(world.folder).file_uris()}


def test_files_that_were_appended_after_the_opening_are_not_rewritten(world: World) -> None:
    opened = world.maintainer.open(NAME)
    world.append("eu")
    done = world.maintainer.run(opened, optimize("eu"), lambda _point: None, lambda: False)
    assert (done.files_in, done.files_out) == (3, 1)
    assert len(world.ids()) == 65
    assert len([uri for uri in DeltaTable(world.folder).file_uris() if "region=eu" in uri]) == 2


def test_a_writer_that_deleted_rows_first_wins(world: World) -> None:
    opened = world.maintainer.open(NAME)
    DeltaTable(world.folder).delete("region = 'eu' and id < 3")
    with pytest.raises(ActionConflict, match="another writer committed first"):
        world.maintainer.run(opened, optimize("eu"), lambda _point: None, lambda: False)
    assert world.maintainer.stamped(world.maintainer.open(NAME), "p1") == []
    assert len(world.ids()) == 57


def test_commits_before_a_conflict_stand_and_are_told(world: World) -> None:
    opened, plan, base = world.maintainer.open(NAME), world.plan("delta_compact"), world.read()
    passed = list[str]()

    def reached(point: str) -> None:
        passed.append(point)
        if passed.count("maintain.committed") == 1 and point == "maintain.committed":
            DeltaTable(world.folder).delete("region = 'us' and id < 3")

    done = world.maintainer.run(opened, request_of("p1", plan), reached, lambda: False)
    assert len(done.snapshot_ids) == 1
    assert done.left_behind is None
    assert len(world.ids()) == 57
    assert world.problems(plan, base, partial=True) == []
    assert world.problems(plan, base) != []


def test_a_cancelled_action_commits_nothing(world: World) -> None:
    opened, looks = world.maintainer.open(NAME), list[float]()
    with pytest.raises(ActionCancelled):
        world.maintainer.run(opened, optimize("eu"), lambda _point: None, lambda: True)
    held = DeltaCall(do="count", uri="/dev/stdin")  # opens a pipe that never ends: the call hangs

    def cancelled() -> bool:
        looks.append(time.monotonic())
        return len(looks) == 2

    with pytest.raises((ActionCancelled, NotFound)):
        call_library(held, cancelled)
    assert DeltaTable(world.folder).version() == 11


def test_a_process_whose_parent_is_gone_ends_before_it_commits(world: World) -> None:
    from limnograph.adapters.delta.maintenance.calling import _COMMAND

    call = DeltaCall(do="compact", uri=str(world.folder), stamp={"limnograph-plan": "p1"})
    process = subprocess.Popen(_COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, _ = process.communicate(msgspec.json.encode(call) + b"\n", timeout=60)  # closes its input
    assert (process.returncode, out) == (1, b"")
    assert DeltaTable(world.folder).version() == 11


def aged(world: World, days: int) -> None:
    """Let the removals of the log be older."""
    for file in sorted((world.folder / "_delta_log").glob("*.json")):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            if "remove" in line:
                line["remove"]["deletionTimestamp"] -= days * DAY_MS
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_a_vacuum_deletes_old_files_of_the_log_and_no_others(world: World) -> None:
    world.run(optimize("eu", "us"))
    aged(world, 8)
    world.run(optimize(None))  # its removals are young
    plan, before = world.plan("delta_vacuum", later=0), world.ids()
    assert plan.predicted.files_in == 6
    stray = world.folder / "region=eu" / "in-flight.parquet"
    stray.write_bytes(b"x")
    os.utime(stray, (0, 0))
    parquets = set(world.folder.rglob("*.parquet"))
    points = list[str]()
    done = world.run(request_of("v1", plan), points.append)
    gone = {path for path in parquets if not path.exists()}
    assert (done.deleted_files, len(gone), points) == (6, 6, ["maintain.files-deleted"])
    assert stray.exists()
    assert [commit["operation"] for commit in DeltaTable(world.folder).history(2)] == ["VACUUM END", "VACUUM START"]
    assert len(world.maintainer.stamped(world.maintainer.open(NAME), "v1")) == 2
    assert world.ids() == before
    assert world.problems(plan, world.read()) == []
    world.maintainer.finish(world.maintainer.open(NAME), request_of("v1", plan), "")
    assert {path for path in parquets if not path.exists()} == gone


def test_a_file_that_was_restored_after_the_opening_is_not_deleted(world: World) -> None:
    world.run(optimize("eu"))
    aged(world, 8)
    plan = world.plan("delta_vacuum", later=0)
    opened = world.maintainer.open(NAME)
    DeltaTable(world.folder).restore(11)
    done = world.maintainer.run(opened, request_of("v1", plan), lambda _point: None, lambda: False)
    assert done.deleted_files == 0
    assert len(world.ids()) == 60


def test_a_retention_below_a_week_is_refused(world: World) -> None:
    for hours in (None, 0, 167):
        with pytest.raises(InvalidInput, match="168 or more"):
            world.run(ActionRequest("p1", "vacuum", retention_hours=hours))


def test_other_actions_and_foreign_partitions_are_refused(world: World) -> None:
    with pytest.raises(InvalidInput, match="action"):
        world.run(ActionRequest("p1", "rewrite_data_files"))
    with pytest.raises(InvalidInput, match="partition columns"):
        world.run(
            ActionRequest(
                *("p1", "optimize"),
                partitions=[SurveyedPartition(spec_id=0, text="", values=["a", "b"])],
                options={"target_size": "100"},
            )
        )
    assert DeltaTable(world.folder).version() == 11


def test_a_table_with_column_mapping_is_refused_and_its_advice_says_so(world: World) -> None:
    log = world.folder / "_delta_log" / f"{12:020}.json"
    first = (world.folder / "_delta_log" / f"{0:020}.json").read_text().splitlines()
    (old,) = [found["metaData"] for line in first if "metaData" in (found := json.loads(line))]
    old["configuration"]["delta.columnMapping.mode"] = "name"
    fields = json.loads(old["schemaString"])
    for number, field in enumerate(fields["fields"], 1):
        field["metadata"] = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": field["name"]}
    old["schemaString"] = json.dumps(fields)
    protocol = {"minReaderVersion": 2, "minWriterVersion": 5}
    told = {"timestamp": int(time.time() * 1000), "operation": "SET TBLPROPERTIES", "operationParameters": {}}
    log.write_text(
        "".join(f"{json.dumps(line)}\n" for line in ({"commitInfo": told}, {"protocol": protocol}, {"metaData": old}))
    )
    plan = world.plan("delta_compact")
    assert [guard.code for guard in plan.guards if not guard.ok] == ["column_mapping"]
    with pytest.raises(InvalidInput, match="column mapping"):
        world.run(request_of("p1", plan))


Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def inline_vector(rows: list[int]) -> dict[str, Any]:
    """A deletion vector within the log, as the protocol of Delta Lake describes it."""
    bitmap = struct.pack("<IIHHI", 12346, 1, 0, len(rows) - 1, 16) + struct.pack(f"<{len(rows)}H", *rows)
    data = struct.pack("<IQI", 1681511377, 1, 0) + bitmap
    size = len(data)
    data += b"\0" * (-len(data) % 4)
    text = ""
    for at in range(0, len(data), 4):
        value = int.from_bytes(data[at : at + 4], "big")
        text += "".join(Z85[value // 85**power % 85] for power in (4, 3, 2, 1, 0))
    return {"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": size, "cardinality": len(rows)}


def delete_rows(world: World, files: int, rows: list[int]) -> None:
    """Another writer deletes rows of some files of partition eu by vectors."""
    log = world.folder / "_delta_log"
    adds = []
    for file in sorted(log.glob("*.json")):
        adds += [found["add"] for line in file.read_text().splitlines() if "add" in (found := json.loads(line))]
    chosen = [add for add in adds if add["partitionValues"]["region"] == "eu"][:files]
    protocol = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": ["deletionVectors"],
        "writerFeatures": ["deletionVectors"],
    }
    now = int(time.time() * 1000)
    lines: list[dict[str, Any]] = [
        {"protocol": protocol},
        {"commitInfo": {"timestamp": now, "operation": "DELETE", "operationParameters": {}}},
    ]
    for add in chosen:
        gone = {key: add[key] for key in ("path", "partitionValues", "size")}
        lines.append({"remove": {**gone, "deletionTimestamp": now, "dataChange": True, "extendedFileMetadata": True}})
        lines.append({"add": {**add, "deletionVector": inline_vector(rows)}})
    (log / f"{12:020}.json").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_deleted_rows_of_a_whole_partition_are_purged(world: World) -> None:
    delete_rows(world, 3, [0, 4])
    plan, base = world.plan("delta_purge"), world.read()
    opened = world.maintainer.open(NAME)
    assert world.maintainer.rows(opened, 12) == 54
    done = world.run(request_of("p1", plan))
    assert (done.files_in, done.files_out) == (3, 1)
    assert world.maintainer.rows(world.maintainer.open(NAME), 13) == 54
    assert world.problems(plan, base) == []
    live = [
        line for line in (world.folder / "_delta_log" / f"{13:020}.json").read_text().splitlines() if '"add"' in line
    ]
    assert len(live) == 1
    assert not json.loads(live[0])["add"].get("deletionVector")


def test_a_purge_that_would_rewrite_other_files_too_is_refused(world: World) -> None:
    delete_rows(world, 2, [0, 4])
    plan = world.plan("delta_purge")
    assert plan.predicted.files_in == 2
    with pytest.raises(InvalidInput, match=r"has 1 files without deleted rows.*REORG TABLE"):
        world.run(request_of("p1", plan))
    assert DeltaTable(world.folder).version() == 12


@pytest.mark.parametrize("location", ["s3://b/t", "s3a://b/t", "hdfs://n/t", "oss://b/t"])
def test_a_store_that_does_not_refuse_to_overwrite_commits_is_refused(location: str) -> None:
    assert not has_exclusive_puts(DeltaPlace(location), location)
    with pytest.raises(InvalidInput, match=r"H16.*delta\.commits"):
        require_safe_commits(DeltaPlace(location), location)
    with pytest.raises(InvalidInput, match="H16"):
        require_safe_commits(DeltaPlace(location, {"delta.commits": "dynamodb:"}), location)
    for told in ("conditional-put", "dynamodb:locks"):
        require_safe_commits(DeltaPlace(location, {"delta.commits": told}), location)


@pytest.mark.parametrize("location", ["file:///t", "abfss://c@a.dfs.core.windows.net/t", "gs://b/t"])
def test_other_stores_need_no_lock(location: str) -> None:
    require_safe_commits(DeltaPlace(location), location)


def test_options_of_a_store_have_the_names_of_deltalake() -> None:
    properties = {"s3.endpoint": "http://minio:9000", "s3.access-key-id": "a", "s3.secret-access-key": "b", "x": "y"}
    assert store_options(DeltaPlace("s3://b/t", {**properties, "delta.commits": "conditional-put"})) == {
        "AWS_ENDPOINT_URL": "http://minio:9000",
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_CONDITIONAL_PUT": "etag",
    }
    locked = store_options(DeltaPlace("s3://b/t", {"delta.commits": "dynamodb:locks", "client.region": "eu-west-1"}))
    assert locked == {
        "AWS_REGION": "eu-west-1",
        "AWS_S3_LOCKING_PROVIDER": "dynamodb",
        "DELTA_DYNAMO_TABLE_NAME": "locks",
    }
    assert address("s3a://bucket/a b") == "s3://bucket/a b"
    assert address("file:///srv/t") == "/srv/t"


def test_a_store_that_does_not_respond_is_unavailable() -> None:
    options = {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "SECRETKEY",
        "AWS_SECRET_ACCESS_KEY": "y",
        "max_retries": "0",
    }
    with pytest.raises(SourceUnavailable, match="S3") as error:
        call_library(DeltaCall(do="count", uri="s3://b/t", options=options), lambda: False)
    assert "SECRETKEY" not in str(error.value)
