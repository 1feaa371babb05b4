"""Iceberg tables that exist only as metadata, format v1 to v3: what PyIceberg cannot write, fast and without a JVM.

Every change writes a metadata file as an engine would. What the table then holds is remembered file by file
(`live`, `added`, `removed`), so that a test can compare counts with what was really done.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from metadata_avro import container, entry_schema, list_schema
from metadata_records import (
    ADDED,
    BY_REGION,
    DATA,
    EQUALITY_DELETES,
    EXISTING,
    POSITION_DELETES,
    UNPARTITIONED,
    Entry,
    Field,
    File,
    Manifest,
    after,
    data_of,
    entry_record,
    list_line,
    summary_of,
    totals_of,
)

__all__ = [
    "DATA",
    "EQUALITY_DELETES",
    "POSITION_DELETES",
    "UNPARTITIONED",
    "Field",
    "File",
    "Manifest",
    "MetadataTable",
]
START_MS = 1_790_000_000_000


class MetadataTable:
    """A table in a folder. `inline_manifests`: v1 snapshots without a manifest list."""

    def __init__(
        self,
        folder: Path,
        *,
        version: int = 2,
        table_uuid: str | None = "",
        spec: tuple[Field, ...] = BY_REGION,
        seed: int = 1,
        codec: str = "deflate",
        inline_manifests: bool = False,
    ) -> None:
        self.folder, self.version, self.codec, self.inline_manifests = folder, version, codec, inline_manifests
        self.random = random.Random(seed)
        self.now_ms = START_MS
        self.table_uuid = str(uuid.UUID(int=self.random.getrandbits(128))) if table_uuid == "" else table_uuid
        self.location = f"file://{folder}"
        self.specs: list[tuple[Field, ...]] = [spec]
        self.schemas: list[list[dict[str, Any]]] = [[_column(1, "id", "long"), _column(2, "region", "string")]]
        self.properties: dict[str, str] = {}
        self.snapshots: dict[int, dict[str, Any]] = {}
        self.refs: dict[str, dict[str, Any]] = {}
        self.snapshot_log: list[dict[str, int]] = []
        self.metadata_log: list[dict[str, Any]] = []
        self.last_sequence, self.next_row_id = 0, 0
        self.manifests: dict[int, list[Manifest]] = {}
        self.live: dict[int, dict[tuple[str, str | None], File]] = {}
        self.added: dict[int, list[File]] = {}
        self.removed: dict[int, list[File]] = {}
        self.sequences: dict[int, int] = {}
        self.times: dict[int, int] = {}
        self.edit: Callable[[dict[str, Any]], None] = lambda _document: None
        self._versions = 0
        self.metadata_location = ""
        (folder / "metadata").mkdir(parents=True, exist_ok=True)
        self.write()

    # Content ---------------------------------------------------------------------------------------------------------

    def file(self, *partition: Any, records: int = 10, size: int = 1_000, content: int = DATA) -> File:
        """A new file of the current spec; nothing lies at its path."""
        path = f"{self.location}/data/{self.random.getrandbits(60):015x}.parquet"
        return File(path, partition, records, size, content, len(self.specs) - 1)

    def vector(self, target: File, records: int = 1, size: int = 40) -> File:
        """A new deletion vector (v3) of a data file."""
        path = f"{self.location}/data/{self.random.getrandbits(60):015x}-deletes.puffin"
        return File(path, target.partition, records, size, POSITION_DELETES, target.spec_id, target.path)

    def head(self, branch: str = "main") -> int | None:
        """Snapshot of a branch or tag."""
        return self.refs[branch]["snapshot-id"] if branch in self.refs else None

    def files(self, branch: str = "main", content: int = DATA) -> list[File]:
        """Live files, in a fixed order."""
        head = self.head(branch)
        found = self.live[head].values() if head is not None else ()
        return sorted(file for file in found if file.content == content)

    def append(self, *files: File, branch: str = "main", **summary: str) -> int:
        """Add data files."""
        return self.commit("append", add=files, branch=branch, summary=summary)

    def delete(self, *files: File, branch: str = "main") -> int:
        """Remove files."""
        return self.commit("delete", remove=files, branch=branch)

    def overwrite(self, add: Iterable[File], remove: Iterable[File], branch: str = "main") -> int:
        """Remove and add in one commit; delete files are added so too."""
        return self.commit("overwrite", add=add, remove=remove, branch=branch)

    def compact(self, *files: File, branch: str = "main") -> int:
        """One file of each partition in the place of the given ones."""
        groups: dict[tuple[int, tuple[Any, ...]], list[File]] = {}
        for file in files:
            groups.setdefault((file.spec_id, file.partition), []).append(file)
        merged = [
            self.file(*partition, records=sum(f.records for f in group), size=sum(f.size for f in group))._replace(
                spec_id=spec_id
            )
            for (spec_id, partition), group in groups.items()
        ]
        return self.commit("replace", add=merged, remove=files, branch=branch)

    def rewrite_manifests(self) -> int:
        """All live entries of a spec in one manifest; no file comes or goes."""
        return self.commit("replace", rewrite=True)

    def stage(self, *files: File, wap_id: str) -> int:
        """A write-audit-publish commit: a snapshot that no ref holds."""
        return self.commit("append", add=files, branch=None, summary={"wap.id": wap_id})

    def cherry_pick(self, snapshot_id: int) -> int:
        """Publish a staged or branch append on main, as Iceberg does: by moving main where its parent is the head."""
        if self.snapshots[snapshot_id].get("parent-snapshot-id") == self.head():
            self.set_main(snapshot_id)
            return snapshot_id
        picked = {"source-snapshot-id": str(snapshot_id)}
        if wap := self.snapshots[snapshot_id]["summary"].get("wap.id"):
            picked["published-wap-id"] = wap
        return self.commit("append", add=self.added[snapshot_id], summary=picked)

    def commit(
        self,
        operation: str,
        *,
        add: Iterable[File] = (),
        remove: Iterable[File] = (),
        branch: str | None = "main",
        rewrite: bool = False,
        summary: Mapping[str, str] | None = None,
    ) -> int:
        """One snapshot on top of a branch (None: on main's head, held by no ref); its id."""
        add, gone = list(add), {file.key for file in remove}
        parent = self.head(branch or "main")
        snapshot_id = self.random.getrandbits(62) + 1
        sequence = self.last_sequence + 1 if self.version > 1 else 0
        self.last_sequence = self.sequences[snapshot_id] = sequence
        self.tick()
        self.times[snapshot_id] = self.now_ms
        before = self.live[parent] if parent is not None else {}
        self.removed[snapshot_id] = [file for key, file in before.items() if key in gone]
        self.added[snapshot_id] = add
        self.live[snapshot_id] = {key: f for key, f in before.items() if key not in gone} | {f.key: f for f in add}
        kept = self.manifests[parent] if parent is not None else []
        own = self._next_manifests(kept, add, gone, snapshot_id, sequence, rewrite=rewrite)
        self.manifests[snapshot_id] = own
        self.snapshots[snapshot_id] = self._snapshot(snapshot_id, parent, sequence, operation, summary or {})
        if branch is not None:
            self._point(branch, snapshot_id, "branch")
        self.write()
        return snapshot_id

    # History ---------------------------------------------------------------------------------------------------------

    def set_main(self, snapshot_id: int) -> None:
        """Rollback, set-current or publish."""
        self.tick()
        self._point("main", snapshot_id, "branch")
        self.write()

    def set_ref(self, name: str, snapshot_id: int, kind: str = "branch") -> None:
        """Create or move a branch or a tag."""
        self.tick()
        self._point(name, snapshot_id, kind)
        self.write()

    def drop_ref(self, name: str) -> None:
        """Remove a branch or a tag."""
        self.tick()
        del self.refs[name]
        self.write()

    def expire(self, *snapshot_ids: int) -> None:
        """Forget snapshots. As in Iceberg, the log begins anew behind the last one that is gone."""
        self.tick()
        for snapshot_id in snapshot_ids:
            del self.snapshots[snapshot_id]
        log: list[dict[str, int]] = []
        for entry in self.snapshot_log:
            log = [*log, entry] if entry["snapshot-id"] in self.snapshots else []
        self.snapshot_log = log
        self.write()

    def retained(self, branch: str = "main") -> list[int]:
        """A branch's snapshot and its ancestors, newest first, as far as metadata holds them."""
        found: list[int] = []
        at = self.head(branch)
        while at is not None and at in self.snapshots:
            found.append(at)
            at = self.snapshots[at].get("parent-snapshot-id")
        return found

    def upgrade(self, version: int, table_uuid: str | None = None) -> None:
        """Raise the format version; a v1 table may get its uuid now."""
        self.tick()
        self.version = version
        self.table_uuid = table_uuid or self.table_uuid
        self.write()

    def set_spec(self, spec: tuple[Field, ...]) -> None:
        """Partition new files otherwise."""
        self.tick()
        self.specs.append(spec)
        self.write()

    def add_column(self, name: str) -> None:
        """A new schema with one more column."""
        self.tick()
        self.schemas.append([*self.schemas[-1], _column(len(self.schemas[-1]) + 1, name, "int")])
        self.write()

    def set_property(self, key: str, value: str) -> None:
        """Set one table property."""
        self.tick()
        self.properties[key] = value
        self.write()

    def tick(self, milliseconds: int = 1_000) -> None:
        """Let time pass on the table's clock."""
        self.now_ms += milliseconds

    # Files -----------------------------------------------------------------------------------------------------------

    def write(self) -> str:
        """Write the next metadata file; its location."""
        document = self.document()
        self.edit(document)
        name = f"{self._versions:05d}-{uuid.UUID(int=self.random.getrandbits(128))}.metadata.json"
        (self.folder / "metadata" / name).write_text(json.dumps(document))
        self.metadata_location = f"{self.location}/metadata/{name}"
        self.metadata_log.append({"timestamp-ms": self.now_ms, "metadata-file": self.metadata_location})
        self._versions += 1
        return self.metadata_location

    def document(self) -> dict[str, Any]:
        """The metadata as JSON."""
        schemas = [{"type": "struct", "schema-id": i, "fields": fields} for i, fields in enumerate(self.schemas)]
        specs = [{"spec-id": i, "fields": self._spec_fields(i)} for i in range(len(self.specs))]
        found: dict[str, Any] = {
            "format-version": self.version,
            "location": self.location,
            "last-updated-ms": self.now_ms,
            "last-column-id": len(self.schemas[-1]),
            "schemas": schemas,
            "current-schema-id": len(schemas) - 1,
            "partition-specs": specs,
            "default-spec-id": len(specs) - 1,
            "last-partition-id": 999 + sum(map(len, self.specs)),
            "sort-orders": [{"order-id": 0, "fields": []}],
            "default-sort-order-id": 0,
            "properties": self.properties,
            "current-snapshot-id": self.head() if "main" in self.refs else -1,
            "refs": self.refs,
            "snapshots": list(self.snapshots.values()),
            "snapshot-log": self.snapshot_log,
            "metadata-log": self.metadata_log[-100:],
        }
        if self.table_uuid is not None:
            found["table-uuid"] = self.table_uuid
        if self.version == 1:
            found |= {"schema": schemas[-1], "partition-spec": specs[-1]["fields"]}
        else:
            found["last-sequence-number"] = self.last_sequence
        if self.version >= 3:
            found["next-row-id"] = self.next_row_id
        return found

    def totals(self, snapshot_id: int) -> dict[str, int]:
        """What columns `total_*`, `added_*` and `removed_*` of a row must be."""
        live = list(self.live[snapshot_id].values())
        return totals_of(live, self.added[snapshot_id], self.removed[snapshot_id])

    def _point(self, name: str, snapshot_id: int, kind: str) -> None:
        if name == "main" and self.head() != snapshot_id:
            self.snapshot_log.append({"timestamp-ms": self.now_ms, "snapshot-id": snapshot_id})
        self.refs[name] = {"snapshot-id": snapshot_id, "type": kind}

    def _snapshot(
        self, snapshot_id: int, parent: int | None, sequence: int, operation: str, more: Mapping[str, str]
    ) -> dict[str, Any]:
        rows = sum(f.records for f in data_of(self.added[snapshot_id]))
        found: dict[str, Any] = {
            "snapshot-id": snapshot_id,
            "timestamp-ms": self.now_ms,
            "schema-id": len(self.schemas) - 1,
            "summary": {"operation": operation, **summary_of(self.totals(snapshot_id)), **more},
        }
        if parent is not None:
            found["parent-snapshot-id"] = parent
        if sequence:
            found["sequence-number"] = sequence
        if self.version >= 3:
            found |= {"first-row-id": self.next_row_id, "added-rows": rows}
            self.next_row_id += rows
        if self.version == 1 and self.inline_manifests:
            found["manifests"] = [manifest.path for manifest in self.manifests[snapshot_id]]
        else:
            found["manifest-list"] = self._write_list(snapshot_id, sequence)
        return found

    def _next_manifests(
        self,
        kept: list[Manifest],
        add: list[File],
        gone: set[tuple[str, str | None]],
        snapshot_id: int,
        sequence: int,
        *,
        rewrite: bool,
    ) -> list[Manifest]:
        found: list[Manifest] = []
        merged: dict[tuple[int, int], list[Entry]] = {}
        for manifest in kept:
            live = manifest.live()
            if rewrite:
                merged.setdefault((manifest.spec_id, manifest.content), []).extend(
                    entry._replace(status=EXISTING) for entry in live
                )
            elif any(entry.file.key in gone for entry in live):
                entries = [after(entry, gone, snapshot_id) for entry in live]
                found.append(self._write_manifest(entries, manifest.spec_id, manifest.content, snapshot_id, sequence))
            elif live:
                found.append(manifest)
        for file in add:
            kind = DATA if file.content == DATA else 1
            merged.setdefault((file.spec_id, kind), []).append(Entry(ADDED, snapshot_id, sequence, file))
        new = [
            self._write_manifest(entries, spec_id, kind, snapshot_id, sequence)
            for (spec_id, kind), entries in merged.items()
            if entries
        ]
        return [*new, *found]

    def _write_manifest(
        self, entries: list[Entry], spec_id: int, content: int, snapshot_id: int, sequence: int
    ) -> Manifest:
        partition = [
            [1000 + self._offset(spec_id) + i, field.name, field.kind] for i, field in enumerate(self.specs[spec_id])
        ]
        names = [field.name for field in self.specs[spec_id]]
        body = container(
            entry_schema(self.version, json.dumps(partition)),
            [entry_record(entry, names, self.version) for entry in entries],
            self.codec,
            schema=json.dumps({"type": "struct", "schema-id": 0, "fields": self.schemas[-1]}),
            partition_spec=json.dumps(self._spec_fields(spec_id)),
            partition_spec_id=str(spec_id),
            format_version=str(self.version),
            content="deletes" if content else "data",
        )
        path = self._put(f"{uuid.UUID(int=self.random.getrandbits(128))}-m0.avro", body)
        return Manifest(path, len(body), spec_id, content, snapshot_id, sequence, tuple(entries))

    def _write_list(self, snapshot_id: int, sequence: int) -> str:
        lines = [self.line(manifest) for manifest in self.manifests[snapshot_id]]
        body = container(
            list_schema(self.version),
            lines,
            self.codec,
            snapshot_id=str(snapshot_id),
            sequence_number=str(sequence),
            format_version=str(self.version),
        )
        return self._put(f"snap-{snapshot_id}-1-{self.random.getrandbits(60):015x}.avro", body)

    @staticmethod
    def line(manifest: Manifest) -> dict[str, Any]:
        """A manifest as the list tells of it; tables that lie override this."""
        return list_line(manifest)

    def _put(self, name: str, body: bytes) -> str:
        (self.folder / "metadata" / name).write_bytes(body)
        return f"{self.location}/metadata/{name}"

    def _offset(self, spec_id: int) -> int:
        return sum(len(spec) for spec in self.specs[:spec_id])

    def _spec_fields(self, spec_id: int) -> list[dict[str, Any]]:
        return [
            {
                "source-id": field.source,
                "field-id": 1000 + self._offset(spec_id) + i,
                "name": field.name,
                "transform": field.transform,
            }
            for i, field in enumerate(self.specs[spec_id])
        ]


def _column(number: int, name: str, kind: str) -> dict[str, Any]:
    return {"id": number, "name": name, "required": False, "type": kind}
