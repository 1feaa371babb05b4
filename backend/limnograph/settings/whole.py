"""All settings, and the paths derived from them."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import msgspec

from limnograph.settings.auth import AuthSettings
from limnograph.settings.base import FrozenSettings
from limnograph.settings.finding_storage import ReaderSettings
from limnograph.settings.findings import FindingsSettings
from limnograph.settings.forecast import ForecastSettings
from limnograph.settings.lake import MetaSettings, ObjectiveSettings, ObserveSettings, OwnerSettings, RetentionSettings
from limnograph.settings.prices import PricesSettings
from limnograph.settings.server import CacheSettings, InboxSettings, PipelineSettings, ServerSettings, SparkSettings
from limnograph.settings.sources import AlertmanagerSettings, JobSettings, PrometheusSettings, TrinoSettings


class Settings(FrozenSettings, frozen=True, kw_only=True):
    """Everything one process needs to know. `base` is the folder of the settings file, `file` the file itself."""

    catalogs: dict[str, dict[str, str]]
    """Iceberg catalogs by name, with PyIceberg's properties; Spark's form is derived."""
    meta: MetaSettings = MetaSettings()
    observe: ObserveSettings = ObserveSettings()
    prometheus: dict[str, PrometheusSettings] = msgspec.field(default_factory=dict)
    alertmanager: AlertmanagerSettings | None = None
    trino: TrinoSettings | None = None
    jobs: tuple[JobSettings, ...] = ()
    objectives: tuple[ObjectiveSettings, ...] = ()
    owners: tuple[OwnerSettings, ...] = ()
    readers: tuple[ReaderSettings, ...] = ()
    findings: FindingsSettings = FindingsSettings()
    forecast: ForecastSettings = ForecastSettings()
    prices: PricesSettings = PricesSettings()
    inbox: InboxSettings = InboxSettings()
    cache: CacheSettings = CacheSettings()
    pipeline: PipelineSettings = PipelineSettings()
    retention: RetentionSettings = RetentionSettings()
    server: ServerSettings = ServerSettings()
    auth: AuthSettings = AuthSettings()
    spark: SparkSettings = SparkSettings()
    path_map: dict[str, str] = msgspec.field(default_factory=dict)
    """Beginnings of locations as metadata spells them -> where this process finds them."""
    base: str = "."
    file: str = ""

    def with_catalogs(self, catalogs: dict[str, dict[str, str]]) -> Settings:
        """The same settings with other properties of the catalogs."""
        return msgspec.structs.replace(self, catalogs=catalogs)

    @property
    def meta_catalog(self) -> str:
        """Name of the catalog of the meta tables."""
        return self.meta.catalog or next(iter(self.catalogs))

    @property
    def state_dir(self) -> Path:
        """Folder for inbox, checkpoint and cache."""
        return Path(self.base) / ".limnograph"

    @property
    def cache_dir(self) -> Path:
        """Folder of rebuildable caches."""
        return Path(self.cache.dir) if self.cache.dir else self.state_dir / "cache"

    @property
    def tokens_file(self) -> Path:
        """API tokens at rest."""
        return Path(self.base, self.auth.tokens) if self.auth.tokens else self.state_dir / "tokens.json"

    @property
    def audit_file(self) -> Path:
        """File of the audit log."""
        return Path(self.base, self.auth.audit) if self.auth.audit else self.state_dir / "audit.log"

    @property
    def inbox_url(self) -> str:
        """SQLAlchemy URL of the inbox."""
        return self.inbox.url or f"sqlite:///{(self.state_dir / 'inbox.db').absolute()}"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def needs_insecure(host: str, settings: Settings) -> bool:
    """Whether anyone on the network could send requests to `host` without authentication."""
    return settings.auth.mode == "none" and not settings.server.insecure and not is_loopback(host)


def unused(settings: Settings) -> list[str]:
    """Keys that are set but not used by this version."""
    default = JobSettings(name="").template
    return [f"jobs[{i}].template" for i, job in enumerate(settings.jobs) if job.template != default]
