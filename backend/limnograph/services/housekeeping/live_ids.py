"""Which snapshot ids the lake still has, by series, read from the current metadata of every table. Writes nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from limnograph.domain.facts.meta_tables import CHANGES, ChangeFact
from limnograph.ports.lake import LakeListing, ObservedLake
from limnograph.ports.meta_store import MetaStore
from limnograph.services.housekeeping.retention import LakeIds
from limnograph.services.lake.history import standing_names
from limnograph.services.pipeline.ledger import ledger_at
from limnograph.services.pipeline.survey import observed_tables, surveys


def lake_ids(lake: ObservedLake, store: MetaStore) -> LakeIds:
    """Ids by series. A series is left out if metadata under one of its names could not be read. Raises SourceError."""
    listing = lake.listing()
    head = store.head(CHANGES)
    ledger = ledger_at(store, head)
    ids: dict[str, set[int]] = defaultdict(set)
    read = set[str]()
    for found in surveys(lake, listing):
        for table in observed_tables(found, lake, ledger):
            ids[table.uuid] |= table.metadata.snapshots.keys()
        read |= {str(pointer.name) for pointer in found.readable if pointer.name not in found.failed}
    unread = _unread(listing, read, ledger.owners())
    gone = _dropped(store.names(head)) - ids.keys() - unread
    return LakeIds({uuid: frozenset(held) for uuid, held in ids.items() if uuid not in unread}, frozenset(gone))


def _unread(listing: LakeListing, read: Collection[str], owners: Mapping[str, str]) -> set[str]:
    """Series with a name that is listed but was not read, or that an incomplete listing does not contain."""
    listed = {str(pointer.name) for pointer in listing.pointers} | set(listing.listed)
    hidden = (
        name
        for name in owners
        if name not in read and (name in listed or name.split(".", maxsplit=1)[0] not in listing.complete)
    )
    return {owners[name] for name in hidden}


def _dropped(changes: Iterable[ChangeFact]) -> set[str]:
    """Series whose names were all dropped."""
    names: dict[str, list[ChangeFact]] = defaultdict(list)
    for change in changes:
        if change.table_uuid is not None and change.kind in {"named", "dropped"}:
            names[change.table_uuid].append(change)
    standing = {uuid: standing_names(rows).values() for uuid, rows in names.items()}
    return {uuid for uuid, rows in standing.items() if all(row.kind == "dropped" for row in rows)}
