"""Generates Iceberg metadata of any size with the tests' own Avro writer: a million entries in seconds.

Entries resemble those of a real writer: 20 columns of statistics whose bounds differ from file to file, paths with a
UUID, a day partition. Statistics repeat after some thousands of files, which is beyond deflate's window.
"""

from __future__ import annotations

import json
import random
import uuid
from pathlib import Path
from typing import Any

from isal import isal_zlib

from avro_writer import JAVA_BLOCK_BYTES, block, container, encoder, manifest_schema, varint

DATE = {"type": "int", "logicalType": "date"}
FIRST_DAY = 20_400
DAYS = 365
COLUMNS = 20
TEMPLATES = 2_000
UUID = "9c12d441-03fe-4693-9a96-a0705ddf69c1"


def schema(columns: int) -> dict[str, Any]:
    """A table of this many columns: an id, a day, longs."""
    fields = [
        {"id": 1, "name": "id", "required": False, "type": "long"},
        {"id": 2, "name": "day", "required": False, "type": "date"},
        *({"id": i, "name": f"c{i}", "required": False, "type": "long"} for i in range(3, columns + 1)),
    ]
    return {"type": "struct", "schema-id": 0, "fields": fields}


SCHEMA = schema(COLUMNS)
SPEC = [{"source-id": 2, "field-id": 1000, "name": "day", "transform": "identity"}]
ORDER = [{"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}]


class Files:
    """Encoded entries of data files, split into varying and repeating parts."""

    def __init__(self, columns: int = COLUMNS, seed: int = 7) -> None:
        self.schema = manifest_schema(2, [("day", DATE)])
        self._rng = random.Random(seed)  # noqa: S311 - the same files every time
        data_file = next(f for f in self.schema["fields"] if f["name"] == "data_file")["type"]
        self._stats = [f for f in data_file["fields"] if f["name"] not in _OWN]
        self._templates = [self._template(columns) for _ in range(TEMPLATES)]

    def _template(self, columns: int) -> bytes:
        """Everything after the size of a file: statistics as Spark writes them."""
        rng, keys = self._rng, range(1, columns + 1)
        low = [rng.getrandbits(44) for _ in keys]
        values: dict[str, Any] = dict.fromkeys((field["name"] for field in self._stats), None)
        values |= {
            "column_sizes": [{"key": i, "value": rng.randrange(100, 5_000_000)} for i in keys],
            "value_counts": [{"key": i, "value": 125_000 + low[0] % 1000} for i in keys],
            "null_value_counts": [{"key": i, "value": rng.choice((0, 0, 0, 17))} for i in keys],
            "nan_value_counts": [],
            "lower_bounds": [{"key": i, "value": _bound(i, low[i - 1])} for i in keys],
            "upper_bounds": [{"key": i, "value": _bound(i, low[i - 1] + 2**30)} for i in keys],
            "split_offsets": [4, 33_554_432],
            "sort_order_id": 0,
        }
        return b"".join(encoder(field["type"])(values[field["name"]]) for field in self._stats)

    def entry(self, number: int, snapshot_id: int, status: int = 1, day: int | None = None) -> bytes:
        """The entry of file `number`, added by a snapshot."""
        day = FIRST_DAY + number % DAYS if day is None else day
        name = uuid.UUID(int=(number * 0x9E3779B97F4A7C15F39CC0605CEDC835) % 2**128)
        path = f"s3://lake/sales/orders/data/day={day}/{number:05d}-{name}-00001.parquet".encode()
        return b"".join((
            varint(status),
            varint(1) + varint(snapshot_id) + varint(1) + varint(1) + varint(1) + varint(1),
            varint(0) + block(path) + block(b"PARQUET") + varint(1) + varint(day),
            varint(125_000 + number % 977) + varint(30_000_000 + (number * 7919) % 100_000_000),
            self._templates[number % TEMPLATES],
        ))  # fmt: skip

    def manifest(self, numbers: range, snapshot_id: int, *, one_a_block: bool = False, **entry: Any) -> bytes:
        """A manifest; `one_a_block`: one entry per block, as in PyIceberg, else the blocks of Avro's Java writer."""
        return container(
            self.schema,
            (self.entry(number, snapshot_id, **entry) for number in numbers),
            header={
                "schema": json.dumps(SCHEMA),
                "partition-spec": json.dumps(SPEC),
                "partition-spec-id": "0",
                "format-version": "2",
                "content": "data",
            },
            block_bytes=0 if one_a_block else JAVA_BLOCK_BYTES,
            pack=_deflate,
        )


def _bound(column: int, value: int) -> bytes:
    """A long, or the date of column 2."""
    return (FIRST_DAY + value % DAYS).to_bytes(4, "little") if column == 2 else value.to_bytes(8, "little")


_OWN = {"content", "file_path", "file_format", "partition", "record_count", "file_size_in_bytes"}


def _deflate(_codec: str, body: bytes) -> bytes:
    packer = isal_zlib.compressobj(2, isal_zlib.DEFLATED, -15)
    return packer.compress(body) + packer.flush()


LIST_SCHEMA = {
    "type": "record",
    "name": "manifest_file",
    "fields": [
        {"name": "manifest_path", "type": "string", "field-id": 500},
        {"name": "manifest_length", "type": "long", "field-id": 501},
        {"name": "partition_spec_id", "type": "int", "field-id": 502},
        {"name": "content", "type": "int", "field-id": 517},
        {"name": "sequence_number", "type": "long", "field-id": 515},
        {"name": "min_sequence_number", "type": "long", "field-id": 516},
        {"name": "added_snapshot_id", "type": "long", "field-id": 503},
        *(
            {"name": name, "type": kind, "field-id": number}
            for name, kind, number in (
                ("added_files_count", "int", 504),
                ("existing_files_count", "int", 505),
                ("deleted_files_count", "int", 506),
                ("added_rows_count", "long", 512),
                ("existing_rows_count", "long", 513),
                ("deleted_rows_count", "long", 514),
            )
        ),
    ],
}


def manifest_list(lines: list[dict[str, Any]]) -> bytes:
    """A manifest list of format v2."""
    encode = encoder(LIST_SCHEMA)
    return container(LIST_SCHEMA, (encode(line) for line in lines), header={"format-version": "2"}, pack=_deflate)


def line(path: str, length: int, snapshot_id: int, files: int, sequence: int = 1) -> dict[str, Any]:
    """A manifest of added files, as a line of a manifest list."""
    return {
        "manifest_path": path,
        "manifest_length": length,
        "partition_spec_id": 0,
        "content": 0,
        "sequence_number": sequence,
        "min_sequence_number": sequence,
        "added_snapshot_id": snapshot_id,
        "added_files_count": files,
        "existing_files_count": 0,
        "deleted_files_count": 0,
        "added_rows_count": files * 125_000,
        "existing_rows_count": 0,
        "deleted_rows_count": 0,
    }


def metadata(location: str, snapshots: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A metadata document of format v2 whose last snapshot is main's."""
    head = snapshots[-1] if snapshots else None
    return {
        "format-version": 2,
        "table-uuid": UUID,
        "location": location,
        "last-sequence-number": len(snapshots),
        "last-updated-ms": head["timestamp-ms"] if head else 0,
        "last-column-id": COLUMNS,
        "current-schema-id": 0,
        "schemas": [SCHEMA],
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": SPEC}],
        "last-partition-id": 1000,
        "default-sort-order-id": 1,
        "sort-orders": [{"order-id": 1, "fields": ORDER}],
        "properties": {"owner": "bench"},
        "current-snapshot-id": head["snapshot-id"] if head else None,
        "refs": {"main": {"snapshot-id": head["snapshot-id"], "type": "branch"}} if head else {},
        "snapshots": snapshots,
        "snapshot-log": [{"timestamp-ms": s["timestamp-ms"], "snapshot-id": s["snapshot-id"]} for s in snapshots],
        "metadata-log": [],
        **more,
    }


def snapshot(number: int, manifest_list: str, parent: int | None = None) -> dict[str, Any]:
    """Snapshot `number` with a summary like Spark's."""
    found = {
        "sequence-number": number + 1,
        "snapshot-id": snapshot_id(number),
        "timestamp-ms": 1_790_000_000_000 + number * 60_000,
        "summary": {
            "operation": "append",
            "spark.app.id": f"application_1790000000000_{number:06d}",
            "added-data-files": "20",
            "added-records": "2500000",
            "added-files-size": "1073741824",
            "changed-partition-count": "4",
            "total-records": str(2_500_000 * (number + 1)),
            "total-files-size": str(1_073_741_824 * (number + 1)),
            "total-data-files": str(20 * (number + 1)),
            "total-delete-files": "0",
            "total-position-deletes": "0",
            "total-equality-deletes": "0",
            "engine-version": "4.1.4",
            "app-id": f"application_1790000000000_{number:06d}",
            "engine-name": "spark",
            "iceberg-version": "Apache Iceberg 1.11.0 (commit 7f879b11366e17a676a03f15247a821751415529)",
        },
        "manifest-list": manifest_list,
        "schema-id": 0,
    }
    return found if parent is None else {**found, "parent-snapshot-id": parent}


def snapshot_id(number: int) -> int:
    """Random like real ones, but deterministic."""
    return (number + 1) * 0x9E3779B97F4A7C15 % 2**63


def write(path: Path, content: bytes) -> str:
    """Write a file; returns its location."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return f"file://{path}"


def wide_table(folder: Path, files: int, per_manifest: int = 10_000, columns: int = COLUMNS) -> str:
    """A table of one snapshot with `files` live files; returns its metadata file."""
    made, lines, head = Files(columns), [], snapshot_id(0)
    for number, start in enumerate(range(0, files, per_manifest)):
        content = made.manifest(range(start, min(start + per_manifest, files)), head)
        path = write(folder / "metadata" / f"{number:05d}-m0.avro", content)
        lines.append(line(path, len(content), head, min(per_manifest, files - start)))
    listed = write(folder / "metadata" / f"snap-{head}.avro", manifest_list(lines))
    document = metadata(f"file://{folder}", [snapshot(0, listed)], schemas=[schema(columns)])
    return write(folder / "metadata" / "00001-wide.metadata.json", json.dumps(document).encode())


def long_history(folder: Path, snapshots: int, more: int = 0, files: int = 20) -> list[str]:
    """Fast appends, one manifest each. Metadata files after `snapshots` commits and after each of `more`."""
    made, encode = Files(), encoder(LIST_SCHEMA)
    lines: list[bytes] = []
    history: list[dict[str, Any]] = []
    locations: list[str] = []
    for number in range(snapshots + more):
        own = snapshot_id(number)
        content = made.manifest(range(number * files, (number + 1) * files), own)
        path = write(folder / "metadata" / f"{number:05d}-m0.avro", content)
        lines.append(encode(line(path, len(content), own, files, number + 1)))
        packed = container(LIST_SCHEMA, reversed(lines), header={"format-version": "2"}, pack=_deflate)
        listed = write(folder / "metadata" / f"snap-{own}.avro", packed)
        history.append(snapshot(number, listed, snapshot_id(number - 1) if number else None))
        if number + 1 >= snapshots:
            document = json.dumps(metadata(f"file://{folder}", history)).encode()
            locations.append(write(folder / "metadata" / f"{number:05d}-long.metadata.json", document))
    return locations


def history_document(snapshots: int) -> bytes:
    """A metadata file of a long history whose manifest lists do not exist."""
    home = "s3://lake/sales/orders"
    history = [
        snapshot(
            number,
            f"{home}/metadata/snap-{snapshot_id(number)}-1-{UUID}.avro",
            snapshot_id(number - 1) if number else None,
        )
        for number in range(snapshots)
    ]
    return json.dumps(metadata(home, history)).encode()
