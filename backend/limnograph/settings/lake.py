"""Settings of the lake: which tables are observed, where the meta tables are stored and how long facts are retained."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from limnograph.settings.base import Deadline, FrozenSettings


class MetaSettings(FrozenSettings, frozen=True, kw_only=True):
    """Location of the meta tables."""

    catalog: str = ""
    """One of `[catalogs.*]`; default: the only one."""
    namespace: str = "limnograph"
    """Namespace of the meta tables; not observed unless `observe.include` names it."""


class PathSettings(FrozenSettings, frozen=True, kw_only=True):
    """A table without a catalog."""

    format: Literal["iceberg", "delta", "hudi"]
    """Table format."""
    name: str
    """`namespace.table`, in catalog `files`."""
    location: str
    """Folder of the table: a path or URL."""
    properties: dict[str, str] = msgspec.field(default_factory=dict)
    """Properties of its store, with PyIceberg's names (`s3.endpoint`, …)."""


class WarehouseSettings(FrozenSettings, frozen=True, kw_only=True):
    """A folder that is scanned for tables without a catalog. Patterns of `observe` apply to them."""

    name: str
    """First level of their namespace; the folders in between follow."""
    location: str
    """Path or URL of the folder."""
    format: Literal["", "delta", "hudi", "iceberg"] = ""
    """Only tables of this format; default Delta and Hudi."""
    properties: dict[str, str] = msgspec.field(default_factory=dict)
    """Properties of the store, with PyIceberg's names."""

    @property
    def formats(self) -> tuple[str, ...]:
        """Formats to search for."""
        return (self.format,) if self.format else ("delta", "hudi")


class ColumnSettings(FrozenSettings, frozen=True, kw_only=True):
    """Statistics of columns (docs/columns.md). A pattern matches a column's full name or its last level; `*` is any
    text.
    """

    enabled: bool = True
    """Whether statistics of columns are stored."""
    private: tuple[str, ...] = ()
    """Patterns of columns that have counts only: no bounds, and no values of partitions. They match names, and words of
    comments, such as `pii`; a table's property `limnograph.private-columns` adds patterns for it.
    """
    bounds: tuple[str, ...] = ()
    """Patterns of text and binary columns whose bounds, which are values of the data, may be stored."""


class ObserveSettings(FrozenSettings, frozen=True, kw_only=True):
    """Which tables are observed, and at what cost. In patterns over `catalog.namespace.table`, `*` matches one level
    and `**` any number. A table without a catalog matches as `files.landing.orders` and as `landing.orders`.
    """

    include: tuple[str, ...] = ("**",)
    """Patterns of tables to observe."""
    exclude: tuple[str, ...] = ()
    """Patterns of tables to exclude."""
    paths: tuple[PathSettings, ...] = ()
    """Tables without a catalog."""
    warehouses: tuple[WarehouseSettings, ...] = ()
    """Folders below which tables without a catalog are found."""
    roots: tuple[str, ...] = ()
    """Locations, besides a table's own folder, that its metadata may refer to. A catalog's pointer to a local file must
    be below its warehouse or one of these; so must a pointer to an object store if one of these is in that kind of
    store.
    """
    table_deadline_seconds: Deadline = 60.0
    """Deadline for reading one table, in seconds of computing or waiting for storage; time spent waiting for a
    processor does not count. A table that takes longer is marked unreadable; others are not affected.
    """
    probes_per_second: Annotated[float, msgspec.Meta(gt=0, le=10_000)] = 20.0
    """Continuous request budget for each catalog that returns pointers one table at a time."""
    probes_at_once: Annotated[int, msgspec.Meta(ge=1, le=64)] = 4
    """Concurrent probes per catalog."""
    catalog_deadline_seconds: Deadline = 10.0
    """A catalog that has not responded for this many seconds is stale."""
    columns: ColumnSettings = ColumnSettings()
    """Which columns have statistics, and which of these bounds."""


class ObjectiveSettings(FrozenSettings, frozen=True, kw_only=True):
    """Objectives for tables and the jobs on them. The first entry that matches and has the limit applies. A limit that
    is exceeded for the window opens the finding `objective_missed`.
    """

    tables: str
    """Pattern over `catalog.namespace.table`, as in `[observe]`."""
    freshness_seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """Maximum age of the last commit, in seconds; drawn as a line in the freshness lane."""
    jobs: str = ""
    """Pattern over the names of jobs on these tables; empty: all of them."""
    duration_seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """Maximum duration of a run, in seconds."""
    query_p95_seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """Maximum 95th percentile of the durations of the queries that engines reported for a table in an hour, in seconds;
    judged from five queries on.
    """
    event_to_queryable_seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """Maximum time from an event to the commit that makes it queryable, in seconds, as the streams of a table report it
    (docs/events.md); also the limit of `stream_lag`, instead of one that follows from usual gaps.
    """
    cost_per_gb_month: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """Maximum cost of a live GB for a month, in the currency of `[prices]`, as docs/cost.md calculates it; judged when
    the table's advice is evaluated, so `window_seconds` does not apply.
    """
    window_seconds: Annotated[float, msgspec.Meta(ge=60, le=86_400)] = 600.0
    """Seconds for which a limit must be exceeded to be missed, and kept to be met again."""


class OwnerSettings(FrozenSettings, frozen=True, kw_only=True):
    """Who is responsible for tables. The first entry whose pattern matches a table applies, unless the table has a
    property `owner` or a user set an owner in the dashboard.
    """

    tables: str
    """Pattern over `catalog.namespace.table`, as in `[observe]`."""
    owner: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    """Name of a person or a team; plain text."""


class RetentionSettings(FrozenSettings, frozen=True, kw_only=True):
    """How long the meta tables keep facts. Daily roll-ups are kept forever."""

    raw_days: Annotated[int, msgspec.Meta(ge=3)] = 30
    """Days to keep one row per commit; rows whose snapshots still exist in the lake are kept longer. Dashboards read
    raw rows for the last two days, so fewer would leave gaps.
    """
    hourly_days: int = 400
    """Days to keep hourly roll-ups; at least `raw_days`."""
