"""Settings of the lake: which tables are observed, where the meta tables lie and how long they keep what they know."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from limnograph.settings.base import Deadline, FrozenSettings


class MetaSettings(FrozenSettings, frozen=True, kw_only=True):
    """Where the meta tables live."""

    catalog: str = ""
    """One of `[catalogs.*]`; default the only one."""
    namespace: str = "limnograph"
    """Its namespace. It is not observed unless `observe.include` names it."""


class PathSettings(FrozenSettings, frozen=True, kw_only=True):
    """A table without a catalog."""

    format: Literal["iceberg", "delta", "hudi"]
    """Of the table."""
    name: str
    """`namespace.table`, below catalog `files`."""
    location: str
    """Its folder: a path or URL."""
    properties: dict[str, str] = msgspec.field(default_factory=dict)
    """Of its store, by PyIceberg's names (`s3.endpoint`, …)."""


class WarehouseSettings(FrozenSettings, frozen=True, kw_only=True):
    """A folder below which tables without a catalog are found. Patterns of `observe` apply to them."""

    name: str
    """First level of their namespace; the folders between follow."""
    location: str
    """The folder: a path or URL."""
    format: Literal["", "delta", "hudi", "iceberg"] = ""
    """Only tables of this one; default Delta and Hudi."""
    properties: dict[str, str] = msgspec.field(default_factory=dict)
    """Of the store, by PyIceberg's names."""

    @property
    def formats(self) -> tuple[str, ...]:
        """Formats that are looked for."""
        return (self.format,) if self.format else ("delta", "hudi")


class ObserveSettings(FrozenSettings, frozen=True, kw_only=True):
    """Which tables are observed, and what looking at them may cost. In patterns over `catalog.namespace.table` a `*` is
    one level and `**` any number. A table without a catalog is found by `files.landing.orders` and by `landing.orders`.
    """

    include: tuple[str, ...] = ("**",)
    """Patterns of observed tables."""
    exclude: tuple[str, ...] = ()
    """Patterns of tables that are left out."""
    paths: tuple[PathSettings, ...] = ()
    """Tables without a catalog."""
    warehouses: tuple[WarehouseSettings, ...] = ()
    """Folders below which tables without a catalog are found."""
    roots: tuple[str, ...] = ()
    """Places, besides its own folder, that any table's metadata may name. A catalog's pointer to a file lies below its
    warehouse or one of these; one to an object store below these too, where they name places of that kind of store.
    """
    table_deadline_seconds: Deadline = 60.0
    """For reading one table, seconds that its reader computes or waits for storage; those that the machine keeps it
    waiting for a processor do not count. A table that takes longer is a problem of that table alone.
    """
    probes_per_second: Annotated[float, msgspec.Meta(gt=0, le=10_000)] = 20.0
    """Budget for each catalog that tells pointers table by table, under standing load."""
    probes_at_once: Annotated[int, msgspec.Meta(ge=1, le=64)] = 4
    """Probes of one catalog side by side."""
    catalog_deadline_seconds: Deadline = 10.0
    """Without an answer for so many seconds a catalog is stale."""


class ObjectiveSettings(FrozenSettings, frozen=True, kw_only=True):
    """What is promised of tables. Of several whose pattern matches a table the first one counts."""

    tables: str
    """Pattern over `catalog.namespace.table`, as in `[observe]`."""
    freshness_seconds: Annotated[float, msgspec.Meta(gt=0)]
    """Age of the last commit that is not exceeded, seconds: a rule line in the freshness lane."""


class RetentionSettings(FrozenSettings, frozen=True, kw_only=True):
    """How long the meta tables keep facts. Roll-ups by day are kept for ever."""

    raw_days: Annotated[int, msgspec.Meta(ge=3)] = 30
    """Rows of each commit, days, and then as long as the lake has their snapshots. Dashboards read raw rows for the
    last two days, so fewer would leave holes.
    """
    hourly_days: int = 400
    """Roll-ups by hour, days; at least `raw_days`."""
