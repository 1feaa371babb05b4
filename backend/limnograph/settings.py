"""Settings: one TOML file, parsed once into frozen structs. Knows names, defaults and secrets, opens nothing else.

`${ENV}` inside any string is replaced from the environment; a key `x_file` is replaced by key `x` with that file's
content (secrets). Unknown keys are errors that name the key. Relative state paths lie beside the file.
"""

from __future__ import annotations

import ipaddress
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from limnograph.domain import secrecy
from limnograph.domain.access import SCOPES, AccessScope
from limnograph.domain.errors import SettingsError

CONFIG_ENV = "LIMNOGRAPH_CONFIG"
FILES = "files"
"""Catalog name of tables that have none."""
DEFAULT_PORT = 8787
MAX_DEADLINE_SECONDS = 3600
MIN_RAW_DAYS = 3
MAX_PROBES, MAX_AT_ONCE = 10_000, 64
MAX_PORT = 65_535
MIN_SECRET = 16
MAX_SESSION_HOURS = 720


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


class WarehouseSettings(Frozen, frozen=True, kw_only=True):
    """A folder below which tables without a catalog are found: `name.<levels below it>`, patterns apply to them.
    `format`: only tables of this one; default Delta and Hudi. `properties`: of the store, by PyIceberg's names.
    """

    name: str
    location: str
    format: Literal["", "delta", "hudi", "iceberg"] = ""
    properties: dict[str, str] = {}

    @property
    def formats(self) -> tuple[str, ...]:
        """Formats that are looked for."""
        return (self.format,) if self.format else ("delta", "hudi")


class ObserveSettings(Frozen, frozen=True, kw_only=True):
    """Which tables are observed: patterns over `catalog.namespace.table`, `*` one level, `**` any number.

    `roots`: places, besides its own, that any table's metadata may name. `table_deadline_seconds`: for reading one.
    `probes_per_second`: budget for each catalog that tells pointers table by table, under standing load;
    `probes_at_once`: side by side. `catalog_deadline_seconds`: without an answer a catalog is stale.
    """

    include: tuple[str, ...] = ("**",)
    exclude: tuple[str, ...] = ()
    paths: tuple[PathSettings, ...] = ()
    warehouses: tuple[WarehouseSettings, ...] = ()
    roots: tuple[str, ...] = ()
    table_deadline_seconds: float = 60.0
    probes_per_second: float = 20.0
    probes_at_once: int = 4
    catalog_deadline_seconds: float = 10.0


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


class PipelineSettings(Frozen, frozen=True, kw_only=True):
    """`metrics`: host:port where the stream serves its own numbers to Prometheus; default nowhere."""

    metrics: str = ""

    @property
    def metrics_address(self) -> tuple[str, int] | None:
        """Host and port, as checked; port 0 is any that is free."""
        host, _, port = self.metrics.rpartition(":")
        return (host.strip("[]"), int(port)) if self.metrics else None


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
    """Where the server listens. Any host but loopback needs `[auth]`, or `insecure = true`: then nobody is asked.

    `port`: default DEFAULT_PORT, or a free one when that is taken; a port that is given must be free. `public_url`:
    where people's browsers find it, when that is not the address it listens on. `page_cache_mb`: finished pages in
    memory, 0 = none. `hot_mb`: what the last 48 hours may take in memory; beyond it the older hours of tables that
    nobody looked at lately are read from the meta tables. `streams`, `streams_per_caller`: live streams that are open
    at once.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    insecure: bool = False
    public_url: str = ""
    page_cache_mb: int = 64
    hot_mb: int = 1_000
    streams: int = 1_000
    streams_per_caller: int = 50


class OidcSettings(Frozen, frozen=True, kw_only=True):
    """An OpenID Connect provider. `grants`: `user:…`, `group:…`, `domain:…` or `*` -> scopes; nothing else gets in.

    `domain:` and `user:` by address need a verified one (`email_verified`), or `trust_email` where the provider does
    not say so. `audience`: of bearer tokens, default `client_id`. Redirect URI: `public_url` + `/login/callback`.
    """

    issuer: str
    client_id: str
    client_secret: str = ""
    scopes: tuple[str, ...] = ("openid", "email", "profile")
    groups_claim: str = "groups"
    audience: str = ""
    trust_email: bool = False
    grants: dict[str, tuple[AccessScope, ...]] = {}


class ProxySettings(Frozen, frozen=True, kw_only=True):
    """A proxy in front that says who asks: from `addresses` only (networks), and only with its `secret` in
    `x-limnograph-proxy-secret`. `grants` as in `[auth.oidc]`, e.g. `"*" = ["read"]`; groups come separated by commas.
    """

    addresses: tuple[str, ...]
    secret: str
    user_header: str = "x-forwarded-user"
    groups_header: str = "x-forwarded-groups"
    email_header: str = "x-forwarded-email"
    grants: dict[str, tuple[AccessScope, ...]] = {}


class AuthSettings(Frozen, frozen=True, kw_only=True):
    """Who may ask. `none`: nobody is asked (loopback). API tokens (`limnograph token`) work in every other mode.

    `tokens`: their file, default `.limnograph/tokens.json`; `audit`: the log, default `.limnograph/audit.log`.
    `session_key`: shared by the servers of one installation (`session_key_file`), default a file of our own making.
    `open_metrics`: `/metrics`, which names all tables, for anybody.
    """

    mode: Literal["none", "tokens", "oidc", "proxy"] = "none"
    tokens: str = ""
    audit: str = ""
    session_hours: float = 12.0
    session_key: str = ""
    open_metrics: bool = False
    oidc: OidcSettings | None = None
    proxy: ProxySettings | None = None


class SparkSettings(Frozen, frozen=True, kw_only=True):
    """`conf` entries go to the Spark session as they are; `jars` is a folder of jars (default `.tools/jars`)."""

    master: str = "local[*]"
    jars: str = ""
    conf: dict[str, str] = {}


class Settings(Frozen, frozen=True, kw_only=True):
    """Everything one process needs to know. `base` is the folder of the settings file, `file` the file itself."""

    catalogs: dict[str, dict[str, str]]
    meta: MetaSettings = MetaSettings()
    observe: ObserveSettings = ObserveSettings()
    prometheus: dict[str, PrometheusSettings] = {}
    alertmanager: AlertmanagerSettings | None = None
    trino: TrinoSettings | None = None
    jobs: tuple[JobSettings, ...] = ()
    inbox: InboxSettings = InboxSettings()
    cache: CacheSettings = CacheSettings()
    pipeline: PipelineSettings = PipelineSettings()
    retention: RetentionSettings = RetentionSettings()
    server: ServerSettings = ServerSettings()
    auth: AuthSettings = AuthSettings()
    spark: SparkSettings = SparkSettings()
    path_map: dict[str, str] = {}
    base: str = "."
    file: str = ""

    def with_catalogs(self, catalogs: dict[str, dict[str, str]]) -> Settings:
        """The same with other properties of the catalogs."""
        return msgspec.structs.replace(self, catalogs=catalogs)

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
    def tokens_file(self) -> Path:
        """API tokens at rest."""
        return Path(self.base, self.auth.tokens) if self.auth.tokens else self.state_dir / "tokens.json"

    @property
    def audit_file(self) -> Path:
        """Who did what."""
        return Path(self.base, self.auth.audit) if self.auth.audit else self.state_dir / "audit.log"

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
    return parse(document, base=file.absolute().parent, env=env, file=file.absolute())


def parse(
    document: dict[str, Any], base: Path, env: Mapping[str, str] = os.environ, file: Path | None = None
) -> Settings:
    """Settings from a parsed TOML document; relative files resolve against `base`. Raises SettingsError.

    From then on no text of this process shows the secrets that it holds.
    """
    for own in ("base", "file"):
        if own in document:
            raise SettingsError(own, "is not a setting; it is where the settings file lies")
    resolved = _resolve(document, "", base, env)
    _flatten_properties(resolved)
    _keep_secrets(resolved)
    try:
        settings = msgspec.convert({**resolved, "base": str(base), "file": str(file or "")}, Settings)
    except msgspec.ValidationError as error:
        raise SettingsError(*_locate(str(error), resolved)) from error
    return _checked(settings)


def reread_catalogs(settings: Settings, env: Mapping[str, str] = os.environ) -> dict[str, dict[str, str]]:
    """Properties of the catalogs as the settings file and the files of its secrets say now: passwords and tokens are
    renewed while a program runs. What cannot be read now stays as it is, and so does which catalogs there are.
    """
    if not settings.file:
        return settings.catalogs
    try:
        now = load(settings.file, env).catalogs
    except SettingsError:
        return settings.catalogs
    return {name: now.get(name, properties) for name, properties in settings.catalogs.items()}


def _flatten_properties(document: dict[str, Any]) -> None:
    """`s3.endpoint = "…"` without quotes is a table in TOML; PyIceberg's properties are flat, with dots in names."""
    catalogs = document.get("catalogs")
    if not isinstance(catalogs, dict):
        return
    for name, properties in catalogs.items():
        if isinstance(properties, dict):
            catalogs[name] = dict(_flat(properties, ""))


def _flat(properties: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in properties.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _keep_secrets(value: Any) -> None:
    """Tell secrecy the secrets of a document: by their keys, and inside URLs."""
    if isinstance(value, dict):
        secrecy.keep(secrecy.secrets_of({key: item for key, item in value.items() if isinstance(item, str)}))
        for item in value.values():
            _keep_secrets(item)
    elif isinstance(value, list):
        for item in value:
            _keep_secrets(item)


def _checked(settings: Settings) -> Settings:
    _check_catalogs(settings)
    _check_sources(settings)
    if not 0 <= (settings.server.port or 0) <= MAX_PORT:
        raise SettingsError("server.port", "must be between 0 and 65535")
    if not 0 < settings.observe.table_deadline_seconds <= MAX_DEADLINE_SECONDS:
        raise SettingsError("observe.table_deadline_seconds", f"must be above 0, and {MAX_DEADLINE_SECONDS} at most")
    _check_observe(settings.observe)
    if settings.retention.raw_days < MIN_RAW_DAYS:
        raise SettingsError("retention.raw_days", f"must be at least {MIN_RAW_DAYS}")
    if settings.retention.hourly_days < settings.retention.raw_days:
        raise SettingsError("retention.hourly_days", "must be at least retention.raw_days")
    _check_address("pipeline.metrics", settings.pipeline.metrics)
    for name, prometheus in settings.prometheus.items():
        _check_http(f"prometheus.{name}.url", prometheus.url)
    _check_server(settings.server)
    _check_auth(settings.auth, settings.server)
    return settings


def _check_catalogs(settings: Settings) -> None:
    if not settings.catalogs:
        raise SettingsError("catalogs", "needs at least one catalog: [catalogs.NAME] with type and uri")
    for name in settings.catalogs:
        if name == FILES:
            raise SettingsError(f"catalogs.{name}", "is the name of tables without a catalog; choose another one")
        if not name or "." in name:
            raise SettingsError(f"catalogs.{name}", "is the first level of table names; write it without dots")
    if settings.meta.catalog and settings.meta.catalog not in settings.catalogs:
        raise SettingsError("meta.catalog", f"{settings.meta.catalog!r} is not one of [catalogs.*]")
    if not settings.meta.catalog and len(settings.catalogs) > 1:
        raise SettingsError("meta.catalog", f"name one of {', '.join(settings.catalogs)}")


def _check_observe(observe: ObserveSettings) -> None:
    if not 0 < observe.probes_per_second <= MAX_PROBES:
        raise SettingsError("observe.probes_per_second", f"must be above 0, and {MAX_PROBES} at most")
    if not 1 <= observe.probes_at_once <= MAX_AT_ONCE:
        raise SettingsError("observe.probes_at_once", f"must be from 1 to {MAX_AT_ONCE}")
    if not 0 < observe.catalog_deadline_seconds <= MAX_DEADLINE_SECONDS:
        raise SettingsError("observe.catalog_deadline_seconds", f"must be above 0, and {MAX_DEADLINE_SECONDS} at most")


def _check_server(server: ServerSettings) -> None:
    if server.public_url:
        _check_http("server.public_url", server.public_url)
        if urlsplit(server.public_url).path.strip("/"):
            raise SettingsError("server.public_url", "has a path; serve Limnograph under a host name of its own")
    if server.page_cache_mb < 0:
        raise SettingsError("server.page_cache_mb", "must not be negative; 0 keeps no pages")
    if server.streams < 1 or server.streams_per_caller < 1:
        raise SettingsError("server.streams", "and streams_per_caller must be at least 1")


def _check_auth(auth: AuthSettings, server: ServerSettings) -> None:
    if not 0 < auth.session_hours <= MAX_SESSION_HOURS:
        raise SettingsError("auth.session_hours", f"must be above 0, and {MAX_SESSION_HOURS} at most")
    if auth.session_key and len(auth.session_key) < MIN_SECRET:
        raise SettingsError("auth.session_key", f"must have at least {MIN_SECRET} characters, random ones")
    if auth.mode == "oidc":
        _check_oidc(auth.oidc, server)
    if auth.mode == "proxy":
        _check_proxy(auth.proxy)


def _check_oidc(oidc: OidcSettings | None, server: ServerSettings) -> None:
    if oidc is None:
        raise SettingsError("auth.oidc", "is needed: issuer, client_id, client_secret_file and grants")
    _check_http("auth.oidc.issuer", oidc.issuer)
    issuer = urlsplit(oidc.issuer)
    if issuer.scheme != "https" and not _is_loopback(issuer.hostname or ""):
        raise SettingsError("auth.oidc.issuer", "must be https; anybody on the way could say who people are")
    if not server.public_url:
        raise SettingsError(
            "server.public_url", 'is needed by auth.mode = "oidc": the provider sends people back there'
        )
    _check_grants("auth.oidc.grants", oidc.grants)


def _check_proxy(proxy: ProxySettings | None) -> None:
    if proxy is None:
        raise SettingsError("auth.proxy", "is needed: addresses and secret_file")
    if not proxy.addresses:
        raise SettingsError("auth.proxy.addresses", "is empty; name the addresses of the proxy")
    for index, address in enumerate(proxy.addresses):
        try:
            ipaddress.ip_network(address)
        except ValueError as error:
            raise SettingsError(f"auth.proxy.addresses[{index}]", "is not an address or network") from error
    if len(proxy.secret) < MIN_SECRET:
        raise SettingsError("auth.proxy.secret", f"must have at least {MIN_SECRET} characters, random ones")
    for field in ("user_header", "groups_header", "email_header"):
        if not re.fullmatch(r"[a-z][a-z0-9-]*", getattr(proxy, field)):
            raise SettingsError(f"auth.proxy.{field}", "is no header name: lower case letters, digits and -")
    _check_grants("auth.proxy.grants", proxy.grants)


def _check_grants(field: str, grants: Mapping[str, tuple[AccessScope, ...]]) -> None:
    if not grants:
        raise SettingsError(field, f'is empty, so nobody could read; e.g. "group:sre" = ["{SCOPES[0]}"]')
    for key in grants:
        if key != "*" and not re.fullmatch(r"(user|group|domain):.+", key):
            raise SettingsError(field, f"{key!r} is neither user:…, group:…, domain:… nor *")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def needs_insecure(host: str, settings: Settings) -> bool:
    """Whether anybody on the network could ask without saying who they are."""
    return settings.auth.mode == "none" and not settings.server.insecure and not _is_loopback(host)


def unused(settings: Settings) -> list[str]:
    """Keys that are set and that nothing in this version reads."""
    found = [key for key in ("alertmanager",) if getattr(settings, key) is not None]
    default = JobSettings(name="").template
    return found + [f"jobs[{i}].template" for i, job in enumerate(settings.jobs) if job.template != default]


def _check_address(field: str, address: str) -> None:
    host, _, port = address.rpartition(":")
    bare = host.startswith("[") == host.endswith("]") and (host.startswith("[") or ":" not in host)
    if address and not (host.strip("[]") and bare and port.isascii() and port.isdecimal() and int(port) <= MAX_PORT):
        raise SettingsError(field, "is not an address; write 127.0.0.1:9464")


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
            secret = _secret(base / _resolve(item, place, base, env), place)
            secrecy.keep([secret])
            found[key.removesuffix("_file")] = secret
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
