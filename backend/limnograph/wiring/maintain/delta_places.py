"""Where Delta tables without a catalog are, and with which credentials they may be written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from limnograph.domain.ids import TableName, normalise_location
from limnograph.ports.lake import LakeListing
from limnograph.settings import Settings

if TYPE_CHECKING:
    from limnograph.adapters.delta.maintenance.store import DeltaPlace

_LOG = "/_delta_log"


class DeltaPlaces:
    """Thread-safe: `_locations` is a value that is replaced as a unit."""

    def __init__(self, settings: Settings) -> None:
        observe = settings.observe
        self._stores = [(normalise_location(each.location), each.properties) for each in observe.paths]
        self._stores += [(normalise_location(each.location), each.properties) for each in observe.warehouses]
        self._locations: dict[TableName, str] = {}

    def saw(self, listing: LakeListing) -> LakeListing:
        """Remember where the tables are; returns the listing."""
        self._locations = {
            each.name: each.location.partition(_LOG)[0] for each in listing.pointers if each.format == "delta"
        }
        return listing

    def of(self, name: TableName) -> DeltaPlace | None:
        """A table's folder; None: it is not listed."""
        from limnograph.adapters.delta.maintenance.store import DeltaPlace

        location = self._locations.get(name)
        return None if location is None else DeltaPlace(location, self._properties(location))

    def _properties(self, location: str) -> Mapping[str, str]:
        """Of the nearest configured folder."""
        own = normalise_location(location)
        found = [(len(root), store) for root, store in self._stores if own == root or own.startswith(f"{root}/")]
        return max(found, key=lambda each: each[0], default=(0, {}))[1]
