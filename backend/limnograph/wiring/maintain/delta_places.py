"""Where Delta tables without a catalog are: the configured paths, and folders below the configured warehouses."""

from __future__ import annotations

from limnograph.adapters.delta.maintenance.maintainer import DeltaMaintainer
from limnograph.adapters.delta.maintenance.store import DeltaPlace
from limnograph.domain.ids import TableName, unescape_level
from limnograph.settings import FILES, ObserveSettings, Settings
from limnograph.wiring.paths import path_name


def delta_maintainer(settings: Settings) -> DeltaMaintainer:
    """The maintainer of the settings' Delta tables. Raises EnvironmentFault: deltalake is not installed."""
    return DeltaMaintainer(lambda name: delta_place(settings.observe, name), settings.path_map)


def delta_place(observe: ObserveSettings, name: TableName) -> DeltaPlace | None:
    """Folder of a table by its name, as `PathCatalog` names it; None: no setting leads to it."""
    if name.catalog != FILES:
        return None
    for path in observe.paths:
        if path_name(path) == name:
            return DeltaPlace(path.location, path.properties) if path.format == "delta" else None
    for warehouse in observe.warehouses:
        first = warehouse.name.split(".")
        levels = [*name.namespace.split("."), name.table]
        below = [unescape_level(level) for level in levels[len(first) :]]
        if levels[: len(first)] != first or not below or "delta" not in warehouse.formats:
            continue
        if not any(level in {"", ".", ".."} or "/" in level for level in below):
            return DeltaPlace("/".join((warehouse.location.rstrip("/"), *below)), warehouse.properties)
    return None
