"""Decides which metadata files a catalog may refer to: anyone who can register a table writes its pointer (ADR 33).

A pointer to the local disk must be below the catalog's warehouse or a location in the settings, links resolved. A
pointer to an object store must be on a kind of store that the catalog uses and, if `[observe] roots` has locations of
that kind, below one of them or the warehouse. If a catalog's warehouse is a name or is not set (REST), it restricts no
location: then a local file must at least be named like a metadata file of its format, and any object store is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from limnograph.adapters.storage.allowed import STORES, Roots, shown, strange, under
from limnograph.adapters.storage.places import Location, PathMap, place_of
from limnograph.domain.errors import MetadataError

_METADATA = re.compile(
    r"/(?:metadata/[^/]+\.metadata\.json(?:\.gz)?|_delta_log/[^/]+|\.hoodie/(?:[^/]+/)*[^/]+)", re.IGNORECASE
)
_REMEDY = "add its location to roots in [observe] if you trust it"


class PointerRule(NamedTuple):
    """Locations that one catalog's pointers may name.

    known      warehouse, roots and mapped locations
    confining  `[observe] roots` alone
    warehouse  None if it is not a location
    """

    catalog: str
    known: Roots
    confining: Roots
    warehouse: Location | None

    def check(self, pointer: str) -> None:
        """Check a pointer. Raises MetadataError: location_refused, with the name of the setting."""
        if strange(pointer) and self.known.path_map.mapped(pointer) is None:
            raise self._refused(pointer, "is not a location")
        place = self.known.settled(place_of(self.known.path_map.resolve(pointer)))
        if place.family not in STORES:
            raise self._refused(pointer, "is on an unsupported store")
        if ".." in place.path.split("/"):
            raise self._refused(pointer, "contains ..")
        if any(under(place, root) for root in self.known.places):
            return
        if place.local:
            if self.warehouse is not None or self.confining.places:
                raise self._refused(pointer, "is a file outside the warehouse and roots")
            if not _METADATA.search(place.path):
                raise self._refused(pointer, "does not have the name of a metadata file")
            return
        same_kind = [root for root in self.confining.places if root.family == place.family]
        if same_kind:
            raise self._refused(pointer, "is outside the warehouse and roots")
        if self.warehouse is not None and place.family != self.warehouse.family:
            raise self._refused(pointer, f"is not on the warehouse's store, {self.warehouse.scheme}:")

    def _refused(self, pointer: str, reason: str) -> MetadataError:
        return MetadataError(
            "location_refused", f"the pointer {shown(pointer)} of catalog {self.catalog} {reason}; {_REMEDY}"
        )


def pointer_rule(
    catalog: str, properties: dict[str, str], roots: Iterable[str], confining: Iterable[str], path_map: PathMap
) -> PointerRule:
    """`roots`: locations in the settings that any table may name; `confining`: the roots that also confine pointers."""
    warehouse = warehouse_of(properties)
    place = place_of(path_map.resolve(warehouse)) if warehouse else None
    known = Roots((*roots, *([warehouse] if warehouse else [])), path_map)
    return PointerRule(catalog, known, Roots(confining), place)


def warehouse_of(properties: dict[str, str]) -> str | None:
    """The warehouse if it is a location; that of a REST catalog is a name unless it has a scheme or is absolute."""
    warehouse = properties.get("warehouse", "")
    if "://" in warehouse or warehouse.startswith(("/", "file:")):
        return warehouse
    return f"./{warehouse.removeprefix('./')}" if warehouse and properties.get("type", "sql") != "rest" else None
