"""Tables that notifications in the inbox name, so that they are probed first. An inbox that is down names none."""

from __future__ import annotations

import logging

import msgspec

from limnograph.domain.errors import SettingsError, SourceError
from limnograph.domain.ids import TableName
from limnograph.domain.inbound.notices import Notice
from limnograph.ports.inbox import Inbox

_log = logging.getLogger("limnograph.observe")


class NotifiedTables:
    """Called, it returns the tables with notifications since the last call; at first those in the inbox."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._since: int | None = None

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
                continue  # of another version, or nobody's
            if notice.catalog and notice.table:
                found.add(TableName(notice.catalog, notice.namespace or "", notice.table))
        return found
