"""Input of the rules: one table as it is known at an instant. Whatever is None is not known, and no rule guesses it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import Literal, NamedTuple, Protocol

from limnograph.analysis.advice.estimates import ANY_CODEC, ROW_IDS, FileLayout
from limnograph.analysis.advice.readers import ReaderNeed
from limnograph.analysis.advice.retention import DAY_MS, HOUR_MS, RetentionRule, own_ages, stricter_retention
from limnograph.analysis.advice.spec_fields import leaf_columns
from limnograph.domain.advice.document import TableBytes
from limnograph.domain.advice.prices import Prices
from limnograph.domain.advice.reading import RemovableFiles
from limnograph.domain.advice.survey import TableSurvey
from limnograph.domain.finding_limits import ERASURE_DAYS
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.domain.time import Micros, Millis, to_micros

QUIET_MS = 15 * 60_000
QUIET_GAPS = 3
"""Partitions that were written within 15 minutes, or within three times the median gap between commits if that is
longer, are left out of rewrites: a row delete that is in flight fails if the rewrite commits first.
"""
_GAPS = 200
ROW_IDS_SINCE = 3
"""Format version."""
UNMATERIALIZED = "deletes_not_materialized"
"""The finding of a table that has not kept its promise of erasure."""
__all__ = ["DAY_MS", "HOUR_MS", "UNMATERIALIZED", "AdviceFacts", "PlanLimits", "ReadLoad"]


ReadBasis = Literal["scans", "runs"]


class ReadLoad(NamedTuple):
    """Scans of the table per day. `opened`: data files that one scan opens on average; None: all of them. `basis`:
    reported scans, or runs of jobs that read the table, where no engine reports scans: each counts as one.
    """

    scans_per_day: float
    opened: float | None = None
    basis: ReadBasis = "scans"


class UnlistedFile(Protocol):
    """A file that no snapshot references."""

    @property
    def location(self) -> str:
        """Where it is."""
        ...

    @property
    def size(self) -> int:
        """Bytes."""
        ...

    @property
    def modified_at_ms(self) -> int:
        """When it was last modified, epoch milliseconds."""
        ...


class PlanLimits(NamedTuple):
    """How a policy narrows or widens what the rules plan; floors always hold. None: the rule's own value.

    quiet_ms     partitions written within it are left out of rewrites
    retention    of snapshots; a plan keeps what this or the table's own retention keeps
    orphan_age_ms  least age of unreferenced files
    saved_files, freed_bytes  from which saving on an action is due
    payback_days  longest payback
    paying       whether an action must pay for itself
    """

    quiet_ms: int | None = None
    retention: RetentionRule | None = None
    orphan_age_ms: int | None = None
    saved_files: int | None = None
    freed_bytes: int | None = None
    payback_days: float | None = None
    paying: bool = True


class AdviceFacts:
    """Facts of one table at `now`, epoch milliseconds.

    survey    the head's files; None with the reason in `unread`
    bytes     None with the reason in `unsummed`
    freed     bytes of files that only the given snapshots reach; None: not known
    removable files that a vacuum would delete; None: none, or not known
    codes     codes of open findings
    reads     None: neither engines nor jobs report reads
    readers   what readers need; None: not known
    saved     seconds per day that an action saves jobs, with its basis, by rule
    unreferenced  files below the table's location that no snapshot references; None: they were not listed
    limits    of a policy
    """

    def __init__(
        self,
        metadata: TableMetadata,
        now: Millis,
        *,
        survey: TableSurvey | None = None,
        unread: str | None = None,
        held: TableBytes | None = None,
        unsummed: str | None = None,
        freed: int | None = None,
        removable: RemovableFiles | None = None,
        codes: Sequence[str] = (),
        reads: ReadLoad | None = None,
        readers: Sequence[ReaderNeed] | None = None,
        saved: Mapping[str, tuple[float, str]] | None = None,
        returns: Sequence[float] = (),
        unreferenced: Sequence[UnlistedFile] | None = None,
        limits: PlanLimits = PlanLimits(),  # noqa: B008  # immutable
        prices: Prices = Prices(),  # noqa: B008  # immutable
    ) -> None:
        self.metadata, self.now, self.survey, self.unread = metadata, now, survey, unread
        self.bytes, self.unsummed, self.freed, self.removable = held, unsummed, freed, removable
        self.codes, self.reads, self.readers = tuple(codes), reads, readers
        self.saved, self.prices, self.returns = dict(saved or {}), prices, tuple(returns)
        self.unreferenced, self.limits = unreferenced, limits

    @cached_property
    def quiet_ms(self) -> int:
        """Length of the quiet time, as limited, or by the table's own commits."""
        if self.limits.quiet_ms is not None:
            return self.limits.quiet_ms
        known = (each.timestamp_ms for each in self.metadata.snapshots.values())
        times = sorted(at for at in known if at is not None)[-_GAPS:]
        gaps = [after - before for before, after in pairwise(times)]
        return max(QUIET_MS, round(QUIET_GAPS * median(gaps)) if gaps else 0)

    @property
    def retention_days(self) -> float:
        """Days for which replaced files stay."""
        return self.retention.age_ms / DAY_MS

    @property
    def retention(self) -> RetentionRule:
        """Of snapshots: the table's own, or that of the limits where it keeps more."""
        return stricter_retention(self.metadata.properties, self.limits.retention)

    def refs_with_own_age(self, expiring: Collection[int]) -> list[str]:
        """Branches and tags with an age of their own, by which Spark would remove more than these snapshots."""
        return list(own_ages(self.metadata, self.now, expiring))

    @cached_property
    def layout(self) -> FileLayout:
        """What the table's data files hold. Rewrites of tables of format v3 store ids of rows."""
        metadata = self.metadata
        has_ids = metadata.format == "iceberg" and metadata.format_version >= ROW_IDS_SINCE
        codec = metadata.properties.get("write.parquet.compression-codec", "zstd").lower()
        return FileLayout(leaf_columns(metadata), ROW_IDS.get(codec, ANY_CODEC) if has_ids else None)

    @property
    def owes_erasure(self) -> bool:
        """Whether deleted rows are still in the table's files, although it promises that they are gone by now."""
        return ERASURE_DAYS in self.metadata.properties and UNMATERIALIZED in self.codes

    def is_hot(self, written_at: Micros | None) -> bool:
        """Whether a partition was written within the quiet time."""
        return written_at is not None and written_at > to_micros(Millis(self.now - self.quiet_ms))

    @property
    def head(self) -> Snapshot | None:
        """Main's current snapshot."""
        head_id = self.metadata.head_id
        return None if head_id is None else self.metadata.snapshots.get(head_id)

    def open_codes(self, codes: Sequence[str]) -> list[str]:
        """Those of the codes that are open."""
        return [code for code in codes if code in self.codes]
