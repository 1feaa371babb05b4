"""Rules that types cannot express: across keys, and on the format of strings. For `[auth]` see `checks_auth.py`."""

from __future__ import annotations

from urllib.parse import urlsplit

from limnograph.domain.errors import SettingsError
from limnograph.settings.base import FILES, MAX_PORT
from limnograph.settings.checks_auth import check_auth
from limnograph.settings.forms import check_http
from limnograph.settings.lake import RetentionSettings
from limnograph.settings.prices import MAX_CURRENCY
from limnograph.settings.server import ServerSettings
from limnograph.settings.sources import TrinoSettings
from limnograph.settings.whole import Settings


def checked(settings: Settings) -> Settings:
    """Return the settings unchanged. Raises SettingsError, which names the key."""
    _check_catalogs(settings)
    _check_sources(settings)
    _check_retention(settings.retention)
    currency = settings.prices.currency
    if not (currency.strip() and currency.isprintable() and len(currency) <= MAX_CURRENCY):
        raise SettingsError(
            "prices.currency", f"is not a name of 1 to {MAX_CURRENCY} characters; write one, such as EUR"
        )
    _check_address("pipeline.metrics", settings.pipeline.metrics)
    _check_server(settings.server)
    check_auth(settings.auth, settings.server)
    return settings


def _check_catalogs(settings: Settings) -> None:
    if not settings.catalogs:
        raise SettingsError("catalogs", "at least one catalog is required: [catalogs.NAME] with type and uri")
    for name in settings.catalogs:
        if name == FILES:
            raise SettingsError(f"catalogs.{name}", "is reserved for tables without a catalog; choose another name")
        if not name or "." in name:
            raise SettingsError(f"catalogs.{name}", "is the first level of table names; remove the dots")
        if not name.isprintable():
            raise SettingsError(f"catalogs.{name!r}", "contains line breaks; remove them")
    if settings.meta.catalog and settings.meta.catalog not in settings.catalogs:
        raise SettingsError("meta.catalog", f"{settings.meta.catalog!r} is not one of [catalogs.*]")
    if not settings.meta.catalog and len(settings.catalogs) > 1:
        raise SettingsError("meta.catalog", f"name one of {', '.join(settings.catalogs)}")


def _check_sources(settings: Settings) -> None:
    for name, prometheus in settings.prometheus.items():
        check_http(f"prometheus.{name}.url", prometheus.url)
        if prometheus.public_url:
            check_http(f"prometheus.{name}.public_url", prometheus.public_url)
    _check_jobs(settings)
    _check_patterns(settings)
    if settings.alertmanager is not None:
        check_http("alertmanager.url", settings.alertmanager.url)
        if settings.alertmanager.public_url:
            check_http("alertmanager.public_url", settings.alertmanager.public_url)
    if settings.trino is not None:
        _check_trino(settings.trino)
        for name, ours in settings.trino.catalogs.items():
            if ours not in settings.catalogs:
                raise SettingsError(f"trino.catalogs.{name}", f"{ours!r} is not one of [catalogs.*]")


_LIMITS = (
    *("freshness_seconds", "duration_seconds", "query_p95_seconds"),
    *("event_to_queryable_seconds", "cost_per_gb_month"),
)
"""Of an objective."""


def _check_patterns(settings: Settings) -> None:
    for i, objective in enumerate(settings.objectives):
        if not objective.tables:
            raise SettingsError(f"objectives[{i}].tables", "must not be empty; write a pattern such as lake.sales.*")
        if all(getattr(objective, limit) is None for limit in _LIMITS):
            limits = f"{', '.join(_LIMITS[:-1])} or {_LIMITS[-1]}"
            raise SettingsError(f"objectives[{i}]", f"has no limit; set {limits}")
    for i, owner in enumerate(settings.owners):
        if not owner.tables:
            raise SettingsError(f"owners[{i}].tables", "must not be empty; write a pattern such as lake.sales.*")


def _check_jobs(settings: Settings) -> None:
    names: list[str] = []
    for i, job in enumerate(settings.jobs):
        if not job.name or job.name in names:
            said = f"is already used by jobs[{names.index(job.name)}]" if job.name else "is empty"
            raise SettingsError(f"jobs[{i}].name", f"{said}; each job needs a unique name")
        names.append(job.name)
        if job.prometheus and job.prometheus not in settings.prometheus:
            raise SettingsError(f"jobs[{i}].prometheus", f"{job.prometheus!r} is not one of [prometheus.*]")
        if "" in job.select:
            raise SettingsError(f"jobs[{i}].select", "has a label without a name; write label = value")


def _check_trino(trino: TrinoSettings) -> None:
    if not trino.url:
        return
    check_http("trino.url", trino.url)
    if not trino.catalog:
        raise SettingsError("trino.catalog", "is required with trino.url")
    if (trino.password or trino.token) and urlsplit(trino.url).scheme != "https":
        raise SettingsError("trino.url", "must be https:// when a password or token is sent")


def _check_retention(retention: RetentionSettings) -> None:
    if retention.hourly_days < retention.raw_days:
        raise SettingsError("retention.hourly_days", "must be at least retention.raw_days")


def _check_server(server: ServerSettings) -> None:
    if server.public_url:
        check_http("server.public_url", server.public_url)
        if urlsplit(server.public_url).path.strip("/"):
            raise SettingsError("server.public_url", "must not have a path; serve Limnograph under its own host name")


def _check_address(field: str, address: str) -> None:
    host, _, port = address.rpartition(":")
    bare = host.startswith("[") == host.endswith("]") and (host.startswith("[") or ":" not in host)
    if address and not (host.strip("[]") and bare and port.isascii() and port.isdecimal() and int(port) <= MAX_PORT):
        raise SettingsError(field, "is not an address; write host:port, such as 127.0.0.1:9464")
