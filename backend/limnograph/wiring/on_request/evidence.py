"""Port ActionEvidence with the access of the settings: reads in one child process, started by the first request."""

from __future__ import annotations

from limnograph.adapters.sandbox.idle import IdlePool
from limnograph.adapters.sandbox.messages import ReadEvidence, decode_evidence
from limnograph.domain.maintenance.evidence import EvidenceRequest, TableEvidence
from limnograph.domain.metadata.due import DueTable
from limnograph.settings import Settings, reread_catalogs
from limnograph.wiring.observe import access_of

DEADLINE_S = 600.0
"""Maximum own time of the child for one table: a sample of its files is checked in storage."""


class EvidencedTables:
    """Immutable after construction."""

    def __init__(self, settings: Settings, pool: IdlePool | None = None) -> None:
        self._settings, self._pool = settings, pool or IdlePool()

    def evidence(self, due: DueTable, request: EvidenceRequest) -> TableEvidence:
        # Credentials may have been rotated since the last table.
        access = access_of(self._settings.with_catalogs(reread_catalogs(self._settings)))
        (body,) = self._pool.ask(access, ReadEvidence(due, request), DEADLINE_S)
        return decode_evidence(bytes(body))
