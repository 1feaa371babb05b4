"""Ports ActionEvidence and FileFolders with the access of the settings: reads in one child process, which the first
request starts.
"""

from __future__ import annotations

from limnograph.adapters.sandbox.idle import IdlePool
from limnograph.adapters.sandbox.messages import Question, ReadEvidence, ReadFolders, decode_evidence, decode_folders
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
        return decode_evidence(self._answer(ReadEvidence(due, request)))

    def folders(self, due: DueTable) -> list[str]:
        return decode_folders(self._answer(ReadFolders(due)))

    def _answer(self, question: Question) -> bytes:
        # Credentials may have been rotated since the last table.
        access = access_of(self._settings.with_catalogs(reread_catalogs(self._settings)))
        (body,) = self._pool.ask(access, question, DEADLINE_S)
        return bytes(body)
