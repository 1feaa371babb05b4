"""Generates meta tables of a lake at full size, written with PyIceberg: every table commits every five minutes.

Numbers resemble those of real tables: files grow and are compacted, sizes wander, one table in five has bursts in a
day. The latest commit is at the end of the window that a server would hold.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

from limnograph.adapters.meta.schema import arrow_schema, iceberg_schema, table_properties
from limnograph.domain.facts.meta_tables import CHANGES, SNAPSHOTS, MetaTable

STEP = 300 * 1_000_000
DAY = 86_400 * 1_000_000
CYCLE = 48
"""Commits until a compaction, which leaves half of the files that they added."""
END = 1_795_233_600 * 1_000_000
"""2026-11-21 04:00 UTC: the first instant after the last commit."""
ROWS_A_FILE = 2_000_000


def catalog(folder: Path) -> SqlCatalog:
    """The catalog of the lake in a folder."""
    return SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")


def uuid_of(number: int) -> str:
    """Identity of a table."""
    return f"{number:08x}-0000-4000-8000-{number:012x}"


def build(folder: Path, tables: int, days: int) -> int:
    """Write `snapshots` and `changes` of some days that end at END; the number of snapshots."""
    folder.mkdir(parents=True, exist_ok=True)
    lake = catalog(folder)
    lake.create_namespace("limnograph")
    made = {
        table.name: lake.create_table(("limnograph", table.name), iceberg_schema(table), properties=table_properties())
        for table in (SNAPSHOTS, CHANGES)
    }
    rows = 0
    made["changes"].append(_named(tables, days))
    for day in range(days):
        found = _day(tables, day, days)
        made["snapshots"].append(_snapshots(found))
        made["changes"].append(_log(found))
        rows += len(found["at"])
    return rows


def _day(tables: int, day: int, days: int) -> dict[str, Any]:
    """Columns of one day, sorted by table and time."""
    chance = np.random.default_rng(day)
    each = DAY // STEP
    number = np.repeat(np.arange(tables), each)
    step = np.tile(np.arange(each), tables)
    at = END - (days - day) * DAY + step * STEP + (number * 7_919 % 240_000) * 1_000
    count = len(at)
    ids = (number.astype(np.int64) * 100_003 + day * each + step + 1) * 2_654_435_761 % (2**62)
    before = (number.astype(np.int64) * 100_003 + day * each + step) * 2_654_435_761 % (2**62)
    compacts = step % CYCLE == CYCLE - 1
    added = chance.integers(1, 40, count)
    burst = chance.random(count) < 0.2 / each
    added = np.where(burst, 12_000, added)
    cycles = added.reshape(tables, each // CYCLE, CYCLE)
    removed = np.zeros_like(cycles)
    removed[:, :, -1] = cycles.sum(axis=2) // 2
    removed = removed.ravel()
    total = 1_000 + number % 700 + (added - removed).reshape(tables, each).cumsum(axis=1).ravel()
    return {
        "number": number,
        "at": at,
        "id": ids,
        "before": before,
        "operation": np.where(compacts, "replace", "append"),
        "sequence": day * each + step + 1,
        "added": added,
        "removed": removed,
        "total": total,
        "bytes": total.astype(np.int64) * 1_000_000 + chance.integers(0, 1_000_000, count),
        "added_bytes": added.astype(np.int64) * 900_000 + chance.integers(0, 900_000, count),
        "records": total.astype(np.int64) * 10_000 + chance.integers(0, 10_000, count),
        "small": total // 2,
        "median": chance.integers(500_000, 1_500_000, count),
    }


def _snapshots(found: dict[str, Any]) -> pa.Table:
    number = found["number"]
    count = len(number)
    times = pa.array(found["at"], pa.timestamp("us", "UTC"))
    given: dict[str, Any] = {
        "table_uuid": _texts(number, uuid_of),
        "snapshot_id": found["id"],
        "parent_id": found["before"],
        "sequence_number": found["sequence"],
        "committed_at": times,
        "observed_at": times,
        "catalog": _one("lake", count),
        "namespace": _texts(number, lambda i: f"n{i % 40}"),
        "table": _texts(number, lambda i: f"t{i:05}"),
        "format": _one("iceberg", count),
        "format_version": _one(2, count),
        "operation": found["operation"],
        "on_main": _one(value=True, count=count),
        "schema_id": _one(0, count),
        "spec_id": _one(0, count),
        "engine": _one("spark", count),
        "app_id": _texts(number, lambda i: f"application_1700000000000_{i:06}"),
        "app_name": _texts(number, lambda i: f"ingest-{i % 300}"),
        "total_data_files": found["total"],
        "total_delete_files": number % 5,
        "total_records": found["records"],
        "total_bytes": found["bytes"],
        "total_position_deletes": number % 5 * 10,
        "total_equality_deletes": _one(0, count),
        "added_data_files": found["added"],
        "removed_data_files": found["removed"],
        "added_delete_files": _one(0, count),
        "removed_delete_files": _one(0, count),
        "added_records": found["added"] * 10_000,
        "added_bytes": found["added_bytes"],
        "manifests": found["sequence"] % 90 + 3,
        "live_snapshots": found["sequence"] % 500 + 10,
        "small_files": found["small"],
        "file_size_p10": found["median"] // 3,
        "file_size_p50": found["median"],
        "file_size_p90": found["median"] * 2,
        "target_file_bytes": _one(128 << 20, count),
        "skew_max_over_median": np.where(found["sequence"] % 2 == 0, found["median"] / 700_000, np.nan),
        "debt_files": found["small"] // 2,
        "metadata_location": _texts(number, lambda i: f"s3://lake/n{i % 40}/t{i:05}/metadata/00001-{uuid_of(i)}.json"),
        "status": _one("ok", count),
        "source": _one("poll", count),
        "run_id": _texts(found["at"] // (600 * 1_000_000), lambda i: f"run-{i}"),
    }
    return _table(SNAPSHOTS, given, count)


def _log(found: dict[str, Any]) -> pa.Table:
    number, count = found["number"], len(found["number"])
    given = {
        "table_uuid": _texts(number, uuid_of),
        "catalog": _one("lake", count),
        "namespace": _texts(number, lambda i: f"n{i % 40}"),
        "table": _texts(number, lambda i: f"t{i:05}"),
        "kind": _one("ref", count),
        "subject": _one("main", count),
        "from_value": pa.array(found["before"]).cast(pa.string()),
        "to_value": pa.array(found["id"]).cast(pa.string()),
        "at": pa.array(found["at"], pa.timestamp("us", "UTC")),
        "observed_at": pa.array(found["at"], pa.timestamp("us", "UTC")),
        "run_id": _texts(found["at"] // (600 * 1_000_000), lambda i: f"run-{i}"),
    }
    return _table(CHANGES, given, count)


def _named(tables: int, days: int) -> pa.Table:
    numbers = np.repeat(np.arange(tables), 3)
    count = len(numbers)
    at = pa.array(np.full(count, END - days * DAY), pa.timestamp("us", "UTC"))
    kinds = np.tile(["first_seen", "named", "schema"], tables)
    given = {
        "table_uuid": _texts(numbers, uuid_of),
        "catalog": _one("lake", count),
        "namespace": _texts(numbers, lambda i: f"n{i % 40}"),
        "table": _texts(numbers, lambda i: f"t{i:05}"),
        "kind": kinds,
        "subject": _texts(numbers, lambda i: f"lake.n{i % 40}.t{i:05}"),
        "to_value": np.where(kinds == "schema", "0", "x"),
        "at": at,
        "observed_at": at,
    }
    return _table(CHANGES, given, count)


def _table(table: MetaTable, given: dict[str, Any], count: int) -> pa.Table:
    schema = arrow_schema(table)
    columns = []
    for field in schema:
        value = given.get(field.name)
        if value is None:
            columns.append(pa.nulls(count, field.type))
            continue
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            value = pa.array(value, from_pandas=True)
        array = value if isinstance(value, pa.Array) else pa.array(value)
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        columns.append(array.cast(field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _one(value: object, count: int) -> pa.Array:
    return pa.repeat(value, count)


def _texts(numbers: Any, text: Any) -> pa.Array:
    distinct, places = np.unique(numbers, return_inverse=True)
    return pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32)), pa.array([text(int(i)) for i in distinct]))
