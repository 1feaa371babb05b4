"""Adapters and settings from which the server's services are built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from limnograph.domain.advice.prices import Prices
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.objectives import Objectives
from limnograph.ports.active_alerts import ActiveAlerts
from limnograph.ports.clock import Clock
from limnograph.ports.counters import CounterStore
from limnograph.ports.hot_source import Fresh
from limnograph.ports.inbox import Inbox
from limnograph.ports.metrics_source import MetricsSource
from limnograph.ports.query_engine import QueryEngine
from limnograph.services.findings.storage.reader_risks import ReaderPattern
from limnograph.services.forecasts.pages import BUDGET
from limnograph.services.jobs.discovery import ConfiguredJob
from limnograph.services.server.live import Caps
from limnograph.services.sources.cold_reads import WITHIN_S, ColdEngine
from limnograph.services.table.objectives import FreshnessObjectives


class ServerOptions(NamedTuple):
    """Adapters and settings from which the server's services are built."""

    engine: QueryEngine
    """Reads the meta tables."""
    inbox: Inbox
    """Stores pushed runs, alerts and labels until the pipeline has committed them."""
    clock: Clock
    """The clock of all services."""
    sources: Sequence[MetricsSource] = ()
    """Metrics sources; the runtime closes them."""
    cold: ColdEngine | None = None
    """Engine for rows older than the hot window; None: `engine` reads them."""
    cold_within_s: float = WITHIN_S
    """How long a page waits for cold reads, seconds."""
    hourly_days: int = 400
    """Retention of hourly roll-ups, days."""
    fresh: Fresh | None = None
    """Reads only rows appended since a version; None: a refresh reads the whole window."""
    hot_bytes: int | None = None
    """Memory limit of the hot store in bytes; None: no limit."""
    counters: CounterStore | None = None
    """Persists the counters of `/metrics`; None: they restart at zero."""
    caps: Caps = Caps()
    """Limits on the number of open live streams."""
    configured: tuple[ConfiguredJob, ...] = ()
    """Jobs from the settings."""
    watch_command: tuple[str, ...] = ()
    """Command line of the watcher process; empty: no watcher."""
    meta: str = "limnograph"
    """Namespace of the meta tables, as in SQL."""
    catalogs: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    """Properties of the observed catalogs by name."""
    trino_catalogs: Mapping[str, str] = MappingProxyType({})
    """Names of observed catalogs by Trino's names."""
    active: ActiveAlerts | None = None
    """Alertmanager's API; None: it is not queried."""
    alertmanager: str | None = None
    """Address of Alertmanager's pages for links; None: no links."""
    graphs: Mapping[str, str] = MappingProxyType({})
    """Public address of each metrics server by name."""
    limits: FindingLimits = FindingLimits()
    """Thresholds of findings."""
    promised: Objectives = Objectives()
    """Objectives for tables and jobs, whose miss is a finding."""
    readers: tuple[ReaderPattern, ...] = ()
    """Readers that may be behind, whose snapshots an expiry must keep."""
    objectives: FreshnessObjectives = FreshnessObjectives()
    """Maximum age of the last commit, by table."""
    owners: tuple[tuple[str, str], ...] = ()
    """Pairs of a pattern over table names and an owner; the first matching pattern counts."""
    private_columns: tuple[str, ...] = ()
    """Patterns of columns that are shown with counts only."""
    prices: Prices = Prices()
    """What storage costs."""
    forecast_budget: int = BUDGET
    """How many tables at risk the list names."""
