"""Lets the server read what tables store on request: in one child process, started by the first request."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from limnograph.adapters.sandbox.idle import IdlePool
from limnograph.adapters.sandbox.tables import SandboxTables
from limnograph.domain.answers.storage import StorageReading
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.time import Millis
from limnograph.services.table.storage.page import StoragePages
from limnograph.settings import Settings, reread_catalogs
from limnograph.wiring.observe import access_of
from limnograph.wiring.server import ServerServices

DEADLINE_S = 30.0
"""Maximum own time of the child for one table: a user waits for the page."""


class StoredTables:
    """Port TableStorageReader with the access of the settings. Immutable after construction."""

    def __init__(self, settings: Settings, pool: IdlePool | None = None) -> None:
        self._settings, self._pool = settings, pool or IdlePool()

    def storage(self, due: DueTable, snapshot_id: int | None, now: Millis) -> StorageReading:
        # Credentials may have been rotated since the last request.
        access = access_of(self._settings.with_catalogs(reread_catalogs(self._settings)))
        access = msgspec.structs.replace(access, deadline_seconds=min(access.deadline_seconds, DEADLINE_S))
        return SandboxTables(access, self._pool).storage(due, snapshot_id, now)


def with_storage(services: ServerServices, settings: Settings) -> ServerServices:
    """The same services with pages of what tables store."""
    options = services.options
    pages = StoragePages(services.store, options.cold or options.engine, options.clock, StoredTables(settings))
    return replace(services, backend=services.backend._replace(storage=pages))
