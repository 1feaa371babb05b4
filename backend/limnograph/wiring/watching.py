"""Builds the watcher from settings: the observed lake and the meta tables. Imports nothing of the server, which would
cost a second of CPU time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from limnograph.adapters.embedded.fresh import FreshEngine
from limnograph.adapters.iceberg.catalogs.catalog import open_catalog
from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.ids import TableName
from limnograph.services.watcher.catalog_actions import WatchMode
from limnograph.services.watcher.rounds import Watcher
from limnograph.settings import Settings
from limnograph.wiring.notified import NotifiedTables
from limnograph.wiring.observe import SettingsLake


def watcher(
    settings: Settings,
    window_us: int,
    watched: Callable[[], Iterable[TableName]] = tuple,
    starting: Callable[[str], None] = lambda _what: None,
) -> Watcher:
    """The watcher for its process. `window_us`: how far back history is reported. `watched`: tables to probe first, in
    addition to those that notifications name. `starting` is called with the name of each part that takes long to start.
    """
    notified = NotifiedTables(SqlInbox(settings.inbox_url))
    lake = SettingsLake(settings, WatchMode.STANDING, first=lambda: {*watched(), *notified()}, starting=starting)
    return Watcher(lake, embedded_engine(settings), SystemClock(), window_us)


def embedded_engine(settings: Settings) -> FreshEngine:
    """An engine that reads the meta tables in this process."""
    name = settings.meta_catalog
    namespace = tuple(settings.meta.namespace.split("."))
    return FreshEngine(lambda: open_catalog(name, settings.catalogs[name]), namespace)
