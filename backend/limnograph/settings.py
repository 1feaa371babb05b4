"""Settings: one TOML file, parsed once into frozen structs. Knows names, defaults and secrets, opens nothing else.

`${ENV}` inside any string is replaced from the environment; a key `x_file` is replaced by key `x` with that file's
content (secrets). Unknown keys are errors that name the key. Relative state paths lie beside the file.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from limnograph.domain.errors import SettingsError

CONFIG_ENV = "LIMNOGRAPH_CONFIG"
DEFAULT_PORT = 8787
MAX_DEADLINE_SECONDS = 3600
MIN_RAW_DAYS = 3


class Frozen(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all settings structs: immutable, no unknown key."""


class MetaSettings(Frozen, frozen=True, kw_only=True):
    """Where the meta tables live. `catalog`: default the only one of `[catalogs]`."""

    catalog: str = ""
    namespace: str = "limnograph"


class PathSettings(Frozen, frozen=True, kw_only=True):
    """A table without a catalog. `properties`: of its store, by PyIceberg's names (`s3.endpoint`, …)."""

    format: Literal["iceberg", "delta", "hudi"]
    name: str
    location: str
    properties: dict[str, str] = {}


class ObserveSettings(Frozen, frozen=True, kw_only=True):
    """Which tables are observed: patterns over `catalog.namespace.table`, `*` one level, `**` any number.

    `roots`: places, besides its own, that any table's metadata may name. `table_deadline_seconds`: for reading one.
    """

    include: tuple[str, ...] = ("**",)
    exclude: tuple[str, ...] = ()
    paths: tuple[PathSettings, ...] = ()
    roots: tuple[str, ...] = ()
    table_deadline_seconds: float = 60.0


class PrometheusSettings(Frozen, frozen=True, kw_only=True):
    """A Prometheus server. `timeout_seconds` is the total deadline of one answer, redirects and body included."""

    url: str
    timeout_seconds: float = 5.0
    max_series: int = 1_000
    bearer_token: str = ""


class AlertmanagerSettings(Frozen, frozen=True, kw_only=True):
    """The Alertmanager to link to."""

    url: str


class TrinoSettings(Frozen, frozen=True, kw_only=True):
    """The Trino coordinator for rows older than two days; polars reads them without it, and when it fails.

    `catalog`: Trino's name of the meta catalog, `schema` of the meta namespace when it is another. A password or token
    needs https. `timeout_seconds`: total deadline of a query, after which it is cancelled; `concurrent`: at once.
    """

    url: str
    catalog: str
    schema: str = ""
    user: str = "limnograph"
    password: str = ""
    token: str = ""
    ca_file: str = ""
    timeout_seconds: float = 6.0
    concurrent: int = 4


class JobSettings(Frozen, frozen=True, kw_only=True):
    """A job that reads or writes tables. `select` narrows label values; `promql` replaces the template; `prometheus`:
    the server of `[prometheus.*]` that has its series, when several may.
    """

    name: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    select: dict[str, str] = {}
    template: str = "spark_job_duration"
    promql: str = ""
    prometheus: str = ""


class InboxSettings(Frozen, frozen=True, kw_only=True):
    """SQLAlchemy URL of the inbox; default an SQLite file in `.limnograph/` beside the settings file."""

    url: str = ""


class CacheSettings(Frozen, frozen=True, kw_only=True):
    """Folder of rebuildable caches; default `.limnograph/cache` beside the settings file."""

    dir: str = ""


class RetentionSettings(Frozen, frozen=True, kw_only=True):
    """How long the meta tables keep facts, days: raw rows (and then as long as the lake has their snapshots), hours.
    Days are kept for ever. Dashboards read raw rows for the last two days, so fewer would leave holes.
    """

    raw_days: int = 30
    hourly_days: int = 400


class ServerSettings(Frozen, frozen=True, kw_only=True):
    """Where the server listens. Any host but loopback needs `insecure = true` until auth is configured.

    `port`: default DEFAULT_PORT, or a free one when that is taken; a port that is given must be free.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    insecure: bool = False


class SparkSettings(Frozen, frozen=True, kw_only=True):
    """`conf` entries go to the Spark session as they are; `jars` is a folder of jars (default `.tools/jars`)."""

    master: str = "local[*]"
    jars: str = ""
    conf: dict[str, str] = {}


class Settings(Frozen, frozen=True, kw_only=True):
    """Everything one process needs to know. `base` is the folder of the settings file."""

    catalogs: dict[str, dict[str, str]]
    meta: MetaSettings = MetaSettings()
    observe: ObserveSettings = ObserveSettings()
    prometheus: dict[str, PrometheusSettings] = {}
    alertmanager: AlertmanagerSettings | None = None
    trino: TrinoSettings | None = None
    jobs: tuple[JobSettings, ...] = ()
    inbox: InboxSettings = InboxSettings()
    cache: CacheSettings = CacheSettings()
    retention: RetentionSettings = RetentionSettings()
    server: ServerSettings = ServerSettings()
    spark: SparkSettings = SparkSettings()
    path_map: dict[str, str] = {}
    base: str = "."

    @property
    def meta_catalog(self) -> str:
        """Name of the catalog that holds the meta tables."""
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
    def inbox_url(self) -> str:
        """SQLAlchemy URL of the inbox."""
        return self.inbox.url or f"sqlite:///{(self.state_dir / 'inbox.db').absolute()}"


def load(path: str | Path | None, env: Mapping[str, str] = os.environ) -> Settings:
    """Settings from `path`, else from the file that LIMNOGRAPH_CONFIG names. Raises SettingsError."""
    given = path or env.get(CONFIG_ENV)
    if not given:
        raise SettingsError("--config", f"no settings file; give --config FILE or set {CONFIG_ENV}")
    file = Path(given)
    try:
        document = tomllib.loads(file.read_text())
    except OSError as error:
        raise SettingsError("--config", f"cannot read {file}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError("--config", f"{file} is not valid TOML: {error}") from error
    return parse(document, base=file.absolute().parent, env=env)


def parse(document: dict[str, Any], base: Path, env: Mapping[str, str] = os.environ) -> Settings:
    """Settings from a parsed TOML document; relative files resolve against `base`. Raises SettingsError."""
    if "base" in document:
        raise SettingsError("base", "is not a setting; it is the folder of the settings file")
    resolved = _resolve(document, "", base, env)
    try:
        settings = msgspec.convert({**resolved, "base": str(base)}, Settings)
    except msgspec.ValidationError as error:
        raise SettingsError(*_locate(str(error), resolved)) from error
    return _checked(settings)


def _checked(settings: Settings) -> Settings:
    if not settings.catalogs:
        raise SettingsError("catalogs", "needs at least one catalog: [catalogs.NAME] with type and uri")
    _check_sources(settings)
    if settings.meta.catalog and settings.meta.catalog not in settings.catalogs:
        raise SettingsError("meta.catalog", f"{settings.meta.catalog!r} is not one of [catalogs.*]")
    if not settings.meta.catalog and len(settings.catalogs) > 1:
        raise SettingsError("meta.catalog", f"name one of {', '.join(settings.catalogs)}")
    if not 0 <= (settings.server.port or 0) <= 65535:
        raise SettingsError("server.port", "must be between 0 and 65535")
    if not 0 < settings.observe.table_deadline_seconds <= MAX_DEADLINE_SECONDS:
        raise SettingsError("observe.table_deadline_seconds", f"must be above 0, and {MAX_DEADLINE_SECONDS} at most")
    if settings.retention.raw_days < MIN_RAW_DAYS:
        raise SettingsError("retention.raw_days", f"must be at least {MIN_RAW_DAYS}")
    if settings.retention.hourly_days < settings.retention.raw_days:
        raise SettingsError("retention.hourly_days", "must be at least retention.raw_days")
    for name, prometheus in settings.prometheus.items():
        _check_http(f"prometheus.{name}.url", prometheus.url)
    return settings


def unused(settings: Settings) -> list[str]:
    """Keys that are set and that nothing in this version reads."""
    found = [key for key in ("alertmanager",) if getattr(settings, key) is not None]
    default = JobSettings(name="").template
    return found + [f"jobs[{i}].template" for i, job in enumerate(settings.jobs) if job.template != default]


def _check_sources(settings: Settings) -> None:
    for i, job in enumerate(settings.jobs):
        if job.prometheus and job.prometheus not in settings.prometheus:
            raise SettingsError(f"jobs[{i}].prometheus", f"{job.prometheus!r} is not one of [prometheus.*]")
    if settings.trino is not None:
        _check_trino(settings.trino)


def _check_trino(trino: TrinoSettings) -> None:
    _check_http("trino.url", trino.url)
    if (trino.password or trino.token) and urlsplit(trino.url).scheme != "https":
        raise SettingsError("trino.url", "must be https:// when a password or token is sent")
    if not 0 < trino.timeout_seconds <= MAX_DEADLINE_SECONDS:
        raise SettingsError("trino.timeout_seconds", f"must be above 0, and {MAX_DEADLINE_SECONDS} at most")
    if trino.concurrent < 1:
        raise SettingsError("trino.concurrent", "must be at least 1")


def _check_http(field: str, url: str) -> None:
    try:
        parts = urlsplit(url)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise SettingsError(field, "is not a URL; write http://host:port")


def _resolve(value: Any, where: str, base: Path, env: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return re.sub(r"\$\{(\w+)\}", lambda match: _variable(match[1], where, env), value)
    if isinstance(value, list):
        return [_resolve(item, f"{where}[{i}]", base, env) for i, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for key, item in value.items():
        place = f"{where}.{key}" if where else key
        if key.endswith("_file") and isinstance(item, str):
            found[key.removesuffix("_file")] = _secret(base / _resolve(item, place, base, env), place)
        else:
            found[key] = _resolve(item, place, base, env)
    return found


def _variable(name: str, where: str, env: Mapping[str, str]) -> str:
    if name not in env:
        raise SettingsError(where, f"environment variable {name} is not set")
    return env[name]


def _secret(file: Path, where: str) -> str:
    try:
        return file.read_text().strip()
    except OSError as error:
        raise SettingsError(where, f"cannot read {file}: {error.strerror}") from error


def _locate(message: str, document: dict[str, Any]) -> tuple[str, str]:
    """`Object contains unknown field `x` - at `$.a.b`` -> (`a.b.x`, sentence)."""
    path = re.search(r"at `\$\.?(.*)`$", message)
    detail = message.split(" - at `", maxsplit=1)[0]
    prefix = _named(path[1], detail, document) if path else ""
    if unknown := re.search(r"unknown field `(.+?)`", detail):
        return ".".join(filter(None, (prefix, unknown[1]))), "unknown key"
    if missing := re.search(r"missing required field `(.+?)`", detail):
        return ".".join(filter(None, (prefix, missing[1]))), "is required"
    return prefix or "settings", detail[0].lower() + detail[1:]


def _named(path: str, detail: str, document: dict[str, Any]) -> str:
    """The path with the names of the document's keys where msgspec writes `[...]` for any key of a table."""
    found: list[tuple[str, Any]] = [("", document)]
    for key, index in re.findall(r"([^.\[\]]+)|\[(\d+|\.\.\.)\]", path):
        found = [step for where, value in found for step in _steps(where, value, key, index)]
    guilty = (where for where, value in found if _breaks(value, detail))
    return next(guilty, path)


def _steps(where: str, value: Any, key: str, index: str) -> list[tuple[str, Any]]:
    prefix = f"{where}." if where else ""
    if key:
        return [(prefix + key, value[key])] if isinstance(value, dict) and key in value else []
    if index == "...":
        return [(prefix + name, item) for name, item in value.items()] if isinstance(value, dict) else []
    return [(f"{where}[{index}]", value[int(index)])] if isinstance(value, list) and int(index) < len(value) else []


def _breaks(value: Any, detail: str) -> bool:
    """Whether a value is the one that a sentence of msgspec is about, as far as the sentence tells."""
    if unknown := re.search(r"unknown field `(.+?)`", detail):
        return isinstance(value, dict) and unknown[1] in value
    if missing := re.search(r"missing required field `(.+?)`", detail):
        return isinstance(value, dict) and missing[1] not in value
    expected = re.match(r"Expected `(\w+)", detail)
    kind = {"str": str, "object": dict, "array": list}.get(expected[1]) if expected else None
    return kind is None or not isinstance(value, kind)
