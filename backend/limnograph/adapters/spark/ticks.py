"""Stream side of the DataSource `limnograph`: a counter that moves when a pass is due.

Its offset moves when the lake's pointers did, a notification came, or a while has passed; its rows say only that a pass
is due. What is new is always taken from the meta table, so a lost checkpoint loses nothing.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from limnograph.adapters.sandbox.messages import Access
from limnograph.domain.errors import SettingsError, SourceError
from limnograph.ports.catalog import Catalog
from limnograph.ports.inbox import Inbox

_log = logging.getLogger("limnograph.ticks")
SPACING_S = 2.0
"""Least seconds between a pass and one that a notification asks for: a flood of them makes no flood of passes."""


class TicksReader(DataSourceStreamReader):
    """Offset: a counter. A pass is due after option `seconds` even when nothing moved; before, when a pointer did,
    which is looked for every `probe` seconds; and when the inbox of option `inbox_url` has a newer notification.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._access = msgspec.json.decode(options["access"], type=Access)
        self._seconds, self._probe = float(options.get("seconds", "60")), float(options.get("probe", "0"))
        self._notices = Notices(options.get("inbox_url", ""))
        self._tick, self._print, self._last, self._probed = 0, "", 0.0, 0.0
        self._catalogs: dict[str, Catalog] = {}

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        return {"tick": 0}

    def latestOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        now = time.monotonic()
        noticed = self._notices.newer() if now - self._last >= SPACING_S else False
        if self._moved(now) or noticed or now - self._last >= self._seconds:
            # Wall time in milliseconds grows over restarts, whatever the checkpoint knew.
            self._tick = max(self._tick + 1, time.time_ns() // 1_000_000)
            self._last = now
        return {"tick": self._tick}

    def _moved(self, now: float) -> bool:
        if self._probed and now - self._probed < self._probe:
            return False
        before, self._print, self._probed = self._print, self._fingerprint(), now
        return before != self._print

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:  # noqa: ARG002
        return [InputPartition(end["tick"])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict({"tick": pa.array([partition.value], pa.int64())})

    def _fingerprint(self) -> str:
        """Hash over all pointers but our own; a catalog that does not answer leaves it to the clock."""
        found = hashlib.sha256()
        for name in sorted(self._access.catalogs):
            try:
                pointers = self._catalog(name).pointers()
            except (SourceError, SettingsError):
                continue
            own = self._access.meta_prefix
            found.update(repr([p.location for p in pointers if not own or not str(p.name).startswith(own)]).encode())
        return found.hexdigest()

    def _catalog(self, name: str) -> Catalog:
        """Kept open: Spark asks one process for all offsets of a query."""
        from limnograph.adapters.iceberg.catalog import IcebergCatalog, open_catalog

        if name not in self._catalogs:
            self._catalogs[name] = IcebergCatalog(open_catalog(name, self._access.catalogs[name]))
        return self._catalogs[name]


class Notices:
    """Whether the inbox has a notification that was not there at the last look. An inbox that does not answer has none:
    what it has to tell is found by probing.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._inbox: Inbox | None = None
        self._seen = 0

    def newer(self) -> bool:
        """Look now."""
        if not self._url:
            return False
        try:
            newest = self._open().newest("notification")
        except (SourceError, SettingsError) as error:
            _log.warning("%s", error)
            return False
        before, self._seen = self._seen, max(newest or 0, self._seen)
        return self._seen > before

    def _open(self) -> Inbox:
        from limnograph.adapters.inbox.store import SqlInbox

        if self._inbox is None:
            self._inbox = SqlInbox(self._url)
        return self._inbox
