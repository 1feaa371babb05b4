"""Snapshots and main's log in a metadata file: decoded as typed structs, or leniently one by one if that fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw

from limnograph.adapters.iceberg.metadata.edge import MILLIS, Edge
from limnograph.domain.metadata.summary import WrittenSummary, string_map
from limnograph.domain.metadata.table import LogEntry, Snapshot, TableProblem
from limnograph.domain.time import Millis

_Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
_Millis = Annotated[Millis, Meta(ge=MILLIS.start, le=MILLIS.stop - 1)]
_OBJECT = ord("{")
_NOT_A_LIST = "snapshots is not a list"
_LEFT_OUT = "snapshots have no usable id or position in the history"


class _Snapshot(msgspec.Struct, rename="kebab", gc=False):
    """A snapshot as specified; fields that are not stored are skipped."""

    snapshot_id: _Int64
    timestamp_ms: _Millis | None = None
    parent_snapshot_id: _Int64 | None = None
    sequence_number: _Int64 | None = None
    schema_id: _Int32 | None = None
    summary: Raw = Raw(b"null")
    manifest_list: str | None = None
    manifests: tuple[str, ...] | None = None


class _LoggedMove(msgspec.Struct, rename="kebab", gc=False):
    timestamp_ms: _Millis
    snapshot_id: _Int64


_decode_snapshots = msgspec.json.Decoder(list[_Snapshot]).decode
_decode_snapshot = msgspec.json.Decoder(_Snapshot).decode
_decode_log = msgspec.json.Decoder(list[_LoggedMove]).decode
_decode_items = msgspec.json.Decoder(list[Raw]).decode


def read_snapshots(text: Raw | None, edge: Edge) -> dict[int, Snapshot]:
    """Snapshots by id in the file's order; those without an id, or with an invalid sequence number, are left out."""
    if text is None:
        return {}
    try:
        return {one.snapshot_id: _kept(one) for one in _decode_snapshots(text)}
    except (msgspec.ValidationError, UnicodeDecodeError):
        if not bytes(text).lstrip().startswith((b"[", b"null")):
            edge.incomplete(_NOT_A_LIST)
        found = [_one_by_one(item, edge) for item in _items(text)]
        if None in found:
            edge.incomplete(f"{found.count(None)} of {len(found)} {_LEFT_OUT}")
        return {snapshot.snapshot_id: snapshot for snapshot in found if snapshot is not None}


def read_log(text: Raw | None, edge: Edge) -> tuple[LogEntry, ...]:
    """`snapshot-log`: which snapshot main pointed at, and since when."""
    if text is None:
        return ()
    try:
        return tuple([LogEntry(entry.timestamp_ms, entry.snapshot_id) for entry in _decode_log(text)])
    except (msgspec.ValidationError, UnicodeDecodeError):
        return edge.log({"log": [_plain(item) for item in _items(text)]}, "log", "snapshot-id", int)


def left_out(problems: Iterable[TableProblem]) -> str | None:
    """Which snapshots `read_snapshots` left out, as a phrase; None: none of them."""
    found = (problem.detail for problem in problems if problem.code == "metadata_incomplete")
    return next((text for text in found if text == _NOT_A_LIST or text.endswith(_LEFT_OUT)), None)


def _kept(one: _Snapshot) -> Snapshot:
    return Snapshot(
        snapshot_id=one.snapshot_id,
        timestamp_ms=one.timestamp_ms,
        parent_id=one.parent_snapshot_id,
        sequence_number=one.sequence_number,
        schema_id=one.schema_id,
        summary=WrittenSummary(one.summary) if memoryview(one.summary)[0] == _OBJECT else None,
        manifest_list=one.manifest_list,
        manifests=one.manifests,
    )


def _items(text: Raw) -> Iterator[Raw]:
    try:
        yield from _decode_items(text)
    except msgspec.ValidationError:
        return


def _plain(item: Raw) -> Any:
    """Any JSON; invalid UTF-8 is replaced."""
    return msgspec.json.decode(bytes(item).decode("utf-8", "replace"))


def _one_by_one(text: Raw, edge: Edge) -> Snapshot | None:
    try:
        return _kept(_decode_snapshot(text))
    except (msgspec.ValidationError, UnicodeDecodeError):
        item = _plain(text)
        return _lenient(item, edge) if isinstance(item, dict) else None


def _lenient(item: dict[str, Any], edge: Edge) -> Snapshot | None:
    """A snapshot; None for one without an id, or with a sequence number out of range."""
    snapshot_id = edge.number(item, "snapshot-id")
    if snapshot_id is None or not edge.fits(item, "sequence-number"):
        return None
    manifests = item.get("manifests")
    listed = item.get("manifest-list")
    return Snapshot(
        snapshot_id=snapshot_id,
        timestamp_ms=edge.instant(item, "timestamp-ms"),
        parent_id=edge.number(item, "parent-snapshot-id"),
        sequence_number=edge.number(item, "sequence-number"),
        schema_id=edge.number(item, "schema-id", Edge.INT32),
        summary=string_map(item.get("summary")),
        manifest_list=listed if isinstance(listed, str) else None,
        manifests=tuple(p for p in manifests if isinstance(p, str)) if isinstance(manifests, list) else None,
    )
