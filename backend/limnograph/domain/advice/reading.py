"""What the parser reads of a table for advice, as messages."""

from __future__ import annotations

import msgspec

from limnograph.domain.advice.document import TableBytes
from limnograph.domain.advice.survey import TableSurvey
from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.metadata.table import TableMetadata
from limnograph.domain.time import Millis


class RemovableFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Files that a vacuum would delete (Delta). `hours`: the retention; `sha256`: the same only for the same files."""

    files: int
    bytes: int
    hours: int
    sha256: str


class HeldReading(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of a table, and those that would be freed if the given snapshots expired. `removable`: Delta only."""

    bytes: TableBytes
    freed: int
    removable: RemovableFiles | None = None


class AdviceReading(msgspec.Struct, frozen=True, kw_only=True):
    """A table as it is now.

    metadata  without what advice does not need
    now       the instant judged: as requested, else the time of the newest snapshot
    survey    None with the reason in `unread`
    held      None with the reason in `unsummed`; `freed`: by the expiry of `retention.expiry_at`
    changes   changes of the table's states; only if its history was requested
    """

    metadata: TableMetadata
    now: Millis
    survey: TableSurvey | None
    unread: str | None
    held: HeldReading | None
    unsummed: str | None
    changes: list[ChangeFact] = []
