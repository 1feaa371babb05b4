"""Determines the series of a table: renames keep it, copies get their own, upgrades keep the old id."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping

import msgspec

from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.ids import LOCATION_UUID, TableName, location_uuid, normalise_location
from limnograph.domain.metadata.table import TableMetadata
from limnograph.services.pipeline.ledger import Ledger


def series_ids(
    tables: Mapping[TableName, TableMetadata], ledger: Ledger, held: Collection[str] = ()
) -> dict[TableName, str]:
    """Series of every readable table. `held`: series of listed tables that cannot be read now."""
    by_uuid: dict[str, dict[str, list[TableName]]] = {}
    for name, metadata in tables.items():
        uuid = _own(name, metadata, ledger)
        by_uuid.setdefault(uuid, {}).setdefault(normalise_location(metadata.location), []).append(name)
    found: dict[TableName, str] = {}
    for uuid, places in by_uuid.items():
        original = _original(uuid, places, ledger, held=uuid in held)
        for place, names in places.items():
            copy = f"{uuid}@{hashlib.sha256(place.encode()).hexdigest()[:8]}"
            known_copy = ledger.first_seen(copy) is not None
            found.update(dict.fromkeys(names, copy if known_copy or place != original else uuid))
    return found


def _own(name: TableName, metadata: TableMetadata, ledger: Ledger) -> str:
    """The table's uuid. A series that began before the table had one keeps its substitute id, even if the table's
    location changes under the same name.
    """
    if metadata.uuid and ledger.first_seen(metadata.uuid):
        return metadata.uuid
    here, before = location_uuid(metadata.location), ledger.owners().get(str(name), "")
    if ledger.first_seen(here) and (metadata.uuid is None or _may_continue(metadata, here, ledger)):
        return here
    if before.startswith(LOCATION_UUID) and _shares(metadata, before, ledger):
        return before
    return metadata.table_uuid


def _may_continue(metadata: TableMetadata, uuid: str, ledger: Ledger) -> bool:
    """Whether the table can belong to that series. It is a different table if its metadata contains its beginning (a
    snapshot without a parent) and none of the snapshots that main pointed at.
    """
    begins = any(snapshot.parent_id is None for snapshot in metadata.snapshots.values())
    return not begins or not ledger.main_log(uuid) or _shares(metadata, uuid, ledger)


def _shares(metadata: TableMetadata, uuid: str, ledger: Ledger) -> bool:
    """Whether metadata refers to a snapshot of the series' main."""
    spoken = {*metadata.snapshots, *(entry.value for entry in metadata.snapshot_log)}
    spoken |= {s.parent_id for s in metadata.snapshots.values() if s.parent_id is not None}
    return any(snapshot_id in {str(i) for i in spoken} for snapshot_id, _ in ledger.main_log(uuid))


def _original(uuid: str, places: Mapping[str, list[TableName]], ledger: Ledger, *, held: bool) -> str | None:
    """The location that keeps the id if several tables claim it: the first observed, else that of its name, else a
    fixed choice.

    None if the owner is a table that cannot be read now.
    """
    first = ledger.first_seen(uuid)
    if len(places) == 1 and not held:
        return next(iter(places))
    if first and _location(first) in places:
        return str(_location(first))
    for place, names in places.items():
        if first and first.subject in {str(name) for name in names}:
            return place
    if held:
        return None
    return min(places, key=lambda place: (min(places[place]), place))


def _location(first: ChangeFact) -> str | None:
    try:
        detail = msgspec.json.decode(first.detail or "{}")
    except msgspec.DecodeError:
        return None
    return normalise_location(str(detail.get("location", "")))
