"""Facts of a table as the rules of advice read them, with a threshold that a test moves by one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from limnograph.analysis.advice.facts import AdviceFacts, ReadLoad
from limnograph.domain.advice.survey import (
    DeleteGroup,
    GroupPlan,
    PartitionValue,
    SurveyedField,
    SurveyedGroup,
    SurveyedManifests,
    SurveyedPartition,
    TableSurvey,
)
from limnograph.domain.metadata.table import LogEntry, Snapshot, SnapshotRef, TableMetadata
from limnograph.domain.time import Micros, Millis, to_micros

NOW = Millis(1_795_588_200_000)
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
MIB, GIB = 2**20, 2**30
REGION = SurveyedField(name="region", transform="identity", column=("region",), type="string")
EU = SurveyedPartition(spec_id=0, text="region=eu", values=["eu"])
US = SurveyedPartition(spec_id=0, text="region=us", values=["us"])
WHOLE = SurveyedPartition(spec_id=0, text="", values=[])
READ_HOURLY = ReadLoad(scans_per_day=24)


def region(value: PartitionValue) -> SurveyedPartition:
    """A partition of spec 0 by its value; numbers as text."""
    value = str(value) if isinstance(value, int) else value
    return SurveyedPartition(spec_id=0, text=f"region={value}", values=[value])


def ago(milliseconds: int) -> Micros:
    """An instant before now."""
    return to_micros(Millis(NOW - milliseconds))


def plan(files: int, outputs: int = 1, *, rows: int | None = None, deleted: int = 0, version: int = 0) -> GroupPlan:
    """Files of 1 MiB and 100 rows. `version`: stands for other files of the same number."""
    return GroupPlan(
        files=files,
        bytes=files * MIB,
        groups=1,
        outputs=outputs,
        rows=100 * files if rows is None else rows,
        deleted=deleted,
        sha256=hashlib.sha256(f"{files} {version}".encode()).hexdigest(),
    )


def group(*partitions: SurveyedPartition, written: int | None = DAY, **numbers: Any) -> SurveyedGroup:
    """A group of one partition; `written` so many milliseconds ago."""
    compact: GroupPlan | None = numbers.get("compact")
    files = numbers.pop("files", compact.files if compact else 10)
    fields: dict[str, Any] = {
        "older": False,
        "files": files,
        "bytes": files * MIB,
        "rows": files * 100,
        "delete_files": 0,
        "equality_files": 0,
        "delete_bytes": 0,
        "dangling": 0,
        "deleted": 0,
        "compact": None,
        "purge": None,
        "every": None,
    }
    return SurveyedGroup(
        partitions=list(partitions or (EU,)),
        written_at=None if written is None else ago(written),
        **{**fields, **numbers},
    )


def delete_group(partition: SurveyedPartition, files: int, outputs: int = 1, written: int = DAY) -> DeleteGroup:
    """Position delete files of a partition."""
    return DeleteGroup(partitions=[partition], written_at=ago(written), plan=plan(files, outputs))


def survey(*groups: SurveyedGroup, **fields: Any) -> TableSurvey:
    """A survey of these groups; all live partitions are those of the groups."""
    partitions = [each for found in groups for each in found.partitions]
    given: dict[str, Any] = {
        "snapshot_id": 1,
        "data_files": sum(each.files for each in groups),
        "delete_files": sum(each.delete_files for each in groups),
        "bytes": sum(each.bytes for each in groups),
        "rows": sum(each.rows for each in groups),
        "left_out": 0,
        "deletes": [],
        "partitions": partitions,
        "specs": {0: [REGION]},
        "specs_live": [0],
        "manifests": [SurveyedManifests(spec_id=0, deletes=False, count=1, bytes=9_000)],
    }
    return TableSurvey(groups=list(groups), **{**given, **fields})


def metadata(snapshots: Sequence[Snapshot] | None = None, **fields: Any) -> TableMetadata:
    """A table with a commit a day for a week, the last one a day ago."""
    found = commits(*range(7 * DAY, 0, -DAY)) if snapshots is None else snapshots
    given: dict[str, Any] = {
        "format_version": 2,
        "uuid": "0b7a2f0c-0d5e-4c2f-9d11-1f2e3d4c5b6a",
        "location": "s3://lake/sales/orders",
        "metadata_location": "s3://lake/sales/orders/metadata/7.json",
        "size_bytes": 4_000,
        "last_updated_ms": NOW,
        "current_schema_id": 0,
        "schemas": {},
        "default_spec_id": 0,
        "specs": {},
        "default_sort_order_id": 0,
        "sort_orders": {},
        "properties": {},
        "snapshots": {each.snapshot_id: each for each in found},
        "refs": {"main": SnapshotRef(found[-1].snapshot_id, "branch")} if found else {},
        "snapshot_log": (),
        "metadata_log": (),
    }
    return TableMetadata(**{**given, **fields})


def commits(*ages: int, operation: str = "append") -> list[Snapshot]:
    """A chain of commits, so many milliseconds before now each."""
    return [
        Snapshot(
            snapshot_id=number,
            timestamp_ms=Millis(NOW - age),
            parent_id=number - 1 or None,
            sequence_number=number,
            summary={"operation": operation},
        )
        for number, age in enumerate(ages, 1)
    ]


def log_entries(count: int) -> tuple[LogEntry, ...]:
    """Entries of the metadata log."""
    return tuple(LogEntry(NOW, f"s3://lake/{number}.json") for number in range(count))


def facts(found: TableSurvey | None = None, table: TableMetadata | None = None, **known: Any) -> AdviceFacts:
    """Facts at NOW. Commits are a day apart unless given otherwise, so the quiet time would be three days: a table with
    a single commit has the least one.
    """
    return AdviceFacts(table or metadata(commits(DAY)), NOW, survey=found, **known)
