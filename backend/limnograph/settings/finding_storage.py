"""Sections `[findings.CODE]` about storage, readers that expiry may hit, engines, streams and catalogs."""

from __future__ import annotations

from typing import Annotated

import msgspec

from limnograph.domain.finding_limits import DAY, FindingLimits
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.settings.base import FrozenSettings
from limnograph.settings.finding_base import Bytes, Count, Factor, FindingSettings, Share

_LIMITS = FindingLimits()


class StreamLagSettings(FindingSettings, frozen=True, kw_only=True):
    """A stream whose commits contain events much older than its usual gap between commits."""

    triggers: Factor = _LIMITS.lag_triggers
    """Multiple of the usual gap between the stream's commits."""
    least_seconds: Annotated[float, msgspec.Meta(ge=1)] = _LIMITS.lag_least / MICROS_PER_SECOND
    """Seconds of lag, at least."""


class TinyCommitsSettings(FindingSettings, frozen=True, kw_only=True):
    """A writer that commits a few rows at a time, hundreds of times a day."""

    commits: Count = _LIMITS.tiny_commits
    """Commits within 24 hours."""
    rows: Count = _LIMITS.tiny_rows
    """Rows that these commits add or delete, median."""
    large_share: Share = _LIMITS.tiny_large_share
    """Share of the target size from which on their average file is large: few, but large rows."""


class FormatSettings(FindingSettings, frozen=True, kw_only=True):
    """A feature of a table that an engine which reads it does not know."""

    days: Annotated[int, msgspec.Meta(ge=1, le=30)] = _LIMITS.engine_days
    """Days after which an engine that was not seen again no longer counts."""


class OverlapSettings(FindingSettings, frozen=True, kw_only=True):
    """A sorted table whose files overlap on the first field of the sort order."""

    depth: Count = _LIMITS.overlap_depth
    """Files that cover one value, at least."""
    share: Share = _LIMITS.overlap_share
    """Share of the files of the largest partition; both are needed."""


class WriteModeSettings(FindingSettings, frozen=True, kw_only=True):
    """Copy-on-write commits that write much again to change little."""

    commits: Count = _LIMITS.rewriting_commits
    """Such commits within 7 days."""
    changed_share: Share = _LIMITS.rewriting_dropped
    """Share of the rows written again that a commit drops, at most."""


class CatalogLimitSettings(FindingSettings, frozen=True, kw_only=True):
    """A namespace of a catalog that is nearly full, or a catalog that is slow or fails, by the requests of a quarter of
    an hour.
    """

    tables: Count = _LIMITS.catalog_tables
    """Tables that one namespace of the catalog can hold. The default is the limit of AWS Glue for a database."""
    share: Share = _LIMITS.catalog_share
    """Share of this number."""
    slow_seconds: Annotated[float, msgspec.Meta(gt=0)] = _LIMITS.catalog_slow / MICROS_PER_SECOND
    """95th percentile of the durations of the watcher's requests, seconds; judged from 20 requests on."""
    error_share: Share = _LIMITS.catalog_errors
    """Share of the watcher's requests that get no answer."""


class HeldBytesSettings(FindingSettings, frozen=True, kw_only=True):
    """Bytes that only snapshots beyond the table's own retention, or one branch or tag, need."""

    bytes: Bytes = _LIMITS.held_bytes
    """Bytes, at least."""
    share: Share = _LIMITS.held_share
    """Share of the live bytes; both are needed."""


class DeletesKeptSettings(FindingSettings, frozen=True, kw_only=True):
    """Deleted rows that the data files still contain."""

    days: Annotated[int, msgspec.Meta(ge=1, le=365)] = _LIMITS.deletes_days
    """Age of a live delete file in days. The table property `limnograph.erasure-days` takes the place of this; then the
    finding closes only when old snapshots no longer reach the rows either.
    """
    share: Share = _LIMITS.deleted_share
    """Share of the rows that is deleted."""
    share_days: Annotated[float, msgspec.Meta(gt=0, le=30)] = _LIMITS.deleted_for / DAY
    """Days for which it is."""


class CardinalityPartitionSettings(FindingSettings, frozen=True, kw_only=True):
    """Partitions by a column with very many values."""

    partitions: Count = _LIMITS.cardinality_partitions
    """Partitions, at least."""
    median_share: Share = _LIMITS.cardinality_share
    """Share of the target file size that the median partition has at most; both are needed."""


class ColdDataSettings(FindingSettings, frozen=True, kw_only=True):
    """Partitions that no one has written for a long time, of a table that no one has read."""

    days: Annotated[int, msgspec.Meta(ge=1, le=3_650)] = _LIMITS.cold_days
    """Days without a write, and without a read as far as reads are reported."""
    share: Share = _LIMITS.cold_share
    """Share of the table's bytes."""
    bytes: Bytes = _LIMITS.cold_bytes
    """Bytes; both are needed."""


class ReaderSettings(FrozenSettings, frozen=True, kw_only=True):
    """Readers that may be behind main's head, such as streams and incremental jobs: they continue from the snapshot
    that they read last. Expiry plans keep what they need, and the finding `reader_at_risk` opens where a table's own
    retention does not.
    """

    jobs: Annotated[str, msgspec.Meta(min_length=1)]
    """Pattern over names of jobs; of an engine's name for reads that name no job."""
    tables: str = "**"
    """Pattern over `catalog.namespace.table`, as in `[observe]`."""
    lag_hours: Annotated[float, msgspec.Meta(gt=0, le=24 * 365)]
    """Hours that the reader may be behind: its next read may need snapshots as old as this."""
