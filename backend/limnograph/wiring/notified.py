"""Reads the tables that notifications in the inbox name, so that they are probed first. If the inbox is unavailable,
there are none.
"""

from __future__ import annotations

import logging

import msgspec

from limnograph.domain.errors import SettingsError, SourceError
from limnograph.domain.ids import TableName
from limnograph.domain.inbound.notices import Notice
from limnograph.domain.time import Micros
from limnograph.ports.inbox import Inbox

_log = logging.getLogger("limnograph.observe")


class NotifiedTables:
    """A call returns the tables named by notifications since the previous call; the first call, those named by the
    newest.
    """

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._since: Micros | None = None

    def __call__(self) -> set[TableName]:
        try:
            newest = self._inbox.newest("notification")
            if newest is None or newest == self._since:
                return set()
            items = self._inbox.items("notification", since=self._since or newest)
        except (SourceError, SettingsError) as error:
            _log.warning("%s", error)
            return set()
        self._since = newest
        found = set[TableName]()
        for item in items:
            try:
                notice = msgspec.json.decode(item.payload, type=Notice)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                continue  # written by another version, or of an unknown kind
            if notice.catalog and notice.table:
                found.add(TableName(notice.catalog, notice.namespace or "", notice.table))
        return found
