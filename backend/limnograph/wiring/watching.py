"""What settings make of the watcher: the observed lake and the meta tables, and nothing of the server, which would take
a second of processor time to load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from limnograph.adapters.embedded.fresh import FreshEngine
from limnograph.adapters.iceberg.catalogs.catalog import open_catalog
from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.ids import TableName
from limnograph.services.watcher.rounds import Watcher
from limnograph.settings import Settings
from limnograph.wiring.notified import NotifiedTables
from limnograph.wiring.observe import SettingsLake


def watcher(
    settings: Settings,
    window: int,
    watched: Callable[[], Iterable[TableName]] = tuple,
    starting: Callable[[str], None] = lambda _what: None,
) -> Watcher:
    """The rounds of the watcher's own process. `window` microseconds; `watched`: tables to check before others, besides
    those that notifications name. `starting` is called with the phases of slow starts.
    """
    notified = NotifiedTables(SqlInbox(settings.inbox_url))
    lake = SettingsLake(settings, "standing", first=lambda: {*watched(), *notified()}, starting=starting)
    return Watcher(lake, embedded_engine(settings), SystemClock(), window)


def embedded_engine(settings: Settings) -> FreshEngine:
    """The meta tables, read in this process."""
    name = settings.meta_catalog
    namespace = tuple(settings.meta.namespace.split("."))
    return FreshEngine(lambda: open_catalog(name, settings.catalogs[name]), namespace)
