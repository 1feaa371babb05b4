"""Converts a catalog described by PyIceberg's properties to Spark's configuration. A pure function of text."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from limnograph.adapters.spark.stores import RESOLVING, needs_resolving, spark_store
from limnograph.domain.errors import SettingsError

_KINDS = {"http": "rest", "https": "rest", "thrift": "hive"}
_OWN = {
    "rest": (
        *("uri", "warehouse", "prefix", "token", "token-", "credential", "oauth2-server-uri", "scope", "audience"),
        *("resource", "header.", "rest.", "rest-", "snapshot-loading-mode", "view-endpoints-supported", "auth."),
    ),
    "hive": ("uri", "warehouse", "clients", "client-pool-cache-keys", "list-all-tables", "lock"),
    "glue": ("warehouse", "glue.", "lock"),
    "hadoop": ("warehouse",),
}
"""Properties by kind of catalog that have the same name and meaning in Iceberg-Java; a trailing dot or dash marks a
prefix."""
_SIGNING = {
    "client.access-key-id": "rest.access-key-id",
    "client.secret-access-key": "rest.secret-access-key",
    "client.session-token": "rest.session-token",
    "client.region": "rest.signing-region",
}
_PYTHONS_OWN = {"rest.sigv4.max-retries", "auth.manager", *(f"glue.{key}" for key in ("max-retries", "retry-mode"))}
_GLUE_KEYS = {"glue.region", "glue.profile-name", "glue.access-key-id", "glue.secret-access-key", "glue.session-token"}
_LIBPQ = {
    "connect_timeout": "connectTimeout",
    "application_name": "ApplicationName",
    "channel_binding": "channelBinding",
    "gssencmode": "gssEncMode",
    "krbsrvname": "kerberosServerName",
    **dict.fromkeys(("sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword", "sslnegotiation", "options"), ""),
}
"""libpq options that the JDBC driver supports too, and its name for them if different. The driver rejects no option, so
unlisted ones are left out."""


def spark_catalog(name: str, properties: Mapping[str, str]) -> dict[str, str]:
    """`spark.sql.catalog.<name>*` entries. Raises SettingsError for a catalog that Spark cannot open."""
    scheme = properties.get("uri", "").partition(":")[0]
    kind = properties.get("type", _KINDS.get(scheme, "sql"))
    if kind == "sql":
        own = _sql(name, properties)
    elif kind in _OWN:
        own = {"type": kind} | {key: value for key, value in properties.items() if _is_own(kind, key)}
    else:
        raise SettingsError(
            f"catalogs.{name}.type", f"{kind!r} is not supported by Spark; use sql, rest, hive, hadoop or glue"
        )
    own = _with_store(kind, own, properties)
    prefix = f"spark.sql.catalog.{name}"
    return {prefix: "org.apache.iceberg.spark.SparkCatalog", **{f"{prefix}.{k}": v for k, v in own.items()}}


def _is_own(kind: str, key: str) -> bool:
    if key in _PYTHONS_OWN or key in _GLUE_KEYS:
        return False
    return any(key == own or (own.endswith((".", "-")) and key.startswith(own)) for own in _OWN[kind])


def _with_store(kind: str, own: dict[str, str], properties: Mapping[str, str]) -> dict[str, str]:
    """The catalog's properties combined with those of its store."""
    found = spark_store(properties)
    if kind == "rest" and properties.get("rest.sigv4-enabled", "").lower() == "true":
        found |= {theirs: properties[key] for key, theirs in _SIGNING.items() if key in properties}
    if kind == "glue" and "glue.region" in properties:
        found.setdefault("client.region", properties["glue.region"])
    if kind in {"sql", "hive", "hadoop"} and needs_resolving(properties, (properties.get("warehouse", ""),)):
        found.setdefault("io-impl", RESOLVING)  # the default of REST; Glue's default is S3's
    # A cached table would hide commits of other writers.
    return {**found, **own, "cache-enabled": "false"}


def _sql(name: str, properties: Mapping[str, str]) -> dict[str, str]:
    try:
        url = make_url(properties.get("uri", ""))
    except ArgumentError as error:
        raise SettingsError(
            f"catalogs.{name}.uri", "is not a database URL: sqlite:////… or postgresql+psycopg2://…"
        ) from error
    dialect = url.get_backend_name()
    found = {"type": "jdbc", "jdbc.schema-version": "V1"}
    if warehouse := properties.get("warehouse"):
        found["warehouse"] = warehouse
    if dialect == "sqlite" and url.database:
        return {**found, "uri": f"jdbc:sqlite:file:{quote(url.database)}"}
    if dialect == "postgresql":
        return found | _postgresql(name, url)
    raise SettingsError(f"catalogs.{name}.uri", f"{dialect} is not supported; use sqlite or postgresql")


def _postgresql(name: str, url: URL) -> dict[str, str]:
    """User and password are passed separately from the URL, which appears in error messages."""
    query = {key: value if isinstance(value, str) else value[-1] for key, value in url.query.items()}
    host, user = url.host or query.get("host", "127.0.0.1"), url.username or query.get("user")
    password = url.password or query.get("password")
    if host.startswith("/"):
        raise SettingsError(f"catalogs.{name}.uri", "uses a socket, which Spark does not support; use a host")
    place = f"{f'[{host}]' if ':' in host else host}:{url.port or query.get('port', 5432)}"
    options = {_LIBPQ[key] or key: value for key, value in query.items() if key in _LIBPQ}
    told = f"?{urlencode(options)}" if options else ""
    found = {"uri": f"jdbc:postgresql://{place}/{quote(url.database or '', safe='')}{told}"}
    found |= {"jdbc.user": user} if user else {}
    return found | ({"jdbc.password": str(password)} if password else {})
